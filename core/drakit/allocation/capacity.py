"""Consumable capacity: how much of a device a request takes, and whether that is left.

Source: k8s.io/dynamic-resource-allocation ``structured`` (consumable capacity), KEP-5075; fractional ranges as of 1.37
(DRAFractionalCapacityRange).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Final

from drakit.allocation.pools import Candidate
from drakit.allocation.requests import Alternative
from drakit.model import CapacityRequestPolicyRange, DeviceCapacity, Quantity, QuantityFormat

__all__ = ["consumed_capacity", "shortage", "unfit"]

_MILLI: Final = Decimal("0.001")
_ONE: Final = Decimal(1)


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


def shortage(candidate: Candidate, wanted: Mapping[str, Quantity], taken: Mapping[str, Quantity]) -> str:
    """The first capacity of a shared device of which too little is left; empty if all fit.

    :param taken: consumed so far, by this search and by what was allocated before.
    """
    for name, amount in wanted.items():
        value = candidate.device.capacity[name].value
        used = taken.get(name)
        if used is not None and used + amount > value:
            left = value - used if used < value else Quantity(Decimal(0))
            return f"capacity {name} has {left} of {value} left, {amount} wanted"
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
    low, step, asked = _ceil(minimum, unit), _ceil(range_.step, unit), _ceil(wanted, unit)
    steps = ((asked - low) / step).to_integral_value(ROUND_CEILING)
    return Quantity(low + steps * step, QuantityFormat.BINARY_SI)


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
            return (_ceil(amount, unit) - _ceil(range_.min, unit)) % _ceil(range_.step, unit) == 0
        return True
    return not policy.valid_values or amount in policy.valid_values


def _unit(range_: CapacityRequestPolicyRange) -> Decimal:
    """Thousandths where the range has fractions, whole numbers otherwise: upstream computes on integers."""
    bounds = (range_.min, range_.max, range_.step)
    return _MILLI if any(q is not None and q.value != q.value.to_integral_value() for q in bounds) else _ONE


def _ceil(quantity: Quantity, unit: Decimal) -> Decimal:
    return (quantity.value / unit).to_integral_value(ROUND_CEILING) * unit
