"""The strategies keep their promises: what they give is sound where it shall be, and everything they can give occurs."""

from __future__ import annotations

import functools
import io
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis.strategies import SearchStrategy

from drakit import cel
from drakit.cli.questions import answer_lines
from drakit.model import (
    Device,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    InvalidObject,
    Quantity,
    ResourceClaim,
    ResourceSlice,
    is_dns_label,
)
from drakit.model.wire import KubernetesObject, decode, encode
from drakit.testing.strategies import (
    ALL,
    EXAMPLE_DEVICE,
    EXAMPLE_DRIVER,
    FEATURES,
    World,
    api_objects,
    device_attributes,
    device_classes,
    device_taint_rules,
    devices,
    devices_with_expressions,
    dns_labels,
    expressions,
    pools,
    quantities,
    quantity_texts,
    resource_claim_templates,
    resource_claims,
    updates,
    version_texts,
    versions,
    worlds,
)

T = TypeVar("T")
SHRINKING: Final = settings(max_examples=2000, database=None, deadline=None, derandomize=True)


def examples(strategy: SearchStrategy[T], number: int) -> list[T]:
    """The same examples each time, about as many as asked for."""
    found: list[T] = []

    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        found.append(example)

    collect()
    return found


@functools.cache
def any_worlds() -> list[World]:
    return examples(worlds(), 300)


def smallest(strategy: SearchStrategy[T], condition: Callable[[T], bool]) -> T:
    return find(strategy, condition, settings=SHRINKING, random=Random(0))


# -- values ---------------------------------------------------------------------------------------------------------------

SEMVER: Final = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)


def is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True


def test_labels_are_labels_of_any_length() -> None:
    labels = examples(dns_labels(), 200)
    assert all(map(is_dns_label, labels))
    assert {1, 63} <= {len(label) for label in labels}


def test_quantities_are_quantities() -> None:
    texts = examples(quantities(), 600)
    assert [text for text in texts if not is_quantity(text)] == []
    suffixes = {re.sub(r"^[-+]?[0-9.]*", "", text) for text in texts}
    assert {"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E3"} <= suffixes
    assert {"-", "+", "."} <= {text[0] for text in texts}
    assert any(len(text) >= 19 for text in texts)


def test_quantity_texts_have_near_misses() -> None:
    texts = examples(quantity_texts(), 300)
    assert 0.2 < sum(map(is_quantity, texts)) / len(texts) < 0.8


def test_versions_are_versions_that_fit_an_attribute() -> None:
    texts = examples(versions(), 300)
    assert all(SEMVER.fullmatch(text) and len(text) <= 64 for text in texts)
    assert all(any(mark in text for text in texts) for mark in "-+")


def test_version_texts_have_near_misses() -> None:
    texts = examples(version_texts(), 300)
    assert 0.2 < sum(SEMVER.fullmatch(text) is not None for text in texts) / len(texts) < 0.8


# -- objects --------------------------------------------------------------------------------------------------------------


@given(device_attributes())
def test_attributes_have_one_value(attribute: Any) -> None:
    assert len(list(attribute.set_values())) == 1


def test_attributes_are_of_every_kind() -> None:
    kinds = {attribute.kind for attribute in examples(device_attributes(), 200)}
    assert kinds == {"int", "bool", "string", "version", "ints", "bools", "strings", "versions"}
    scalars = {attribute.kind for attribute in examples(device_attributes(lists=False), 100)}
    assert scalars == {"int", "bool", "string", "version"}


@given(devices())
def test_devices_are_within_the_limits(device: Device) -> None:
    assert is_dns_label(device.name)
    assert len(device.attributes) + len(device.capacity) <= 32
    assert (device.node_name, device.node_selector, device.all_nodes) == (None, None, None)
    assert all(not capacity.request_policy or device.allow_multiple_allocations for capacity in device.capacity.values())


@pytest.mark.parametrize(
    "strategy", [device_classes(), device_taint_rules(), resource_claims(), resource_claim_templates(), pools()], ids=repr
)
def test_objects_survive_a_round_trip(strategy: SearchStrategy[Any]) -> None:
    for made in examples(strategy, 60):
        for one in made if isinstance(made, tuple) else (made,):
            assert decode(json.loads(json.dumps(encode(one)))) == one


