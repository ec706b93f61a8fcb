"""Literals that Kubernetes refuses: those a function cannot take, and those whose elements differ in type.

Source: github.com/google/cel-go ``cel/validator.go`` (duration, timestamp, matches, homogeneous literals) and
``ext/formatting.go`` (format).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from drakit.cel.checking.types import Type, plain
from drakit.cel.errors import Issue
from drakit.cel.go import regex
from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.library import formatting
from drakit.cel.syntax.ast import Call, ListLiteral, Literal, MapLiteral, Node, children
from drakit.cel.syntax.source import Source
from drakit.cel.values import Fault, UInt

__all__ = ["wrong_literals"]


_MOST_EFFORT: Final = 5_000_000
"""Of compiling all patterns; some hundred thousand instructions of RE2."""

Complaint: TypeAlias = tuple[Node, Issue]
"""What is wrong, and the node because of which it is."""


def wrong_literals(root: Node, functions: Mapping[Node, str], types: Mapping[Node, Type], source: Source) -> Iterator[Issue]:
    """All such literals. One that a macro wrote twice is told twice.

    :param functions: the full name of the function of each call.
    :param types: the type of each node.
    :raises UnsupportedExpression: a pattern that takes more memory than there is.
    """
    complaints = [*_wrong_arguments(functions, types, source), *_mixed_literals(root, types, source)]
    if complaints:
        written = _occurrences(root)
        for node, issue in complaints:
            yield from itertools.repeat(issue, written[node])


def _occurrences(root: Node) -> Counter[Node]:
    """How often each node is in the tree."""
    order: dict[Node, None] = {}
    pending = [(root, children(root))]
    while pending:
        node, below = pending[-1]
        child = next(below, None)
        if child is None:
            pending.pop()
            order[node] = None
        elif child not in order:
            pending.append((child, children(child)))
    found = Counter({root: 1})
    for node in reversed(order):
        for child in children(node):
            found[child] += found[node]
    return found


def _wrong_arguments(functions: Mapping[Node, str], types: Mapping[Node, Type], source: Source) -> Iterator[Complaint]:
    effort = 0
    for node, function in functions.items():
        if not isinstance(node, Call):
            continue
        # As in cel-go it is the first argument that is looked at, even in `matches(text, pattern)`.
        first = node.args[0] if node.args else None
        if function == "format":
            yield from ((node, issue) for issue in _format(node, types, source))
        elif function in ("duration", "matches", "timestamp") and isinstance(first, Literal):
            try:
                effort += _READERS[function](first.value)
            except (Fault, regex.PatternError):
                yield node, source.issue(first.offset, f"invalid {function} argument")
            except regex.Unsupported:
                effort = _MOST_EFFORT + 1
            if effort > _MOST_EFFORT:
                raise source.unsupported(first.offset, "this regular expression")


def _duration(value: object) -> int:
    Duration.parse(str(value))
    return 0


def _pattern(value: object) -> int:
    """How much compiling it is."""
    return regex.compile(str(value)).effort


def _timestamp(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool | UInt):
        Timestamp.of(value)
    else:
        Timestamp.parse(str(value))
    return 0


_READERS: Final = {"duration": _duration, "matches": _pattern, "timestamp": _timestamp}


# -- format -----------------------------------------------------------------------------------------------------------


def _format(node: Call, types: Mapping[Node, Type], source: Source) -> Iterator[Issue]:
    """A text with clauses against the elements of a list, as far as both are literals."""
    text, arguments = node.target, node.args[0]
    if not (isinstance(text, Literal) and isinstance(text.value, str) and isinstance(arguments, ListLiteral)):
        return
    misplaced: list[tuple[Node, str]] = []

    def check(letter: str, _precision: int | None, index: int) -> str:
        argument = arguments.elements[index]
        wrong = _first_wrong(argument, types) if letter == "s" else None if _fits(argument, letter, types) else argument
        if wrong is not None:
            complaint = f"{formatting.CLAUSES[letter.lower()][0]}, was given {_type_name(types[wrong])}"
            misplaced.append((wrong, complaint))
            raise formatting.FormatFault(f"error during formatting: {complaint}")
        return ""

    try:
        _, used = formatting.clauses(text.value, len(arguments.elements), check, literal=True)
    except formatting.FormatFault as fault:
        yield source.issue(misplaced[0][0].offset if misplaced else node.offset, str(fault))
        return
    supplied = len(arguments.elements)
    if supplied > used:
        message = f"too many arguments supplied to string.format (expected {used}, got {supplied})"
        yield source.issue(node.offset, message)


def _fits(node: Node, letter: str, types: Mapping[Node, Type]) -> bool:
    return types[node].kind == "dyn" or types[node].kind in formatting.CLAUSES[letter.lower()][1]


def _first_wrong(node: Node, types: Mapping[Node, Type]) -> Node | None:
    """The first part of an argument of ``%s`` that cannot be written; parts of literals count."""
    if not _fits(node, "s", types):
        return node
    parts: tuple[Node, ...] = ()
    if isinstance(node, ListLiteral):
        parts = node.elements
    elif isinstance(node, MapLiteral):
        parts = tuple(part for entry in node.entries for part in (entry.key, entry.value))
    return next((wrong for part in parts if (wrong := _first_wrong(part, types)) is not None), None)


_TYPE_NAMES: Final = {
    "any": "google.protobuf.Any",
    "duration": "google.protobuf.Duration",
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
}


def _type_name(type_: Type) -> str:
    return _TYPE_NAMES.get(type_.kind, type_.name)


# -- elements ---------------------------------------------------------------------------------------------------------


def _mixed_literals(root: Node, types: Mapping[Node, Type], source: Source) -> Iterator[Complaint]:
    """Lists and maps whose elements differ in type: Kubernetes refuses what cel-go would call ``dyn``."""
    if all(_is_uniform(node, types) for node in types):
        return
    pending = [root]
    seen: set[Node] = set()  # optMap writes one operand twice
    while pending:
        node = pending.pop()
        if node in seen or (isinstance(node, Call) and node.function == "format"):
            continue
        seen.add(node)
        pending.extend(children(node))
        if isinstance(node, ListLiteral):
            # A list tells of its first odd element, a map of every one: so does cel-go.
            parts = [(part, index in node.optional) for index, part in enumerate(node.elements)]
            yield from ((node, issue) for issue in itertools.islice(_mixed(parts, types, source), 1))
        elif isinstance(node, MapLiteral):
            keys = [(entry.key, False) for entry in node.entries]
            values = [(entry.value, entry.optional) for entry in node.entries]
            yield from ((node, issue) for parts in (keys, values) for issue in _mixed(parts, types, source))


def _is_uniform(node: Node, types: Mapping[Node, Type]) -> bool:
    """Whether there is nothing to say about a node, if it is a literal of its kind."""
    if isinstance(node, ListLiteral):
        return not node.optional and len({types[part] for part in node.elements}) < 2
    return not (isinstance(node, MapLiteral) and node.entries)


def _mixed(parts: Sequence[tuple[Node, bool]], types: Mapping[Node, Type], source: Source) -> Iterator[Issue]:
    first: Type | None = None
    for node, optional in parts:
        type_ = types[node]
        if optional:
            if not type_.parameters:
                raise source.unsupported(node.offset, "an optional element of a type that is not static")
            type_ = type_.parameters[0]
        if first is None:
            first = type_
        elif plain(type_) != plain(first):
            yield source.issue(node.offset, f"expected type '{first}' but found '{type_}'")
