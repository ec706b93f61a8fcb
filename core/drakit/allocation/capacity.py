"""Consumable capacity: how much of a device a request takes, and whether that is left.

Source: k8s.io/dynamic-resource-allocation ``structured`` (consumable capacity), KEP-5075; fractional ranges as of 1.37
(DRAFractionalCapacityRange).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from drakit.allocation.amounts import NANO, nano, shown
from drakit.allocation.pools import Candidate
from drakit.allocation.requests import Alternative
from drakit.model import CapacityRequestPolicyRange, DeviceCapacity, Quantity

__all__ = ["consumed_capacity", "shortage", "unfit"]

_BINARY: Final = Quantity.parse("0Ki")
"""A notation: upstream prints rounded amounts with binary suffixes."""


def consumed_capacity(candidate: Candidate, ask: Alternative) -> Mapping[str, Quantity]:
    """What one allocation takes of every capacity of a device, requested or not."""
    return {name: _consumed(capacity, ask.capacity.get(name)) for name, capacity in candidate.device.capacity.items()}


def unfit(candidate: Candidate, ask: Alternative) -> str:
    """Why a device can never serve this capacity request, however free it is; empty if it can."""
    for name in ask.capacity:
        if name not in candidate.device.capacity:
            return f"the device has no capacity {name}"
    for name, amount in consumed_capacity(candidate, ask).items():
        capacity = candidate.device.capacity[name]
        if not _allowed(capacity, amount):
            return f"capacity {name}: {amount} is not an amount its request policy allows"
        if amount > capacity.value:
            return f"capacity {name}: {amount} wanted, the device has {capacity.value}"
    return ""


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


def _consumed(capacity: DeviceCapacity, wanted: Quantity | None) -> Quantity:
    policy = capacity.request_policy
    if wanted is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_into(policy.valid_range, policy.valid_range.min, wanted)
    return next((value for value in policy.valid_values if value >= wanted), wanted)


def _rounded_into(range_: CapacityRequestPolicyRange, minimum: Quantity, wanted: Quantity) -> Quantity:
    """At least the minimum, and a whole number of steps above it."""
    if wanted < minimum:
        return minimum
    if range_.step is None or not range_.step:
        return wanted
    unit = _unit(range_)
    low, step, asked = _units(minimum, unit), _units(range_.step, unit), _units(wanted, unit)
    return shown((low - (low - asked) // step * step) * unit, _BINARY)


def _allowed(capacity: DeviceCapacity, amount: Quantity) -> bool:
    policy = capacity.request_policy
    if policy is None or (policy.default is not None and amount == policy.default):
        return True
    range_ = policy.valid_range
    if range_ is not None:
        if range_.max is not None and amount > range_.max:
            return False
        if range_.step is not None and range_.step and range_.min is not None:
            unit = _unit(range_)
            return (_units(amount, unit) - _units(range_.min, unit)) % _units(range_.step, unit) == 0
        return True
    return not policy.valid_values or amount in policy.valid_values


def _unit(range_: CapacityRequestPolicyRange) -> int:
    """What upstream counts in: thousandths where the range has fractions, whole numbers otherwise."""
    bounds = (range_.min, range_.max, range_.step)
    return NANO // 1000 if any(bound is not None and nano(bound) % NANO for bound in bounds) else NANO


def _units(quantity: Quantity, unit: int) -> int:
    """The quantity in units, a part of one counting as one."""
    return -(-nano(quantity) // unit)
