"""Certificates, keys and kubeconfig files of one control plane, made for it and thrown away with it."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import frozen

from drakit.testing.cluster.errors import ClusterError
from drakit.testing.cluster.processes import LOOPBACK

if TYPE_CHECKING:
    from trustme import LeafCert

__all__ = ["Certificates", "KeyPair"]

MOST_OF_A_NAME: Final = 64
"""Characters of a common name, by X.509."""


@frozen
class KeyPair:
    """Files with a certificate and its key, PEM."""

    certificate: Path
    key: Path


class Certificates:
    """A certificate authority that signs for one folder. Files are readable by their owner only."""

    def __init__(self, folder: Path) -> None:
        import trustme  # noqa: PLC0415 - only who starts a control plane pays for it

        self._folder = folder
        self._kubeconfigs = 0
        self._authority = trustme.CA()
        self.authority = self._write("ca.crt", self._authority.cert_pem.bytes())
        """The authority's own certificate, PEM."""

    def server(self) -> KeyPair:
        """For whatever listens on the loopback interface."""
        return self._keep("server", self._authority.issue_cert(LOOPBACK, "localhost"))

    def client(self, user: str, group: str = "") -> KeyPair:
        """For a user of the API server."""
        return self._keep(user.replace(":", "-"), self._leaf(user, group))

    def service_account_key(self) -> Path:
        """A key to sign and verify service account tokens, PEM."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - as trustme
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - as trustme

        key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        return self._write("service-account.key", key)

    def kubeconfig(self, url: str, user: str, group: str = "") -> Path:
        """A new kubeconfig file for a user, complete in itself.

        :raises ClusterError: a name that no certificate can hold.
        """
        leaf = self._leaf(user, group)
        certificate = b"".join(part.bytes() for part in leaf.cert_chain_pems)
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "drakit",
            "contexts": [{"name": "drakit", "context": {"cluster": "drakit", "user": user}}],
            "clusters": [
                {
                    "name": "drakit",
                    "cluster": {"server": url, "certificate-authority-data": _base64(self.authority.read_bytes())},
                }
            ],
            "users": [
                {
                    "name": user,
                    "user": {
                        "client-certificate-data": _base64(certificate),
                        "client-key-data": _base64(leaf.private_key_pem.bytes()),
                    },
                }
            ],
        }
        self._kubeconfigs += 1
        readable = re.sub(r"[^\w.-]+", "-", user)
        return self._write(f"{self._kubeconfigs}-{readable}.kubeconfig", json.dumps(config, indent=2).encode())

    def _leaf(self, user: str, group: str) -> LeafCert:
        for name in (user, group or user):
            if not 0 < len(name) <= MOST_OF_A_NAME:
                raise ClusterError(f"a certificate holds names of 1 to {MOST_OF_A_NAME} characters, not {name!r}")
        # Go refuses a certificate whose list of host names is there and empty.
        return self._authority.issue_cert("localhost", common_name=user, organization_name=group or None)

    def _keep(self, name: str, leaf: LeafCert) -> KeyPair:
        certificate = b"".join(part.bytes() for part in leaf.cert_chain_pems)
        return KeyPair(self._write(f"{name}.crt", certificate), self._write(f"{name}.key", leaf.private_key_pem.bytes()))

    def _write(self, name: str, content: bytes) -> Path:
        path = self._folder / name
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123 - a Path has no mode
            file.write(content)
        return path


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
