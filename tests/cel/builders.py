from __future__ import annotations

from typing import Final

from drakit import cel
from drakit.model import Device, DeviceAttribute, semver

DRIVER: Final = "gpu.acme.example"
A: Final = 'device.attributes["gpu.acme.example"]'
C: Final = 'device.capacity["gpu.acme.example"]'
HINT: Final = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
)


def card() -> cel.CelDevice:
    """One device with an attribute of every kind, its own and another domain's."""
    attributes = {
        "model": "m1",
        "label": "",
        "wide": "größe→",
        "csv": "x,y",
        "digits": "12",
        "index": 3,
        "below": -4,
        "most": 2**63 - 1,
        "ecc": True,
        "spare": False,
        "firmware": semver("1.4.2"),
        "preview": semver("2.0.0-rc.2+build.7"),
        "lanes": [4, 8, 16],
        "names": ["left", "right"],
        "flags": [True, False],
        "supported": DeviceAttribute(versions=("1.0.0", "1.4.2")),
        "fabric.acme.example/rack": "r7",
    }
    capacity = {
        "memory": "80Gi",
        "half": "500m",
        "slots": "16",
        "none": "0",
        "huge": "99999999999999999999G",
        "fabric.acme.example/ports": "4",
    }
    return cel.CelDevice(DRIVER, Device("card-0", attributes=attributes, capacity=capacity))


def verdict(expression: str, device: cel.CelDevice | None = None) -> bool | str:
    """What comes of an expression: the verdict, or the text of the error without the hint."""
    expression = expression.replace("A.", f"{A}.").replace("A[", f"{A}[").replace("C.", f"{C}.")
    try:
        return cel.compile(expression).matches(device or card())
    except cel.CelError as error:
        first = error.message if isinstance(error, cel.CompileError) else str(error)
        return f"{type(error).__name__}: {first.removesuffix(HINT)}"
