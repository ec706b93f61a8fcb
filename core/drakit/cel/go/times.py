"""Points in time and durations, as Go's ``time`` reads, computes and prints them.

Both count nanoseconds. Python's own ``datetime`` has neither that precision nor the years 0 and 10000, which a time zone
can make of the first and the last moment there is; ``zoneinfo`` is only asked for offsets.

Source: github.com/google/cel-go ``common/types/{timestamp,duration,overflow}.go`` and ``common/stdlib/standard.go``; Go
``time.Parse`` with ``time.RFC3339``, ``time.ParseDuration``, ``time.LoadLocation``.
"""

from __future__ import annotations

import contextlib
import functools
import re
import zoneinfo
from collections.abc import Callable, Hashable
from datetime import UTC, datetime, timedelta
from typing import Final

from attrs import frozen

from drakit.cel.go.quoting import quoted
from drakit.cel.values import INT64, Fault, Thing, Value, fixed_digits, no_such_overload, register, utf8

__all__ = ["PARTS", "Duration", "Timestamp"]

_SECOND: Final = 10**9  # nanoseconds, as all these
_HOUR: Final = 3600 * _SECOND
_MINUTE: Final = 60 * _SECOND
_MILLISECOND: Final = 10**6
_UNITS: Final = {"ns": 1, "us": 1000, "\u00b5s": 1000, "\u03bcs": 1000, "ms": _MILLISECOND, "s": _SECOND, "m": _MINUTE,
                 "h": _HOUR}  # fmt: skip
_DAY: Final = 86400  # seconds
_FIRST: Final = -62135596800  # seconds from 1970 to the year 1
_LAST: Final = 253402300799  # and to the end of the year 9999
_LIMIT: Final = 2**63


def _checked(number: int) -> int:
    if number not in INT64:
        raise Fault("integer overflow")
    return number


def _divided(number: int, unit: int) -> tuple[int, int]:
    """Quotient and remainder, truncated toward zero."""
    quotient = abs(number) // unit
    return (quotient, number - quotient * unit) if number >= 0 else (-quotient, number + quotient * unit)


# -- durations ------------------------------------------------------------------------------------------------------


