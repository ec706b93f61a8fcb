"""What can go wrong with an expression, by what the caller does next.

CelError
 +-- CompileError            the expression is wrong: fix it; one issue per fault, each with line and column
 +-- UnsupportedExpression   the expression is fine for Kubernetes, but not decided here yet: ask somebody else
 +-- EvaluationError         right expression, wrong device: add a guard, or fix what the driver publishes

A selector that does not match is a result, not an error; an error is never "no match" (the allocator gives up).

Source: github.com/google/cel-go ``common/error.go`` and ``common/errors.go`` for the text of an issue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from attrs import field, frozen

from drakit.model.errors import DrakitError

__all__ = ["CelError", "CompileError", "EvaluationError", "Issue", "UnsupportedExpression"]

_MOST_ISSUES: Final = 100


class CelError(DrakitError):
    """Base of every error about an expression or its evaluation."""


@frozen
class Issue:
    """One fault in an expression."""

    message: str
    line: int
    """From 1; -1 where the fault has no place, such as too deep nesting."""
    column: int
    """From 1, in code points; 0 where the fault has no place."""
    draw: Callable[[int, int], str] = field(default=lambda _line, _column: "", eq=False, repr=False)

    @property
    def snippet(self) -> str:
        """The line of source and the line with the caret; empty where the fault has no place."""
        return self.draw(self.line, self.column)

    def __str__(self) -> str:
        return f"ERROR: <input>:{self.line}:{self.column}: {self.message}{self.snippet}"


class CompileError(CelError):
    """An expression that Kubernetes rejects. ``str()`` is what Kubernetes says, a caret under each fault."""

    def __init__(self, issues: Iterable[Issue]) -> None:
        found = list(issues)
        self.issues = tuple(sorted(found[:_MOST_ISSUES], key=lambda issue: (issue.line, issue.column)))
        """The faults, in the order of the source; of very many, those that were found first."""
        first = self.issues[0]
        self.message, self.line, self.column = first.message, first.line, first.column
        said = [*map(str, self.issues)]
        if len(found) > _MOST_ISSUES:
            said.append(f"{len(found) - _MOST_ISSUES} more errors were truncated")
        super().__init__("compilation failed: " + "\n".join(said) if first.line else first.message)

    @classmethod
    def of_whole(cls, message: str) -> CompileError:
        """A fault of the expression as a whole: line and column are 0, ``str()`` is the message alone."""
        return cls([Issue(message, 0, 0)])


class UnsupportedExpression(CelError):  # a statement about drakit, not about the expression
    """An expression that uses something drakit cannot decide yet. Never a verdict."""

    def __init__(self, construct: str, issue: Issue | None = None) -> None:
        self.construct = construct
        """What is not supported, such as ``function 'cidr'``."""
        self.line = issue.line if issue else 0
        """From 1; 0 when it was found during an evaluation."""
        self.column = issue.column if issue else 0
        text = f"{construct} is not supported yet"
        super().__init__(f"UNSUPPORTED: <input>:{issue.line}:{issue.column}: {text}{issue.snippet}" if issue else text)


class EvaluationError(CelError):
    """A runtime error of an expression on one device, with cel-go's text."""
