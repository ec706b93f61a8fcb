"""Literals that cannot be what the function they are given to wants, which Kubernetes refuses with the expression.

Source: github.com/google/cel-go ``cel/validator.go`` (duration, timestamp, matches) and ``ext/formatting.go`` (format).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from drakit.cel.checking.types import Type
from drakit.cel.errors import Issue
from drakit.cel.go import regex
from drakit.cel.go.times import Duration, Timestamp
from drakit.cel.library import formatting
from drakit.cel.syntax.ast import Call, ListLiteral, Literal, MapLiteral, Node
from drakit.cel.syntax.source import Source
from drakit.cel.values import Fault, UInt

__all__ = ["wrong_literals"]


def wrong_literals(functions: Mapping[Node, str], types: Mapping[Node, Type], source: Source) -> Iterator[Issue]:
    """All such literals.

    :param functions: the full name of the function of each call.
    :param types: the type of each node.
    :raises UnsupportedExpression: a pattern that takes more memory than there is.
    """
    for node, function in functions.items():
        if not isinstance(node, Call):
            continue
        # As in cel-go it is the first argument that is looked at, even in `matches(text, pattern)`.
        first = node.args[0] if node.args else None
        if function == "format":
            yield from _format(node, types, source)
        elif function in ("duration", "matches", "timestamp") and isinstance(first, Literal):
            try:
                _READERS[function](first.value)
            except (Fault, regex.PatternError):
                yield source.issue(first.offset, f"invalid {function} argument")
            except regex.Unsupported:
                raise source.unsupported(first.offset, "this regular expression") from None


def _timestamp(value: object) -> None:
    if isinstance(value, int) and not isinstance(value, bool | UInt):
        Timestamp.of(value)
    else:
        Timestamp.parse(str(value))


_READERS: Final = {
    "duration": lambda value: Duration.parse(str(value)),
    "matches": lambda value: regex.compile(str(value)),
    "timestamp": _timestamp,
}


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
