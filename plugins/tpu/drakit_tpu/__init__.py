"""Google TPU slices that span hosts: an ICI mesh and every aligned sub-slice of it as a device.

Names and attributes are those of the official node-local driver, so that selectors written for it go on working;
``hosts``, ``origin``, ``domain`` and ``acceleratorType`` are added, for a shape alone does not say how many hosts it has.
"""

from drakit_tpu.inventory import TpuDomain, TpuInventory
from drakit_tpu.plugin import drakit_attributes, drakit_domains, drakit_driver, drakit_health, drakit_partitions

__all__ = [
    "TpuDomain",
    "TpuInventory",
    "drakit_attributes",
    "drakit_domains",
    "drakit_driver",
    "drakit_health",
    "drakit_partitions",
]
