"""What the API server would refuse of a plugin's devices: found before anything is published, with the device's name.

One bad value makes the server refuse a whole slice, and with it every device of the node.

Source: k8s.io/kubernetes ``pkg/apis/resource/validation``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from drakit.model.device import Device
from drakit.model.names import is_dns_label, is_dns_subdomain, is_label_name, is_label_value

__all__ = ["faults_of"]

MAX_ENTRIES: Final = 32
"""Attributes and capacities of a device together."""
MAX_BYTES: Final = 64
"""Of a string or version."""
MAX_CONDITIONS: Final = 4
"""Binding conditions, and as many for failure."""
EFFECTS: Final = ("NoSchedule", "NoExecute", "None")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}", re.ASCII)
_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_PRERELEASE: Final = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRERELEASE}(?:\.{_PRERELEASE})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)


def faults_of(device: Device) -> Iterator[str]:
    """What is wrong with a device, one sentence for each thing; nothing if the server takes it."""
    if not is_dns_label(device.name):
        yield f"its name {device.name!r} must be a DNS label of at most 63 bytes"
    if len(device.attributes) + len(device.capacity) > MAX_ENTRIES:
        yield f"it has {len(device.attributes) + len(device.capacity)} attributes and capacities, the most is {MAX_ENTRIES}"
    for name in (*device.attributes, *device.capacity):
        domain, slash, identifier = name.rpartition("/")
        if not _IDENTIFIER.fullmatch(identifier) or (slash and not is_dns_subdomain(domain, limit=63)):
            yield f"the name {name!r} must be a C identifier of at most 32 characters, with or without a domain before it"
    for name, attribute in device.attributes.items():
        kinds = [kind for kind, _ in attribute.set_values()]
        if len(kinds) != 1:
            yield f"attribute {name}: must have exactly one value, not {' and '.join(kinds) or 'none'}"
        for kind, value in attribute.set_values():
            for item in value if isinstance(value, tuple) else (value,):
                yield from (f"attribute {name}: {fault}" for fault in _value_faults(kind.removesuffix("s"), item))
    for name, capacity in device.capacity.items():
        if capacity.value.value < 0:
            yield f"capacity {name}: {capacity.value} is negative"
    for name, attribute in device.attributes.items():
        if attribute.value == ():
            yield f"attribute {name}: a list must not be empty"
    for name, capacity in device.capacity.items():
        if capacity.request_policy is not None and not device.allow_multiple_allocations:
            yield f"capacity {name}: a request policy needs allowMultipleAllocations"
    for conditions in (device.binding_conditions, device.binding_failure_conditions):
        if len(conditions) > MAX_CONDITIONS:
            yield f"it has {len(conditions)} binding conditions of a kind, the most is {MAX_CONDITIONS}"
        yield from (f"binding condition {name!r}: must be a label's name" for name in conditions if not is_label_name(name))
    for taint in device.taints:
        if taint.effect not in EFFECTS:
            yield f"taint {taint}: the effect must be one of {', '.join(EFFECTS)}"
        if not is_label_name(taint.key) or not is_label_value(taint.value):
            yield f"taint {taint}: the key must be a label's name and the value a label's value"


def _value_faults(kind: str, value: object) -> Iterator[str]:
    if isinstance(value, str) and len(value.encode()) > MAX_BYTES:
        yield f"{value[:24]!r}... has {len(value.encode())} bytes, the most is {MAX_BYTES}"
    if kind == "version" and isinstance(value, str) and not _SEMVER.fullmatch(value):
        yield f"{value!r} is not a SemVer 2.0.0 version, such as 1.4.2"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield f"{value} does not fit in 64 bits"
