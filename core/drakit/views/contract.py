"""``simulate -o json``: a report as the JSON that tools rely on. Keys that say nothing are left out.

The contract stands in docs/reference/simulate-json.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drakit.allocation import AllocationError, ClaimOutcome, PodOutcome, Reason, Report
from drakit.hooks import PluginError
from drakit.model.wire import encode_part

__all__ = ["claim_as_json", "error_as_json", "report_as_json"]


def report_as_json(report: Report, plugin_errors: Sequence[PluginError] = ()) -> dict[str, Any]:
    """The whole report.

    :param plugin_errors: plugins that failed while the input was read; each becomes a warning.
    """
    document: dict[str, Any] = {
        "verdict": report.verdict,
        "claims": [claim_as_json(outcome) for outcome in report.claims],
        "pods": [_pod(outcome) for outcome in report.pods],
    }
    if report.error is not None:
        document["error"] = error_as_json(report.error)
    warnings = [{"code": n.code, "object": n.object, "message": n.message} for n in report.warnings]
    warnings += [{"code": "plugin-failed", "object": f"plugin {e.plugin}", "message": str(e)} for e in plugin_errors]
    if warnings:
        document["warnings"] = warnings
    return document


def claim_as_json(outcome: ClaimOutcome) -> dict[str, Any]:
    """One claim: its devices, or the reasons why it has none."""
    metadata, allocation = outcome.claim.metadata, outcome.allocation
    document: dict[str, Any] = {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "allocated": allocation is not None,
    }
    if allocation is not None:
        result = encode_part(allocation)
        document["node"] = outcome.node
        document["devices"] = result.get("devices", {}).get("results", [])
        if "nodeSelector" in result:
            document["nodeSelector"] = result["nodeSelector"]
    if outcome.reasons:
        document["reasons"] = [_reason(reason) for reason in outcome.reasons]
    if outcome.error is not None:
        document["error"] = error_as_json(outcome.error)
    return document


def error_as_json(error: AllocationError) -> dict[str, Any]:
    """Where it is, on which device it shows, and the message the scheduler gives."""
    where = error.place.as_json()
    parts = {"kind": error.kind, "where": where, "node": error.node, "device": error.device, "message": error.message}
    return {key: value for key, value in parts.items() if value}


def _reason(reason: Reason) -> dict[str, str]:
    parts = {
        "node": reason.node,
        "request": reason.request,
        "device": reason.device,
        "check": reason.check,
        "message": reason.message,
    }
    return {key: value for key, value in parts.items() if value}


def _pod(outcome: PodOutcome) -> dict[str, Any]:
    metadata = outcome.pod.metadata
    return {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "node": outcome.node or None,
        "reason": outcome.reason or None,
    }
