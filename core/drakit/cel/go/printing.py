"""Values as Go's ``%v`` prints them inside a few messages.

Source: Go ``fmt`` and ``time``; github.com/google/cel-go ``common/types``.
"""

from __future__ import annotations

from typing import Final

from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.values import Map, NotDecided, Optional, Thing, TypeValue, Value, format_double, type_name

__all__ = ["printed"]

_OPEN_TYPES: Final = {"list": "list(dyn)", "map": "map(dyn, dyn)", "optional_type": "optional_type(dyn)"}
_CLOCK_UNITS: Final = ((10**9, "s"), (10**6, "ms"), (10**3, "\u00b5s"), (1, "ns"))


def printed(value: Value) -> str:
    """A value inside a message.

    :raises NotDecided: of some types Go prints addresses of its memory.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "0"
    if isinstance(value, float):
        return format_double(value)
    if isinstance(value, bytes):
        return f"[{' '.join(map(str, value))}]"
    if isinstance(value, tuple):
        return f"[{', '.join(map(printed, value))}]"
    if isinstance(value, Optional):
        return f"optional({printed(value.value)})" if value.present else "optional.none()"
    if isinstance(value, TypeValue):
        return _OPEN_TYPES.get(value.name, value.name)
    if isinstance(value, Map) and value.default is Map().default:
        return f"{{{', '.join(f'{printed(key)}: {printed(value.find(key)[0])}' for key in value)}}}"
    if isinstance(value, Duration):
        return _duration(value.nanoseconds)
    if isinstance(value, Timestamp):
        return _moment(value)
    if isinstance(value, Map) or (isinstance(value, Thing) and type(value).__str__ is object.__str__):
        raise NotDecided(f"a message that shows a value of type {type_name(value)}")
    return str(value)


def _duration(nanoseconds: int) -> str:
    """As ``1h2m3.5s``."""
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    unit, name = next((unit, name) for unit, name in _CLOCK_UNITS if rest >= unit)
    minutes, rest = divmod(rest, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = str(rest // unit) + f".{rest % unit:0{len(str(unit)) - 1}}".rstrip("0").rstrip(".") if unit > 1 else str(rest)
    return sign + (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + text + name


def _moment(moment: Timestamp) -> str:
    """As ``2026-01-02 03:04:05.5 +0100 +0100``."""
    day, _, clock = str(moment).partition("T")
    zone = clock.lstrip("0123456789:.")
    if zone == "Z":
        return f"{day} {clock[:-1]} +0000 UTC"
    offset = zone.replace(":", "")
    return f"{day} {clock[: -len(zone)]} {offset} {offset}"
