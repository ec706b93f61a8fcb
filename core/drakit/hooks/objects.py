"""What drakit and its plugins hand to each other, besides the model's own Device and the topology's Domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args

from attrs import field, frozen

from drakit.model import Device, DeviceClass, DeviceID, DeviceTaint, Fault, InvalidObject, Node, Quantity
from drakit.model.collections import frozen_mapping, frozen_tuple
from drakit.model.names import is_dns_subdomain, is_label_value

__all__ = [
    "AllocatedDevice",
    "Checked",
    "DeviceEdits",
    "DomainSource",
    "Driver",
    "Host",
    "Inventory",
    "Journal",
    "Problem",
]

Effect = Literal["None", "NoSchedule", "NoExecute"]

MAX_TAINTS: Final = 16
"""Taints the API takes on one device."""


@frozen(kw_only=True)
class Checked:
    """A class that refuses to be made with mistakes in it: derive from it and say what they are."""

    def __attrs_post_init__(self) -> None:
        faults = list(self.mistakes())
        if faults:
            raise InvalidObject("", faults)

    def mistakes(self) -> Iterable[Fault]:
        """What is wrong with the fields, each with its path in the document: ``failedHosts[1]``."""
        return ()


@frozen(kw_only=True)
class Inventory(Checked):
    """What an Inventory document says to one plugin. Plugins derive an attrs class with fields of their own.

    The document's fields are decoded into it strictly, names in camelCase: an unknown field or a wrong type is an error
    with its path, and so is everything that :meth:`mistakes` finds.
    """

    def hosts(self) -> Iterable[Host]:
        """The hosts the document describes; their node-local devices come from ``drakit_discover``."""
        return ()


@frozen(kw_only=True)
class Driver:
    """Who a plugin is. One plugin is one driver."""

    name: str = field(kw_only=False)
    """Driver name: DNS subdomain of at most 63 bytes, in lower case, such as ``gpu.acme.example``."""
    classes: tuple[DeviceClass, ...] = field(default=(), converter=frozen_tuple)
    """DeviceClasses the driver brings along."""
    inventory: type[Inventory] = Inventory
    """The attrs class of the plugin's Inventory documents."""
    configs: Mapping[str, type[Any]] = field(factory=dict[str, type[Any]], converter=frozen_mapping)
    """The attrs classes of the driver's opaque parameters, by their ``kind``; empty: it takes none."""

    @name.validator
    def _valid(self, _: object, name: str) -> None:
        if not is_dns_subdomain(name, limit=63):
            raise InvalidObject(
                "Driver", [Fault("name", f"{name!r} must be a DNS subdomain of at most 63 bytes, such as gpu.acme.example")]
            )


@frozen(kw_only=True)
class Host:
    """One host, as discovery sees it."""

    name: str = field(kw_only=False)
    """The node's name."""
    labels: Mapping[str, str] = field(factory=dict[str, str], converter=frozen_mapping)
    root: Path = Path("/")
    """Where the host's /sys, /proc and /dev are; tests point it at a folder."""
    inventory: Inventory | None = None
    """The document the host comes from; None: real hardware."""


@frozen(kw_only=True)
class DomainSource:
    """What the controller role can see of domains: the cluster's nodes, or an Inventory document."""

    nodes: tuple[Node, ...] = field(default=(), converter=frozen_tuple)
    inventory: Inventory | None = None


@frozen(kw_only=True)
class Problem:
    """One open problem of a device. It becomes a taint, and the taint goes when the problem is no longer reported."""

    kind: str = field(kw_only=False)
    """Names the taint, ``<driver>/<kind>``; such as ``ecc``."""
    value: str = ""
    """Told apart by this where one kind can be open several times: a host, an error code. Label value, <= 63 bytes."""
    effect: Effect = "NoSchedule"
    message: str = ""
    """For people: what happened, what to do."""

    def __attrs_post_init__(self) -> None:
        effects = get_args(Effect)
        if self.effect not in effects:
            raise ValueError(f"problem {self.kind!r}: effect must be one of {', '.join(effects)}, not {self.effect!r}")
        if not self.kind or not is_label_value(self.kind) or not is_label_value(self.value):
            rule = "must be at most 63 letters, digits, '-', '_' and '.'"
            raise ValueError(f"problem {self.kind!r}: kind and value ({self.value!r}) {rule}")

    def taint(self, driver: str) -> DeviceTaint:
        return DeviceTaint(key=f"{driver}/{self.kind}", value=self.value, effect=self.effect)


@frozen(kw_only=True)
class DeviceEdits:
    """What a container gets with a device."""

    device: DeviceID
    env: Mapping[str, str] = field(factory=dict[str, str], converter=frozen_mapping)
    device_nodes: tuple[str, ...] = field(default=(), converter=frozen_tuple)
    """Paths below /dev, on the host and in the container."""
    mounts: Mapping[str, str] = field(factory=dict[str, str], converter=frozen_mapping)
    """Container path by host path; read-only bind mounts."""


@frozen(kw_only=True)
class AllocatedDevice:
    """One of a claim's devices that belongs to the plugin's driver; results of other drivers are never shown."""

    id: DeviceID
    request: str
    """Name of the request; for one with alternatives the main name."""
    device: Device | None = None
    """As the plugin published it; None when it is no longer there."""
    share_id: str | None = None
    consumed_capacity: Mapping[str, Quantity] = field(factory=dict[str, Quantity], converter=frozen_mapping)
    admin_access: bool = False
    configs: tuple[object, ...] = field(default=(), converter=frozen_tuple)
    """The opaque parameters that apply to the device, decoded, lowest precedence first: the class's, then the claim's."""

    def edits(
        self,
        *,
        env: Mapping[str, str] | None = None,
        device_nodes: Iterable[str] = (),
        mounts: Mapping[str, str] | None = None,
    ) -> DeviceEdits:
        """The container edits for this device."""
        return DeviceEdits(device=self.id, env=env or {}, device_nodes=device_nodes, mounts=mounts or {})


class Journal(Protocol):
    """Where ``drakit_prepare`` writes what undoing needs, before it acts; kept on disk until the claim is unprepared."""

    def record(self, step: str, undo: Mapping[str, Any]) -> None:
        """Note that a step is about to be taken. Returns once the note is safe on disk."""

    def steps(self) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """The steps noted so far, oldest first; empty for a first attempt."""
        ...
