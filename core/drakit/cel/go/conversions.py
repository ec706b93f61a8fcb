"""Conversions between types, as Go's ``strconv`` reads and ``fmt`` writes.

Source: github.com/google/cel-go ``common/types/{string,double,int,uint}.go``.
"""

from __future__ import annotations

import math
import re
from typing import Final

from drakit.cel.values import INT64, UINT64, Fault, TypeValue, UInt, Value, format_double, type_name, utf8

__all__ = [
    "bytes_to_string",
    "double_to_int",
    "double_to_uint",
    "identity",
    "string_to_bool",
    "string_to_bytes",
    "string_to_double",
    "string_to_int",
    "string_to_uint",
    "to_text",
    "type_",
]

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL: Final = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE | re.ASCII)
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+", re.ASCII)
_LONE_UNDERSCORE: Final = re.compile(r"(?<![0-9])_|_(?![0-9])")
_LONE_HEX_UNDERSCORE: Final = re.compile(r"(?<![0-9a-fA-FxX])_|_(?![0-9a-fA-F])")
_MANY: Final = 10**4  # Go stops to count an exponent here


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
    number = _number(digits) * (-1 if text[:1] == "-" else 1) if _decimal_digits(digits) else INT64.stop
    if number not in INT64:
        raise _conversion_fault("string", "int")
    return number


def string_to_uint(text: str) -> UInt:
    """Read decimal digits."""
    number = _number(text) if _decimal_digits(text) else UINT64.stop
    if number not in UINT64:
        raise _conversion_fault("string", "uint")
    return UInt(number)


def _number(digits: str) -> int:
    """The number, or one that is too great for anybody: Python does not read thousands of digits."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= len(str(UINT64.stop)) else UINT64.stop


def _decimal_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def string_to_double(text: str) -> float:
    """Read a double as Go does."""
    if _SPECIAL.fullmatch(text):
        return float(text)
    is_hexadecimal = text.lstrip("+-")[:2] in ("0x", "0X")
    lone = (_LONE_HEX_UNDERSCORE if is_hexadecimal else _LONE_UNDERSCORE).search(text)
    digits = text.replace("_", "")
    if lone or not (_HEXADECIMAL if is_hexadecimal else _DECIMAL).fullmatch(digits):
        raise _conversion_fault("string", "double")
    number = _hexadecimal(digits) if is_hexadecimal else float(digits)
    if math.isinf(number):
        raise _conversion_fault("string", "double")
    return number


def _hexadecimal(text: str) -> float:
    mantissa, _, exponent = text.lower().partition("p")
    power = min(_MANY, _number(exponent.lstrip("+-"))) * (-1 if exponent[0] == "-" else 1)
    try:
        return float.fromhex(f"{mantissa}p{power}")
    except OverflowError:
        return math.inf


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


def to_text(value: Value) -> str:
    """``string()`` of a value that has one.

    :raises Fault: bytes that are no UTF-8.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return bytes_to_string(value)
    if isinstance(value, float):
        return format_double(value)
    return str(value)


def string_to_bytes(text: str) -> bytes:
    """Encode as UTF-8."""
    return utf8(text)
