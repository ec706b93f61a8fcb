"""A report for people: what became of each claim and pod, and why, in a few lines each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from drakit.allocation import ClaimOutcome, Reason, Report
from drakit.views.tables import pool_name, table

__all__ = ["report_view"]

_STYLES = {"allocated": "green", "partly": "yellow", "unschedulable": "red", "error": "red"}
REASONS_SHOWN = 3
"""For each claim, unless everything is asked for."""


def report_view(report: Report, *, wide: bool = False) -> RenderableType:
    """Tables of claims and pods, then the verdict.

    :param wide: all reasons and devices, not just the first of each kind.
    """
    parts: list[RenderableType] = []
    if report.claims:
        parts.append(_claims(report.claims, wide=wide))
    if report.pods:
        parts.append(_pods(report))
    parts += [Text(f"warning: {notice.object}: {notice.message}", style="yellow") for notice in report.warnings]
    parts.append(_verdict(report))
    return Group(*parts)


def _claims(claims: Sequence[ClaimOutcome], *, wide: bool) -> Table:
    view = table("CLAIM", "NODE", "DEVICES")
    for outcome in claims:
        if outcome.allocation is not None:
            view.add_row(outcome.claim.key, outcome.node, Text("\n".join(_devices(outcome, wide=wide)), style="green"))
        else:
            view.add_row(outcome.claim.key, "-", Text("\n".join(_why(outcome, wide=wide)), style="red"))
    return view


def _devices(outcome: ClaimOutcome, *, wide: bool) -> Iterator[str]:
    """One line per pool: its devices, and what a share takes of each."""
    by_pool: dict[str, list[str]] = {}
    for result in outcome.allocation.devices.results if outcome.allocation else ():
        share = ", ".join(f"{name} {amount}" for name, amount in result.consumed_capacity.items())
        name = f"{result.device} ({share})" if share else result.device
        by_pool.setdefault(pool_name(result.driver, result.pool), []).append(name)
    for pool, devices in by_pool.items():
        shown = devices if wide or len(devices) <= 8 else [*devices[:6], f"{len(devices) - 6} more"]
        yield f"{pool}: {', '.join(shown)}"
    if not by_pool:
        yield "nothing asked for"


def _why(outcome: ClaimOutcome, *, wide: bool) -> Iterator[str]:
    if outcome.error is not None and not outcome.error.transient:
        yield f"error: {outcome.error.message}"
        return
    groups = _grouped(outcome.reasons)
    yield from groups[: None if wide else REASONS_SHOWN]
    left = len(groups) - REASONS_SHOWN
    if left > 0 and not wide:
        yield f"... {left} more reasons: -o wide"


def _grouped(reasons: Sequence[Reason]) -> list[str]:
    """Reasons that differ only in node or device are one line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for reason in reasons:
        subject = reason.device.rpartition("/")[2] or reason.node
        groups.setdefault((reason.check, reason.message), []).append(subject)
    lines = []
    for (_, message), subjects in groups.items():
        named = sorted(set(filter(None, subjects)))
        shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
        lines.append(f"{shown}: {message}" if shown else message)
    return lines


def _pods(report: Report) -> Table:
    view = table("POD", "NODE", "")
    for outcome in report.pods:
        view.add_row(outcome.pod.key, outcome.node or "-", Text(outcome.reason, style="red"))
    return view


def _verdict(report: Report) -> Text:
    allocated = sum(outcome.allocation is not None for outcome in report.claims)
    line = Text(report.verdict, style=f"bold {_STYLES[report.verdict]}")
    counts = []
    if report.claims:
        counts.append(f"{allocated} of {len(report.claims)} claims allocated")
    if report.pods:
        placed = sum(bool(outcome.node) for outcome in report.pods)
        counts.append(f"{placed} of {len(report.pods)} pods have a node")
    if counts:
        line.append(f": {', '.join(counts)}", style="not bold default")
    return line
