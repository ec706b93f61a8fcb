"""Values and functions for cel-python: a device as its types have it, and Kubernetes' functions over them.

Versions and quantities are drakit's own, held by an object that compares as they do.

Source: cel-python 0.5.0 ``celpy/celtypes.py``; k8s.io/dynamic-resource-allocation ``cel/compile.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from drakit.cel.celpython.subset import ADDED
from drakit.cel.checking.declarations import FUNCTIONS
from drakit.cel.checking.types import BOOL, INT, QUANTITY, SEMVER, STRING
from drakit.cel.device import CelDevice
from drakit.cel.library.functions import OVERLOADS
from drakit.cel.library.quantities import QuantityValue
from drakit.cel.library.semver import Semver
from drakit.cel.values import NO_SUCH_OVERLOAD, Fault, Thing, Value

__all__ = ["Values"]

_KINDS: Final = {BOOL: bool, INT: int, STRING: str, QUANTITY: QuantityValue, SEMVER: Semver}
_ADDED: Final = {
    (name, *(_KINDS[parameter] for parameter in overload.parameters)): OVERLOADS[overload.id]
    for name in ADDED
    for overload in FUNCTIONS[name]
}
"""Implementations by function name and types of the arguments."""


class Values:
    """To cel-python's types and back."""

    def __init__(self, celpy: Any) -> None:
        """Take the package."""
        self._types: Final = celpy.celtypes
        self._error: Final = celpy.CELEvalError
        self._numbers: Final = (self._types.IntType, self._types.UintType, self._types.DoubleType)
        empty = self._types.MapType()
        self._domains: Final = type("Domains", (self._types.MapType,), {"__missing__": lambda _self, _key: empty})
        """A map where a key that is not there is found as an empty map."""

    def device(self, device: CelDevice) -> Any:
        """The value of ``device``, with quantities of its own."""
        capacity = {name: quantity.fresh() for name, quantity in device.capacity.items()}
        fields = {
            "driver": device.driver,
            "allowMultipleAllocations": device.shared,
            "attributes": self._by_domain(device.attributes),
            "capacity": self._by_domain(capacity),
        }
        return self._types.MapType({self._types.StringType(name): self.into(value) for name, value in fields.items()})

    def into(self, value: Any) -> Any:
        """A value of drakit's as cel-python has it."""
        types = self._types
        match value:
            case bool():
                return types.BoolType(value)
            case int():
                return types.IntType(value)
            case float():
                return types.DoubleType(value)
            case str():
                return types.StringType(value)
            case tuple():
                return types.ListType([self.into(item) for item in value])
            case Thing():
                return _Held(value)
        return value

    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Kubernetes' functions, and operators that must not do what Python's do."""
        added = {name: self._added(name) for name in sorted(ADDED)}
        return added | {"_*_": self._of_numbers("__mul__"), "_%_": self._of_numbers("__mod__")}

    def _by_domain(self, values: Mapping[str, Value]) -> Any:
        found = self._domains()
        for name, value in values.items():
            domain, _, identifier = map(self._types.StringType, name.partition("/"))
            if domain not in found:
                found[domain] = self._types.MapType()
            found[domain][identifier] = self.into(value)
        return found

    def _added(self, name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            error = next((arg for arg in args if isinstance(arg, self._error)), None)
            if error is not None:
                return error
            plain = [self._from(arg) for arg in args]
            implementation = _ADDED.get((name, *map(type, plain)))
            try:
                return self._error(NO_SUCH_OVERLOAD) if implementation is None else self.into(implementation(*plain))
            except Fault as fault:
                return self._error(str(fault))

        return call

    def _from(self, value: Any) -> Any:
        """An argument as drakit has it; what no added function takes stays as it is."""
        for theirs, ours in ((self._types.BoolType, bool), (self._types.IntType, int), (self._types.StringType, str)):
            if isinstance(value, theirs):
                return ours(value)
        return value.held if isinstance(value, _Held) else value

    def _of_numbers(self, method: str) -> Callable[..., Any]:
        """An operator that does not repeat or format strings, as Python's would for as long as one likes."""

        def call(left: Any, right: Any) -> Any:
            for value in (left, right):
                if isinstance(value, self._error):
                    return value
                if not isinstance(value, self._numbers):
                    raise TypeError(NO_SUCH_OVERLOAD)
            return getattr(left, method)(right)

        return call


class _Held:
    """A version or quantity that Python's operators compare as Kubernetes does."""

    __slots__ = ("held",)
    __hash__ = None  # type: ignore[assignment]  # as in Go, it is no key of a map

    def __init__(self, held: Thing) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        try:
            return self.held.equals(other.held if isinstance(other, _Held) else None)
        except Fault as fault:
            raise TypeError(str(fault)) from None

    def __str__(self) -> str:
        raise TypeError(NO_SUCH_OVERLOAD)

    def __ne__(self, other: object) -> bool:
        try:
            return not self == other
        except TypeError:
            return True
