"""Objects of an API server as plain JSON: what is sent is what was written, and what comes back is what is stored."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote, urlencode

from attrs import frozen

from drakit.model.wire import KubernetesObject, encode
from drakit.testing.cluster.certificates import KeyPair
from drakit.testing.cluster.errors import Cause, ClusterError, Rejected

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

__all__ = ["Objects"]

REQUEST_TIMEOUT: Final = 30
"""Seconds."""
DISCOVERY: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
JSON: Final = "application/json"
JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"

_WARNING: Final = re.compile(r'\d{3} \S+ "((?:[^"\\]|\\.)*)"')


Documents: TypeAlias = list[dict[str, Any]]
"""A name of its own, because inside :class:`Objects` ``list`` is something else."""
Object: TypeAlias = Mapping[str, Any] | KubernetesObject
"""JSON, or an object of the model."""


@frozen
class _Resource:
    """Where objects of a kind are."""

    api_version: str
    plural: str
    namespaced: bool

    def collection(self, namespace: str) -> str:
        """The path of all objects of a namespace; empty: of all namespaces.

        :raises ClusterError: a name that would lead elsewhere.
        """
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        if self.namespaced and namespace:
            root = f"{root}/namespaces/{_segment(namespace)}"
        return f"{root}/{self.plural}"

    def one(self, namespace: str, name: str) -> str:
        """The path of one object.

        :raises ClusterError: a name that would lead elsewhere.
        """
        return f"{self.collection(namespace)}/{_segment(name)}"


class Objects:
    """Create, get, list, update and delete by kind and name; the version is the API server's preferred one unless given.

    A namespaced object is in ``default`` when it does not say where, as with kubectl. Every method raises
    :class:`~drakit.testing.cluster.Rejected` when the API server refuses.
    """

    def __init__(self) -> None:
        self.warnings: tuple[str, ...] = ()
        """What the API server warned of in its latest answer."""
        self._api: ApiClient | None = None
        self._resources: dict[tuple[str, str], _Resource] = {}

    @property
    def api(self) -> ApiClient:
        """The Kubernetes client, for what is not offered here.

        :raises ClusterError: not connected.
        """
        if self._api is None:
            raise ClusterError("not started: use it in a `with` block")
        return self._api

    def check(self) -> None:
        """Raise what explains that no answer comes, if there is something."""

    def _connect(self, url: str, authority: Path, client: KeyPair) -> None:
        from kubernetes.client import ApiClient, Configuration  # noqa: PLC0415 - costs most of a second

        configuration = Configuration(host=url, ssl_ca_cert=str(authority))
        configuration.cert_file, configuration.key_file = str(client.certificate), str(client.key)
        configuration.proxy = None  # it is on loopback, whatever the environment says of proxies
        self._api = ApiClient(configuration)
        self._resources = {}

    def _disconnect(self) -> None:
        api: Any = self._api
        if api is not None:
            api.close()
            self._api = None

    def create(self, obj: Object, *, strict: bool = True) -> dict[str, Any]:
        """Create an object.

        :param obj: JSON, or an object of :mod:`drakit.model`.
        :param strict: refuse fields the API server does not know; else it drops them and warns.
        :returns: the object as it is stored.
        """
        document = _document(obj)
        resource, namespace, _ = self._place(document)
        return self.request("POST", resource.collection(namespace), document, query=_validation(strict))

    def update(self, obj: Object, *, strict: bool = True) -> dict[str, Any]:
        """Replace an object; without a resourceVersion whatever its state is."""
        document = _document(obj)
        resource, namespace, name = self._place(document)
        return self.request("PUT", resource.one(namespace, name), document, query=_validation(strict))

    def update_status(self, obj: Object, *, strict: bool = True) -> dict[str, Any]:
        """Replace the status of an object, and nothing else of it."""
        document = _document(obj)
        resource, namespace, name = self._place(document)
        return self.request("PUT", f"{resource.one(namespace, name)}/status", document, query=_validation(strict))

    def patch(
        self, kind: str, name: str, changes: Mapping[str, Any], *, namespace: str = "default", api_version: str = ""
    ) -> dict[str, Any]:
        """Change fields of an object (a JSON merge patch); None removes one.

        Kubernetes writes opaque parameters of a claim anew on the way, with sorted keys, and then refuses what it takes for
        a change of the spec, which is immutable. :meth:`request` with a JSON patch does not have that fault.
        """
        path = self._resource(kind, api_version).one(namespace, name)
        return self.request("PATCH", path, changes, content_type=MERGE_PATCH)

    def get(self, kind: str, name: str, *, namespace: str = "default", api_version: str = "") -> dict[str, Any]:
        """One object."""
        return self.request("GET", self._resource(kind, api_version).one(namespace, name))

    def list(self, kind: str, *, namespace: str = "", api_version: str = "", **query: str) -> Documents:
        """All objects of a kind.

        :param namespace: empty: of all namespaces.
        :param query: such as ``fieldSelector``.
        :returns: complete objects: each says its kind and version, which items of a list do not.
        """
        resource = self._resource(kind, api_version)
        items: Sequence[dict[str, Any]] = self.request("GET", resource.collection(namespace), query=query).get("items") or ()
        return [{"apiVersion": resource.api_version, "kind": kind, **item} for item in items]

    def delete(
        self, kind: str, name: str, *, namespace: str = "default", api_version: str = "", grace_period_s: int = 0
    ) -> None:
        """Delete an object; one with finalizers stays until they are gone.

        :param grace_period_s: seconds; 0: a Pod is gone at once, for no kubelet would report that it has ended.
        """
        path = self._resource(kind, api_version).one(namespace, name)
        self.request("DELETE", path, query={"gracePeriodSeconds": str(grace_period_s), "propagationPolicy": "Background"})

    def _remove_finalizers(self, obj: Mapping[str, Any]) -> None:
        resource, namespace, name = self._place(obj)
        patch = [{"op": "remove", "path": "/metadata/finalizers"}]
        self.request("PATCH", resource.one(namespace, name), patch, content_type=JSON_PATCH)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> dict[str, Any]:
        """Anything else the API server answers with JSON.

        :raises ClusterError: no answer.
        """
        status, text = self._send(method, path, body, query or {}, {"Accept": accept, "Content-Type": content_type})
        try:
            document: dict[str, Any] = json.loads(text)
        except ValueError:
            document = {"message": text.strip()}
        if status < 400:
            return document
        causes = [
            Cause(field=cause.get("field", ""), reason=cause.get("reason", ""), message=cause.get("message", ""))
            for cause in (document.get("details") or {}).get("causes") or ()
        ]
        raise Rejected(status, document.get("reason", ""), document.get("message", ""), causes, self.warnings)

    def _send(self, method: str, path: str, body: object, query: Mapping[str, str], headers: dict[str, str]) -> tuple[int, str]:
        from urllib3.exceptions import HTTPError  # noqa: PLC0415 - comes with the client

        url = f"{self.api.configuration.host}{path}" + (f"?{urlencode(query)}" if query else "")
        # Compact as Go writes it: opaque parameters are kept, and later compared, byte for byte.
        try:
            content = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ClusterError(f"{method} {path}: what is sent is not JSON: {error}") from error
        try:
            answer = self.api.rest_client.pool_manager.request(
                method, url, body=content, headers=headers, timeout=REQUEST_TIMEOUT, retries=False
            )
        except HTTPError as error:
            self.check()
            raise ClusterError(f"{method} {path}: {error}") from error
        found = _WARNING.findall(", ".join(answer.headers.getlist("Warning")))
        self.warnings = tuple(re.sub(r"\\(.)", r"\1", warning) for warning in found)
        return answer.status, answer.data.decode()

    def _place(self, obj: Mapping[str, Any]) -> tuple[_Resource, str, str]:
        """:raises ClusterError: the object does not say what it is."""
        if absent := [name for name in ("apiVersion", "kind") if not isinstance(obj.get(name), str)]:
            raise ClusterError(f"an object needs {' and '.join(absent)}: {json.dumps(obj, default=str):.200}")
        metadata = obj.get("metadata") or {}
        if not isinstance(metadata, Mapping):
            raise ClusterError(f"metadata is an object, not {metadata!r:.80}")
        return self._resource(obj["kind"], obj["apiVersion"]), metadata.get("namespace") or "default", metadata.get("name", "")

    def serves(self, kind: str, api_version: str = "") -> bool:
        """Whether there are objects of a kind, in a version or in any."""
        if (kind, api_version) not in self._resources:
            self._resources = self._discover()  # a definition may have come since
        return (kind, api_version) in self._resources

    def _resource(self, kind: str, api_version: str) -> _Resource:
        """:raises ClusterError: the API server does not serve the kind."""
        if self.serves(kind, api_version):
            return self._resources[kind, api_version]
        raise ClusterError(f"the API server does not serve {kind} of {api_version or 'any version'}")

    def _discover(self) -> dict[tuple[str, str], _Resource]:
        """Every resource by kind and version, and the preferred one of a kind without a version."""
        resources: dict[tuple[str, str], _Resource] = {}
        for root in ("/api", "/apis"):
            for group in self.request("GET", root, accept=DISCOVERY)["items"]:
                for version in group["versions"]:
                    api_version = "/".join(filter(None, (group.get("metadata", {}).get("name"), version["version"])))
                    for resource in version.get("resources", ()):
                        kind = resource["responseKind"]["kind"]
                        found = _Resource(api_version, resource["resource"], resource["scope"] == "Namespaced")
                        resources.setdefault((kind, api_version), found)
                        resources.setdefault((kind, ""), found)
        return resources


def _segment(name: str) -> str:
    """A name as one part of a path: an empty one would mean all objects, and ``..`` the namespace."""
    if name in ("", ".", "..") or set(name) & set("/%"):
        raise ClusterError(f"not a name that an object can have: {name!r}")
    return quote(name, safe="")


def _document(obj: Object) -> Mapping[str, Any]:
    """:raises ClusterError: it is neither JSON nor an object of the model."""
    if isinstance(obj, KubernetesObject):
        return encode(obj)
    if isinstance(obj, Mapping):
        return obj
    raise ClusterError(f"an object is JSON or one of drakit.model, not a {type(obj).__name__}")


def _validation(strict: bool) -> dict[str, str]:
    return {"fieldValidation": "Strict" if strict else "Warn"}
