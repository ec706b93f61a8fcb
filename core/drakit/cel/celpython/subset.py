"""What of Kubernetes' CEL cel-python has, so that the rest is named before anything is evaluated.

cel-python has the CEL of 2021 or so: no optionals, no macros with two variables, none of the libraries that came since.
Kubernetes' functions over quantities and versions are added to it by :mod:`drakit.cel.celpython`.
"""

from __future__ import annotations

import re
from typing import Final

from drakit.cel.checking.checker import Checked
from drakit.cel.errors import UnsupportedExpression
from drakit.cel.syntax.ast import Call, Comprehension, ListLiteral, MapLiteral, Node, StructLiteral, children
from drakit.cel.syntax.source import Source

__all__ = ["ADDED", "check_subset", "unsupported"]

ADDED: Final = frozenset(
    """quantity isQuantity isInteger asInteger asApproximateFloat sign add sub semver isSemver major minor patch compareTo
    isGreaterThan isLessThan""".split()
)
"""Kubernetes' functions that are registered."""
_FUNCTIONS: Final = ADDED.union(
    """_&&_ _||_ !_ _?_:_ _==_ _!=_ _<_ _<=_ _>_ _>=_ @in _[_] _+_ _-_ _*_ _/_ _%_ -_ @not_strictly_false size contains
    startsWith endsWith matches dyn type bool bytes double int string uint""".split()
)
_OPTIONALS: Final = {"_?._": "the optional selection '.?'", "_[?_]": "the optional index '[?'"}
_MACROS: Final = frozenset({"all", "exists", "exists_one", "map", "filter"})
_BEYOND: Final = frozenset({"optMap", "optFlatMap", "sortBy"})
"""Macros that become calls."""
_WORD: Final = re.compile(r"(\w+)\s*\Z", re.ASCII)
_WINDOW: Final = 100  # characters before a parenthesis; the names of macros are short


def check_subset(checked: Checked) -> None:
    """Look for what cel-python cannot evaluate.

    :raises UnsupportedExpression: the first such construct, with its place.
    """
    found: dict[int, str] = {}
    pending = [checked.root]
    while pending:
        node = pending.pop()
        construct = _beyond(node, checked)
        if construct:
            found.setdefault(node.offset, construct)
        pending += children(node)
    if found:
        first = min(found)
        raise unsupported(found[first], checked.source, first)


def unsupported(construct: str, source: Source | None = None, offset: int = 0) -> UnsupportedExpression:
    """The error for what cel-python cannot do."""
    construct = f"{construct} with cel-python"
    return UnsupportedExpression(construct, source.issue(offset, "") if source else None)


def _beyond(node: Node, checked: Checked) -> str:
    """What of a node is beyond cel-python; empty where nothing is."""
    source = checked.source
    match node:
        case Call() if node.function in _OPTIONALS:
            return _OPTIONALS[node.function]
        case Call() if node.function.startswith("."):
            return "a call with a leading dot"
        case Call():
            name = checked.functions.get(node, node.function)
            written = _written(source, node.offset)
            if written in _BEYOND:
                return f"the macro '{written}'"
            return "" if name in _FUNCTIONS else f"the function '{name}'"
        case Comprehension(second_variable=str()):
            return f"the macro '{_written(source, node.offset)}' with two variables"
        case Comprehension(step=step):
            written = _written(source, node.offset)
            if written == "map" and isinstance(step, Call) and step.function == "_?_:_":
                return "the macro 'map' with a condition"
            return "" if written in _MACROS else f"the macro '{'cel.' if written == 'bind' else ''}{written}'"
        case ListLiteral() if node.optional:
            return "an optional element"
        case MapLiteral() if any(entry.optional for entry in node.entries):
            return "an optional entry"
        case StructLiteral():
            return f"the constructor of '{node.type_name}'"
    return ""


def _written(source: Source, offset: int) -> str:
    """The word before a parenthesis."""
    found = _WORD.search(source.text, max(0, offset - _WINDOW), offset)
    return found[1] if found else ""
