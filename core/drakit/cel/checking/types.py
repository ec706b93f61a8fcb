"""Static types, and when one may stand for another.

The checker gives every node one of these. Unification works on a table of substitutions for type parameters, as in
cel-go, rule by rule: a shortcut here is a wrong verdict there.

Source: github.com/google/cel-go ``checker/types.go``, ``checker/format.go`` and ``common/types/types.go``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import field, frozen

__all__ = ["ANY", "BOOL", "DYN", "ERROR", "INT", "NULL", "QUANTITY", "SEMVER", "STRING", "Substitutions", "Type", "is_dyn",
           "is_dyn_or_error", "list_of", "map_of", "most_general", "optional_of", "parse_type", "plain", "renamed", "type_of",
           "unwrap_optional", "wrapper_of"]  # fmt: skip

_PRIMITIVES: Final = frozenset({"bool", "bytes", "double", "int", "string", "uint"})
_WELL_KNOWN: Final = frozenset({"duration", "timestamp"})
_UNKNOWN: Final = frozenset({"dyn", "any", "error"})
_MESSAGES: Final = {
    "any": "google.protobuf.Any",
    "duration": "google.protobuf.Duration",
    "timestamp": "google.protobuf.Timestamp",
}
_NULLABLE: Final = frozenset({"any", "optional_type", "struct", "duration", "timestamp", "wrapper"})


@frozen(cache_hash=True)
class Type:
    """A type: a name and, for ``list``, ``map``, ``optional_type`` and ``type``, what it is of."""

    kind: str
    """``param``, ``struct``, or the name."""
    name: str
    parameters: tuple[Type, ...] = ()
    ground: bool = field(init=False, eq=False, repr=False)
    """Whether there is no type parameter in it: substitutions cannot change it."""

    @ground.default
    def _is_ground(self) -> bool:
        return self.kind != "param" and all(part.ground for part in self.parameters)

    def __str__(self) -> str:
        """As in a message of the checker."""
        return f"{self.name}({', '.join(map(str, self.parameters))})" if self.parameters else self.name

    @property
    def output_name(self) -> str:
        """As in the message about the type of a whole expression."""
        if self.kind == "null":
            return "null_type"
        if self.kind in _MESSAGES:
            return _MESSAGES[self.kind]
        if self.kind == "param":
            return f"<{self.name}>"
        return f"{self.name}({', '.join(p.output_name for p in self.parameters)})" if self.parameters else self.name


DYN: Final = Type("dyn", "dyn")
ANY: Final = Type("any", "any")
"""As ``dyn``, except that nothing can be done with its elements."""
ERROR: Final = Type("error", "!error!")
BOOL: Final = Type("bool", "bool")
INT: Final = Type("int", "int")
STRING: Final = Type("string", "string")
NULL: Final = Type("null", "null")
QUANTITY: Final = Type("struct", "kubernetes.Quantity")
SEMVER: Final = Type("struct", "kubernetes.Semver")


def list_of(element: Type) -> Type:
    """A list type."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """A map type."""
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """An optional type."""
    return Type("optional_type", "optional_type", (value,))


def type_of(of: Type) -> Type:
    """The type of a type."""
    return Type("type", "type", (of,))


def wrapper_of(value: Type) -> Type:
    """The type of a message around one value, which may also be null."""
    return Type("wrapper", "wrapper", (value,))


def unwrap_optional(type_: Type) -> tuple[Type, bool]:
    """The type inside an optional, and whether it was one."""
    return (type_.parameters[0], True) if type_.kind == "optional_type" else (type_, False)


def is_dyn(type_: Type) -> bool:
    """Whether a type is only known at run time."""
    return type_.kind in ("dyn", "any")


def is_dyn_or_error(type_: Type) -> bool:
    """Whether nothing is known about a type."""
    return type_.kind in ("dyn", "any", "error")


_WORD: Final = re.compile(r"[\w.]+|[(),]")


def parse_type(text: str) -> Type:
    """A type as declarations write it: ``map(K, list(string))``; single capitals are parameters."""
    words = _WORD.findall(text)
    position = 0

    def parse() -> Type:
        nonlocal position
        name = words[position]
        position += 1
        parameters: list[Type] = []
        if position < len(words) and words[position] == "(":
            while words[position] != ")":
                position += 1
                parameters.append(parse())
            position += 1
        return _named(name, tuple(parameters))

    return parse()


def _named(name: str, parameters: tuple[Type, ...]) -> Type:
    if len(name) == 1 and name.isupper():
        return Type("param", name)
    if name in _PRIMITIVES | _WELL_KNOWN | {"dyn", "null", "list", "map", "optional_type", "type"}:
        return Type(name, name, parameters)
    return Type("struct", name)


def renamed(type_: Type, names: Mapping[str, Type]) -> Type:
    """A type with its parameters replaced by name."""
    if type_.ground:
        return type_
    if type_.kind == "param":
        return names[type_.name]
    return Type(type_.kind, type_.name, tuple([renamed(part, names) for part in type_.parameters]))


# -- unification ----------------------------------------------------------------------------------------------------


class Substitutions:
    """What type parameters stand for."""

    def __init__(self) -> None:
        self._of: dict[Type, Type] = {}
        self._undo: list[tuple[Type, Type | None]] = []

    def get(self, parameter: Type) -> Type | None:
        return self._of.get(parameter)

    def add(self, parameter: Type, type_: Type) -> None:
        self._undo.append((parameter, self._of.get(parameter)))
        self._of[parameter] = type_

    def unify(self, left: Sequence[Type], right: Sequence[Type]) -> bool:
        """Whether each left type is assignable to the right one at its place; if so, what that takes is kept."""
        self._undo.clear()
        if _all_assignable(self, left, right):
            return True
        while self._undo:
            parameter, before = self._undo.pop()
            if before is None:
                del self._of[parameter]
            else:
                self._of[parameter] = before
        return False

    def apply(self, type_: Type, *, free_to_dyn: bool = False) -> Type:
        """A type with its parameters replaced; free ones become ``dyn`` on demand."""
        if type_.ground:
            return type_
        while (replacement := self._of.get(type_)) is not None:
            type_ = replacement
        if type_.kind == "param":
            return DYN if free_to_dyn else type_
        if type_.ground:
            return type_
        parameters = tuple([self.apply(part, free_to_dyn=free_to_dyn) for part in type_.parameters])
        return Type(type_.kind, type_.name, parameters)


def _all_assignable(known: Substitutions, left: Sequence[Type], right: Sequence[Type]) -> bool:
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):  # noqa: SIM110  # half of all checking is here
        if not _assignable(known, one, other):
            return False
    return True


def _assignable(known: Substitutions, left: Type, right: Type) -> bool:
    if left is right and left.ground:
        return True
    if right.kind == "param":
        valid, has_substitution = _valid_substitution(known, left, right)
        if valid or has_substitution:
            return valid
    if left.kind == "param":
        return _valid_substitution(known, right, left)[0]
    if left.kind in _UNKNOWN or right.kind in _UNKNOWN:
        return True
    if "null" in (left.kind, right.kind):
        other = right if left.kind == "null" else left
        return other.kind in _NULLABLE or other.kind == "null"
    if left.kind in ("optional_type", "list", "map"):
        return left.kind == right.kind and _all_assignable(known, left.parameters, right.parameters)
    if left.kind == "type":
        return right.kind == "type"
    return _unwrapped(left) == _unwrapped(right)


def _unwrapped(type_: Type) -> Type:
    return type_.parameters[0] if type_.kind == "wrapper" else type_


def plain(type_: Type) -> Type:
    """A type without the messages around values, which make no difference to what it is."""
    if not type_.parameters:
        return type_
    if type_.kind == "wrapper":
        return type_.parameters[0]
    return Type(type_.kind, type_.name, tuple(map(plain, type_.parameters)))


def _valid_substitution(known: Substitutions, type_: Type, parameter: Type) -> tuple[bool, bool]:
    """Whether a parameter may stand for a type, noting that it does; and whether it stood for one before."""
    if type_ == parameter:
        return True, True
    before = known.get(parameter)
    if before is None:
        if not _free_of(known, parameter, type_):
            return False, False
        known.add(parameter, type_)
        return True, False
    if type_ == before:
        return True, True
    if not _assignable(known, type_, before):
        return False, True
    general = most_general(type_, before)
    if _free_of(known, parameter, general):
        known.add(parameter, general)
    return True, True


def _free_of(known: Substitutions, parameter: Type, within: Type) -> bool:
    """Whether a type does not mention a parameter, directly or through a substitution."""
    if within.ground:
        return True
    if parameter == within:
        return False
    if within.kind == "param":
        stands_for = known.get(within)
        return stands_for is None or _free_of(known, parameter, stands_for)
    return all(_free_of(known, parameter, part) for part in within.parameters)


def most_general(left: Type, right: Type) -> Type:
    """The less specific of two types that unify."""
    return left if _less_specific(left, right) else right


def _less_specific(left: Type, right: Type) -> bool:
    if left.kind in ("dyn", "any", "param"):
        return True
    if right.kind in ("dyn", "any", "param") or left.kind != right.kind:
        return False
    if left.kind in ("optional_type", "list", "map"):
        return all(_less_specific(one, other) for one, other in zip(left.parameters, right.parameters, strict=True))
    return left.kind == "type" or left == right
