"""What to write instead of an expression that does not compile: the mistakes people make most, by what the compiler says."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from drakit.cel.checking.declarations import FUNCTIONS
from drakit.cel.checking.environment import Environment
from drakit.cel.errors import CompileError, Issue

__all__ = ["advice"]


def advice(error: CompileError, environment: Environment) -> list[str]:
    """What may be meant, most important first; nothing where nobody can tell."""
    found = (_advice(issue, environment) for issue in error.issues)
    return list(dict.fromkeys(hint for hints in found for hint in hints))


def _advice(issue: Issue, environment: Environment) -> Iterator[str]:
    for pattern, hint in _HINTS:
        match = pattern.search(issue.message)
        if match:
            text = hint(match, issue, environment) if callable(hint) else hint
            if text:
                yield text
                return
    if "undeclared reference" in issue.message and re.search(r"\[\w[^\"']*\]", issue.snippet):
        yield "names of domains stand in quotes: a shell takes them away unless the expression is in single quotes"


def _field(match: re.Match[str], _issue: Issue, _environment: Environment) -> str:
    if match[1] == "allowMultipleAllocations":
        return f"in a new expression, {match[1]} needs the feature gate DRAConsumableCapacity"
    fields = ("driver", "attributes", "capacity", "allowMultipleAllocations")
    close = difflib.get_close_matches(match[1], fields, n=1, cutoff=0.6)
    meant = f'did you mean "{close[0]}"? ' if close else ""
    return f"{meant}a device has driver, attributes, capacity and allowMultipleAllocations, and no name or pool"


def _function(match: re.Match[str], issue: Issue, environment: Environment) -> str:
    name = match[1]
    if not _is_called(issue):
        return f"{name} is a function: {name}(...)" if name in FUNCTIONS else ""
    if name == "includes" and environment.new and not environment.list_attributes:
        return "in a new expression, includes() needs the feature gate DRAListTypeAttributes"
    if name in FUNCTIONS or name in _YOUNGER:
        return f"{name}() is not in this release, or not yet in a new expression of it"
    known = {other.lower(): other for other in FUNCTIONS if other.isalpha()}
    close = difflib.get_close_matches(_ALIASES.get(name.lower(), name.lower()), known, n=1, cutoff=0.7)
    return f"did you mean {known[close[0]]}()?" if close else ""


def _is_called(issue: Issue) -> bool:
    """Whether the name stands before a parenthesis, at which cel-go complains."""
    line = issue.snippet.split("\n")[1].removeprefix(" | ") if issue.snippet else ""
    return line[issue.column - 1 : issue.column] == "("


def _word(_match: re.Match[str], issue: Issue, _environment: Environment) -> str:
    return _LOGIC if re.search(r"\b(?:and|or|not)\b", issue.snippet) else ""


_LOGIC: Final = "and, or and not are written &&, || and !"
_YOUNGER: Final = frozenset({"@sortByAssociatedKeys"})
_ALIASES: Final = {"tolower": "lowerascii", "lower": "lowerascii", "toupper": "upperascii", "upper": "upperascii",
                   "length": "size", "len": "size", "has": "contains", "any": "exists", "regex": "matches"}  # fmt: skip
_QUANTITY: Final = re.escape("kubernetes.Quantity")
_Advise: TypeAlias = Callable[[re.Match[str], Issue, Environment], str]
_HINTS: Final[tuple[tuple[re.Pattern[str], str | _Advise], ...]] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (
            rf"'_[<>]=?_' applied to .*{_QUANTITY}",
            "quantities have no < and >, but a.isGreaterThan(b), a.isLessThan(b) and a.compareTo(b) >= 0",
        ),
        (
            r"'_[<>]=?_' applied to .*kubernetes\.Semver",
            "versions have no < and >, but a.isGreaterThan(b), a.isLessThan(b) and a.compareTo(b) >= 0",
        ),
        (
            rf"applied to '\(?{_QUANTITY}(?:, |\.\().*(?:string|int|double)\)'",
            'a quantity is compared with another, as in quantity("80Gi")',
        ),
        (
            rf"applied to '\((?:string|int|double), {_QUANTITY}\)'",
            'a quantity is compared with another, as in quantity("80Gi")',
        ),
        (rf"failed resolution of '{_QUANTITY}'", "a capacity is the quantity itself: it has no fields"),
        (
            r"applied to '\(?map\(string, (?:dyn|any|kubernetes\.Quantity)\)",
            'these are all names of a domain: one is device.attributes["domain"].name, not "domain/name"',
        ),
        (
            r"applied to '\(?map\(string, map\(",
            'these are all domains: one attribute is device.attributes["domain"].name',
        ),
        (r"undefined field '(\w+)'", _field),
        (r"'_\[_\]' applied to '\(kubernetes\.DRADevice", "a field of device is written device.attributes, and no index"),
        (r"(?:mismatched|extraneous) input '(?:and|or|not|AND|OR|NOT)'", _LOGIC),
        (r"token recognition error at: '[&|] ?", _LOGIC),
        (r"token recognition error at: '=[^>]?'", "equality is written =="),
        (r"undeclared reference to '(?:and|or|not)'", _LOGIC),
        (r"undeclared reference to '(?:True|False|None|nil)'", "the constants are true, false and null"),
        (r"input '\w+' expecting <EOF>", _word),
        (r"undeclared reference to '([\w@.]+)'", _function),
    )
)
