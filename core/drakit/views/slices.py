"""ResourceSlices as a table: what each holds and for whom."""

from __future__ import annotations

from collections.abc import Sequence

from drakit.model import ResourceSlice
from drakit.views.tables import Rows, table

__all__ = ["slices_view"]


def slices_view(slices: Sequence[ResourceSlice]) -> Rows:
    """One row per slice."""
    view = table("SLICE", "DRIVER", "POOL", "NODE", "DEVICES", "COUNTER SETS", "TAINTED")
    for slice_ in slices:
        spec = slice_.spec
        tainted = sum(bool(device.taints) for device in spec.devices)
        view.add(
            slice_.name,
            spec.driver,
            spec.pool.name,
            spec.node_name or "per device",
            str(len(spec.devices)),
            str(len(spec.shared_counters)),
            str(tainted),
        )
    return view
