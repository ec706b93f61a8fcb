"""The examples, as an API server gets them and as drakit says they end."""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from drakit.files import Loaded, read_cluster
from drakit.files.documents import read_documents
from drakit.model.wire import KubernetesObject, encode
from tests.cli.running import EXAMPLES
from tests.cli.running import drakit as run

__all__ = ["SCENARIOS", "Scenario", "probe"]


@frozen
class Scenario:
    """Files that make one world together, in order."""

    name: str
    files: tuple[Path, ...]
    plugin: str

    @functools.cached_property
    def loaded(self) -> Loaded:
        return read_cluster(self.files)

    @functools.cached_property
    def documents(self) -> list[dict[str, Any]]:
        """Claims, templates and pods in file order and as they were written; Lists are unfolded."""
        return [
            {**item, "metadata": {"namespace": "default", **item["metadata"]}}
            for document in read_documents(self.files, io.StringIO())
            for item in _unfolded(document.content)
            if item["kind"] in ("ResourceClaim", "ResourceClaimTemplate", "Pod")
        ]

    @functools.cached_property
    def answer(self) -> dict[str, Any]:
        """``drakit simulate -o json``."""
        words = [word for file in self.files for word in ("-f", str(file))]
        answer: dict[str, Any] = json.loads(run("simulate", *words, "-o", "json").out)
        return answer

    @property
    def published(self) -> list[dict[str, Any]]:
        """What has to be there before claims are: classes, slices and taint rules as drakit makes them, without Nodes."""
        world = self.loaded.cluster
        objects: list[KubernetesObject] = [*world.classes, *world.slices, *world.taint_rules]
        return [encode(obj) for obj in objects]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Claims and templates as drakit writes them."""
        world = self.loaded.cluster
        objects: list[KubernetesObject] = [*world.claims, *world.templates]
        return [encode(obj) for obj in objects]

    @property
    def nodes(self) -> list[dict[str, Any]]:
        return [encode(node) for node in self.loaded.cluster.nodes]

    @property
    def namespaces(self) -> list[dict[str, Any]]:
        """Those the files describe, and plain ones for whatever else is in a namespace."""
        given = {namespace.metadata.name: encode(namespace) for namespace in self.loaded.cluster.namespaces}
        named = {document["metadata"]["namespace"] for document in self.documents}
        plain = {name: {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(named)}
        return list({**plain, **given}.values())

    def steps(self) -> Iterator[dict[str, Any]]:
        """What is created next, a pod or something that pods use; a claim that nobody uses is followed by a pod for it."""
        pods = [document for document in self.documents if document["kind"] == "Pod"]
        used = {
            (pod["metadata"]["namespace"], entry.get("resourceClaimName"))
            for pod in pods
            for entry in pod["spec"].get("resourceClaims", ())
        }
        for document in self.documents:
            yield document
            metadata = document["metadata"]
            if document["kind"] == "ResourceClaim" and (metadata["namespace"], metadata["name"]) not in used:
                yield probe(metadata["namespace"], metadata["name"])

    def claim(self, namespace: str, name: str) -> dict[str, Any]:
        """What drakit says of a claim."""
        return next(claim for claim in self.answer["claims"] if (claim["namespace"], claim["name"]) == (namespace, name))

    def node(self, pod: Mapping[str, Any]) -> str:
        """Where drakit puts a pod, or the claim of a :func:`probe`; empty: nowhere."""
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        for said in self.answer["pods"]:
            if (said["namespace"], said["name"]) == (namespace, name):
                return said["node"] or ""
        return str(self.claim(namespace, name).get("node", ""))


def probe(namespace: str, claim: str) -> dict[str, Any]:
    """A pod for a claim that has none: only for pods does the scheduler allocate."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": claim, "namespace": namespace},
        "spec": {
            "resourceClaims": [{"name": "claim", "resourceClaimName": claim}],
            "containers": [{"name": "probe", "image": "probe", "resources": {"claims": [{"name": "claim"}]}}],
        },
    }


def _unfolded(content: Mapping[str, Any]) -> list[Any]:
    return list(content["items"]) if content["kind"] == "List" else [content]


SCENARIOS: Final = (
    Scenario("gb200", (EXAMPLES / "gb200-nvl72.yaml", EXAMPLES / "gb200-second-job.yaml"), "nvidia_gb200"),
    Scenario("tpu", (EXAMPLES / "tpu-16x16-failed-host.yaml",), "tpu"),
    Scenario("mixed-gpus", (EXAMPLES / "mixed-gpus.yaml", Path(__file__).with_name("mixed-gpus-claims.yaml")), "fake"),
    Scenario("many-asks", (Path(__file__).with_name("many-asks.yaml"),), "fake"),
)
"""Every file of examples/, where the second job needs the rack of the first and leaves its answers as they are, and the GPUs
get a claim; and one of our own with what the examples do not show."""
