"""Whether a node takes a pod, as far as devices are not concerned.

Source: kube-scheduler plugins NodeUnschedulable, NodeName, TaintToleration and NodeAffinity.
"""

from __future__ import annotations

from typing import Final

from drakit.allocation.tolerations import first_untolerated
from drakit.model import Node, NodeTaint, Pod

__all__ = ["node_refusal"]

_CORDONED: Final = NodeTaint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def node_refusal(node: Node, pod: Pod | None) -> str:
    """Why a node does not take a pod; empty if it does.

    :param pod: None for a claim without a pod: it can be had on any node that is not cordoned.
    """
    if pod is None:
        return f"node {node.name} is cordoned" if node.spec.unschedulable else ""
    spec = pod.spec
    if spec.node_name:  # it runs, whatever the node says to newcomers
        return "" if spec.node_name == node.name else f"the pod is bound to node {spec.node_name}"
    if node.spec.unschedulable and first_untolerated([_CORDONED], spec.tolerations) is not None:
        return f"node {node.name} is cordoned"
    taint = first_untolerated(node.spec.taints, spec.tolerations)
    if taint is not None:
        return f"node {node.name} has taint {taint.key}={taint.value}:{taint.effect}, which the pod does not tolerate"
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        wanted = ", ".join(f"{key}={value}" for key, value in spec.node_selector.items())
        return f"node {node.name} does not have the labels of the pod's nodeSelector ({wanted})"
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is not None and not required.matches(node):
        return f"node {node.name} does not satisfy the pod's node affinity"
    return ""