@register
@frozen(eq=False, slots=False)
class Duration(Thing):
    """A span of time."""

    type_name = "google.protobuf.Duration"

    nanoseconds: int
    """In :data:`INT64`."""

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Read ``1h30m`` and its like.

        :raises Fault: not a duration, or one beyond 292 years.
        """
        nanoseconds = _read_duration(text)
        if nanoseconds is None:
            raise Fault(f"type conversion error from 'string' to '{cls.type_name}'")
        return cls(nanoseconds)

    def equals(self, other: Value) -> bool:
        return isinstance(other, Duration) and self.nanoseconds == other.nanoseconds

    @property
    def hash_key(self) -> int:
        return self.nanoseconds

    def __str__(self) -> str:
        """In seconds, as ``string()`` has it."""
        return f"{fixed_digits(self._in(_SECOND))}s"

    def _in(self, unit: int) -> float:
        """In a unit as a double, rounded in the two steps that Go takes."""
        whole, rest = _divided(self.nanoseconds, unit)
        return whole + rest / unit

    def hours(self) -> int:
        """Whole hours."""
        return int(self._in(_HOUR))

    def minutes(self) -> int:
        """Whole minutes."""
        return int(self._in(_MINUTE))

    def seconds(self) -> int:
        """Whole seconds."""
        return int(self._in(_SECOND))

    def milliseconds(self) -> int:
        """Whole milliseconds."""
        return _divided(self.nanoseconds, _MILLISECOND)[0]

    def plus(self, other: Value) -> Value:
        """Added to a duration or a point in time."""
        if isinstance(other, Timestamp):
            return other.plus(self)
        if not isinstance(other, Duration):
            raise no_such_overload()
        return Duration(_checked(self.nanoseconds + other.nanoseconds))

    def minus(self, other: Value) -> Duration:
        """Less another duration."""
        if not isinstance(other, Duration):
            raise no_such_overload()
        return Duration(_checked(self.nanoseconds - other.nanoseconds))

    def negated(self) -> Duration:
        """As long, the other way."""
        return Duration(_checked(-self.nanoseconds))

    @property
    def order(self) -> int:
        return self.nanoseconds


_PART: Final = re.compile(r"([0-9]*)(\.?)([0-9]*)([^.0-9]+)")


def _read_duration(text: str) -> int | None:
    sign, rest = (text[0], text[1:]) if text[:1] in ("-", "+") else ("", text)
    if rest == "0":
        return 0
    total, position = 0, 0
    while position < len(rest):
        match = _PART.match(rest, position)
        value = None if match is None else _part(match)
        if value is None:
            return None
        # Two parts of the most there is come to nothing in Go's 64 bits, and Kubernetes reads 0s.
        total = (total + value) % 2**64
        if total > _LIMIT:
            return None
        assert match is not None
        position = match.end()
    if not rest or (total == _LIMIT and sign != "-"):
        return None
    return -total if sign == "-" else total


def _part(match: re.Match[str]) -> int | None:
    """The nanoseconds of a number with its unit; fractions are rounded in doubles, as Go does."""
    whole, _, fraction, name = match.groups()
    unit = _UNITS.get(name)
    if unit is None or not (whole or fraction):
        return None
    number = int(whole.lstrip("0") or "0") if len(whole.lstrip("0")) < 20 else _LIMIT + 1
    if number > _LIMIT // unit:
        return None
    value, scale = 0, 1.0
    for digit in fraction:
        if value > (_LIMIT - 1) // 10 or value * 10 + int(digit) > _LIMIT:
            break
        value = value * 10 + int(digit)
        scale *= 10
    number = number * unit + int(float(value) * (float(unit) / scale))
    return None if number > _LIMIT else number


# -- points in time -------------------------------------------------------------------------------------------------


@register
@frozen(eq=False, slots=False)
class Timestamp(Thing):
    """A point in time, with the offset from UTC it was written with."""

    type_name = "google.protobuf.Timestamp"

    nanoseconds: int
    """Since 1970 in UTC."""
    offset: int = 0
    """Seconds east of UTC; only ``string()`` shows it."""
    place: Hashable = None
    """Go's time zone, which takes part where points are keys: most offsets of whole hours are one, others one each time."""

    @classmethod
    def of(cls, seconds: int) -> Timestamp:
        """The point so many seconds after 1970.

        :raises Fault: not in the years 1 to 9999.
        """
        if not _FIRST <= seconds <= _LAST:
            raise Fault("timestamp overflow")
        return cls(seconds * _SECOND)

    @classmethod
    def parse(cls, text: str) -> Timestamp:
        """Read a point in time after RFC 3339, with the liberties that Go takes.

        :raises Fault: not one, or not in the years 1 to 9999.
        """
        match = _RFC3339.fullmatch(text)
        found = None if match is None else _read_moment(match)
        if match is None or found is None:
            raise Fault(f"type conversion error from 'string' to '{cls.type_name}'")
        seconds, nanoseconds, offset = found
        hours, rest = divmod(offset, 3600)
        place = None if match[8] is None else hours if not rest and hours in _SHARED_OFFSETS else object()
        return cls(cls.of(seconds).nanoseconds + nanoseconds, offset, place)

    def equals(self, other: Value) -> bool:
        return isinstance(other, Timestamp) and self.nanoseconds == other.nanoseconds

    @property
    def hash_key(self) -> tuple[int, Hashable]:
        return self.nanoseconds, self.place

    def __str__(self) -> str:
        """As ``string()`` has it, in the offset it was written with."""
        seconds, nanoseconds = divmod(self.nanoseconds, _SECOND)
        moment = _Moment.at(seconds, self.offset)
        fraction = f".{nanoseconds:09}".rstrip("0").rstrip(".")
        clock = f"{moment.hour:02}:{moment.minute:02}:{moment.second:02}{fraction}"
        return f"{moment.year:04}-{moment.month:02}-{moment.day:02}T{clock}{_zone(self.offset)}"

    @property
    def seconds(self) -> int:
        """Whole seconds since 1970."""
        return self.nanoseconds // _SECOND

    def part(self, name: str, zone: str = "UTC") -> int:
        """A part of the date or of the time of day, in a time zone.

        :raises Fault: no such zone.
        """
        if name == "milliseconds":
            _offset(zone, self.seconds)
            return self.nanoseconds % _SECOND // _MILLISECOND
        return PARTS[name](_Moment.at(self.seconds, _offset(zone, self.seconds)))

    def plus(self, other: Value) -> Timestamp:
        """Later by a duration."""
        if not isinstance(other, Duration):
            raise no_such_overload()
        moved = self.nanoseconds + other.nanoseconds
        if not _FIRST <= moved // _SECOND <= _LAST:
            raise Fault("timestamp overflow")
        return Timestamp(moved, self.offset, self.place)

    def minus(self, other: Value) -> Value:
        """Earlier by a duration, or the duration since another point."""
        if isinstance(other, Duration):
            return self.plus(other.negated())
        if not isinstance(other, Timestamp):
            raise no_such_overload()
        # Go multiplies whole seconds first, and that alone may overflow.
        _checked((self.seconds - other.seconds) * _SECOND)
        return Duration(_checked(self.nanoseconds - other.nanoseconds))

    @property
    def order(self) -> int:
        return self.nanoseconds


