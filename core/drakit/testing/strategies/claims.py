"""Claims, classes, templates and taint rules by themselves, of everything that worlds may be about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from drakit.model import (
    DeviceClass,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from drakit.testing.strategies.asked import draw_claim, draw_class
from drakit.testing.strategies.features import ALL, some_features
from drakit.testing.strategies.odds import happens, pick
from drakit.testing.strategies.values import dns_labels
from drakit.testing.strategies.vocabulary import DRIVERS, SELECTORS, TAINTS

__all__ = ["device_classes", "device_taint_rules", "resource_claim_templates", "resource_claims"]


@st.composite
def resource_claims(draw: DrawFn, features: Iterable[str] = ALL) -> ResourceClaim:
    """Claims as the API server stores them, not allocated: up to 3 requests, constraints and configuration.

    They name the classes ``any``, ``kind-1``, ``kind-2``, ``driver-a`` and ``numbered``.

    :param features: what a claim may be about, names from :data:`FEATURES`; those that are about pools change nothing.
    """
    return draw_claim(draw, some_features(draw, features), draw(dns_labels()))


@st.composite
def resource_claim_templates(draw: DrawFn, features: Iterable[str] = ALL) -> ResourceClaimTemplate:
    """Templates for such claims, some with labels for them."""
    claim = draw(resource_claims(features))
    metadata = ObjectMeta(labels={"app": "train"} if happens(draw, 30) else {})
    spec = ResourceClaimTemplateSpec(metadata=metadata, spec=claim.spec)
    return ResourceClaimTemplate(metadata=attrs.evolve(claim.metadata, uid=""), spec=spec)


_EXTENDED_RESOURCES: Final = (None, None, "example.com/gpu", "gpu.example.com/mig-1g")


@st.composite
def device_classes(draw: DrawFn) -> DeviceClass:
    """Classes with up to two selectors that work on every device, with configuration and an extended resource or without."""
    expressions = [pick(draw, SELECTORS) for _ in range(pick(draw, (0, 1, 2)))]
    made = draw_class(draw, some_features(draw, frozenset({"config"})), draw(dns_labels()), expressions)
    return attrs.evolve(made, spec=attrs.evolve(made.spec, extended_resource_name=pick(draw, _EXTENDED_RESOURCES)))


_SELECTORS: Final = (
    *(DeviceTaintSelector(driver=DRIVERS[0]), DeviceTaintSelector(pool="p0"), DeviceTaintSelector(device="d1"), None),
    *(DeviceTaintSelector(), DeviceTaintSelector(driver=DRIVERS[1], pool="p0", device="d0")),
)


@st.composite
def device_taint_rules(draw: DrawFn) -> DeviceTaintRule:
    """Taint rules for the drivers, pools and devices that worlds are made of."""
    spec = DeviceTaintRuleSpec(device_selector=pick(draw, _SELECTORS), taint=pick(draw, TAINTS))
    return DeviceTaintRule(metadata=ObjectMeta(name=draw(dns_labels())), spec=spec)
