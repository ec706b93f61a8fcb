"""What a user should know of a simulation although nothing failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from drakit.allocation.cluster import Cluster
from drakit.allocation.placement import shortened
from drakit.allocation.report import Notice
from drakit.model import ResourceClaim

__all__ = ["notices"]


def notices(cluster: Cluster, claims: Mapping[str, ResourceClaim], used: Mapping[str, Counter[str]]) -> Iterator[Notice]:
    """Warnings about the input and about what came of it.

    :param claims: by key, as they are afterwards.
    :param used: how many pods of each claim went to each node.
    """
    yield from _pools(cluster)
    yield from _lost_devices(cluster)
    hostnames = {node.labels.get("kubernetes.io/hostname", node.name) for node in cluster.nodes}
    for key, nodes in used.items():
        yield from _shared_hosts(claims[key], nodes)
    for claim in claims.values():
        selector = claim.status.allocation.node_selector if claim.status.allocation else None
        unknown = [name for name in selector.hostnames() if name not in hostnames] if selector else []
        if unknown:
            message = f"it is allocated for hosts that are not among the nodes: {shortened(unknown)}"
            yield Notice(code="unknown-hosts", object=f"ResourceClaim {claim.key}", message=message)


def _pools(cluster: Cluster) -> Iterator[Notice]:
    """Pools that give nothing, whether or not somebody asked for their devices."""
    seen: set[str] = set()
    for node in cluster.nodes:
        for pool in cluster.pools.pools(node):
            if pool.key in seen or not (pool.incomplete or pool.invalid):
                continue
            seen.add(pool.key)
            code = "pool-incomplete" if pool.incomplete else "pool-invalid"
            message = f"none of its devices can be had: {pool.incomplete or pool.invalid}"
            yield Notice(code=code, object=f"pool {pool.key}", message=message)


def _lost_devices(cluster: Cluster) -> Iterator[Notice]:
    published = cluster.pools.published()
    for claim in cluster.claims:
        allocation = claim.status.allocation
        for result in allocation.devices.results if allocation else ():
            if result.id not in published:
                message = f"device {result.id} is allocated but in no slice: what it consumes is not known"
                yield Notice(code="allocated-device-not-published", object=f"ResourceClaim {claim.key}", message=message)


def _shared_hosts(claim: ResourceClaim, nodes: Counter[str]) -> Iterator[Notice]:
    """Several pods on one host of a claim that spans hosts; shares of a device may well be used twice on one."""
    allocation = claim.status.allocation
    selector = allocation.node_selector if allocation else None
    if allocation is None or selector is None or len(selector.hostnames()) < 2:
        return
    doubled = sorted(name for name, pods in nodes.items() if pods > 1)
    if doubled and all(result.share_id is None for result in allocation.devices.results):
        message = (
            f"{nodes.total()} pods use this claim of {len(selector.hostnames())} hosts, several of them on "
            f"{shortened(doubled)}: one pod per host is what such devices expect"
        )
        yield Notice(code="pods-share-a-host", object=f"ResourceClaim {claim.key}", message=message)
