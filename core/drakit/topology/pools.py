"""From hardware to the desired content of a pool: devices in publish order, with the counters they share.

Called by the inventory stage (:mod:`drakit.hooks.inventory`) for one host's devices or one domain; the result goes to
:mod:`drakit.topology.packing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

import attrs
from attrs import field, frozen

from drakit.model.collections import frozen_tuple
from drakit.model.device import CounterSet, Device, DeviceCapacity, DeviceCounterConsumption
from drakit.model.names import is_dns_label, is_dns_subdomain
from drakit.model.nodes import hostnames
from drakit.model.quantity import Quantity, quantity
from drakit.topology.counters import MemberCounters
from drakit.topology.domain import Domain, Partition, TopologyError
from drakit.topology.shapes import ShapeFamily, Split

__all__ = ["DesiredPool", "domain_pool", "node_pool", "split_device"]

PARTS_COUNTER: Final = "parts"


@frozen(kw_only=True)
class DesiredPool:
    """What one pool should offer. Pure data: a publisher turns it into ResourceSlices."""

    driver: str
    name: str
    devices: tuple[Device, ...] = field(converter=frozen_tuple)
    counter_sets: tuple[CounterSet, ...] = field(default=(), converter=frozen_tuple)
    node_name: str | None = None
    """The node of a node-local pool; None: each device says for which nodes it is."""


def node_pool(driver: str, node_name: str, devices: Iterable[tuple[Device, Split | None]]) -> DesiredPool:
    """The pool of one host: its devices in order, each with its parts before it.

    :raises TopologyError: a name stands twice, or a device cannot be split as asked.
    """
    published: list[Device] = []
    counter_sets: list[CounterSet] = []
    for device, split in devices:
        if split is None:
            published.append(device)
            continue
        parts, counters = split_device(device, split)
        published.extend(parts)
        counter_sets.append(counters)
    pool = DesiredPool(driver=driver, name=node_name, node_name=node_name, devices=published, counter_sets=counter_sets)
    return _check_names(pool)


def split_device(device: Device, split: Split) -> tuple[list[Device], CounterSet]:
    """A device's parts, smallest first, then the device itself; and the counter set that keeps them apart.

    :raises TopologyError: the device lacks the capacity that is divided, or it does not divide evenly.
    """
    if device.consumes_counters:
        raise TopologyError(f"device {device.name} consumes counters already; what is split must be whole")
    whole = device.capacity.get(split.of)
    if whole is None:
        raise TopologyError(f"device {device.name} has no capacity {split.of!r} to split")
    finest = max(split.parts)
    counters = CounterSet(name=f"{device.name}-parts", counters={PARTS_COUNTER: finest})
    devices = [
        attrs.evolve(
            device,
            name=f"{device.name}-{index}of{parts}",
            capacity={split.of: _share(device, whole, parts)},
            consumes_counters=[_parts(counters, finest // parts)],
        )
        for parts in sorted(split.parts, reverse=True)
        for index in range(parts)
    ]
    return [*devices, attrs.evolve(device, consumes_counters=[_parts(counters, finest)])], counters


def _share(device: Device, whole: DeviceCapacity, parts: int) -> Quantity:
    share, rest = divmod(whole.value.to_int(), parts)
    if rest or whole.value != quantity(whole.value.to_int()):
        raise TopologyError(f"device {device.name}: {whole.value} does not divide into {parts} equal parts")
    return attrs.evolve(whole.value, value=Decimal(share), text="")


def _parts(counters: CounterSet, amount: int) -> DeviceCounterConsumption:
    return DeviceCounterConsumption(counter_set=counters.name, counters={PARTS_COUNTER: amount})


def domain_pool(driver: str, domain: Domain, family: ShapeFamily) -> tuple[DesiredPool, Mapping[str, Partition]]:
    """The pool of a domain, ``<driver>/<domain>``: one device per partition, for exactly the nodes of its members.

    :returns: the pool, and the partition behind each device by device name. Attributes are the plugin's to add.
    :raises TopologyError: the domain does not have this shape, or has too many members to count.
    """
    partitions = family.partitions(domain)
    if not partitions:
        raise TopologyError(f"domain {domain.name}: {type(family).__name__} has no partitions")
    # Smallest partitions come first and in Z-order, so their members are in Z-order too.
    counted = [partition for partition in partitions if not partition.shares]
    counters = MemberCounters.of(domain, dict.fromkeys(m for partition in counted for m in partition.members))
    devices = [_partition_device(partition, counters) for partition in partitions]
    pool = DesiredPool(driver=driver, name=f"{driver}/{domain.name}", devices=devices, counter_sets=counters.sets)
    return _check_names(pool), {partition.name: partition for partition in partitions}


def _partition_device(partition: Partition, counters: MemberCounters) -> Device:
    device = _on_its_nodes(partition)
    if partition.shares:
        return attrs.evolve(device, capacity=partition.shares, allow_multiple_allocations=True)
    return attrs.evolve(device, consumes_counters=counters.consumption(partition))


def _on_its_nodes(partition: Partition) -> Device:
    """A device for the nodes of a partition; one node by name, several by hostname in one term, as the API wants it."""
    if len(partition.members) == 1:
        return Device(partition.name, node_name=partition.members[0].node, source=partition)
    names = [member.hostname for member in partition.members]
    return Device(partition.name, node_selector=hostnames(*names), source=partition)


def _check_names(pool: DesiredPool) -> DesiredPool:
    """The pool, if the API server would take its names."""
    where = f"pool {pool.name}" if pool.name.startswith(f"{pool.driver}/") else f"pool {pool.driver}/{pool.name}"
    parts = pool.name.split("/")
    if len(pool.name) > 253 or not all(map(is_dns_subdomain, parts)):
        raise TopologyError(f"pool name {pool.name!r} must be DNS subdomains joined by /, at most 253 bytes")
    for what, names in (("device", pool.devices), ("counter set", pool.counter_sets)):
        seen: set[str] = set()
        for item in names:
            if not is_dns_label(item.name):
                raise TopologyError(f"{where}: {what} name {item.name!r} must be a DNS label of at most 63 bytes")
            if item.name in seen:
                raise TopologyError(f"{where}: two {what}s are named {item.name}")
            seen.add(item.name)
    return pool
