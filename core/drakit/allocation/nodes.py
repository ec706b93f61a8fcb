"""Whether a node takes a pod, as far as devices are not concerned.

Source: kube-scheduler plugins NodeUnschedulable, NodeName, TaintToleration and NodeAffinity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from drakit.allocation.tolerations import first_untolerated
from drakit.model import Node, NodeTaint, Pod

__all__ = ["node_refusal", "summarized"]

_CORDONED: Final = NodeTaint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def node_refusal(node: Node, pod: Pod | None) -> str:
    """Why a node does not take a pod; empty if it does.

    :param pod: None for a claim without a pod: it can be had on any node that is not cordoned, for no toleration is known.
    """
    if pod is None:
        return "the node is cordoned" if node.spec.unschedulable else ""
    spec = pod.spec
    if spec.node_name:  # it runs, whatever the node says to newcomers
        return "" if spec.node_name == node.name else f"the pod is bound to node {spec.node_name}"
    if node.spec.unschedulable and first_untolerated([_CORDONED], spec.tolerations) is not None:
        return "the node is cordoned"
    taint = first_untolerated(node.spec.taints, spec.tolerations)
    if taint is not None:
        return f"the pod does not tolerate the node's taint {taint.key}={taint.value}:{taint.effect}"
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        wanted = ", ".join(f"{key}={value}" for key, value in spec.node_selector.items())
        return f"the node does not have the labels of the pod's nodeSelector ({wanted})"
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is not None and not required.matches(node):
        return "the node does not satisfy the pod's node affinity"
    return ""


def summarized(refusals: Mapping[str, str]) -> str:
    """Refusals by node as the scheduler counts them, the commonest first: ``2 nodes: ...; 1 node: ...``."""
    counted = Counter(refusals.values()).most_common()
    if len(refusals) == 1:
        return f"{next(iter(refusals))}: {counted[0][0]}"
    return "; ".join(f"{count} node{'s' if count > 1 else ''}: {why}" for why, count in counted)
