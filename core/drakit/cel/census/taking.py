"""A census: what a selector makes of many devices, grouped by the reason, and what to change.

Called by ``drakit cel``. Devices that agree in what the expression reads are looked at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from drakit.cel.census.guarding import guarded
from drakit.cel.census.parts import Anatomy, Part
from drakit.cel.census.presence import Presence, presences
from drakit.cel.checking.environment import Environment
from drakit.cel.device import CelDevice
from drakit.cel.errors import CelError
from drakit.cel.judging import examine
from drakit.cel.selector import Selector, compile  # noqa: A004  # as in re.compile
from drakit.model import DeviceID

__all__ = ["COST_LIMIT", "LENGTH_LIMIT", "Census", "Group", "Outcome", "Proposal", "refusal", "take_census"]

COST_LIMIT: Final = 1_000_000
"""The estimate up to which an API server accepts a new expression, and what an evaluation may cost."""
LENGTH_LIMIT: Final = 10 * 1024
"""Bytes of the longest expression that an API server accepts."""

_MOST_GUARDS: Final = 32

Outcome: TypeAlias = Literal["matches", "fails", "does not match"]


@frozen
class Group:
    """Devices with the same outcome for the same reason."""

    outcome: Outcome
    message: str
    """What it fails with."""
    parts: tuple[Part, ...]
    """What decides; nothing for devices that match, and where a device itself is wrong."""
    devices: tuple[DeviceID, ...]


@frozen
class Proposal:
    """An expression that fails on fewer devices."""

    expression: str
    guards: tuple[str, ...]
    matching: int
    mismatching: int
    failing: int


@frozen(kw_only=True)
class Census:
    """What became of all devices."""

    selector: Selector = field(repr=False)
    total: int
    groups: tuple[Group, ...]
    """Those that match, then those that fail, then the others; large ones first."""
    presences: tuple[Presence, ...]
    highest_cost: int
    """Of all evaluations."""
    proposal: Proposal | None = None

    def count(self, outcome: Outcome) -> int:
        """How many devices have an outcome."""
        return sum(len(group.devices) for group in self.groups if group.outcome == outcome)


def refusal(selector: Selector) -> str:
    """Why an API server does not accept the expression as a new one, though it compiles; empty if it does.

    Source: k8s.io/kubernetes ``pkg/apis/resource/validation/validation.go`` (validateCELExpression).
    """
    size = len(selector.source.encode(errors="surrogatepass"))
    if size > LENGTH_LIMIT:
        return f"too long: {size:,} bytes, and no more than {LENGTH_LIMIT:,} are accepted"
    return "too complex, exceeds cost limit" if selector.max_cost > COST_LIMIT else ""


def take_census(expression: str, environment: Environment, devices: Iterable[tuple[DeviceID, CelDevice]]) -> Census:
    """Evaluate an expression on devices, and say why.

    :param devices: in the order they are to be named in.
    :raises CompileError: Kubernetes refuses the expression.
    :raises UnsupportedExpression: drakit cannot decide it, or an evaluation.
    """
    census = _Census(expression, environment)
    for id_, device in devices:
        census.look(id_, device)
    return census.finish()


@frozen
class _Finding:
    """What is the same for devices that agree in what is read."""

    outcome: Outcome
    message: str
    parts: tuple[Part, ...]
    cost: int


class _Census:
    def __init__(self, expression: str, environment: Environment) -> None:
        self.selector = compile(expression, environment)
        self.anatomy = Anatomy(expression, environment)
        self.seen: list[tuple[DeviceID, CelDevice]] = []
        self.matched: list[bool] = []
        """Of those that were seen, in order."""
        self.known: dict[Hashable, _Finding] = {}
        self.alike: dict[tuple[Outcome, str, tuple[Part, ...]], list[tuple[DeviceID, CelDevice]]] = {}
        self.examples: dict[Hashable, CelDevice] = {}
        """A device for each way to fail."""
        self.highest_cost = 0

    def look(self, id_: DeviceID, device: CelDevice) -> None:
        self.seen.append((id_, device))
        key = self.selector.key(device)
        if key is not None:
            key = device.driver, key  # a domain that is the driver's is shown by its name
        finding = None if key is None else self.known.get(key)
        if finding is None:
            finding = self.examine(device)
            if key is not None:
                self.known[key] = finding
            if finding.outcome == "fails":
                self.examples.setdefault((finding.message, tuple(part.text for part in finding.parts)), device)
        self.matched.append(finding.outcome == "matches")
        self.highest_cost = max(self.highest_cost, finding.cost)
        self.alike.setdefault((finding.outcome, finding.message, finding.parts), []).append((id_, device))

    def examine(self, device: CelDevice) -> _Finding:
        verdict, cost = examine(self.selector, device)
        message = str(verdict) if isinstance(verdict, CelError) else ""
        outcome: Outcome = "fails" if message else "matches" if verdict else "does not match"
        decided = outcome == "matches" or device.fault
        return _Finding(outcome, message, () if decided else self.anatomy.deciding_parts(device), cost)

    def finish(self) -> Census:
        named = tuple(presences(self.anatomy, self.seen))
        order = {"matches": 0, "fails": 1, "does not match": 2}
        groups = [Group(*why, tuple(id_ for id_, _ in devices)) for why, devices in self.alike.items()]
        return Census(
            selector=self.selector,
            total=len(self.seen),
            groups=tuple(sorted(groups, key=lambda group: (order[group.outcome], -len(group.devices)))),
            presences=named,
            highest_cost=self.highest_cost,
            # A guard for what is only misspelt, or of another type, would hide the mistake.
            proposal=None if any(presence.is_mistaken for presence in named) else self.propose(),
        )

    def propose(self) -> Proposal | None:
        """The expression with guards, evaluated on all devices; None where none helps."""
        environment = self.selector.environment
        text, guards, examples = self.selector.source, list[str](), list(self.examples.values())
        proposal: Proposal | None = None
        while examples and len(guards) < _MOST_GUARDS:
            better = guarded(text, environment, examples)
            if better is None:
                break
            text = better.expression
            guards += better.guards
            try:
                verdicts = list(compile(text, environment).matches_all(device for _, device in self.seen))
            except CelError:
                break
            if any(was and is_ is not True for was, is_ in zip(self.matched, verdicts, strict=True)):
                break  # a guard must not cost a match
            matching, mismatching = verdicts.count(True), verdicts.count(False)
            proposal = Proposal(text, tuple(guards), matching, mismatching, len(verdicts) - matching - mismatching)
            # Where one thing is guarded, another may come to be missed.
            seen = zip(self.seen, verdicts, strict=True)
            failing = {str(error): device for (_, device), error in seen if isinstance(error, CelError)}
            examples = list(failing.values())
        return proposal if proposal and not proposal.failing else None
