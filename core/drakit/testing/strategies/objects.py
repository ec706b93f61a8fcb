"""JSON documents for the API server: mostly sound, and with a mistake or two. For validation and conversion."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from drakit.model.wire import KubernetesObject, encode
from drakit.testing.strategies.claims import device_classes, device_taint_rules, resource_claim_templates, resource_claims
from drakit.testing.strategies.devices import pools
from drakit.testing.strategies.mutations import mutate
from drakit.testing.strategies.odds import happens, pick

__all__ = ["API_VERSIONS", "api_objects", "updates"]

Document: TypeAlias = dict[str, Any]

API_VERSIONS: Final = ("v1", "v1beta2")
"""Versions of resource.k8s.io whose documents can be made; they have one shape."""

_NUMBER_OF_MUTATIONS: Final = (0, 1, 0, 1, 1, 2)


@st.composite
def api_objects(draw: DrawFn, version: str = "v1") -> Document:
    """Documents of ResourceSlices, ResourceClaims, ResourceClaimTemplates, DeviceClasses and DeviceTaintRules to be created.

    A third is as the API server takes them; one or two mistakes are in the others.

    :param version: one of :data:`API_VERSIONS`.
    :raises ValueError: another version.
    """
    document = _sound(draw, pick(draw, _KINDS), version)
    for _ in range(pick(draw, _NUMBER_OF_MUTATIONS)):
        mutate(draw, document)
    return document


@st.composite
def updates(draw: DrawFn, version: str = "v1") -> tuple[Document, Document]:
    """A sound document and what it is to be replaced by: the same, another sound one of its name, or one with mistakes.

    :param version: one of :data:`API_VERSIONS`.
    :raises ValueError: another version.
    """
    kind = pick(draw, _KINDS)
    old = _sound(draw, kind, version)
    new = copy.deepcopy(old)
    match pick(draw, _CHANGES):
        case "labels":
            new["metadata"]["labels"] = {"changed": "yes"}
        case "spec":
            new["spec"] = _sound(draw, kind, version)["spec"]
        case "mutations":
            for _ in range(pick(draw, (1, 1, 2))):
                _mutate_but_for_the_name(draw, new)
    return old, new


_CHANGES: Final = ("nothing", "labels", "spec", "spec", *("mutations",) * 5)


def _mutate_but_for_the_name(draw: DrawFn, document: Document) -> None:
    """An update of an object with another name would be one of another object."""
    name = document["metadata"]["name"]
    mutate(draw, document)
    document["metadata"]["name"] = name


# -- sound documents -------------------------------------------------------------------------------------------------------


def _one_of_a_pool(draw: DrawFn) -> KubernetesObject:
    slices = draw(pools())
    return pick(draw, slices)


_KINDS: Final[tuple[Callable[[DrawFn], KubernetesObject], ...]] = (
    _one_of_a_pool,
    lambda draw: draw(resource_claims()),
    _one_of_a_pool,
    lambda draw: draw(resource_claims()),
    lambda draw: draw(resource_claim_templates()),
    lambda draw: draw(device_classes()),
    lambda draw: draw(device_taint_rules()),
)


def _sound(draw: DrawFn, make: Callable[[DrawFn], KubernetesObject], version: str) -> Document:
    if version not in API_VERSIONS:
        raise ValueError(f"version must be one of {', '.join(API_VERSIONS)}, not {version}")
    made: Document = json.loads(json.dumps(encode(make(draw))))
    made["apiVersion"] = f"resource.k8s.io/{version}"
    made["metadata"].pop("uid", None)
    made.setdefault("spec", {})
    if happens(draw, 10):
        made["metadata"]["name"] = pick(draw, ("a.b", "n" * 253, "n" * 63))
    return made
