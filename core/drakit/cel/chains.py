"""Chains of selections and indexes.

In ``a.?b.c["d"]`` one ``?`` makes everything after it optional; ``has()`` asks about the last step only.

Source: github.com/google/cel-go ``interpreter/attributes.go`` (applyQualifiers, refQualify).
"""

from __future__ import annotations

from attrs import frozen

from drakit.cel.frame import Frame, Run
from drakit.cel.values import Fault, Map, NotDecided, Optional, Value, opened, text, type_name

__all__ = ["Qualifier", "resolve"]


@frozen
class Qualifier:
    """One step of a chain: ``.field``, ``[index]``, and both with ``?``."""

    key: Run
    optional: bool = False
    test_only: bool = False


def resolve(frame: Frame, value: Value, steps: tuple[Qualifier, ...], *, embedded: bool = False) -> Value:
    """The value at the end of a chain.

    :param embedded: the chain is a branch of a conditional or an index. There cel-go forgets that the result of
        ``has()`` over an optional is a bool.
    """
    is_optional = isinstance(value, Optional)
    tests = steps[-1].test_only
    if embedded and tests and (is_optional or any(step.optional for step in steps)):
        raise NotDecided("has() over an optional inside a conditional or an index")
    if is_optional:
        if not value.present:
            return False if tests else value
        value = opened(value)
    for step in steps:
        is_optional = is_optional or step.optional
        key = step.key(frame)
        found, present = _qualify(value, key, testing=is_optional or step.test_only)
        if step.test_only:
            return present
        if not present:
            return False if tests else Optional()
        value = found
    return Optional(value, present=True) if is_optional else value


def _qualify(value: Value, key: Value, *, testing: bool) -> tuple[Value, bool]:
    """The part of a value under a key, and whether there is one: if not, an error unless ``testing``."""
    if isinstance(key, Optional) or not isinstance(key, bool | int | float | str):
        raise NotDecided(f"an index of type {type_name(key)}")
    if isinstance(value, Optional):
        raise NotDecided("a selection from an optional inside another value")
    if isinstance(value, tuple):
        index = _list_index(key)
        if 0 <= index < len(value):
            return value[index], True
        if testing:
            return None, False
        raise Fault(f"index out of bounds: {text(key)}")
    if isinstance(value, Map):
        found = value.find(key)
        if found[1] or testing:
            return found
    elif testing:
        return None, False
    raise Fault(f"no such key: {text(key)}")


def _list_index(key: Value) -> int:
    if isinstance(key, bool | str):
        raise Fault(f"unsupported index type '{type_name(key)}' in list")
    if isinstance(key, float):
        if not key.is_integer() or not -(2.0**63) <= key < 2.0**63:
            raise Fault(f"unsupported index value {text(key)} in list")
        return int(key)
    if key >= 2**63:
        raise Fault(f"unsupported index value {key} in list")
    return int(key)
