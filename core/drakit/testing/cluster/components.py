"""The programs of a control plane, and how each is told to run here: on loopback, quickly, and with DRA only.

Source: ``--help`` of each, Kubernetes 1.37.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import define

from drakit.testing.cluster.certificates import Certificates, KeyPair
from drakit.testing.cluster.processes import LOOPBACK

__all__ = ["API_SERVER", "CONTROLLERS", "CONTROLLER_MANAGER", "ETCD", "SCHEDULER", "Setup"]

ETCD: Final = "etcd"
API_SERVER: Final = "kube-apiserver"
SCHEDULER: Final = "kube-scheduler"
CONTROLLER_MANAGER: Final = "kube-controller-manager"

CONTROLLERS: Final = (
    "resourceclaim-controller",
    "device-taint-eviction-controller",
    "resourcepoolstatusrequest-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "podgroup-protection-controller",
)
"""Those DRA needs. Without the node lifecycle controller a Node stays as ready as it says it is."""

ADMISSION_LEFT_OUT: Final = (
    "ServiceAccount",  # would ask for a token controller
    "TaintNodesByCondition",  # would ask for the node lifecycle controller
    "StorageObjectInUseProtection",
    "DefaultStorageClass",
    "DefaultIngressClass",
    "PersistentVolumeClaimResize",
)


@define(kw_only=True)
class Setup:
    """What the programs of one control plane share."""

    folder: Path
    certificates: Certificates
    serving: KeyPair
    ports: Mapping[str, int]
    """By program; ``etcd-peers`` is one more."""
    feature_gates: Mapping[str, bool]
    runtime_config: Mapping[str, bool]
    admin: Path = Path()
    """The administrator's kubeconfig, once there is an API server."""

    def url(self, name: str) -> str:
        """Where a program answers."""
        return f"https://{LOOPBACK}:{self.ports[name]}"

    def etcd(self) -> list[str]:
        """Flags of etcd; nobody but a bearer of a certificate gets in."""
        peers = f"http://{LOOPBACK}:{self.ports['etcd-peers']}"
        return [
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self.url(ETCD)}",
            f"--advertise-client-urls={self.url(ETCD)}",
            f"--cert-file={self.serving.certificate}",
            f"--key-file={self.serving.key}",
            "--client-cert-auth",
            f"--trusted-ca-file={self.certificates.authority}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]

    def api_server(self) -> list[str]:
        """Flags of the API server; who may do what is decided as in any cluster."""
        service_accounts = self.certificates.service_account_key()
        storage = self.certificates.client("etcd-client")
        return [
            f"--etcd-servers={self.url(ETCD)}",
            f"--etcd-cafile={self.certificates.authority}",
            f"--etcd-certfile={storage.certificate}",
            f"--etcd-keyfile={storage.key}",
            *self._listening(API_SERVER),
            f"--client-ca-file={self.certificates.authority}",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--service-account-issuer={self.url(API_SERVER)}",
            f"--service-account-key-file={service_accounts}",
            f"--service-account-signing-key-file={service_accounts}",
            "--authorization-mode=Node,RBAC",
            f"--disable-admission-plugins={','.join(ADMISSION_LEFT_OUT)}",
            "--enable-priority-and-fairness=false",
            "--allow-privileged=true",
            f"--advertise-address={LOOPBACK}",  # else it wants a default route
            f"--runtime-config={_switches(self.runtime_config)}",
            *self._gates(),
        ]

    def scheduler(self) -> list[str]:
        """Flags of the scheduler, which tries an unschedulable pod again after a second, not ten."""
        config = self.folder / "scheduler.json"
        kubeconfig = self.certificates.kubeconfig(self.url(API_SERVER), "system:kube-scheduler")
        content = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 1000},
            "leaderElection": {"leaderElect": False},
            "podInitialBackoffSeconds": 1,
            "podMaxBackoffSeconds": 1,
        }
        config.write_text(json.dumps(content), encoding="utf-8")
        return [f"--config={config}", *self._listening(SCHEDULER), *self._gates()]

    def controller_manager(self) -> list[str]:
        """Flags of the controller manager, whose controllers may do anything instead of each having an account of its own."""
        kubeconfig = self.certificates.kubeconfig(self.url(API_SERVER), "system:kube-controller-manager", "system:masters")
        return [
            f"--kubeconfig={kubeconfig}",
            *self._listening(CONTROLLER_MANAGER),
            f"--controllers={','.join(CONTROLLERS)}",
            "--leader-elect=false",
            "--kube-api-qps=1000",
            "--kube-api-burst=1000",
            *self._gates(),
        ]

    def _listening(self, name: str) -> list[str]:
        return [
            f"--bind-address={LOOPBACK}",
            f"--secure-port={self.ports[name]}",
            f"--tls-cert-file={self.serving.certificate}",
            f"--tls-private-key-file={self.serving.key}",
        ]

    def _gates(self) -> list[str]:
        return [f"--feature-gates={_switches(self.feature_gates)}"] if self.feature_gates else []


def _switches(values: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(value).lower()}" for name, value in values.items())
