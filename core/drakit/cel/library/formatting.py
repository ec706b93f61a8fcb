"""``string.format()``: its clauses, and how it writes values.

The locale is English with its groups of three digits. Of ``%e``, what looks like the precision is the width.

Source: github.com/google/cel-go ``ext/formatting.go`` (the version before 4 of the library); golang.org/x/text/message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Final

from drakit.cel.go.conversions import to_text
from drakit.cel.go.quoting import quoted, quoted_bytes
from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.library.bounds import check_text
from drakit.cel.values import Fault, Map, TypeValue, Value, fixed_digits, type_name

__all__ = ["CLAUSES", "FormatFault", "clauses", "format_"]

_PRECISION: Final = 6
_MOST: Final = 10**6
_TOO_LARGE: Final = "%!(NOVERB)"
"""What comes of a number in a clause that is ten times too large."""
_SUPERSCRIPTS: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")
"""Texts that count as doubles."""
_CLAUSE: Final = re.compile(r"(\.([0-9]*))?(.?)", re.DOTALL)

CLAUSES: Final = {
    "s": (
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
        frozenset("bool bytes double duration int list map null string timestamp type uint".split()),
    ),
    "d": ("decimal clause can only be used on integers", frozenset({"int", "uint"})),
    "f": ("fixed-point clause can only be used on doubles", frozenset({"double", "string"})),
    "e": ("scientific clause can only be used on doubles", frozenset({"double", "string"})),
    "b": ("only integers and bools can be formatted as binary", frozenset({"bool", "int", "uint"})),
    "x": (
        "only integers, byte buffers, and strings can be formatted as hex",
        frozenset({"bytes", "int", "string", "uint"}),
    ),
    "o": ("octal clause can only be used on integers", frozenset({"int", "uint"})),
}
"""By their letters: what is said of a value of the wrong type, and which static types are right."""


class FormatFault(Exception):  # not an error of drakit's
    """What is wrong with a text to be formatted."""


def clauses(
    text: str, arguments: int, check: Callable[[str, int | None, int], str], *, literal: bool = False
) -> tuple[str, int]:
    """Go through the clauses of a text in their order.

    :param literal: both are literals that are looked at beforehand; of two things wrong, another is found then.
    :param check: what becomes of a clause: by its letter, its precision and the number of its argument.
    :returns: the text put together, and how many arguments were used.
    :raises FormatFault: a clause that cannot be read, or too few arguments.
    """
    parts: list[str] = []
    used = position = length = checked = 0
    while (percent := text.find("%", position)) >= 0:
        parts.append(text[position:percent])
        if text.startswith("%%", percent):
            parts.append("%")
            position = percent + 2
            continue
        if used >= arguments and not (literal and percent + 1 == len(text)):
            raise FormatFault(f"index {used} out of range")
        if percent + 1 == len(text):
            raise FormatFault("unexpected end of string")
        letter, precision, position = _read_clause(text, percent + 1)
        parts.append(check(letter, precision, used))
        used += 1
        length += len(parts[-1])
        if length > checked * 2:  # looking at all of them each time would take longer than the rest
            check_text(length, *parts)
            checked = length
    parts.append(text[position:])
    return "".join(parts), used


def _read_clause(text: str, position: int) -> tuple[str, int | None, int]:
    match = _CLAUSE.match(text, position)
    assert match is not None
    letter, precision = match[3], None
    if match[1]:
        if not letter:
            raise _unreadable("error while parsing precision: could not find end of precision specifier")
        precision = _integer(match[2])
    if letter.lower() == "x":
        return letter, precision, match.end()
    if letter not in CLAUSES:
        first = chr(letter.encode(errors="surrogateescape")[0])  # Go takes the first byte for the whole
        raise _unreadable(f'unrecognized formatting clause "{first}"')
    return letter, precision, match.end()


def _integer(digits: str) -> int:
    problem = "" if digits else "invalid syntax"
    if len(digits.lstrip("0")) > 19 or int(digits.lstrip("0") or "0") >= 2**63:
        problem = "value out of range"
    if problem:
        complaint = f"strconv.Atoi: parsing {quoted(digits)}: {problem}"
        raise _unreadable(f"error while parsing precision: error while converting precision to integer: {complaint}")
    return int(digits.lstrip("0") or "0")


def _unreadable(what: str) -> FormatFault:
    return FormatFault(f"could not parse formatting clause: {what}")


def format_(text: str, arguments: Sequence[Value]) -> str:
    """A text with its clauses replaced by values.

    :raises Fault: a clause that cannot be read, or a value that does not fit it.
    """

    def put(letter: str, precision: int | None, index: int) -> str:
        try:
            return _WRITERS[letter.lower()](arguments[index], letter, precision)
        except FormatFault as fault:
            raise FormatFault(f"error during formatting: {fault}") from None

    try:
        return clauses(text, len(arguments), put)[0]
    except FormatFault as fault:
        raise Fault(str(fault)) from None


def _wrong(letter: str, value: Value) -> FormatFault:
    return FormatFault(f"{CLAUSES[letter.lower()][0]}, was given {type_name(value)}")


# -- clauses --------------------------------------------------------------------------------------------------------


def _string(value: Value, letter: str, _precision: int | None = None) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_element, value))}]"
    if isinstance(value, Map):
        entries = sorted(((_entry_key(key), value.find(key)[0]) for key in value), key=lambda entry: entry[0])
        return f"{{{', '.join(f'{key}:{_element(element)}' for key, element in entries)}}}"
    if value is None:
        return "null"
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, bool | int | float | str | bytes | Duration | Timestamp):
        try:
            return to_text(value)
        except Fault as fault:
            raise FormatFault(f"could not convert argument {quoted(str(fault))} to string") from None
    raise _wrong(letter, value)


def _element(value: Value) -> str:
    """A value inside a list or a map."""
    if isinstance(value, bytes):
        _string(value, "s")
        return f"b{quoted_bytes(value)}"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Duration | Timestamp):
        return f"{'duration' if isinstance(value, Duration) else 'timestamp'}({quoted(str(value))})"
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return '"NaN"' if math.isnan(value) else '"+Inf"' if value > 0 else '"-Inf"'
        return f"{value:.{_PRECISION}f}"
    try:
        return _string(value, "s")
    except FormatFault:
        if isinstance(value, tuple | Map):
            raise
        raise FormatFault(f"no formatting function for {type_name(value)}") from None


def _entry_key(key: Value) -> str:
    if isinstance(key, str):
        return quoted(key)
    if isinstance(key, bool | int):
        return to_text(key)
    raise FormatFault(f"no formatting function for map key of type {type_name(key)}")


def _decimal(value: Value, letter: str, _precision: int | None) -> str:
    return str(int(_whole(value, letter)))


def _whole(value: Value, letter: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(letter, value)
    return int(value)


def _double(value: Value, letter: str) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, str) and value in _NUMBERS:
        return float(value)
    raise _wrong(letter, value)


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "" if math.isfinite(value) else "∞" if value > 0 else "-∞"


def _fixed(value: Value, letter: str, precision: int | None) -> str:
    number = _double(value, letter)
    precision = _PRECISION if precision is None else precision
    if precision // 10 > _MOST:
        return _TOO_LARGE
    if special := _special(number):
        return special
    # The most digits are kept in 16 bits with a sign, the fewest in 8 without.
    most, fewest = (precision + 2**15) % 2**16 - 2**15, precision % 2**8
    text = f"{number or 0.0:,.{most}f}" if most >= 0 else _grouped(fixed_digits(number or 0.0))
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(fewest, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _grouped(digits: str) -> str:
    sign = "-" if digits.startswith("-") else ""
    whole, point, fraction = digits.removeprefix("-").partition(".")
    return f"{sign}{int(whole):,}{point}{fraction}"


def _scientific(value: Value, letter: str, width: int | None) -> str:
    number = _double(value, letter)
    width = _PRECISION if width is None else width
    if width // 10 > _MOST:
        return _TOO_LARGE
    text = _special(number)
    if not text:
        mantissa, _, exponent = f"{number or 0.0:.{_PRECISION}e}".partition("e")
        text = f"{mantissa}\N{MULTIPLICATION SIGN}10{exponent.lstrip('+').translate(_SUPERSCRIPTS)}"
    return text.rjust(width % 2**16)


def _binary(value: Value, letter: str, _precision: int | None) -> str:
    return f"{int(value) if isinstance(value, bool) else _whole(value, letter):b}"


def _octal(value: Value, letter: str, _precision: int | None) -> str:
    return f"{_whole(value, letter):o}"


def _hexadecimal(value: Value, letter: str, _precision: int | None) -> str:
    if isinstance(value, str):
        value = value.encode(errors="surrogateescape")
    digits = value.hex() if isinstance(value, bytes) else f"{_whole(value, letter):x}"
    return digits.upper() if letter == "X" else digits


_WRITERS: Final[dict[str, Callable[[Value, str, int | None], str]]] = {
    "s": _string, "d": _decimal, "f": _fixed, "e": _scientific, "b": _binary, "o": _octal, "x": _hexadecimal,
}  # fmt: skip
