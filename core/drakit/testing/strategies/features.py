"""What a world can be about, and how often it is.

Every world takes part of the features that it may have. So each is seen alone and beside any other, and no world drowns in
all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hypothesis.strategies import DrawFn

from drakit.testing.strategies.odds import happens

__all__ = ["ALL", "FEATURES", "some_features"]

_PERCENT: Final[Mapping[str, int]] = {
    "prioritized-list": 35,
    "selectors": 45,
    "match": 35,
    "match-list": 20,
    "distinct": 25,
    "distinct-count": 20,
    "counters": 40,
    "taints": 30,
    "all": 35,
    "admin": 30,
    "capacity": 45,
    "shared": 45,
    "binding-conditions": 18,
    "node-selection": 25,
    "per-device-node-selection": 15,
    "stale-pools": 18,
    "invalid-pools": 10,
    "same-pool-name": 20,
    "allocated": 50,
    "failing-selectors": 32,
    "config": 25,
    "compatibility-groups": 5,
}

FEATURES: Final = tuple(_PERCENT)
"""What a world can be about:

``prioritized-list``
    Requests with ``firstAvailable``.
``selectors``
    CEL in classes and requests that works on every device.
``match``, ``match-list``
    Constraints with ``matchAttribute``; attributes with list values for constraints.
``distinct``, ``distinct-count``
    Constraints with ``distinctAttribute``; such over requests for more than one device.
``counters``, ``compatibility-groups``
    Devices that consume shared counters; and that do so in compatibility groups (1.37).
``taints``
    Taints of every effect, and tolerations.
``all``
    Requests with the allocation mode All.
``admin``
    Requests with admin access.
``capacity``, ``shared``
    Capacities and requests for them; devices for several allocations. Together also request policies.
``binding-conditions``
    Devices with binding conditions, which come last, or that bind to a node.
``node-selection``, ``per-device-node-selection``
    Slices by node name, node selector and for all nodes, some of them for another node; devices that say it themselves.
``stale-pools``
    Pools with slices of another generation, with too few slices and with too many.
``invalid-pools``
    Pools whose devices consume counters that are not there, or in which a name stands twice.
``same-pool-name``
    Two drivers with pools of one name.
``allocated``
    Devices and shares that other claims hold.
``failing-selectors``
    CEL that fails at run time on some devices.
``config``
    Configuration of classes and claims.
"""

ALL: Final = frozenset(FEATURES)
_FEW: Final = 4


def some_features(draw: DrawFn, features: Iterable[str]) -> frozenset[str]:
    """The features of one world.

    :param features: those it may have; where they are few, each is likely.
    :raises ValueError: a name that is not in :data:`FEATURES`.
    """
    asked = {features} if isinstance(features, str) else set(features)
    if unknown := sorted(asked - ALL):
        raise ValueError(f"unknown features {unknown}; known are {list(FEATURES)}")
    few = len(asked) <= _FEW
    return frozenset(name for name in FEATURES if name in asked and happens(draw, 90 if few else _PERCENT[name]))
