"""Hardware that does not exist, as an Inventory document describes it: any number of nodes, devices and parts.

The same document always gives the same devices, down to their UUIDs.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from attrs import field, frozen

from drakit import Device, DrakitError, Driver, Host, Inventory, Problem, Quantity, Split, device_class, hookimpl
from drakit.model import DeviceAttribute, Fault, is_dns_label, qualify

__all__ = [
    "FakeInventory",
    "FaultyDevice",
    "drakit_discover",
    "drakit_driver",
    "drakit_health",
    "drakit_partitions",
]

DRIVER: Final = "fake.example.com"
OWN_ATTRIBUTES: Final = {qualify(name, DRIVER) for name in ("index", "kind", "uuid")}
MAX_NODES: Final = 100_000
MAX_DEVICES: Final = 10_000
MAX_TOTAL: Final = 1_000_000
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_DNS, DRIVER)


@frozen(kw_only=True)
class FaultyDevice:
    """A device that has a problem."""

    node: str
    device: str
    problem: str = "broken"
    effect: Literal["None", "NoSchedule", "NoExecute"] = "NoSchedule"


@frozen(kw_only=True)
class FakeInventory(Inventory):
    """The fields of an Inventory document for this plugin."""

    nodes: int = 1
    """How many nodes, named ``<nodePrefix>-0`` and so on."""
    node_prefix: str = "node"
    node_labels: Mapping[str, str] = field(factory=dict[str, str])
    devices: int = 1
    """How many devices each node has, named ``<devicePrefix>-0`` and so on."""
    device_prefix: str = "gpu"
    attributes: Mapping[str, DeviceAttribute] = field(factory=dict[str, DeviceAttribute])
    """Of every device, as in a ResourceSlice: ``model: {string: m1}``. On top come ``index``, ``kind`` and ``uuid``."""
    capacity: Mapping[str, Quantity] = field(factory=dict[str, Quantity])
    """Of every device: ``memory: 80Gi``."""
    partitions: tuple[int, ...] = ()
    """Numbers of equal parts a device can be handed out in, such as ``[2, 4]``; they divide the first capacity."""
    faults: tuple[FaultyDevice, ...] = ()

    def mistakes(self) -> Iterator[Fault]:
        for name, most in (("nodes", MAX_NODES), ("devices", MAX_DEVICES)):
            if not 0 <= getattr(self, name) <= most:
                yield Fault(name, f"must be from 0 to {most}, not {getattr(self, name)}")
        if self.nodes <= MAX_NODES and self.devices <= MAX_DEVICES and self.nodes * self.devices > MAX_TOTAL:
            yield Fault("devices", f"{self.nodes} nodes with {self.devices} devices each are more than {MAX_TOTAL} devices")
        for name, prefix in (("nodePrefix", self.node_prefix), ("devicePrefix", self.device_prefix)):
            if not is_dns_label(f"{prefix}-0"):
                yield Fault(name, f'"{prefix}-0" is not a DNS label: lower-case letters, digits and dashes')
        for name in self.attributes:
            if qualify(name, DRIVER) in OWN_ATTRIBUTES:
                yield Fault(f"attributes[{name}]", "is set by the plugin itself")
        if self.partitions and not self.capacity:
            yield Fault("partitions", "need a capacity to divide: say what `capacity` a device has")
        elif self.partitions:
            if self.nodes * self.devices * sum(self.partitions) > MAX_TOTAL:
                yield Fault("partitions", f"{sum(self.partitions)} parts of each device make more than {MAX_TOTAL} devices")
                return
            try:
                self.split()
            except DrakitError as error:
                yield Fault("partitions", str(error))
        sizes_fit = self.nodes <= MAX_NODES and self.devices <= MAX_DEVICES
        names = {"node": self.node_names(), "device": self.device_names()} if sizes_fit else {}
        for index, fault in enumerate(self.faults):
            for what, known in names.items():
                if getattr(fault, what) not in known:
                    yield Fault(f"faults[{index}].{what}", f'there is no {what} "{getattr(fault, what)}"')

    def split(self) -> Split:
        """:raises DrakitError: the numbers of parts do not go together."""
        return Split(self.partitions, of=next(iter(self.capacity)))

    def node_names(self) -> list[str]:
        return [f"{self.node_prefix}-{index}" for index in range(self.nodes)]

    def device_names(self) -> list[str]:
        return [f"{self.device_prefix}-{index}" for index in range(self.devices)]

    def hosts(self) -> Iterator[Host]:
        for name in self.node_names():
            yield Host(name, labels=self.node_labels)


@frozen
class _Source:
    """What a device was made from."""

    host: str
    name: str
    inventory: FakeInventory


@hookimpl
def drakit_driver() -> Driver:
    return Driver(DRIVER, classes=[device_class(DRIVER, f'device.driver == "{DRIVER}"')], inventory=FakeInventory)


@hookimpl
def drakit_discover(host: Host) -> Iterator[Device]:
    inventory = host.inventory
    if not isinstance(inventory, FakeInventory):
        return  # nothing of ours on real hardware
    for index, name in enumerate(inventory.device_names()):
        own = {"index": index, "kind": inventory.device_prefix, "uuid": str(uuid.uuid5(_NAMESPACE, f"{host.name}/{name}"))}
        yield Device(
            name,
            attributes={**own, **inventory.attributes},
            capacity=inventory.capacity,
            source=_Source(host.name, name, inventory),
        )


@hookimpl
def drakit_partitions(target: object) -> Split | None:
    source = getattr(target, "source", None)
    if not isinstance(source, _Source) or not source.inventory.partitions:
        return None
    return source.inventory.split()


@hookimpl
def drakit_health(device: Device) -> Iterator[Problem]:
    source = device.source
    if isinstance(source, _Source):
        for fault in source.inventory.faults:
            if (fault.node, fault.device) == (source.host, source.name):
                yield Problem(fault.problem, effect=fault.effect)