@given(pools("gpu.example.com", "rack-1"))
@settings(max_examples=60)
def test_a_pool_is_whole(slices: tuple[ResourceSlice, ...]) -> None:
    names = [device.name for part in slices for device in part.spec.devices]
    assert len(names) == len(set(names))
    for part in slices:
        assert (part.spec.driver, part.spec.pool.name) == ("gpu.example.com", "rack-1")
        assert part.spec.pool.resource_slice_count == len(slices)
        assert not part.spec.devices or not part.spec.shared_counters
    declared = {(set_.name, name) for part in slices for set_ in part.spec.shared_counters for name in set_.counters}
    consumed = {
        (taken.counter_set, name)
        for part in slices
        for device in part.spec.devices
        for taken in device.consumes_counters
        for name in taken.counters
    }
    assert consumed <= declared


# -- worlds ---------------------------------------------------------------------------------------------------------------


def answer(world: World) -> Mapping[str, Any]:
    answers = io.StringIO()
    answer_lines([json.dumps(world.question())], answers)
    answered: Mapping[str, Any] = json.loads(answers.getvalue())
    return answered


def verdict(world: World) -> str:
    """``fits``, ``none`` or ``error``."""
    answered = answer(world)
    if answered["error"]:
        return "error"
    return "none" if answered["results"] is None else "fits"


def all_devices(world: World) -> list[Device]:
    return [device for part in world.slices for device in part.spec.devices]


def requests(world: World) -> list[DeviceRequest]:
    return [request for claim in world.claims for request in claim.spec.devices.requests]


def asks(world: World) -> list[ExactDeviceRequest | DeviceSubRequest]:
    return [ask for request in requests(world) for ask in alternatives(request)]


def alternatives(request: DeviceRequest) -> list[ExactDeviceRequest | DeviceSubRequest]:
    return [request.exactly] if request.exactly else list(request.first_available)


def constraints(world: World) -> Iterator[tuple[ResourceClaim, DeviceConstraint]]:
    for claim in world.claims:
        for constraint in claim.spec.devices.constraints:
            yield claim, constraint


def distinct_counts(world: World) -> set[bool]:
    """Whether the constraints for distinct attributes are about requests for more than one device."""
    found = set()
    for claim, constraint in constraints(world):
        names = {reference.partition("/")[0] for reference in constraint.requests}
        about = [request for request in claim.spec.devices.requests if not names or request.name in names]
        if constraint.distinct_attribute:
            found.add(any(ask.count != 1 for request in about for ask in alternatives(request)))
    return found


def consumed(world: World) -> Iterator[tuple[tuple[str, str], str, str]]:
    for part in world.slices:
        for device in part.spec.devices:
            for taken in device.consumes_counters:
                for name in taken.counters:
                    yield (part.spec.driver, part.spec.pool.name), taken.counter_set, name


def is_invalid(world: World) -> bool:
    sets = [
        ((part.spec.driver, part.spec.pool.name), set_.name, name)
        for part in world.slices
        for set_ in part.spec.shared_counters
        for name in set_.counters
    ]
    ids = [
        (part.spec.driver, part.spec.pool.name, part.spec.pool.generation, device.name)
        for part in world.slices
        for device in part.spec.devices
    ]
    return len(ids) != len(set(ids)) or len(sets) != len(set(sets)) or not set(consumed(world)) <= set(sets)


def is_stale(world: World) -> bool:
    pools_: dict[tuple[str, str], list[ResourceSlice]] = {}
    for part in world.slices:
        pools_.setdefault((part.spec.driver, part.spec.pool.name), []).append(part)
    return any(
        len({part.spec.pool.generation for part in parts}) > 1
        or any(p.spec.pool.resource_slice_count != len(parts) for p in parts)
        for parts in pools_.values()
    )


def same_pool_name(world: World) -> bool:
    pools_ = {(part.spec.driver, part.spec.pool.name) for part in world.slices}
    return len({name for _, name in pools_}) < len(pools_)


def expressions_of(world: World) -> set[str]:
    selectors = [selector for class_ in world.classes for selector in class_.spec.selectors]
    selectors += [selector for ask in asks(world) for selector in ask.selectors]
    return {selector.cel.expression for selector in selectors if selector.cel}


def selected(world: World, kinds: set[str]) -> bool:
    """Whether the world's selectors have verdicts of these kinds on its own devices."""
    own = [cel.CelDevice(part.spec.driver, device) for part in world.slices for device in part.spec.devices]
    return any(judged(device, expression) in kinds for device in own for expression in expressions_of(world))


