"""What an expression takes from the device: chains of selections and indexes that start at ``device``.

Used by the generated code, which looks values up, and by :mod:`drakit.cel.reads`, which asks what can matter at all.
"""

from __future__ import annotations

from attrs import frozen

from drakit.cel.checking.checker import Checked
from drakit.cel.syntax.ast import Call, Ident, Literal, Node, Select

__all__ = ["DRIVER", "Place", "is_device", "place", "steps"]

DRIVER = True
"""Stands for ``device.driver`` where a domain is expected; no domain is a bool."""


@frozen
class Place:
    """A place in a device."""

    part: str
    """The field of ``device``."""
    domain: str | bool | None = None
    """:data:`DRIVER` for the driver's own; None where the chain ends before."""
    identifier: str | None = None
    optional: bool = False
    """Whether a ``?`` makes it an optional."""
    tested: bool = False
    """Whether ``has()`` only asks if it is there."""


def place(checked: Checked, node: Node, shadowed: bool) -> Place | None:
    """The place a node stands for, if it stands for one with constant names.

    :param shadowed: ``device`` is a variable of a fold here.
    """
    found: list[tuple[Node | str, bool, bool]] = []
    while (step := steps(node)) is not None:
        node, key, optional, tested = step
        found.append((key, optional, tested))
    if not is_device(checked, node, shadowed=shadowed) or not 1 <= len(found) <= 3:
        return None
    found.reverse()
    keys = [_name(checked, key) for key, _, _ in found]
    if not isinstance(keys[0], str) or any(key is None for key in keys) or any(key is DRIVER for key in keys[2:]):
        return None
    if found[0][1] or found[0][2]:
        return None
    identifier = keys[2] if len(keys) > 2 else None
    assert not isinstance(identifier, bool)
    return Place(
        keys[0],
        keys[1] if len(keys) > 1 else None,
        identifier,
        any(optional for _, optional, _ in found),
        found[-1][2],
    )


def is_device(checked: Checked, node: Node, *, shadowed: bool) -> bool:
    """Whether a node is the variable ``device``; with a dot before it, it is even where a fold has a variable of that name."""
    name = checked.names.get(node) if isinstance(node, Ident) else None
    return name == ".device" or (name == "device" and not shadowed)


def steps(node: Node) -> tuple[Node, Node | str, bool, bool] | None:
    """Operand, key, whether it is optional and whether it is only tested, of one link of a chain."""
    match node:
        case Select(operand=operand, field=field, test_only=tested):
            return operand, field, False, tested
        case Call(function="_[_]" | "_[?_]" | "_?._" as function, args=(operand, key)):
            return operand, key, function != "_[_]", False
    return None


def _name(checked: Checked, key: Node | str) -> str | bool | None:
    if isinstance(key, str):
        return key
    if isinstance(key, Literal) and isinstance(key.value, str):
        return key.value
    match key:
        case Select(operand=operand, field="driver", test_only=False) if is_device(checked, operand, shadowed=False):
            return DRIVER
    return None
