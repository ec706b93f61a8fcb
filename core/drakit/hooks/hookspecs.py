"""Every hook of drakit. A plugin implements the ones it needs and may leave out arguments it does not use.

Three rules hold for all of them:

* A hook that raises is reported with plugin and hook; the other plugins go on.
* Hooks are plain functions. Discovery, domains, attributes, partitions and health are called from one thread, one call
  at a time for each plugin; prepare and unprepare from a pool of threads, one call at a time for each claim.
* What a hook returns or yields is read to the end before the next hook is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from drakit.hooks.markers import hookspec
from drakit.hooks.objects import AllocatedDevice, DeviceEdits, DomainSource, Driver, Host, Journal, Problem
from drakit.model import Device, ResourceClaim
from drakit.topology import Domain, ShapeFamily, Split

__all__ = [
    "drakit_attributes",
    "drakit_discover",
    "drakit_domains",
    "drakit_driver",
    "drakit_environment",
    "drakit_health",
    "drakit_partitions",
    "drakit_prepare",
    "drakit_unprepare",
    "drakit_validate_config",
]


@hookspec(firstresult=True)
def drakit_driver() -> Driver | None:
    """Say who the plugin is. The first hook called, once, when the plugin is loaded.

    Each plugin is asked on its own. One without this hook can still add attributes to the devices of others.

    :returns: the driver's name, the DeviceClasses it brings and the types of its documents; None: not a driver.

    .. versionadded:: 0.1
    """


@hookspec
def drakit_discover(host: Host) -> Iterable[Device] | None:
    """List the devices of one host (node role).

    Called for each host of an Inventory document; the node role will call it every time it looks at the hardware again.
    Each plugin's devices are its own: they go to the pool of its driver named after the host.

    :param host: the host to look at. ``host.inventory`` is the plugin's Inventory when a document describes the host.
    :returns: devices in publish order, which is the order the scheduler tries them in. None or nothing: no devices,
        published as an empty pool.

    .. versionadded:: 0.1
    """


@hookspec
def drakit_domains(source: DomainSource) -> Iterable[Domain] | None:
    """List the domains that span hosts (controller role).

    Called once for an Inventory document; the controller role will call it whenever nodes or their labels change.

    :param source: the nodes of the cluster, or the plugin's Inventory.
    :returns: domains; each becomes a pool ``<driver>/<domain>`` of its own. None or nothing: there are none.

    .. versionadded:: 0.1
    """


@hookspec
def drakit_attributes(device: Device, driver: str) -> Mapping[str, Any] | None:
    """Add attributes and capacities to a device; plugins may add to the devices of other plugins.

    Called once for every device after discovery or partitioning. A driver is asked about its own devices; a plugin that
    is none, or whose hook takes the argument ``driver``, about those of all. A name that two plugins give, or that the
    device already has, is a conflict: an error that names both, and the device keeps what it had.

    :param device: the device so far. ``device.source`` is what the plugin put there; for a device that stands for a set
        of a domain it is the Partition.
    :param driver: name of the driver the device belongs to.
    :returns: values by qualified name: int, bool, str, a list of one of them or ``semver(...)`` for an attribute, a
        Quantity (``quantity("80Gi")``) for a capacity. None or nothing: nothing to add.

    .. versionadded:: 0.1
    """


@hookspec(firstresult=True)
def drakit_partitions(target: Device | Domain) -> ShapeFamily | Split | None:
    """Say in which parts a device or a domain can be handed out.

    Called once for each device after its attributes are known, and once for each domain. Only the plugin that brought
    the target is asked. drakit enumerates the parts and makes counters, node selectors, order and slices from them.

    :param target: a device of a host, or a domain.
    :returns: for a device a Split, for a domain a shape family such as Grid or Clique. None: a device goes whole; for a
        domain it is an error, because a domain without a shape offers nothing.

    .. versionadded:: 0.1
    """


@hookspec
def drakit_health(device: Device, driver: str) -> Iterable[Problem] | None:
    """List the problems of a device that are open now; each becomes a taint.

    Called for every device each time slices are computed, also for the devices of domains (``device.source`` is the
    Partition: report what its members suffer from). A driver is asked about its own devices; a plugin that is none, or
    whose hook takes the argument ``driver``, about those of all. A problem that is no longer listed is closed, on its
    own; failing hardware is tainted and never withdrawn, so that running claims keep their counters.

    :param device: as published.
    :param driver: name of the driver the device belongs to.
    :returns: open problems, worst first; at most 16 become taints. None or nothing: healthy.

    .. versionadded:: 0.1
    """


@hookspec(firstresult=True)
def drakit_validate_config(parameters: Mapping[str, Any]) -> object | None:
    """Check opaque parameters that a claim or class gives to the driver.

    For the node role, which calls it before anything is touched, and for lint; neither is part of this release. Not
    needed for parameters whose kind is in ``Driver.configs``: those are decoded strictly into its class.

    :param parameters: the JSON object.
    :returns: the decoded configuration, for ``AllocatedDevice.configs``. None: decode by ``Driver.configs``.
    :raises drakit.InvalidObject: naming path, value and what would be right.

    .. versionadded:: 0.1
    """


@hookspec(firstresult=True)
def drakit_prepare(
    claim: ResourceClaim, devices: tuple[AllocatedDevice, ...], journal: Journal
) -> Iterable[DeviceEdits] | None:
    """Make a claim's devices ready on this node and say what containers get.

    For the node role, which is not part of this release: it calls the hook for each claim when its first pod starts, and
    again after restarts of kubelet or node, so it must be idempotent. A first attempt that was interrupted shows in
    ``journal.steps()``.

    :param claim: the claim.
    :param devices: its devices of this driver on this node, in result order, each with the parameters that apply to it;
        those of other drivers are not shown.
    :param journal: note each step here before taking it.
    :returns: edits, at most one for each device. None: nothing to add to containers.

    .. versionadded:: 0.1
    """


@hookspec(firstresult=True)
def drakit_unprepare(claim_uid: str, devices: tuple[AllocatedDevice, ...], journal: Journal) -> object:
    """Undo what ``drakit_prepare`` did for a claim, from the journal; the claim object may be gone.

    For the node role, which is not part of this release: it calls the hook when the last pod of the claim has ended, and
    at start for claims that were left half prepared. Must be idempotent: a claim that was never prepared is a success.

    :param claim_uid: UID of the claim.
    :param devices: as they were prepared.
    :param journal: the steps to undo, newest last.
    :returns: anything; an exception means "not yet", and the call is repeated.

    .. versionadded:: 0.1
    """


@hookspec
def drakit_environment(claim: ResourceClaim, device: AllocatedDevice, host: Host) -> Mapping[str, str] | None:
    """Give the environment a container needs on one host of an allocation that spans hosts.

    For the node role, which is not part of this release: it calls the hook after ``drakit_prepare``, for each device that
    is published for several nodes.

    :param claim: the claim.
    :param device: the device as published; every host computes from the same one.
    :param host: the host this is for.
    :returns: environment variables (worker ids, bounds, channels). A name two plugins give is an error naming both.

    .. versionadded:: 0.1
    """
