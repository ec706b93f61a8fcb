"""Why a claim was not allocated: for each request the first check each device fails, in words.

The scheduler says "cannot allocate all claims" and nothing else. Here every candidate that is what was asked for is put
through the search's checks, against what was taken when the claim was tried. What many devices share is said once:
devices that are something else altogether are counted, not listed, and a reason that holds on every node names none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
from attrs import frozen

from drakit.allocation import capacity
from drakit.allocation.amounts import shown
from drakit.allocation.constraints import values_of
from drakit.allocation.counters import CounterLedger
from drakit.allocation.errors import AllocationError, Check, Reason
from drakit.allocation.pools import WAIT, Candidate, CounterKey, Pool
from drakit.allocation.requests import Alternative, ClaimPlan, RequestPlan
from drakit.allocation.selection import Selection
from drakit.allocation.state import AllocatedState
from drakit.allocation.tolerations import untolerated
from drakit.model import DeviceConstraint, DeviceID, Node

__all__ = ["explain"]

_ORDER: Final[Sequence[Check]] = (
    "pool", "limit", "taint", "counters", "capacity", "in-use", "constraint", "node", "selector",
)  # fmt: skip
"""Most telling first: a device that is what was asked for, but cannot be had, before one that is something else."""


MAX_REASONS: Final = 500
"""Of one claim; who would read more?"""


@frozen
class _Finding:
    """A reason as seen on one node."""

    reason: Reason
    node: str
    visible_elsewhere: bool
    """The device can be had on other nodes too, so the node is not what matters."""


def explain(
    nodes: Sequence[Node],
    pools_of: Mapping[str, Sequence[Pool]],
    plan: ClaimPlan,
    state: AllocatedState,
    selection: Selection,
) -> tuple[Reason, ...]:
    """The reasons why a claim fits on none of the nodes.

    :param nodes: those that were tried.
    :param pools_of: each node's pools, by node name.
    """
    findings = [
        finding for node in nodes for finding in _Explainer(node, pools_of[node.name], plan, state, selection).findings()
    ]
    return tuple(_merged(findings, everywhere=len(nodes)))


def _merged(findings: Iterable[_Finding], everywhere: int) -> Iterator[Reason]:
    """Each reason once; with its node where it is true of that node alone, and with the nodes in words if not of all."""
    nodes_of: dict[Reason, list[_Finding]] = {}
    left_out = 0
    for finding in findings:
        if finding.reason in nodes_of or len(nodes_of) < MAX_REASONS:
            nodes_of.setdefault(finding.reason, []).append(finding)
        else:
            left_out += 1
    for reason, same in sorted(nodes_of.items(), key=lambda item: _ORDER.index(item[0].check)):
        if same[0].visible_elsewhere:
            yield reason
        elif len(same) == 1:
            yield attrs.evolve(reason, node=same[0].node)
        elif len(same) == everywhere:
            yield reason
        else:
            yield attrs.evolve(reason, message=f"{reason.message} (on {_listed([finding.node for finding in same])})")
    if left_out:
        yield Reason(check="limit", message=f"and {left_out} more reasons, which are left out")


class _Explainer:
    """One claim on one node."""

    def __init__(self, node: Node, pools: Sequence[Pool], plan: ClaimPlan, state: AllocatedState, selection: Selection) -> None:
        self.node = node
        self.pools = pools
        self.plan = plan
        self.state = state
        self.selection = selection
        self._ledgers: dict[Pool, CounterLedger] = {}
        self.usable: set[DeviceID] = set()
        """Devices that could serve some request alone."""
        self.withheld = [pool for pool in pools if self._would_serve(pool)]
        """Pools that give nothing for now, but have what the claim asks for."""

    def findings(self) -> Iterator[_Finding]:
        for pool in self.withheld:
            message = f"pool {pool.key} " + (f"{pool.incomplete}; {WAIT}" if pool.incomplete else f"is invalid: {pool.invalid}")
            yield _Finding(Reason(check="pool", message=message), self.node.name, visible_elsewhere=True)
        short = [finding for request in self.plan.requests for finding in self._request(request)]
        if short or not self.withheld:
            yield from short or [self._together()]

    def _would_serve(self, pool: Pool) -> bool:
        if pool.incomplete and not pool.withheld:
            return True  # none of its devices has come yet
        asks = [ask for request in self.plan.requests for ask in request.alternatives]
        return any(self._matches(candidate, ask) for candidate in pool.withheld for ask in asks)

    def _matches(self, candidate: Candidate, ask: Alternative) -> bool:
        try:
            return self.selection.first_mismatch(candidate, ask) is None
        except AllocationError:
            return True  # what it is cannot be said, so it is not ruled out

    def _request(self, request: RequestPlan) -> list[_Finding]:
        """What keeps a request from being served even alone; nothing if one of its alternatives could be."""
        alternatives = [self._alternative(ask) for ask in request.alternatives]
        return [finding for findings in alternatives for finding in findings] if all(alternatives) else []

    def _alternative(self, ask: Alternative) -> list[_Finding]:
        usable, findings = self._devices(ask)
        if ask.all:
            return findings
        if not usable or usable >= ask.count:
            return [] if usable >= ask.count else findings
        message = f"{ask.count} devices wanted, {usable} can be had"
        limit = _Finding(Reason(check="limit", request=ask.name, message=message), self.node.name, visible_elsewhere=False)
        return [limit, *findings]

    def _devices(self, ask: Alternative) -> tuple[int, list[_Finding]]:
        """How many devices could serve the request alone, and why the others of its kind could not."""
        findings: list[_Finding] = []
        usable = 0
        mismatches: Counter[str] = Counter()
        for pool in self.pools:
            for candidate in pool.candidates:
                try:
                    selector = self.selection.first_mismatch(candidate, ask)
                except AllocationError:
                    continue  # the search would have raised it, had it come this far
                if selector is not None:
                    mismatches[f"{selector.name} is false: {selector.expression}"] += 1
                elif candidate.is_for(self.node):
                    failed = self._first_failure(candidate, pool, ask)
                    if failed is None:
                        usable += 1
                        self.usable.add(candidate.id)
                    else:
                        findings.append(self._about(candidate, ask, *failed))
        if not usable and not findings and (mismatches or not self.withheld):
            findings.append(self._nothing_matches(ask, mismatches))
        return usable, findings

    def _nothing_matches(self, ask: Alternative, mismatches: Counter[str]) -> _Finding:
        message = f"no device matches request '{ask.name}'"
        if ask.all:
            message += " (All needs at least one)"
        if mismatches.total() == 1:
            message += f": {next(iter(mismatches))}"
        elif mismatches:
            counted = (f"for {count} of {mismatches.total()} devices, {text}" for text, count in mismatches.most_common(2))
            message += f": {'; '.join(counted)}"
        return _Finding(Reason(check="selector", request=ask.name, message=message), self.node.name, visible_elsewhere=False)

    def _about(self, candidate: Candidate, ask: Alternative, check: Check, message: str) -> _Finding:
        message += " (All needs every matching device)" if ask.all else ""
        reason = Reason(check=check, request=ask.name, device=str(candidate.id), message=message)
        return _Finding(reason, self.node.name, visible_elsewhere=candidate.slice.spec.node_name is None)

    # -- one device, in the order of the search -----------------------------------------------------------------------

    def _first_failure(self, candidate: Candidate, pool: Pool, ask: Alternative) -> tuple[Check, str] | None:
        if not ask.admin_access and self._held(candidate):
            return "in-use", f"held by {self._holders(candidate)}"
        try:
            unfit = capacity.unfit(candidate, ask)
        except capacity.UnusableAmount as error:  # of a device that the search left alone
            unfit = str(error)
        if unfit:
            return "capacity", unfit
        if candidate.counters and not (candidate.shareable and self.state.consumes_counters(candidate.id)):
            ledger = self._ledger(pool)
            if short := ledger.short(candidate):
                return "counters", self._shortage(short, pool)
            if sets := ledger.groups.conflicts(candidate):
                return "counters", f"no compatibility group in common with what counter set {_listed(sets)} is used by"
        taints = [str(taint) for taint in untolerated(candidate.taints, ask.tolerations)]
        if taints:
            what, verb = ("taints", "are") if len(taints) > 1 else ("taint", "is")
            return "taint", f"{what} {_listed(taints)} {verb} not tolerated"
        return self._constraint_failure(candidate, ask) or self._capacity_failure(candidate, ask)

    def _ledger(self, pool: Pool) -> CounterLedger:
        if pool not in self._ledgers:
            self._ledgers[pool] = CounterLedger(pool, self.state)
        return self._ledgers[pool]

    def _held(self, candidate: Candidate) -> bool:
        return candidate.id in self.state.devices or (candidate.id in self.state.shared and not candidate.shareable)

    def _holders(self, candidate: Candidate) -> str:
        return " and ".join(holder.claim or "an allocation" for holder in self.state.holders.get(candidate.id, ())) or "a claim"

    def _constraint_failure(self, candidate: Candidate, ask: Alternative) -> tuple[Check, str] | None:
        for index in ask.constraints:
            constraint = self.plan.constraints[index]
            attribute = constraint.match_attribute or constraint.distinct_attribute or ""
            if not values_of(candidate, attribute):
                return "constraint", f"{_named(index, constraint)}: the device has no attribute {attribute}"
        return None

    def _capacity_failure(self, candidate: Candidate, ask: Alternative) -> tuple[Check, str] | None:
        if not candidate.shareable:
            return None
        wanted = capacity.consumed_capacity(candidate, ask)
        short = capacity.shortage(candidate, wanted, self.state.capacity.get(candidate.id, {}))
        return ("capacity", f"{short} (taken by {self._holders(candidate)})") if short else None

    def _shortage(self, short: Sequence[CounterKey], pool: Pool) -> str:
        """Counters that are short, grouped by set, by what is left, and by who holds them."""
        left = self._ledger(pool).left
        groups: dict[tuple[str, str, str], list[str]] = {}
        for set_name, counter in short:
            key = (set_name, counter)
            amount = f"{shown(left[key])} of {shown(pool.counters[key])} left"
            groups.setdefault((set_name, amount, self._counter_holders(key, pool)), []).append(counter)
        parts: dict[str, list[str]] = {}
        for (set_name, amount, holders), counters in groups.items():
            verb = "has" if len(counters) == 1 else "have"
            parts.setdefault(set_name, []).append(f"{_listed(counters)} {verb} {amount}{holders}")
        return "; ".join(f"counter set {set_name}: {'; '.join(lines)}" for set_name, lines in parts.items())

    def _counter_holders(self, key: CounterKey, pool: Pool) -> str:
        holders = [
            f"{shown(candidate.counters[key])} held by {candidate.id.device}, {holder.claim}, as a share"
            if holder.shared
            else f"{candidate.id.device}, {holder.claim}"
            for candidate in (*pool.candidates, *pool.elsewhere)
            if key in candidate.counters
            for holder in self.state.holders.get(candidate.id, ())
        ]
        return f" ({'; '.join(holders)})" if holders else ""

    def _together(self) -> _Finding:
        """Every request alone could be served; only together they cannot."""
        constraints = [_named(index, constraint) for index, constraint in enumerate(self.plan.constraints)]
        wanted = sum(min(ask.count for ask in request.alternatives) for request in self.plan.requests)
        if constraints:
            reason = Reason(check="constraint", message=f"no combination of the devices satisfies {_listed(constraints)}")
        elif wanted > len(self.usable):
            message = f"{wanted} devices wanted together, {len(self.usable)} can be had"
            reason = Reason(check="limit", message=message)
        else:
            message = f"{wanted} devices wanted: each could be had, but not together (counters, or other claims of the pod)"
            reason = Reason(check="counters", message=message)
        return _Finding(reason, self.node.name, visible_elsewhere=False)


def _named(index: int, constraint: DeviceConstraint) -> str:
    kind = "matchAttribute" if constraint.match_attribute is not None else "distinctAttribute"
    return f"constraint #{index} ({kind} {constraint.match_attribute or constraint.distinct_attribute})"


def _listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; long lists are cut."""
    if len(words) > 8:
        return f"{', '.join(words[:6])} and {len(words) - 6} more"
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
