"""Hypothesis strategies for everything of resource.k8s.io: values, objects, whole worlds, CEL selectors, JSON documents.

For drakit's own tests, those of plugins, and comparisons with Kubernetes itself. What they give shrinks well and costs
little: a world two or three milliseconds, anything else less. They need ``drakit[testing]``.

>>> from hypothesis import given
>>> from drakit.testing.strategies import quantities
>>> @given(quantities())
... def test_something_holds_for_every_quantity(text): ...
"""

from importlib.util import find_spec

if find_spec("hypothesis") is None:
    raise ModuleNotFoundError("drakit.testing.strategies needs hypothesis; `pip install 'drakit[testing]'` brings it")

from drakit.testing.strategies.claims import device_classes, device_taint_rules, resource_claim_templates, resource_claims
from drakit.testing.strategies.devices import device_attributes, devices, pools
from drakit.testing.strategies.expressions import EXAMPLE_DEVICE, EXAMPLE_DRIVER, devices_with_expressions, expressions
from drakit.testing.strategies.features import ALL, FEATURES
from drakit.testing.strategies.objects import API_VERSIONS, api_objects, updates
from drakit.testing.strategies.values import dns_labels, quantities, quantity_texts, version_texts, versions
from drakit.testing.strategies.worlds import World, worlds

__all__ = [
    "ALL",
    "API_VERSIONS",
    "EXAMPLE_DEVICE",
    "EXAMPLE_DRIVER",
    "FEATURES",
    "World",
    "api_objects",
    "device_attributes",
    "device_classes",
    "device_taint_rules",
    "devices",
    "devices_with_expressions",
    "dns_labels",
    "expressions",
    "pools",
    "quantities",
    "quantity_texts",
    "resource_claim_templates",
    "resource_claims",
    "updates",
    "version_texts",
    "versions",
    "worlds",
]
