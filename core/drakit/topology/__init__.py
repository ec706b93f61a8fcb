"""Shape families, partitions, counter encodings and slice packing: from hardware to ResourceSlices, without I/O."""

from drakit.topology.domain import Domain, Member, Partition, TopologyError
from drakit.topology.packing import pack
from drakit.topology.pools import DesiredPool, domain_pool, node_pool, split_device
from drakit.topology.shapes import Clique, Grid, ShapeFamily, Split

__all__ = [
    "Clique",
    "DesiredPool",
    "Domain",
    "Grid",
    "Member",
    "Partition",
    "ShapeFamily",
    "Split",
    "TopologyError",
    "domain_pool",
    "node_pool",
    "pack",
    "split_device",
]
