"""A real Kubernetes control plane on loopback, for tests that ask Kubernetes itself.

Needs the binaries of a release (etcd, kube-apiserver, kube-scheduler, kube-controller-manager), and the packages
``kubernetes`` and ``trustme``, which are imported when a cluster is started. Nothing outside the machine is talked to.
"""

from drakit.testing.cluster.client import Objects
from drakit.testing.cluster.comparing import lost
from drakit.testing.cluster.control_plane import Cluster
from drakit.testing.cluster.errors import BinaryMissing, Cause, ClusterError, NotInTime, ProcessDied, Rejected
from drakit.testing.cluster.features import DRA_FEATURE_GATES
from drakit.testing.cluster.processes import Process

__all__ = [
    "DRA_FEATURE_GATES",
    "BinaryMissing",
    "Cause",
    "Cluster",
    "ClusterError",
    "NotInTime",
    "Objects",
    "Process",
    "ProcessDied",
    "Rejected",
    "lost",
]
