"""The guard to write: an expression that fails where something is missing, changed so that it does not match there.

Used by :mod:`drakit.cel.census`. What is proposed has been evaluated; nothing is promised that was not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs
from attrs import frozen

from drakit.cel.census.parts import Anatomy
from drakit.cel.checking.environment import Environment
from drakit.cel.device import CelDevice
from drakit.cel.errors import CelError
from drakit.cel.fast.places import steps
from drakit.cel.syntax.ast import Call, Literal, Node, Select
from drakit.cel.syntax.unparsing import is_name, unparse
from drakit.cel.values import Map

__all__ = ["Guarded", "guarded"]

_MOST_GUARDS: Final = 32
_MISSING: Final = ("no such key: ", "index out of bounds: ")
_LOGICAL: Final = frozenset({"_&&_", "_||_", "!_", "_?_:_"})


@frozen
class Guarded:
    """A changed expression."""

    expression: str
    guards: tuple[str, ...]
    """What was put in, in the order of the devices that needed it."""


def guarded(expression: str, environment: Environment, devices: Iterable[CelDevice]) -> Guarded | None:
    """The expression with a guard for each thing that is missing on a device; None where no guard helps.

    :param devices: those on which the expression fails; of many alike one is enough.
    """
    text, guards = expression, list[str]()
    try:
        anatomy = Anatomy(text, environment)
        for device in devices:
            while len(guards) < _MOST_GUARDS and (found := _guard(anatomy, device)):
                text, guard = found
                guards.append(guard)
                anatomy = Anatomy(text, environment)
    except CelError:
        return None
    return Guarded(text, tuple(guards)) if guards else None


def _guard(anatomy: Anatomy, device: CelDevice) -> tuple[str, str] | None:
    """The expression with one guard more, and the guard; None where it has all it needs, or is past help."""
    for part in anatomy.deciding(device) if _fails(anatomy, anatomy.root, device) else ():
        missing = _missing(anatomy, part, device)
        if missing is None:
            continue
        path = _path(anatomy.root, part)
        if missing is part and _positive(path) == len(path) - 1:
            instead = _or_false(missing)
            if instead is not None:
                return unparse(_with(path, instead)), unparse(instead)
        guard = _presence(missing)
        if guard is not None:
            at = _positive(path)
            return unparse(_with(path[: at + 1], Call("_&&_", None, (guard, path[at]), part.offset))), unparse(guard)
    return None


def _missing(anatomy: Anatomy, part: Node, device: CelDevice) -> Node | None:
    """The selection or index in a part that finds nothing, and makes the whole part fail."""
    whole = anatomy.result(part, device)
    if whole is None or not whole.error.startswith(_MISSING):
        return None
    for node in anatomy.nodes(part):
        link = steps(node)
        result = None if link is None or link[2] or link[3] else anatomy.result(node, device)
        if link and result and result.error == whole.error and not _fails(anatomy, link[0], device):
            around = anatomy.result(link[0], device)
            return node if around and isinstance(around.value, Map | tuple) else None  # text has no parts to be missing
    return None


def _fails(anatomy: Anatomy, node: Node, device: CelDevice) -> bool:
    result = anatomy.result(node, device)
    return result is None or bool(result.error)


def _presence(missing: Node) -> Node | None:
    """What is true where something is there."""
    at = missing.offset
    match missing:
        case Select(operand=operand, field=name):
            return Select(operand, name, test_only=True, offset=at)
        case Call(args=(operand, Literal(value=str() as name))) if is_name(name):
            return Select(operand, name, test_only=True, offset=at)
        case Call(args=(operand, Literal(value=int()) as index)):
            return Call("_>_", None, (Call("size", operand, (), at), index), at)
        case Call(args=(operand, key)):
            return Call("@in", None, (key, operand), at)
    return None


def _or_false(missing: Node) -> Node | None:
    """The same value, and false where it is not there."""
    at = missing.offset
    match missing:
        case Select(operand=operand, field=name):
            optional = Call("_?._", None, (operand, Literal(name, at)), at)
        case Call(args=args):
            optional = Call("_[?_]", None, args, at)
        case _:
            return None
    return Call("orValue", optional, (Literal(False, at),), at)  # a CEL literal


# -- changing a tree ------------------------------------------------------------------------------------------------


def _path(root: Node, part: Node) -> list[Node]:
    """The nodes from the root to a part, over logical operators only."""
    paths: list[list[Node]] = [[root]]
    while paths:
        path = paths.pop()
        node = path[-1]
        if node is part:
            return path
        if isinstance(node, Call) and node.function in _LOGICAL:
            paths.extend([*path, arg] for arg in node.args)
    raise AssertionError("a part is below logical operators only")


def _positive(path: Sequence[Node]) -> int:
    """Where on a path a guard has to stand so that a device that lacks something does not match because of it."""
    for index, node in enumerate(path[:-1]):
        if isinstance(node, Call) and (node.function == "!_" or (node.function == "_?_:_" and node.args[0] is path[index + 1])):
            return index
    return len(path) - 1


def _with(path: Sequence[Node], new: Node) -> Node:
    """The tree with another node at the end of a path; a chain of ``&&`` in one of its like is made part of it."""
    for node, old in zip(reversed(path[:-1]), reversed(path), strict=False):
        assert isinstance(node, Call)
        args: list[Node] = []
        for arg in node.args:
            same = isinstance(new, Call) and new.function == node.function == "_&&_"
            args.extend([arg] if arg is not old else new.args if same and isinstance(new, Call) else [new])
        new = attrs.evolve(node, args=tuple(args))
    return new
