"""A census for people: the verdicts on an expression, the devices by reason, what is there to read, and what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from drakit.cel import CompileError, Environment
from drakit.cel.census import COST_LIMIT, Census, Outcome, advice, refusal
from drakit.cel.census import Group as Devices
from drakit.cel.census.parts import Part
from drakit.cel.census.presence import Presence
from drakit.cel.estimation.sizes import MOST
from drakit.model import DeviceID
from drakit.views.folding import fold_devices
from drakit.views.tables import Rows, table

__all__ = ["census_as_json", "census_view", "error_as_json", "error_view"]

_OUTCOMES: Final[Mapping[Outcome, str]] = {"matches": "match", "fails": "fail", "does not match": "do not match"}
_STYLES: Final = {"matches": "green", "fails": "red", "does not match": "yellow"}
_SHOWN: Final = 5
"""Groups of devices that differ in nothing but the values that were read."""


def census_view(census: Census) -> RenderableType:
    """The whole census."""
    parts: list[RenderableType] = [*_head(census)]
    if not census.total:
        parts.append(Text("no devices: the input has no ResourceSlice that lists any", style="red"))
    for outcome in _OUTCOMES:
        groups = [group for group in census.groups if group.outcome == outcome]
        if groups or (outcome == "matches" and census.total):
            parts += _outcome(census, outcome, groups)
    if census.presences and census.total:
        parts.append(_presences(census.presences, several=_several(census)))
    parts += _advice(census)
    return Group(*parts)


def error_view(expression: str, environment: Environment, error: CompileError) -> RenderableType:
    """An expression that does not compile."""
    refused = Text(f"does not compile for {_asked(environment)}:", style="bold red")
    hints = (Text(f"hint: {hint}", style="yellow") for hint in advice(error, environment))
    return Group(Text(expression, style="bold"), refused, Text(str(error)), *hints)


def _asked(environment: Environment) -> str:
    return f"Kubernetes 1.{environment.minor}, as a {'new' if environment.new else 'stored'} expression"


def _head(census: Census) -> Iterator[Text]:
    selector = census.selector
    yield Text(selector.source, style="bold")
    yield Text(f"compiles for {_asked(selector.environment)}; type {selector.output_type}")
    most = "without bound" if selector.max_cost == MOST else f"{selector.max_cost:,}"
    yield Text(f"cost: at most {most} by the estimate, {census.highest_cost:,} on these devices; the limit is {COST_LIMIT:,}")
    refused = refusal(selector)
    if refused:
        yield Text(f"an API server refuses it as a new expression: {refused}", style="red")


def _several(census: Census) -> bool:
    """Whether the devices are of several drivers."""
    return len({device.driver for group in census.groups for device in group.devices}) > 1


# -- outcomes -------------------------------------------------------------------------------------------------------


def _outcome(census: Census, outcome: Outcome, groups: Sequence[Devices]) -> Iterator[RenderableType]:
    """Devices that an expression does the same to, by reason."""
    line = Text(f"\n{_OUTCOMES[outcome]}: {census.count(outcome):,} of {census.total:,}", style=f"bold {_STYLES[outcome]}")
    if outcome == "fails":
        line.append("; a pod that asks for it is not scheduled where the scheduler comes to one of these", "not bold")
    yield line
    several = _several(census)
    alike: dict[tuple[str, ...], list[Devices]] = {}
    for group in groups:
        alike.setdefault(tuple(_why(group)), []).append(group)
    for why, same in alike.items():
        yield from (Text(f"  {reason}") for reason in why)
        rows = Table.grid(padding=(0, 2), pad_edge=True)
        rows.add_column(justify="right", min_width=7)
        shown = same if len(same) <= _SHOWN + 1 else same[:_SHOWN]
        for group in shown:
            _add(rows, group.devices, _readings(group), several=several)
        rest = same[len(shown) :]
        if rest:
            devices = [device for group in rest for device in group.devices]
            _add(rows, devices, f"{len(rest):,} other values", several=several)
        yield rows


def _add(rows: Table, devices: Sequence[DeviceID], readings: str, *, several: bool) -> None:
    names = fold_devices(devices, with_driver=several)
    cells = [f"{len(devices):,}", *([readings] if readings else []), names]
    rows.add_row(*(Text(cell, overflow="fold") for cell in cells))


def _why(group: Devices) -> Iterator[str]:
    """What decides about a group, without the values."""
    if group.message:
        yield group.message.partition(". consider using ")[0]
    for part in group.parts:
        yield f"at {part.text}" if part.fails else f"{part.text} is {part.result}"


def _readings(group: Devices) -> str:
    readings = {reading.text: reading for part in group.parts for reading in part.readings}.values()
    labels = Counter(reading.label for reading in readings)
    named = (f"{reading.label if labels[reading.label] == 1 else reading.text} {reading.value}" for reading in readings)
    return ", ".join(named)


# -- what it reads --------------------------------------------------------------------------------------------------


def _presences(presences: Sequence[Presence], *, several: bool) -> Rows:
    view = table("READS", "TYPE", "ON", "NOT ON")
    for presence in presences:
        total = presence.devices + len(presence.missing)
        types = "\n".join(kind if len(presence.types) == 1 else f"{kind} ({count:,})" for kind, count in presence.types.items())
        lacking = fold_devices(presence.missing, with_driver=several) if presence.missing else "-"
        style = "" if presence.types else "red"
        kind = "" if presence.kind == "attribute" else presence.kind
        types = "" if presence.kind == "driver" else types
        name = f"{kind} {presence.name}".strip()
        view.add(Text(name, style=style), types or "-", f"{presence.devices:,} of {total:,}", lacking if types else "any")
    return view


def _advice(census: Census) -> Iterator[Text]:
    for presence in census.presences:
        if not (presence.types or presence.elsewhere) and census.total:
            hint = f"; {presence.hint}" if presence.hint else ""
            lacking = "is of the driver" if presence.kind == "driver" else f"has the {presence.kind}"
            yield Text(f"hint: no device {lacking} {presence.name}{hint}", style="yellow")
        for mistake in presence.mistakes:
            on = "1 device" if mistake.devices == 1 else f"{mistake.devices:,} devices"
            advice = f": {mistake.advice}" if mistake.advice else ""
            but = "and" if mistake.use.endswith("operator") else "but"
            yield Text(
                f"hint: {presence.name} is {mistake.use}, {but} it is {_a(mistake.type)} on {on}{advice}", style="yellow"
            )
    if census.proposal:
        proposal = census.proposal
        yield Text(f"with {' and '.join(proposal.guards)}:", style="bold")
        yield Text(proposal.expression)
        rest = f"fails on {proposal.failing:,}" if proposal.failing else "fails on none"
        yield Text(f"{proposal.matching:,} match, {proposal.mismatching:,} do not, {rest}")


def _a(type_: str) -> str:
    plural = {"ints": "a list of numbers", "bools": "a list of bools", "strings": "a list of strings"}
    return plural.get(type_) or {"int": "a number", "versions": "a list of versions"}.get(type_) or f"a {type_}"


# -- JSON -----------------------------------------------------------------------------------------------------------


def error_as_json(expression: str, environment: Environment, error: CompileError) -> dict[str, Any]:
    """An expression that does not compile."""
    hints = advice(error, environment)
    return _said({**_question(expression, environment), "compiles": False, "message": str(error), "hints": hints})


def census_as_json(census: Census) -> dict[str, Any]:
    """The whole census. Keys that say nothing are left out."""
    selector = census.selector
    document: dict[str, Any] = {
        **_question(selector.source, selector.environment),
        "compiles": True,
        "outputType": selector.output_type,
        "maxCost": "max" if selector.max_cost == MOST else selector.max_cost,
        "costLimit": COST_LIMIT,
        "highestCost": census.highest_cost,
        "refused": refusal(selector),
        "devices": {
            "total": census.total,
            "matching": census.count("matches"),
            "mismatching": census.count("does not match"),
            "failing": census.count("fails"),
        },
        "groups": [_group(group) for group in census.groups],
        "reads": [_presence(presence) for presence in census.presences],
    }
    if census.proposal:
        proposal = census.proposal
        counts = {"matching": proposal.matching, "mismatching": proposal.mismatching, "failing": proposal.failing}
        document["proposal"] = {"expression": proposal.expression, "guards": list(proposal.guards), "devices": counts}
    return _said(document)


def _question(expression: str, environment: Environment) -> dict[str, Any]:
    return {"expression": expression, "kubeVersion": f"1.{environment.minor}", "new": environment.new}


def _said(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value not in ("", [], {}, None)}


def _names(devices: Iterable[object]) -> list[str]:
    return [str(device) for device in devices]


def _group(group: Devices) -> dict[str, Any]:
    return _said(
        {
            "outcome": group.outcome,
            "message": group.message,
            "because": [_part(part) for part in group.parts],
            "devices": _names(group.devices),
        }
    )


def _part(part: Part) -> dict[str, Any]:
    reads = [{"expression": reading.text, "value": reading.value} for reading in part.readings]
    return _said({"expression": part.text, "error" if part.fails else "value": part.result, "reads": reads})


def _presence(presence: Presence) -> dict[str, Any]:
    mistakes = [
        _said({"use": mistake.use, "type": mistake.type, "devices": mistake.devices, "advice": mistake.advice})
        for mistake in presence.mistakes
    ]
    return _said(
        {
            "kind": presence.kind,
            "name": presence.name,
            "types": dict(presence.types),
            "missing": _names(presence.missing),
            "hint": presence.hint,
            "mistakes": mistakes,
        }
    )
