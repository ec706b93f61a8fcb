"""Attributes of devices: the eight kinds of value, and qualified names.

Source: k8s.io/api ``resource/v1/types.go`` (DeviceAttribute, QualifiedName).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import field, fields, frozen

from drakit.model.collections import frozen_mapping, optional_tuple

__all__ = ["AttributeValue", "DeviceAttribute", "attribute", "attributes", "qualify", "semver", "split_name"]

AttributeValue: TypeAlias = "int | bool | str | tuple[int, ...] | tuple[bool, ...] | tuple[str, ...]"


@frozen(kw_only=True)
class DeviceAttribute:
    """One value of a device; exactly one of the fields is set.

    The trailing underscores keep Python's names free; on the wire they are ``int`` and ``bool``.
    """

    int_: int | None = None
    """64 bits, signed."""
    bool_: bool | None = None
    string: str | None = None
    """At most 64 bytes."""
    version: str | None = None
    """SemVer 2.0.0, at most 64 bytes."""
    ints: tuple[int, ...] | None = field(default=None, converter=optional_tuple)
    bools: tuple[bool, ...] | None = field(default=None, converter=optional_tuple)
    strings: tuple[str, ...] | None = field(default=None, converter=optional_tuple)
    versions: tuple[str, ...] | None = field(default=None, converter=optional_tuple)

    def set_values(self) -> Iterator[tuple[str, AttributeValue]]:
        """Every field that is set, as (kind, value); kind is the name on the wire."""
        for name, kind in _KINDS:
            value = getattr(self, name)
            if value is not None:
                yield kind, value

    @property
    def kind(self) -> str:
        """``int``, ``bool``, ``string``, ``version``, or the plural for a list; empty when nothing is set."""
        return next(self.set_values(), ("", ""))[0]

    @property
    def value(self) -> AttributeValue | None:
        """The value, a list as a tuple; None when nothing is set."""
        return next((value for _, value in self.set_values()), None)

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(list(value) if isinstance(value, tuple) else value)


_KINDS: Final = tuple((a.name, a.name.rstrip("_")) for a in fields(DeviceAttribute))


def semver(version: str) -> DeviceAttribute:
    """An attribute whose value is a SemVer 2.0.0 version, such as ``1.4.2``."""
    return DeviceAttribute(version=version)


def attribute(value: DeviceAttribute | int | bool | str | Iterable[int] | Iterable[bool] | Iterable[str]) -> DeviceAttribute:
    """The attribute for a plain Python value; a version needs :func:`semver`.

    :raises TypeError: a value that is none of int, bool, str, or a non-empty list of one of them.
    """
    match value:
        case DeviceAttribute():
            return value
        case bool():
            return DeviceAttribute(bool_=value)
        case int():
            return DeviceAttribute(int_=value)
        case str():
            return DeviceAttribute(string=value)
        case bytes() | Mapping():
            raise TypeError(_not_an_attribute(value))
        case Iterable():
            return _list_attribute(tuple(value))
    raise TypeError(_not_an_attribute(value))


def _list_attribute(items: tuple[object, ...]) -> DeviceAttribute:
    kinds = {type(item) for item in items}
    if kinds == {bool}:
        return DeviceAttribute(bools=items)
    if kinds == {int}:
        return DeviceAttribute(ints=items)
    if kinds == {str}:
        return DeviceAttribute(strings=items)
    raise TypeError(_not_an_attribute(items))


def _not_an_attribute(value: object) -> str:
    return f"{value!r} cannot be an attribute: must be an int, a bool, a str, semver(...) or a non-empty list of one of them"


def attributes(values: Mapping[str, object]) -> Mapping[str, DeviceAttribute]:
    """Attributes by name from plain Python values; a value of None leaves the attribute out.

    :raises TypeError: naming the attribute.
    """
    converted = {}
    for name, value in values.items():
        if value is None:
            continue
        try:
            converted[name] = attribute(value)  # type: ignore[arg-type]  # checked there
        except TypeError as error:
            raise TypeError(f"attribute {name!r}: {error}") from None
    return frozen_mapping(converted)


def split_name(name: str) -> tuple[str, str]:
    """Domain and identifier of a qualified name; the domain is empty where none is written."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else ("", name)


def qualify(name: str, driver: str) -> str:
    """The fully qualified form: a name without a domain belongs to its driver's."""
    return name if "/" in name else f"{driver}/{name}"