def judged(device: cel.CelDevice, expression: str) -> str:
    try:
        return str(cel.compile(expression).matches(device)).lower()
    except cel.CompileError:
        return "compile error"
    except cel.UnsupportedExpression:
        return "unsupported"
    except cel.EvaluationError:
        return "runtime error"


OCCURS: Final[Mapping[str, Callable[[World], bool]]] = {
    "prioritized-list": lambda w: any(request.first_available for request in requests(w)),
    "selectors": lambda w: selected(w, {"true", "false"}),
    "match": lambda w: any(c.match_attribute for _, c in constraints(w)),
    "match-list": lambda w: any((a.kind or "").endswith("s") for d in all_devices(w) for a in d.attributes.values()),
    "distinct": lambda w: False in distinct_counts(w),
    "distinct-count": lambda w: True in distinct_counts(w),
    "counters": lambda w: any(part.spec.shared_counters for part in w.slices) and bool(list(consumed(w))),
    "taints": lambda w: any(device.taints for device in all_devices(w)) and any(ask.tolerations for ask in asks(w)),
    "all": lambda w: any(ask.allocation_mode == "All" for ask in asks(w)),
    "admin": lambda w: any(request.exactly and request.exactly.admin_access for request in requests(w)),
    "capacity": lambda w: any(ask.capacity for ask in asks(w)) and any(device.capacity for device in all_devices(w)),
    "shared": lambda w: any(device.allow_multiple_allocations for device in all_devices(w)),
    "binding-conditions": lambda w: any(device.binding_conditions for device in all_devices(w)),
    "node-selection": lambda w: any(part.spec.node_selector or part.spec.node_name == "node-b" for part in w.slices),
    "per-device-node-selection": lambda w: any(part.spec.per_device_node_selection for part in w.slices),
    "stale-pools": is_stale,
    "invalid-pools": is_invalid,
    "same-pool-name": same_pool_name,
    "allocated": lambda w: bool(w.allocated),
    "failing-selectors": lambda w: selected(w, {"runtime error"}),
    "config": lambda w: any(claim.spec.devices.config for claim in w.claims) or any(c.spec.config for c in w.classes),
    "compatibility-groups": lambda w: any(c.compatibility_groups for d in all_devices(w) for c in d.consumes_counters),
}
"""By feature: whether a world has it."""


def test_worlds_are_small_and_can_be_read() -> None:
    for world in any_worlds()[:100]:
        assert len(world.claims) <= 3
        assert len(requests(world)) <= 9
        assert len({(part.spec.driver, part.spec.pool.name) for part in world.slices}) <= 3
        assert len({part.name for part in world.slices}) == len(world.slices)
        objects: list[KubernetesObject] = [world.node, *world.slices, *world.classes, *world.claims]
        for obj in objects:
            assert decode(json.loads(json.dumps(encode(obj)))) == obj
        assert {ask.device_class_name for ask in asks(world)} == {class_.name for class_ in world.classes}


def test_worlds_are_answered_in_every_way() -> None:
    found = any_worlds()
    kinds = Counter(map(verdict, found))
    assert all(kinds[kind] > len(found) / 10 for kind in ("fits", "none", "error")), kinds


def test_every_error_is_about_the_search() -> None:
    errors = {answer(world)["error"] for world in any_worlds()} - {None}
    assert errors
    known = re.compile(r"claim default/|class \w")
    assert [error for error in errors if not known.match(error)] == []


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_that_is_asked_for_occurs(feature: str) -> None:
    found = examples(worlds(frozenset({feature})), 50)
    assert sum(map(OCCURS[feature], found)) >= 2


def test_every_feature_occurs_among_all() -> None:
    found = any_worlds()
    seldom = {feature for feature in FEATURES if sum(map(OCCURS[feature], found)) < 4}
    assert seldom == set()


def test_a_feature_that_is_not_asked_for_does_not_occur() -> None:
    for world in examples(worlds(frozenset()), 60):
        assert [feature for feature in FEATURES if OCCURS[feature](world)] == []


def test_an_unknown_feature_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"unknown features \['counter'\]; known are \['prioritized-list'"):
        smallest(worlds(frozenset({"counter"})), lambda _: True)


def test_shares_are_counted_as_the_scheduler_counts_them() -> None:
    several = 0
    for world in examples(worlds(frozenset({"shared", "capacity", "allocated"})), 60):
        state = world.question()["allocated"]
        assert len({entry["shareID"] for entry in state["shared"]}) == len(state["shared"])
        several += len(state["shared"]) > len(state["capacity"]) > 0
        total = sum(Quantity.parse(amount).value for entry in state["capacity"] for amount in entry["consumed"].values())
        assert total == sum(amount.value for share in world.allocated for amount in share.consumed_capacity.values())
    assert several