_RFC3339: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_SHARED_OFFSETS: Final = range(-12, 15)  # hours
_MONTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _read_moment(match: re.Match[str]) -> tuple[int, int, int] | None:
    """Seconds since 1970, nanoseconds, and seconds east of UTC."""
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    zone_hour, zone_minute = int(match[9] or 0), int(match[10] or 0)
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 59 or zone_hour > 24 or zone_minute > 60:
        return None
    if not 1 <= day <= _MONTHS[month - 1] + (month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)):
        return None
    offset = (zone_hour * 60 + zone_minute) * 60 * (-1 if match[8] == "-" else 1)
    seconds = _days(year, month, day) * _DAY + hour * 3600 + minute * 60 + second - offset
    return seconds, int((match[7] or "")[:9].ljust(9, "0")), offset


def _zone(offset: int) -> str:
    if offset == 0:
        return "Z"
    hours, minutes = divmod(abs(offset) // 60, 60)
    return f"{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"


# A cycle of the Gregorian calendar: 400 years have as many days each time, and whole weeks.
_CYCLE_DAYS: Final = 146097
_CYCLE: Final = _CYCLE_DAYS * _DAY
_EPOCH: Final = 719468  # days from 0000-03-01 to 1970-01-01; years begin in March here, so that leap days come last


def _days(year: int, month: int, day: int) -> int:
    """Days from 1970 to a date."""
    year -= month < 3
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 1 - _EPOCH


@frozen
class _Moment:
    """A date and a time of day somewhere."""

    days: int
    """Since 1970."""
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int

    @classmethod
    def at(cls, seconds: int, offset: int) -> _Moment:
        """What the clock shows so many seconds after 1970, that far east of UTC."""
        days, clock = divmod(seconds + offset, _DAY)
        cycles, rest = divmod(days + _EPOCH, _CYCLE_DAYS)
        years = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
        rest -= 365 * years + years // 4 - years // 100
        months = (5 * rest + 2) // 153
        month = months + 3 if months < 10 else months - 9
        year = cycles * 400 + years + (month < 3)
        return cls(days, year, month, rest - (153 * months + 2) // 5 + 1, clock // 3600, clock // 60 % 60, clock % 60)


PARTS: Final[dict[str, Callable[[_Moment], int]]] = {
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month - 1,
    "day_of_year": lambda moment: moment.days - _days(moment.year, 1, 1),
    "day_of_month": lambda moment: moment.day - 1,
    "day_of_month_1_based": lambda moment: moment.day,
    "day_of_week": lambda moment: (moment.days + 4) % 7,
    "hours": lambda moment: moment.hour,
    "minutes": lambda moment: moment.minute,
    "seconds": lambda moment: moment.second,
    "milliseconds": lambda _: 0,
}
"""Parts of a date and time, by the name that is in the overload's id."""


def _offset(zone: str, seconds: int) -> int:
    """Seconds east of UTC, in a zone at a time."""
    hours, colon, minutes = zone.partition(":")
    if colon:
        hour, minute = _integer(hours), _integer(minutes)
        # Go computes in nanoseconds, converts to seconds by way of a double, and wraps where that is too much.
        offset = _wrapped(hour * 60 + (-minute if zone.startswith("-") else minute))
        return int(Duration(_wrapped(offset * _MINUTE)).seconds())
    if zone in ("", "UTC", "Local"):  # the machines of a cluster's control plane keep UTC
        return 0
    found = _zone_info(zone)
    # A datetime holds the years 1 to 9999; a year near the edge has its twin in another cycle.
    if seconds < _FIRST + 2 * 366 * _DAY:
        seconds += _CYCLE
    elif seconds > _LAST - 2 * 366 * _DAY:
        seconds -= _CYCLE
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    shift = moment.astimezone(found).utcoffset()
    assert shift is not None
    return round(shift.total_seconds())


def _wrapped(number: int) -> int:
    return (number + _LIMIT) % (2 * _LIMIT) - _LIMIT


_SIGNED: Final = re.compile(r"[+-]?[0-9]+")


def _integer(text: str) -> int:
    """As Go's ``strconv.Atoi``."""
    if not _SIGNED.fullmatch(text):
        raise Fault(f"strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-").lstrip("0") or "0"
    if len(digits) > 19 or sign * int(digits) not in INT64:
        raise Fault(f"strconv.Atoi: parsing {quoted(text)}: value out of range")
    return sign * int(digits)


@functools.lru_cache(maxsize=64)
def _zone_info(name: str) -> zoneinfo.ZoneInfo:
    if ".." in name or name[0] in "/\\":
        raise Fault("time: invalid location name")
    try:
        return zoneinfo.ZoneInfo(name)
    except IsADirectoryError:
        raise Fault("is a directory") from None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise Fault(_why_no_zone(name)) from None


def _why_no_zone(name: str) -> str:
    """What opening the file of a zone ends in."""
    if "\0" in name:
        return "invalid argument"
    *folders, _ = parts = name.split("/")
    if any(len(utf8(part)) > _LONGEST_NAME for part in parts):
        return "file name too long"
    for count in range(1, len(folders) + 1):
        with contextlib.suppress(Fault):
            _zone_info("/".join(folders[:count]))
            return "not a directory"
    return f"unknown time zone {name}"


_LONGEST_NAME: Final = 255
