"""A report for people: what became of each claim and pod, and why, in a few lines each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from attrs import frozen
from rich.console import Group, RenderableType
from rich.text import Text

from drakit.allocation import ClaimOutcome, Reason, Report
from drakit.views.tables import Rows, pool_name, table

__all__ = ["report_view"]

_STYLES = {"allocated": "green", "partly": "yellow", "unschedulable": "red", "error": "red"}
FOLDED_FROM = 4
"""Rows alike that become one."""
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
        parts.append(_pods(report, wide=wide))
    parts += [Text(f"warning: {notice.object}: {notice.message}", style="yellow") for notice in report.warnings]
    parts.append(_verdict(report))
    return Group(*parts)


def _claims(claims: Sequence[ClaimOutcome], *, wide: bool) -> Rows:
    rows = []
    for outcome in claims:
        allocated = outcome.allocation is not None
        text = "\n".join(_devices(outcome, wide=wide) if allocated else _why(outcome, wide=wide))
        rows.append(_Row(outcome.claim.key, _node(outcome), text, "green" if allocated else "red"))
    return _filled(table("CLAIM", "NODE", "DEVICES, OR WHY NOT"), rows, wide=wide)


def _node(outcome: ClaimOutcome) -> str:
    """The node, and how many hosts the devices span: as many pods, one on each, are what they are for."""
    selector = outcome.allocation.node_selector if outcome.allocation else None
    hosts = len(selector.hostnames()) if selector else 0
    if hosts < 2 or outcome.allocation is None:
        return outcome.node or "-"
    shared = any(result.share_id is not None for result in outcome.allocation.devices.results)
    return f"{outcome.node}\n" + (f"usable on {hosts} hosts" if shared else f"1 pod on each of {hosts} hosts")


@frozen
class _Row:
    name: str
    node: str
    text: str
    style: str

    @property
    def likeness(self) -> tuple[str, ...]:
        """Equal for rows that say the same of another number: ``train-00`` on ``tray-00`` and ``train-01`` on ``tray-01``."""
        text = self.text.replace(self.node, "<node>") if self.node != "-" else re.sub(r"[0-9]+", "0", self.text)
        return re.sub(r"[0-9]+", "0", self.name), text, self.style


def _filled(view: Rows, rows: Sequence[_Row], *, wide: bool) -> Rows:
    """The rows; many alike in a row become one, unless everything is asked for."""
    for _, group in itertools.groupby(rows, key=lambda row: row.likeness):
        alike = list(group)
        first, last = alike[0], alike[-1]
        if wide or len(alike) < FOLDED_FROM:
            for row in alike:
                view.add(*(row.name, row.node, Text(row.text, style=row.style))[: len(view.columns)])
        else:
            name = f"{first.name}\n.. {last.name} ({len(alike)})"
            one_node = {row.node for row in alike} == {first.node}
            node = first.node if one_node else f"{first.node}\n.. {last.node}"
            text = first.text if one_node else first.text.replace(first.node, "<node>")
            text += "\n.. and so on" if one_node and last.text != first.text else ""
            view.add(*(name, node, Text(text, style=first.style))[: len(view.columns)])
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
    if outcome.error is not None:
        yield f"{'refused' if outcome.error.kind == 'refused' else 'error'}: {outcome.error.message}"
        return
    groups = _grouped(outcome.reasons)
    yield from groups[: None if wide else REASONS_SHOWN]
    left = len(groups) - REASONS_SHOWN
    if left > 0 and not wide:
        yield f"... {left} more reason{'s' if left > 1 else ''}: -o wide"


def _grouped(reasons: Sequence[Reason]) -> list[str]:
    """Reasons that differ only in node or device are one line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for reason in reasons:
        subject = "/".join(reason.device.split("/")[-2:]) or reason.node
        groups.setdefault((reason.check, reason.message), []).append(subject)
    lines = []
    for (_, message), subjects in groups.items():
        named = sorted(set(filter(None, subjects)))
        shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
        lines.append(f"{shown}: {message}" if shown else message)
    return lines


def _pods(report: Report, *, wide: bool) -> Rows:
    rows = [_Row(outcome.pod.key, outcome.node or "-", outcome.reason, "red") for outcome in report.pods]
    columns = ("POD", "NODE", "WHY NOT") if any(row.text for row in rows) else ("POD", "NODE")
    return _filled(table(*columns), rows, wide=wide)


def _verdict(report: Report) -> Text:
    allocated = sum(outcome.allocation is not None for outcome in report.claims)
    line = Text(report.verdict, style=f"bold {_STYLES[report.verdict]}")
    counts = []
    if report.claims:
        counts.append(f"{allocated} of {len(report.claims)} claims allocated")
    if report.pods:
        placed = sum(bool(outcome.node) for outcome in report.pods)
        counts.append(f"{placed} of {len(report.pods)} pods have a node")
    if not counts:
        line.append(": nothing was asked for; the input has no unallocated claims and no pods", style="not bold default")
    if counts:
        line.append(f": {', '.join(counts)}", style="not bold default")
    return line