def test_a_world_shrinks_to_almost_nothing() -> None:
    world = smallest(worlds(), lambda w: len(w.claims) >= 1)
    assert (len(world.slices), len(all_devices(world)), len(world.claims), len(requests(world))) == (1, 1, 1, 1)
    assert world.allocated == ()
    assert asks(world) == [ExactDeviceRequest(device_class_name="any", allocation_mode="ExactCount", count=1)]


def test_a_world_shrinks_to_what_matters() -> None:
    world = smallest(worlds(), lambda w: OCCURS["shared"](w) and OCCURS["counters"](w))
    assert len(all_devices(world)) == 1
    others = {feature for feature in FEATURES if OCCURS[feature](world)}
    assert others == {"shared", "counters"}


# -- expressions ----------------------------------------------------------------------------------------------------------


def test_expressions_have_every_verdict() -> None:
    device = cel.CelDevice(EXAMPLE_DRIVER, EXAMPLE_DEVICE)
    found = examples(expressions(), 500)
    kinds = Counter(judged(device, expression) for expression in found)
    assert all(kinds[kind] > len(found) / 12 for kind in ("true", "false", "compile error", "runtime error")), kinds
    assert kinds["unsupported"] < len(found) / 20


def test_expressions_are_about_the_device() -> None:
    device = Device("gpu-0", attributes={"special": "seldom"}, capacity={"rare": 1})
    found = " ".join(examples(expressions(device, driver="gpu.example.com"), 400))
    assert [word for word in ('["gpu.example.com"].special', '"seldom"', '["gpu.example.com"].rare') if word not in found] == []
    assert EXAMPLE_DRIVER not in found


def test_expressions_about_any_device_have_every_verdict() -> None:
    found = examples(devices_with_expressions(), 300)
    kinds = Counter(judged(cel.CelDevice(driver, device), expression) for driver, device, expression in found)
    assert all(kinds[kind] for kind in ("true", "false", "compile error", "runtime error")), kinds


def test_an_expression_shrinks() -> None:
    assert smallest(expressions(), lambda text: "sets.contains" in text) == "sets.contains([1, 2, 3], [1, 2, 3])"


# -- documents ------------------------------------------------------------------------------------------------------------


def is_readable(document: Mapping[str, Any]) -> bool:
    try:
        decode(document)
    except InvalidObject:
        return False
    return True


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_documents_are_of_every_kind_and_some_are_wrong(version: str) -> None:
    documents = examples(api_objects(version), 200)
    assert {document["apiVersion"] for document in documents} == {f"resource.k8s.io/{version}"}
    kinds = {document["kind"] for document in documents}
    assert kinds == {"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "DeviceTaintRule"}
    assert 0.5 < sum(map(is_readable, documents)) / len(documents) < 0.95
    assert json.loads(json.dumps(documents)) == documents


def test_the_simplest_document_is_sound() -> None:
    assert is_readable(smallest(api_objects(), lambda _: True))


def test_updates_start_from_something_sound_and_keep_its_name() -> None:
    pairs = examples(updates(), 200)
    assert all(is_readable(old) for old, _ in pairs)
    assert all(old["metadata"]["name"] == new["metadata"]["name"] for old, new in pairs)
    assert all(old["kind"] == new["kind"] for old, new in pairs)
    assert 0.02 < sum(old == new for old, new in pairs) / len(pairs) < 0.5


def test_another_version_is_an_error() -> None:
    with pytest.raises(ValueError, match="version must be one of v1, v1beta2, not v2"):
        smallest(api_objects("v2"), lambda _: True)


# -- the package ----------------------------------------------------------------------------------------------------------


def test_the_package_needs_nothing_of_its_extra() -> None:
    code = "import sys, drakit.testing; print(sorted({'hypothesis', 'pytest', 'kubernetes', 'grpc'} & sys.modules.keys()))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_features_are_all_documented() -> None:
    from drakit.testing.strategies import features

    assert frozenset(FEATURES) == ALL == OCCURS.keys()
    source = Path(features.__file__).read_text(encoding="utf-8")
    documentation = source.partition('"""What a world can be about:')[2].partition("ALL: Final")[0]
    assert set(re.findall(r"``([a-z-]+)``", documentation)) >= set(FEATURES)
