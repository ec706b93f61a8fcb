"""What the API server refuses of a claim before any scheduler sees it, as far as an allocation would go wrong on it.

The rest of its validation is lint's.

Source: k8s.io/kubernetes ``pkg/apis/resource/validation``, plugin ``DRAAdminAccess`` checks; messages are the server's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from drakit.allocation.errors import AllocationError, Place
from drakit.model import DeviceRequest, DeviceSubRequest, ExactDeviceRequest, Fault, Namespace, ResourceClaim

__all__ = ["admit"]

ADMIN_ACCESS_LABEL: Final = "resource.kubernetes.io/admin-access"


def admit(claim: ResourceClaim, namespace: Namespace | None) -> None:
    """Let a claim pass, or not.

    :param namespace: the claim's; None, when it is not known: it is taken to allow admin access.
    :raises AllocationError: of kind ``refused``, with the first fault.
    """
    if claim.metadata.deletion_timestamp is not None:
        raise AllocationError(f"claim {claim.key} is being deleted", Place(claim=claim.key), kind="refused")
    fault = next(_faults(claim, {} if namespace is None else namespace.metadata.labels, known=namespace is not None), None)
    if fault is not None:
        raise AllocationError(f"claim {claim.key}: {fault}", Place(claim=claim.key), kind="refused")


def _faults(claim: ResourceClaim, labels: Mapping[str, str], *, known: bool) -> Iterator[Fault]:
    names: set[str] = set()
    for index, request in enumerate(claim.spec.devices.requests):
        path = f"spec.devices.requests[{index}]"
        if request.name in names:
            yield Fault(path, f'Duplicate value: "{request.name}"')
        names.add(request.name)
        names |= {f"{request.name}/{sub.name}" for sub in request.first_available}
        exact = request.exactly
        if (exact is None) == (not request.first_available):
            wrong = "Invalid value" if exact else "Required value"
            yield Fault(path, f"{wrong}: exactly one of `exactly` or `firstAvailable` is required")
        for where, ask in _asks(path, request):
            if ask.count and ask.allocation_mode == "All":
                yield Fault(f"{where}.count", f"Invalid value: {ask.count}: must not be specified when allocationMode is 'All'")
            elif ask.count is not None and ask.count < 0:
                yield Fault(f"{where}.count", f"Invalid value: {ask.count}: must be greater than zero")
        if exact is not None and exact.admin_access and known and labels.get(ADMIN_ACCESS_LABEL) != "true":
            rule = f"admin access to devices requires the `{ADMIN_ACCESS_LABEL}: true` label on the containing namespace"
            yield Fault(f"{path}.adminAccess", f"Forbidden: {rule}")
    yield from _constraint_faults(claim, names)


def _asks(path: str, request: DeviceRequest) -> Iterator[tuple[str, ExactDeviceRequest | DeviceSubRequest]]:
    if request.exactly is not None:
        yield f"{path}.exactly", request.exactly
    for number, sub in enumerate(request.first_available):
        yield f"{path}.firstAvailable[{number}]", sub


def _constraint_faults(claim: ResourceClaim, names: set[str]) -> Iterator[Fault]:
    for index, constraint in enumerate(claim.spec.devices.constraints):
        path = f"spec.devices.constraints[{index}]"
        for position, name in enumerate(constraint.requests):
            if name not in names:
                rule = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
                yield Fault(f"{path}.requests[{position}]", f'Invalid value: "{name}": {rule}')
        for field in ("match_attribute", "distinct_attribute"):
            value = getattr(constraint, field)
            if value is not None and "/" not in value:
                wire = field.replace("_a", "A")
                yield Fault(f"{path}.{wire}", f'Invalid value: "{value}": must include a domain')
