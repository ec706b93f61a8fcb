from __future__ import annotations

import pytest

from drakit.model import DeviceID
from drakit.views.folding import fold_devices, fold_names


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["gpu-0"], "gpu-0"),
        (["gpu-1", "gpu-0"], "gpu-0, gpu-1"),
        ([f"gpu-{i}" for i in range(12)], "gpu-0 ... gpu-11"),
        (["gpu-0", "gpu-1", "gpu-2", "gpu-4"], "gpu-0 ... gpu-2, gpu-4"),
        (["w07", "w08", "w09", "w10"], "w07 ... w10"),
        (["a-0-mig", "a-1-mig", "a-2-mig", "b"], "a-0-mig ... a-2-mig, b"),
        (["x", "y", "z"], "x, y, z"),
        ([f"gpu-{2 * i}" for i in range(9)], "gpu-0, gpu-2, gpu-4, gpu-6, gpu-8, gpu-10, and 3 more"),
    ],
)
def test_rows_of_numbers_are_folded(names: list[str], folded: str) -> None:
    assert fold_names(names) == folded


def test_pools_with_the_same_devices_are_said_together() -> None:
    devices = [DeviceID("d", f"node-{node}", f"gpu-{gpu}") for node in range(100) for gpu in range(8)]
    assert fold_devices(devices) == "node-0 ... node-99: each gpu-0 ... gpu-7"
    assert fold_devices(devices[3:]) == "node-0/gpu-3 ... gpu-7; node-1 ... node-99: each gpu-0 ... gpu-7"
    assert fold_devices(devices[:1], with_driver=True) == "d/node-0/gpu-0"
