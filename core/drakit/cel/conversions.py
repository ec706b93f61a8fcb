"""Conversions between types, as Go's ``strconv`` reads and ``fmt`` writes.

Source: github.com/google/cel-go ``common/types/{string,double,int,uint}.go``.
"""

from __future__ import annotations

import math
import re
from typing import Final

from drakit.cel.values import INT64, UINT64, Fault, NotDecided, TypeValue, UInt, Value, type_name

__all__ = [
    "bytes_to_string",
    "double_to_int",
    "double_to_uint",
    "identity",
    "string_to_bool",
    "string_to_double",
    "string_to_int",
    "string_to_uint",
    "type_",
]

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL: Final = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE)
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX]")


def _conversion_fault(source: str, target: str) -> Fault:
    return Fault(f"type conversion error from '{source}' to '{target}'")


def string_to_bool(text: str) -> bool:
    """Read a bool as Go does."""
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise _conversion_fault("string", "bool")


def string_to_int(text: str) -> int:
    """Read decimal digits with an optional sign."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not _decimal_digits(digits) or len(digits.lstrip("0")) > 19 or int(text) not in INT64:
        raise _conversion_fault("string", "int")
    return int(text)


def string_to_uint(text: str) -> UInt:
    """Read decimal digits."""
    if not _decimal_digits(text) or len(text.lstrip("0")) > 20 or int(text) not in UINT64:
        raise _conversion_fault("string", "uint")
    return UInt(text)


def _decimal_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def string_to_double(text: str) -> float:
    """Read a double as Go does."""
    if _HEXADECIMAL.match(text) or "_" in text:  # Go takes some underscores and refuses others
        raise NotDecided("a double written in hexadecimal or with underscores")
    if _SPECIAL.fullmatch(text):
        return float(text)
    if not _DECIMAL.fullmatch(text) or math.isinf(float(text)):
        raise _conversion_fault("string", "double")
    return float(text)


def double_to_int(value: float) -> int:
    """Truncate; what an int64 cannot hold is an error."""
    # Both ends are excluded: as doubles they stand for more than they can hold.
    if not -9223372036854775808.0 < value < 9223372036854775808.0:
        raise Fault("integer overflow")
    return int(value)


def double_to_uint(value: float) -> UInt:
    """Truncate; what a uint64 cannot hold is an error."""
    if not 0 <= value < 18446744073709551616.0:
        raise Fault("unsigned integer overflow")
    return UInt(value)


def bytes_to_string(value: bytes) -> str:
    """Decode UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Fault("invalid UTF-8 in bytes, cannot convert to string") from None


def identity(value: Value) -> Value:
    """The value itself."""
    return value


def type_(value: Value) -> TypeValue:
    """The type of a value."""
    return TypeValue(type_name(value))
