"""Messages that an expression can name: those cel-go brings along, and the device's own type.

Most are only names of types. Those around one value, points and spans of time can also be made, as in
``google.protobuf.Int64Value{value: 1}``; the device's own type is known to the checker, and no program can make one.

Source: github.com/google/cel-go ``common/types/{pb,provider}.go``; google/protobuf ``wrappers.proto``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final

from drakit.cel.checking.types import ANY, BOOL, DYN, INT, QUANTITY, STRING, Type, list_of, map_of, wrapper_of
from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.values import Fault, NotDecided, UInt, Value

__all__ = ["DEVICE", "FIELDS", "MESSAGES", "Maker", "maker"]

DEVICE: Final = Type("struct", "kubernetes.DRADevice")
_UINT: Final = Type("uint", "uint")
_DOUBLE: Final = Type("double", "double")
_BYTES: Final = Type("bytes", "bytes")
_WRAPPED: Final = {
    "BoolValue": BOOL, "BytesValue": _BYTES, "DoubleValue": _DOUBLE, "FloatValue": _DOUBLE, "Int32Value": INT,
    "Int64Value": INT, "StringValue": STRING, "UInt32Value": _UINT, "UInt64Value": _UINT,
}  # fmt: skip
MESSAGES: Final[Mapping[str, Type]] = {
    "google.protobuf.Any": ANY,
    "google.protobuf.Duration": Type("duration", "duration"),
    "google.protobuf.Empty": Type("struct", "google.protobuf.Empty"),
    "google.protobuf.ListValue": list_of(DYN),
    "google.protobuf.Struct": map_of(STRING, DYN),
    "google.protobuf.Timestamp": Type("timestamp", "timestamp"),
    "google.protobuf.Value": DYN,
    "kubernetes.DRADevice": DEVICE,
    "net.CIDR": Type("struct", "net.CIDR"),
    "net.IP": Type("struct", "net.IP"),
} | {f"google.protobuf.{name}": wrapper_of(type_) for name, type_ in _WRAPPED.items()}
"""Types by their names."""
_TIME: Final = {"seconds": INT, "nanos": INT}
FIELDS: Final[Mapping[str, Mapping[str, Type]]] = {
    "google.protobuf.Duration": _TIME,
    "google.protobuf.Timestamp": _TIME,
    "kubernetes.DRADevice": {
        "driver": STRING,
        "allowMultipleAllocations": BOOL,
        "attributes": map_of(STRING, map_of(STRING, DYN)),
        "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
    },
} | {f"google.protobuf.{name}": {"value": type_} for name, type_ in _WRAPPED.items()}
"""Fields of the messages that an expression can try to make."""

_DEFAULTS: Final[Mapping[Type, Value]] = {BOOL: False, _BYTES: b"", _DOUBLE: 0.0, INT: 0, STRING: "", _UINT: UInt(0)}
_NARROW: Final = {"Int32Value": range(-(2**31), 2**31), "UInt32Value": range(2**32)}

Maker = Callable[[Mapping[str, Value]], Value]
"""From the fields that are set to the message, which raises Fault where it cannot be made."""


def maker(name: str) -> Maker:
    """What makes a message of a name of :data:`FIELDS`."""
    if name == DEVICE.name:
        return _no_device
    if name == "google.protobuf.Timestamp":
        return lambda fields: Timestamp(_nanoseconds(fields))
    if name == "google.protobuf.Duration":
        return lambda fields: Duration(_nanoseconds(fields))
    short = name.rpartition(".")[2]
    default, narrow = _DEFAULTS[_WRAPPED[short]], _NARROW.get(short)

    def wrapped(fields: Mapping[str, Value]) -> Value:
        value = fields.get("value", default)
        if type(value) is not type(default):
            raise NotDecided(f"{name} of a value of another type")
        if narrow is not None and value not in narrow:
            overflow = "integer overflow" if short == "Int32Value" else "unsigned integer overflow"
            raise Fault(f"field type conversion error for {name}.value value type: {overflow}")
        return struct.unpack("f", struct.pack("f", value))[0] if short == "FloatValue" else value

    return wrapped


def _no_device(_: Mapping[str, Value]) -> Value:
    raise Fault(f"unknown type '{DEVICE.name}'")


def _nanoseconds(fields: Mapping[str, Value]) -> int:
    return int(fields.get("seconds", 0)) * 10**9 + int(fields.get("nanos", 0))
