"""The inventory stage: asks the hooks about hosts and domains and builds the pools they should have.

Called for Inventory documents (:mod:`drakit.files`) and, with real hosts, by the node and controller roles. The order of
questions is fixed: what there is, what more is known about it, in which parts it goes, what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs
from attrs import field, frozen

from drakit.hooks.calling import PluginError, blaming, described
from drakit.hooks.manager import LoadedPlugin, Plugins
from drakit.hooks.objects import MAX_TAINTS, DomainSource, Host, Inventory
from drakit.model import (
    Device,
    DeviceCapacity,
    DeviceClass,
    DeviceTaint,
    DrakitError,
    Fault,
    InvalidObject,
    Node,
    ObjectMeta,
    Quantity,
    qualify,
)
from drakit.model.collections import frozen_tuple
from drakit.model.nodes import HOSTNAME_LABEL
from drakit.model.wire import decode_as, read_metadata_name
from drakit.topology import DesiredPool, Domain, ShapeFamily, Split, domain_pool, node_pool
from drakit.topology.admissible import faults_of

__all__ = ["INVENTORY_API_VERSION", "Expansion", "expand"]

INVENTORY_API_VERSION: Final = "drakit/v1alpha1"


@frozen(kw_only=True)
class Expansion:
    """What an Inventory document stands for."""

    nodes: tuple[Node, ...] = field(converter=frozen_tuple)
    classes: tuple[DeviceClass, ...] = field(converter=frozen_tuple)
    pools: tuple[DesiredPool, ...] = field(converter=frozen_tuple)
    errors: tuple[PluginError, ...] = field(default=(), converter=frozen_tuple)
    """Plugins that failed on the way; what they would have added is missing."""


def expand(plugins: Plugins, document: Mapping[str, Any]) -> Expansion:
    """The nodes, classes and pools that an Inventory document describes.

    :raises InvalidObject: the document is not one, or its fields are not those of its plugin.
    :raises UnknownPlugin: the plugin is not loaded.
    :raises PluginError: the plugin itself failed, so there is nothing to show.
    :raises TopologyError: the hardware cannot be modelled as asked.
    """
    loaded, inventory = _decoded(plugins, document)
    assert loaded.driver is not None
    builder = _Builder(plugins, loaded.name, loaded.driver.name)
    hosts = _hosts_of(loaded, inventory)
    pools = []
    if "drakit_discover" in loaded.hooks:  # a plugin without it has no node-local devices: no pools, not empty ones
        pools = [builder.host_pool(attrs.evolve(host, inventory=inventory)) for host in hosts]
    domains = plugins.domains(loaded.name, DomainSource(inventory=inventory))
    pools += [builder.domain_pool(domain) for domain in domains]
    nodes = {host.name: _node(host.name, host.labels) for host in hosts}
    for domain in domains:
        for member in domain.members:
            nodes.setdefault(member.node, _node(member.node, {HOSTNAME_LABEL: member.hostname}))
    return Expansion(nodes=nodes.values(), classes=loaded.driver.classes, pools=pools, errors=dict.fromkeys(builder.errors))


def _decoded(plugins: Plugins, document: Mapping[str, Any]) -> tuple[LoadedPlugin, Inventory]:
    what = f"Inventory {read_metadata_name(document)}".rstrip()
    if document.get("apiVersion") != INVENTORY_API_VERSION:
        raise InvalidObject(what, [Fault("apiVersion", f'must be "{INVENTORY_API_VERSION}"')])
    name = document.get("plugin")
    if not isinstance(name, str):
        raise InvalidObject(what, [Fault("plugin", "is required: the name of a plugin, see `drakit plugins`")])
    try:
        loaded = plugins[name]
    except DrakitError as error:
        raise InvalidObject(what, [Fault("plugin", str(error))]) from error
    if loaded.driver is None:
        raise InvalidObject(what, [Fault("plugin", f'"{name}" is not a driver: it has no drakit_driver hook')])
    body = {key: value for key, value in document.items() if key not in ("apiVersion", "kind", "metadata", "plugin")}
    try:
        return loaded, decode_as(body, loaded.driver.inventory, what)
    except SystemExit as error:
        raise PluginError(loaded.name, "Inventory.mistakes", described(error)) from error


def _hosts_of(loaded: LoadedPlugin, inventory: Inventory) -> list[Host]:
    with blaming(loaded.name, "Inventory.hosts"):
        hosts = list(inventory.hosts())
    seen: set[str] = set()
    for host in hosts:
        if not isinstance(host, Host):
            raise PluginError(loaded.name, "Inventory.hosts", f"gave {host!r:.60}, which is not a Host")
        if host.name in seen:
            raise PluginError(loaded.name, "Inventory.hosts", f"gave two hosts with the name {host.name}")
        seen.add(host.name)
    return hosts


def _node(name: str, labels: Mapping[str, str]) -> Node:
    return Node(metadata=ObjectMeta(name=name, labels={HOSTNAME_LABEL: name, **labels}))


class _Builder:
    """Pools of one plugin; collects what other plugins do wrong on the way."""

    def __init__(self, plugins: Plugins, plugin: str, driver: str) -> None:
        self.plugins = plugins
        self.plugin = plugin
        self.driver = driver
        self.errors: list[PluginError] = []

    def host_pool(self, host: Host) -> DesiredPool:
        devices = [self._described(device) for device in self.plugins.discover(self.plugin, host)]
        splits = [(device, self._split(device)) for device in devices]
        with blaming(self.plugin, f"pool of host {host.name}"):
            pool = node_pool(self.driver, host.name, splits)
        return self._finished(pool)

    def domain_pool(self, domain: Domain) -> DesiredPool:
        family = self.plugins.partitions(self.plugin, domain)
        if not isinstance(family, ShapeFamily):
            raise PluginError(self.plugin, "drakit_partitions", f"gave no shape family for domain {domain.name}")
        with blaming(self.plugin, f"{type(family).__name__} of domain {domain.name}"):
            pool, _ = domain_pool(self.driver, domain, family)
        return self._finished(attrs.evolve(pool, devices=[self._described(device) for device in pool.devices]))

    def _split(self, device: Device) -> Split | None:
        split = self.plugins.partitions(self.plugin, device)
        if split is not None and not isinstance(split, Split):
            raise PluginError(self.plugin, "drakit_partitions", f"gave {split!r:.60} for device {device.name}, not a Split")
        return split

    def _described(self, device: Device) -> Device:
        """The device with what every plugin adds to it; an addition that conflicts is reported and left out."""
        own = [qualify(name, self.driver) for name in (*device.attributes, *device.capacity)]
        origin = dict.fromkeys(own, self.plugin)
        for loaded in self._concerned("drakit_attributes"):
            try:
                added = self.plugins.attributes(loaded.name, device, self.driver)
                device = self._merged(device, added, loaded.name, origin)
            except PluginError as error:
                self._report(error, loaded.name)
        return device

    def _merged(self, device: Device, added: Mapping[str, Any], plugin: str, origin: dict[str, str]) -> Device:
        names = [qualify(name, self.driver) for name in added]
        for name in names:
            if name in origin:
                message = f"{name} of device {device.name} is already given by plugin {origin[name]}"
                raise PluginError(plugin, "drakit_attributes", message)
        capacity = {name: value for name, value in added.items() if isinstance(value, Quantity | DeviceCapacity)}
        attributes = {name: value for name, value in added.items() if name not in capacity}
        try:
            merged = attrs.evolve(
                device, attributes={**device.attributes, **attributes}, capacity={**device.capacity, **capacity}
            )
        except TypeError as error:
            raise PluginError(plugin, "drakit_attributes", f"device {device.name}: {error}") from error
        origin.update(dict.fromkeys(names, plugin))
        return merged

    def _finished(self, pool: DesiredPool) -> DesiredPool:
        """The pool with its devices' taints, if the API server would take the devices.

        :raises PluginError: it would not; with every fault of every device.
        """
        devices = [attrs.evolve(device, taints=self._taints(device)) for device in pool.devices]
        with blaming(self.plugin, "devices"):
            faults = [f"device {device.name}: {fault}" for device in devices for fault in faults_of(device)]
        if faults:
            more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
            raise PluginError(self.plugin, "devices", f"pool {pool.name}: {'; '.join(faults[:3])}{more}")
        return attrs.evolve(pool, devices=devices)

    def _taints(self, device: Device) -> Iterable[DeviceTaint]:
        taints = list(device.taints)
        for loaded in self._concerned("drakit_health"):
            try:
                taints += [problem.taint(self.driver) for problem in self.plugins.health(loaded.name, device, self.driver)]
            except PluginError as error:
                self._report(error, loaded.name)
        distinct = list(dict.fromkeys(taints))
        if len(distinct) > MAX_TAINTS:  # what keeps claims away must be among those the API takes
            distinct.sort(key=lambda taint: ("NoExecute", "NoSchedule", "None").index(taint.effect))
        return distinct[:MAX_TAINTS]

    def _concerned(self, hook: str) -> list[LoadedPlugin]:
        return [loaded for loaded in self.plugins.loaded if loaded.concerns(hook, self.driver)]

    def _report(self, error: PluginError, plugin: str) -> None:
        """Another plugin's fault is collected; the driver's own leaves nothing worth showing."""
        if plugin == self.plugin:
            raise error
        if str(error) not in map(str, self.errors):
            self.errors.append(error)
