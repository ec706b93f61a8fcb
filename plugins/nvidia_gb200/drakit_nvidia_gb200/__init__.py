"""NVIDIA GB200: compute trays with their GPUs, and the NVLink domain of an NVL72 rack.

Names and attributes are those of the official driver, so that existing claims and classes work. On top come the NVLink
attributes, which it does not publish, and a device for each clique: a job that holds a share of it stays in one rack.
"""

from drakit_nvidia_gb200.inventory import GB200Inventory, Rack
from drakit_nvidia_gb200.plugin import (
    drakit_attributes,
    drakit_discover,
    drakit_domains,
    drakit_driver,
    drakit_health,
    drakit_partitions,
)

__all__ = [
    "GB200Inventory",
    "Rack",
    "drakit_attributes",
    "drakit_discover",
    "drakit_domains",
    "drakit_driver",
    "drakit_health",
    "drakit_partitions",
]
