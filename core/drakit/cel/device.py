"""A device as selectors see it.

Source: k8s.io/dynamic-resource-allocation ``cel/compile.go`` (DeviceMatches).
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from typing import TypeVar

from drakit.cel.errors import EvaluationError
from drakit.cel.quantities import QuantityValue
from drakit.cel.semver import Semver
from drakit.cel.values import Fault, Map, Value
from drakit.model import Device, DeviceAttribute, qualify, split_name

__all__ = ["CelDevice"]

T = TypeVar("T")


class CelDevice:
    """The variable ``device`` of a selector, for one device of a driver.

    Attributes are converted once, when the first selector needs them; keep the object as long as the device.
    """

    def __init__(self, driver: str, device: Device) -> None:
        """Take a device as it is published.

        :param driver: name of the driver that publishes the device; names without a domain are its own.
        """
        self.driver = driver
        self.device = device

    def value(self) -> Value:
        """The value of ``device`` for one evaluation.

        :raises EvaluationError: an attribute without a value or with a wrong version. It counts for every selector,
            whether it reads the attribute or not.
        """
        # Quantities are made anew: an evaluation may change how one is held.
        capacity = {name: quantity.fresh() for name, quantity in self._capacity.items()}
        return Map.of(
            {
                "driver": self.driver,
                "allowMultipleAllocations": bool(self.device.allow_multiple_allocations),
                "attributes": self._attributes,
                "capacity": self._by_domain(capacity),
            }
        )

    @functools.cached_property
    def _attributes(self) -> Map:
        return self._by_domain({name: _converted(name, value) for name, value in self.device.attributes.items()})

    @functools.cached_property
    def _capacity(self) -> Mapping[str, QuantityValue]:
        return {name: QuantityValue.of(capacity.value) for name, capacity in self.device.capacity.items()}

    def _by_domain(self, values: Mapping[str, Value]) -> Map:
        """Values by domain and identifier; a domain that is not there is found as an empty map."""
        domains: defaultdict[str, dict[str, Value]] = defaultdict(dict)
        for name, value in values.items():
            domain, identifier = split_name(qualify(name, self.driver))
            domains[domain][identifier] = value
        return Map.of({domain: Map.of(own) for domain, own in domains.items()}, default=Map())


def _converted(name: str, attribute: DeviceAttribute) -> Value:
    """The value of an attribute, lists first as upstream has it."""
    for values in (attribute.ints, attribute.bools, attribute.strings):
        if values is not None:
            return tuple(values)
    if attribute.versions is not None:
        return tuple(_version(name, version) for version in attribute.versions)
    for value in (attribute.int_, attribute.bool_, attribute.string):
        if value is not None:
            return value
    if attribute.version is not None:
        return _version(name, attribute.version)
    raise EvaluationError(f"attribute {name}: unsupported attribute value")


def _version(name: str, version: str) -> Semver:
    try:
        return Semver.parse(version)
    except Fault as fault:
        raise EvaluationError(f"attribute {name}: parse semantic version: {fault}") from None
