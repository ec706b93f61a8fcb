"""Consumable capacity: how much of a device a request takes, and whether that is left.

Amounts in a range are counted in thousandths where every bound is a whole number of them, else in whole numbers; what
fits into neither ends the attempt, and so does a negative amount.

Source: k8s.io/dynamic-resource-allocation ``structured/internal/experimental/consumable_capacity.go``, KEP-5075, with the
gate DRAFractionalCapacityRange (1.37).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from drakit.allocation.amounts import NANO, nano, shown, stored
from drakit.allocation.pools import Candidate
from drakit.allocation.requests import Alternative
from drakit.model import CapacityRequestPolicyRange, DeviceCapacity, Quantity

__all__ = ["UnusableAmount", "consumed_capacity", "fails_on_any", "shortage", "unfit"]

_MILLI: Final = NANO // 1000
_MOST: Final = 2**63 - 1
"""MaxInt64"""


class UnusableAmount(ValueError):
    """What a request would take of a capacity cannot be counted, which ends the attempt."""


def consumed_capacity(candidate: Candidate, ask: Alternative) -> Mapping[str, Quantity]:
    """What one allocation takes of every capacity of a device, requested or not, in the notation of the API server.

    :raises UnusableAmount: an amount is negative, or passes what Kubernetes can round.
    """
    return {name: _consumed(name, capacity, ask.capacity.get(name)) for name, capacity in candidate.device.capacity.items()}


def unfit(candidate: Candidate, ask: Alternative) -> str:
    """Why a device can never serve this capacity request, however free it is; empty if it can.

    :raises UnusableAmount: as :func:`consumed_capacity`.
    """
    missing = _missing(candidate, ask)
    if missing:
        return f"the device has no capacity {missing}"
    for name, amount in consumed_capacity(candidate, ask).items():
        capacity = candidate.device.capacity[name]
        if not _allowed(capacity, amount):
            return f"capacity {name}: {amount} is not an amount its request policy allows"
        if amount > capacity.value:
            return f"capacity {name}: {amount} wanted, the device has {capacity.value}"
    return ""


def fails_on_any(ask: Alternative, candidates: Iterable[Candidate]) -> bool:
    """Whether a request takes an unusable amount of any of the devices."""
    return any(_fails(candidate, ask) for candidate in candidates if candidate.device.capacity)


def shortage(candidate: Candidate, wanted: Mapping[str, Quantity], taken: Mapping[str, int]) -> str:
    """The first capacity of a shared device of which too little is left; empty if all fit.

    :param taken: consumed so far, by this search and by what was allocated before; in 1e-9.
    """
    for name, amount in wanted.items():
        value = candidate.device.capacity[name].value
        left = nano(value) - taken.get(name, 0)
        if nano(amount) > left:
            return f"capacity {name} has {shown(max(left, 0), value)} of {value} left, {amount} wanted"
    return ""


def _missing(candidate: Candidate, ask: Alternative) -> str:
    """A capacity that is asked for and that a device does not have."""
    return next((name for name in ask.capacity if name not in candidate.device.capacity), "")


def _fails(candidate: Candidate, ask: Alternative) -> bool:
    try:
        unfit(candidate, ask)
    except UnusableAmount:
        return True
    return False


def _consumed(name: str, capacity: DeviceCapacity, wanted: Quantity | None) -> Quantity:
    amount = _resolved(name, capacity, wanted)
    if amount.value < 0:
        raise UnusableAmount(f'capacity "{name}": capacity value is negative')
    return stored(amount)


def _resolved(name: str, capacity: DeviceCapacity, wanted: Quantity | None) -> Quantity:
    policy = capacity.request_policy
    if wanted is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_into(name, policy.valid_range, policy.valid_range.min, wanted)
    return next((value for value in policy.valid_values if value >= wanted), wanted)


def _rounded_into(name: str, range_: CapacityRequestPolicyRange, minimum: Quantity, wanted: Quantity) -> Quantity:
    """At least the minimum, and a whole number of steps above it, in the notation of the step."""
    if wanted < minimum:
        return minimum
    if range_.step is None or not range_.step:
        return wanted
    unit = _unit(range_)
    if not _is_countable(wanted, unit):
        why = "is not a representable milli value" if unit == _MILLI else "exceeds MaxInt64"
        raise _unrepresentable(name, f"request {stored(wanted)} {why}")
    low, step, asked = _units(minimum, unit), _units(range_.step, unit), _units(wanted, unit)
    rounded = low - (low - asked) // step * step
    if rounded > _MOST or (low < 0 and unit == _MILLI):  # what Kubernetes has left below a negative minimum overflows
        limit = "the milli-value range" if unit == _MILLI else "MaxInt64"
        raise _unrepresentable(name, f"rounding request {stored(wanted)} up to the next step passes {limit}")
    return shown(rounded * unit, range_.step)


def _unrepresentable(name: str, why: str) -> UnusableAmount:
    text = "capacity request cannot be represented in the device's range arithmetic"
    return UnusableAmount(f'capacity "{name}": {text}: {why}')


def _allowed(capacity: DeviceCapacity, amount: Quantity) -> bool:
    policy = capacity.request_policy
    if policy is None or (policy.default is not None and amount == policy.default):
        return True
    range_ = policy.valid_range
    if range_ is not None:
        if range_.max is not None and amount > range_.max:
            return False
        if range_.step is not None and range_.step and range_.min is not None:
            return _is_on_a_step(range_.min, range_.step, amount, _unit(range_))
        return True
    return not policy.valid_values or amount in policy.valid_values


def _is_on_a_step(minimum: Quantity, step: Quantity, amount: Quantity, unit: int) -> bool:
    if unit == _MILLI and not _is_countable(amount, unit):
        return False
    return (_units(amount, unit) - _units(minimum, unit)) % _units(step, unit) == 0


def _unit(range_: CapacityRequestPolicyRange) -> int:
    """What amounts of a range are counted in: thousandths where that goes for every bound, else whole numbers."""
    bounds = [bound for bound in (range_.min, range_.max, range_.step) if bound is not None]
    return _MILLI if all(_is_countable(bound, _MILLI) for bound in bounds) else NANO


def _is_countable(quantity: Quantity, unit: int) -> bool:
    """Whether there is an int64 for it: of thousandths an exact one, of whole numbers one that a fraction is rounded to."""
    amount = nano(quantity)
    if unit == _MILLI:
        return amount % _MILLI == 0 and -_MOST - 1 <= amount // _MILLI <= _MOST
    return amount <= _MOST * NANO


def _units(quantity: Quantity, unit: int) -> int:
    """The quantity in units, a part of one counting as one."""
    return -(-nano(quantity) // unit)
