"""The names of cel-go's own types, which some of its messages show.

Source: github.com/google/cel-go ``common/types``; k8s.io/apiserver ``pkg/cel``; k8s.io/dynamic-resource-allocation
``cel/compile.go`` (mapper).
"""

from __future__ import annotations

from typing import Final

from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.library.quantities import QuantityValue
from drakit.cel.values import Concatenation, Fault, Map, Optional, Thing, TypeValue, UInt, Value

__all__ = ["go_name"]

_NAMES: Final[dict[type, str]] = {
    bool: "types.Bool", int: "types.Int", UInt: "types.Uint", float: "types.Double", str: "types.String",
    bytes: "types.Bytes", type(None): "types.Null", TypeValue: "*types.Type", Optional: "*types.Optional",
    Fault: "*types.Err", tuple: "*types.baseList", Concatenation: "*types.concatList", list: "*types.mutableList",
}  # fmt: skip
_NO_DEFAULT: Final = Map().default


def go_name(value: Value) -> str:
    """How Go prints the type of a value, as ``types.Int``."""
    if isinstance(value, Map):
        return "*types.baseMap" if value.default is _NO_DEFAULT else "cel.mapper"
    if isinstance(value, Thing):
        return _of_thing(value)
    return _NAMES[type(value)]


def _of_thing(value: Thing) -> str:
    if isinstance(value, Duration | Timestamp):
        return f"types.{value.go_name}"
    pointer = "*" if isinstance(value, QuantityValue) and value.computed else ""
    return f"{pointer}cel.{value.go_name}"
