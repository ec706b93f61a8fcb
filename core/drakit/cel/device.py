"""A device as selectors see it.

Source: k8s.io/dynamic-resource-allocation ``cel/compile.go`` (DeviceMatches).
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping

from drakit.cel.errors import EvaluationError
from drakit.cel.fast import Flat, flatten
from drakit.cel.library.quantities import QuantityValue
from drakit.cel.library.semver import Semver
from drakit.cel.values import Fault, Map, Value
from drakit.model import Device, DeviceAttribute, qualify

__all__ = ["CelDevice"]


class CelDevice:
    """The variable ``device`` of a selector, for one device of a driver.

    A device is converted once, when the first selector needs it, for all selectors; keep the object as long as the device.
    Safe to share between threads: two that convert at the same time come to the same.
    """

    def __init__(self, driver: str, device: Device) -> None:
        """Take a device as it is published.

        :param driver: name of the driver that publishes the device; names without a domain are its own.
        """
        self.driver = driver
        self.device = device

    def value(self, *, fresh: bool = True) -> Value:
        """The value of ``device`` for one evaluation.

        :param fresh: whether quantities are made anew, because an evaluation may change how one is held and then ask
            for it. False where it does not ask.
        :raises EvaluationError: an attribute without a value or with a wrong version. It counts for every selector,
            whether it reads the attribute or not.
        """
        if self.fault:
            raise EvaluationError(self.fault)
        return self._made() if fresh else self._lasting

    @functools.cached_property
    def flat(self) -> Flat | None:
        """The device for generated code, or None: it is wrong, or larger than an API server accepts."""
        if self.fault:
            return None
        return flatten(self.driver, shared=self.shared, attributes=self.attributes, capacity=self.capacity)

    @property
    def shared(self) -> bool:
        """``device.allowMultipleAllocations``."""
        return bool(self.device.allow_multiple_allocations)

    @functools.cached_property
    def capacity(self) -> Mapping[str, QuantityValue]:
        """Quantities by ``domain/identifier``; to look at, not to compare with, which could change them."""
        return {qualify(name, self.driver): QuantityValue.of(own.value) for name, own in self.device.capacity.items()}

    @property
    def attributes(self) -> Mapping[str, Value]:
        """Values by ``domain/identifier``; empty where :attr:`fault` says why."""
        return self._converted[0]

    @property
    def fault(self) -> str:
        """Why the device cannot be selected by anything, or nothing."""
        return self._converted[1]

    @functools.cached_property
    def _converted(self) -> tuple[Mapping[str, Value], str]:
        values: dict[str, Value] = {}
        for name, attribute in self.device.attributes.items():
            try:
                values[qualify(name, self.driver)] = _converted(attribute)
            except Fault as fault:
                return {}, f"attribute {name}: {fault}"
        return values, ""

    @functools.cached_property
    def _lasting(self) -> Value:
        return self._made()

    def _made(self) -> Value:
        return Map.of(
            {
                "driver": self.driver,
                "allowMultipleAllocations": self.shared,
                "attributes": self._attributes,
                "capacity": _by_domain({name: quantity.fresh() for name, quantity in self.capacity.items()}),
            }
        )

    @functools.cached_property
    def _attributes(self) -> Map:
        return _by_domain(self.attributes)


def _by_domain(values: Mapping[str, Value]) -> Map:
    """Values by domain and identifier; a domain that is not there is found as an empty map."""
    domains: defaultdict[str, dict[str, Value]] = defaultdict(dict)
    for name, value in values.items():
        domain, _, identifier = name.partition("/")
        domains[domain][identifier] = value
    return Map.of({domain: Map.of(own) for domain, own in domains.items()}, default=Map())


def _converted(attribute: DeviceAttribute) -> Value:
    """The value of an attribute, lists first as upstream has it."""
    for values in (attribute.ints, attribute.bools, attribute.strings):
        if values is not None:
            return tuple(values)
    if attribute.versions is not None:
        return tuple(map(_version, attribute.versions))
    for value in (attribute.int_, attribute.bool_, attribute.string):
        if value is not None:
            return value
    if attribute.version is not None:
        return _version(attribute.version)
    raise Fault("unsupported attribute value")


def _version(version: str) -> Semver:
    try:
        return Semver.parse(version)
    except Fault as fault:
        raise Fault(f"parse semantic version: {fault}") from None
