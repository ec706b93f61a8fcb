"""A pool's devices and counter sets as the fewest ResourceSlices the API allows.

The layout is that of Kubernetes 1.35 and newer: counter sets and devices in separate slices. Slice names sort in
publish order, because the allocator reads slices by name and devices as listed.

Source: k8s.io/api ``resource/v1/types.go`` (limits), k8s.io/dynamic-resource-allocation ``resourceslice`` (names).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from drakit.model.device import Device
from drakit.model.meta import ObjectMeta
from drakit.model.resourceslice import ResourcePool, ResourceSlice, ResourceSliceSpec
from drakit.topology.pools import DesiredPool

__all__ = ["pack"]

T = TypeVar("T")

DEVICES_PER_SLICE: Final = 128
"""``ResourceSliceMaxDevices``"""
COUNTING_DEVICES_PER_SLICE: Final = 64
"""As soon as one device of the slice has taints, counters or list attributes."""
SETS_PER_SLICE: Final = 8
"""``ResourceSliceMaxCounterSets``"""

MAX_NAME: Final = 253
"""Bytes of an object's name."""


def pack(pool: DesiredPool, *, generation: int = 1) -> tuple[ResourceSlice, ...]:
    """The slices of a pool: counter slices first, then the devices in order.

    :returns: at least one slice; a pool without devices is published as one empty slice.
    """
    limit = COUNTING_DEVICES_PER_SLICE if any(map(_is_counting, pool.devices)) else DEVICES_PER_SLICE
    contents: list[dict[str, Any]] = [{"shared_counters": sets} for sets in _chunks(pool.counter_sets, SETS_PER_SLICE)]
    contents += [{"devices": devices} for devices in _chunks(pool.devices, limit)]
    contents = contents or [{}]
    header = ResourcePool(name=pool.name, generation=generation, resource_slice_count=len(contents))
    nodes: dict[str, Any] = {"node_name": pool.node_name} if pool.node_name else {"per_device_node_selection": True}
    return tuple(
        ResourceSlice(
            metadata=ObjectMeta(name=_slice_name(pool, index)),
            spec=ResourceSliceSpec(driver=pool.driver, pool=header, **nodes, **content),
        )
        for index, content in enumerate(contents)
    )


def _is_counting(device: Device) -> bool:
    lists = ("ints", "bools", "strings", "versions")
    return bool(device.taints or device.consumes_counters or any(value.kind in lists for value in device.attributes.values()))


def _chunks(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _slice_name(pool: DesiredPool, index: int) -> str:
    """Sorts by index, can be read, and is unique for the pool: what can be read may be said of another one too."""
    name = "-".join((f"{index:05x}", pool.driver, pool.name.removeprefix(f"{pool.driver}/").replace("/", "-")))
    digest = hashlib.sha256(f"{pool.driver} {pool.name}".encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME - len(digest) - 1].rstrip('.-')}-{digest}"
