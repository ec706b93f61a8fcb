from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pytest
from attrs import frozen

from drakit import (
    Clique,
    Device,
    Domain,
    Driver,
    Host,
    InvalidObject,
    Inventory,
    Member,
    Problem,
    Split,
    quantity,
    semver,
)
from drakit.hooks import Expansion, PluginError, Plugins, expand
from drakit.hooks.objects import MAX_TAINTS
from drakit.model import DeviceTaint, DrakitError
from drakit.model.wire import encode
from drakit.topology import Partition, pack
from tests.hooks.entries import ACME, Namer, acme, plugin

DOCUMENT: Final[Mapping[str, Any]] = {
    "apiVersion": "drakit/v1alpha1",
    "kind": "Inventory",
    "metadata": {"name": "mine"},
    "plugin": "acme",
}


def cards(host: Host) -> Iterator[Device]:
    for index in range(getattr(host.inventory, "cards", 0)):
        yield Device(f"card-{index}", attributes={"model": "m1"}, capacity={"memory": "80Gi"}, source=host.name)


def world(*others: object, **hooks: Any) -> Plugins:
    """The acme driver with further hooks, and plugins ``other0``, ``other1``."""
    plugins = Plugins()
    plugins.register(acme(**{"discover": cards, **hooks}), "acme")
    for index, other in enumerate(others):
        plugins.register(other, f"other{index}")
    return plugins


def devices(expansion: Expansion) -> list[Device]:
    return [device for pool in expansion.pools for device in pool.devices]


# -- what an Inventory stands for ------------------------------------------------------------------------------------


def test_a_document_becomes_nodes_classes_and_a_pool_for_each_host() -> None:
    expansion = expand(world(), {**DOCUMENT, "hostNames": ["h0", "h1"], "cards": 2})
    assert [(node.name, dict(node.labels)) for node in expansion.nodes] == [
        ("h0", {"kubernetes.io/hostname": "h0"}),
        ("h1", {"kubernetes.io/hostname": "h1"}),
    ]
    assert [device_class.name for device_class in expansion.classes] == [ACME]
    assert [(pool.name, pool.node_name, [d.name for d in pool.devices]) for pool in expansion.pools] == [
        ("h0", "h0", ["card-0", "card-1"]),
        ("h1", "h1", ["card-0", "card-1"]),
    ]
    assert expansion.errors == ()


def test_a_host_without_devices_is_an_empty_pool_and_a_plugin_without_discovery_has_none() -> None:
    assert [pool.devices for pool in expand(world(), {**DOCUMENT, "cards": 0}).pools] == [()]
    plugins = Plugins()
    plugins.register(acme(), "acme")
    expansion = expand(plugins, DOCUMENT)
    assert expansion.pools == ()
    assert [node.name for node in expansion.nodes] == ["h0"]


def test_a_domain_becomes_a_pool_named_after_the_driver_and_brings_its_nodes() -> None:
    members = [Member("m0", node="h0"), Member("m1", node="n1", hostname="n1.local")]
    expansion = expand(
        world(discover=lambda: None, domains=lambda: [Domain("fabric", members)], partitions=lambda: Clique("c", "hosts")),
        DOCUMENT,
    )
    assert [pool.name for pool in expansion.pools] == ["h0", f"{ACME}/fabric"]
    assert [(n.name, n.labels["kubernetes.io/hostname"]) for n in expansion.nodes] == [("h0", "h0"), ("n1", "n1.local")]


def test_the_plugin_that_brought_a_domain_must_give_it_a_shape() -> None:
    domain = Domain("fabric", [Member("m0", node="h0")])
    with pytest.raises(PluginError, match=r"plugin acme: drakit_partitions: gave no shape family for domain fabric"):
        expand(world(domains=lambda: [domain]), DOCUMENT)


def test_a_device_is_split_and_not_shaped() -> None:
    halves = expand(world(partitions=lambda: Split([2])), DOCUMENT)
    assert [device.name for device in devices(halves)] == ["card-0-0of2", "card-0-1of2", "card-0"]
    with pytest.raises(PluginError, match=r"plugin acme: drakit_partitions: gave Clique"):
        expand(world(partitions=lambda: Clique("c", "hosts")), DOCUMENT)


def test_only_the_plugin_that_brought_a_device_is_asked_for_its_parts() -> None:
    expansion = expand(world(plugin(partitions=lambda: Split([2]))), DOCUMENT)
    assert [device.name for device in devices(expansion)] == ["card-0"]


def test_one_document_gives_the_same_slices_every_time() -> None:
    document = {**DOCUMENT, "hostNames": ["h1", "h0"], "cards": 3}
    others = (Namer(), plugin(health=lambda: [Problem("hot"), Problem("dusty")]))

    def slices() -> list[Mapping[str, Any]]:
        expansion = expand(world(*others, partitions=lambda: Split([2, 4])), document)
        return [encode(slice_) for pool in expansion.pools for slice_ in pack(pool)]

    assert slices() == slices()


@pytest.mark.parametrize(
    "hooks",
    [
        {"discover": lambda: 1 / 0},
        {"attributes": lambda: 1 / 0},
        {"partitions": lambda: 1 / 0},
        {"health": lambda: 1 / 0},
        {"domains": lambda: 1 / 0},
    ],
    ids=lambda hooks: next(iter(hooks)),
)
def test_a_driver_that_fails_itself_leaves_nothing_to_show(hooks: Mapping[str, Any]) -> None:
    name = next(iter(hooks))
    with pytest.raises(PluginError, match=f"^plugin acme: drakit_{name}: ZeroDivisionError: "):
        expand(world(**hooks), DOCUMENT)


def test_hosts_that_fail_are_blamed_on_the_plugin() -> None:
    @frozen(kw_only=True)
    class Broken(Inventory):
        def hosts(self) -> Iterable[Host]:
            yield Host("h0")
            raise LookupError("no such row")

    plugins = Plugins()
    plugins.register(plugin(driver=lambda: Driver(ACME, inventory=Broken)), "acme")
    with pytest.raises(PluginError, match=r"^plugin acme: Inventory.hosts: LookupError: no such row"):
        expand(plugins, DOCUMENT)


def test_hardware_that_cannot_be_modelled_is_an_error_that_names_it() -> None:
    with pytest.raises(DrakitError, match="two devices are named d"):
        expand(world(discover=lambda: [Device("d"), Device("d")]), DOCUMENT)
    with pytest.raises(DrakitError, match="card-0"):
        expand(world(partitions=lambda: Split([2], of="cores")), DOCUMENT)


# -- attributes ------------------------------------------------------------------------------------------------------


def test_other_plugins_add_attributes_and_capacities() -> None:
    added = {"example.com/rack": "r1", "example.com/firmware": semver("1.0.0"), "example.com/power": quantity("700")}
    (device,) = devices(expand(world(plugin(attributes=lambda: added)), DOCUMENT))
    assert {name: value.value for name, value in device.attributes.items()} == {
        "model": "m1",
        "example.com/rack": "r1",
        "example.com/firmware": "1.0.0",
    }
    assert {name: str(value.value) for name, value in device.capacity.items()} == {"memory": "80Gi", "example.com/power": "700"}


def test_what_one_plugin_added_the_next_one_sees() -> None:
    def depth(device: Device) -> dict[str, int]:
        return {f"example.com/seen{len(device.attributes)}": len(device.attributes)}

    (device,) = devices(expand(world(plugin(attributes=depth), plugin(attributes=depth)), DOCUMENT))
    assert sorted(device.attributes) == ["example.com/seen1", "example.com/seen2", "model"]


@pytest.mark.parametrize("name", ["model", f"{ACME}/model", "memory", f"{ACME}/memory"])
def test_a_name_the_device_already_has_is_a_conflict_and_the_device_keeps_its_value(name: str) -> None:
    expansion = expand(world(plugin(attributes=lambda: {name: "mine"})), DOCUMENT)
    (device,) = devices(expansion)
    assert {key: value.value for key, value in device.attributes.items()} == {"model": "m1"}
    (error,) = expansion.errors
    full = f"{ACME}/{name.removeprefix(f'{ACME}/')}"
    assert str(error) == f"plugin other0: drakit_attributes: {full} of device card-0 is already given by plugin acme"


def test_a_name_that_two_plugins_give_is_a_conflict_that_names_both() -> None:
    first, second = plugin(attributes=lambda: {"example.com/rack": 1}), plugin(attributes=lambda: {"example.com/rack": 2})
    expansion = expand(world(first, second), DOCUMENT)
    (device,) = devices(expansion)
    assert device.attributes["example.com/rack"].value == 1
    (error,) = expansion.errors
    assert str(error) == (
        "plugin other1: drakit_attributes: example.com/rack of device card-0 is already given by plugin other0"
    )


def test_the_driver_may_not_give_a_name_twice_either() -> None:
    with pytest.raises(PluginError, match="model of device card-0 is already given by plugin acme"):
        expand(world(attributes=lambda: {"model": "m2"}), DOCUMENT)


@pytest.mark.parametrize("value", [1.5, object(), {"a": 1}, [], [1, "a"], b"x"])
def test_a_value_that_no_attribute_can_have_is_blamed_and_left_out(value: object) -> None:
    expansion = expand(world(plugin(attributes=lambda: {"example.com/x": value})), DOCUMENT)
    assert [sorted(device.attributes) for device in devices(expansion)] == [["model"]]
    (error,) = expansion.errors
    assert str(error).startswith("plugin other0: drakit_attributes: device card-0: ")
    assert "example.com/x" in str(error)


def test_a_foreign_plugin_that_fails_for_every_device_is_reported_once_and_the_driver_goes_on() -> None:
    def fail() -> None:
        raise OSError("no inventory service")

    expansion = expand(world(plugin(attributes=fail), Namer()), {**DOCUMENT, "cards": 3})
    assert [str(error) for error in expansion.errors] == ["plugin other0: drakit_attributes: OSError: no inventory service"]
    assert [device.attributes["example.com/nick"].value for device in devices(expansion)] == ["card-0", "card-1", "card-2"]


def test_a_foreign_plugin_is_reported_for_each_hook_it_fails_in() -> None:
    def fail() -> None:
        raise OSError("gone")

    expansion = expand(world(plugin(attributes=fail, health=fail)), {**DOCUMENT, "cards": 2})
    assert [error.hook for error in expansion.errors] == ["drakit_attributes", "drakit_health"]


# -- health ----------------------------------------------------------------------------------------------------------


def test_problems_of_all_plugins_become_taints_in_the_drivers_name() -> None:
    own = [Problem("ecc", effect="NoExecute"), Problem("link", value="3", effect="None")]
    expansion = expand(world(plugin(health=lambda: [Problem("hot")]), health=lambda: own), DOCUMENT)
    (device,) = devices(expansion)
    assert [str(taint) for taint in device.taints] == [f"{ACME}/ecc:NoExecute", f"{ACME}/link=3:None", f"{ACME}/hot:NoSchedule"]


def test_health_is_asked_for_every_part_of_a_device() -> None:
    def health(device: Device) -> list[Problem]:
        return [Problem("ecc", value=device.name)]

    expansion = expand(world(partitions=lambda: Split([2]), health=health), DOCUMENT)
    assert [device.taints[0].value for device in devices(expansion)] == ["card-0-0of2", "card-0-1of2", "card-0"]


def test_one_problem_told_twice_is_one_taint() -> None:
    same = [Problem("hot"), Problem("hot", message="told differently")]
    (device,) = devices(expand(world(plugin(health=lambda: same), plugin(health=lambda: same)), DOCUMENT))
    assert [str(taint) for taint in device.taints] == [f"{ACME}/hot:NoSchedule"]


def test_at_most_16_taints_are_published_the_first_ones() -> None:
    many = [Problem("lane", value=str(index)) for index in range(MAX_TAINTS + 5)]
    (device,) = devices(expand(world(health=lambda: many), DOCUMENT))
    assert MAX_TAINTS == 16
    assert [taint.value for taint in device.taints] == [str(index) for index in range(16)]


def test_taints_a_device_came_with_are_kept() -> None:
    tainted = Device("d", taints=[DeviceTaint(key="example.com/reserved", effect="NoSchedule")])
    (device,) = devices(expand(world(discover=lambda: [tainted], health=lambda: [Problem("hot")]), DOCUMENT))
    assert [taint.key for taint in device.taints] == ["example.com/reserved", f"{ACME}/hot"]


# -- documents that are none -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"apiVersion": "drakit/v1"}, 'Inventory mine: apiVersion: must be "drakit/v1alpha1"'),
        ({"apiVersion": None}, 'Inventory mine: apiVersion: must be "drakit/v1alpha1"'),
        ({"plugin": None}, "Inventory mine: plugin: is required: the name of a plugin, see `drakit plugins`"),
        ({"plugin": 7}, "Inventory mine: plugin: is required: the name of a plugin, see `drakit plugins`"),
        (
            {"plugin": "acmee"},
            'Inventory mine: plugin: plugin "acmee" is not loaded, did you mean "acme"?; loaded are: acme, other0',
        ),
        ({"plugin": "other0"}, 'Inventory mine: plugin: "other0" is not a driver: it has no drakit_driver hook'),
        ({"card": 2}, 'Inventory mine: unknown field "card", did you mean "cards"?'),
        ({"hosts": ["a"]}, 'Inventory mine: unknown field "hosts", did you mean "hostNames"?'),
        ({"cards": "2"}, 'Inventory mine: cards: must be an integer, not the string "2"'),
        ({"cards": True}, "Inventory mine: cards: must be an integer, not true"),
        ({"hostNames": "h0"}, 'Inventory mine: hostNames: must be a list, not the string "h0"'),
        ({"hostNames": ["h0", 7]}, "Inventory mine: hostNames[1]: must be a string, not the number 7"),
        ({"metadata": None, "card": 1}, 'Inventory: unknown field "card", did you mean "cards"?'),
        ({"metadata": {"name": 7}, "card": 1}, 'Inventory: unknown field "card", did you mean "cards"?'),
    ],
)
def test_a_document_that_is_not_one_is_an_error_with_its_path(change: Mapping[str, Any], line: str) -> None:
    with pytest.raises(InvalidObject) as caught:
        expand(world(Namer()), {**DOCUMENT, **change})
    assert str(caught.value) == line


def test_all_faults_of_a_document_are_told_at_once() -> None:
    with pytest.raises(InvalidObject) as caught:
        expand(world(), {**DOCUMENT, "cards": "x", "hostNames": [1]})
    assert sorted(fault.path for fault in caught.value.faults) == ["cards", "hostNames[0]"]


def test_a_null_is_an_absent_field() -> None:
    assert [device.name for device in devices(expand(world(), {**DOCUMENT, "cards": None}))] == ["card-0"]


# -- whose devices a plugin is asked about ---------------------------------------------------------------------------


def test_a_driver_is_asked_about_its_own_devices_only_unless_it_takes_the_driver_argument() -> None:
    own: list[str] = []
    every: list[tuple[str, str]] = []

    def own_health(device: Device) -> Iterator[Problem]:
        own.append(device.name)
        yield from ()

    def every_health(device: Device, driver: str) -> Iterator[Problem]:
        every.append((driver, device.name))
        yield from ()

    expand(world(acme("other.example", health=own_health), acme("curious.example", health=every_health)), DOCUMENT)
    assert own == []
    assert every == [(ACME, "card-0")]


def test_hosts_must_be_hosts_with_names_of_their_own() -> None:
    for given, complaint in ((["h0"], "gave 'h0', which is not a Host"), ([Host("h"), Host("h")], "two hosts with the name h")):

        @frozen(kw_only=True)
        class Broken(Inventory):
            def hosts(self, given: Any = given) -> Any:
                return given

        plugins = Plugins()
        plugins.register(plugin(driver=lambda given=Broken: Driver(ACME, inventory=given)), "acme")
        with pytest.raises(PluginError, match=complaint):
            expand(plugins, DOCUMENT)


# -- what is checked before it is published ----------------------------------------------------------------------------


def test_devices_that_the_api_server_would_refuse_are_the_plugins_fault_and_named() -> None:
    found = [Device("fine"), Device("odd", attributes={"a-b": 1}, capacity={"memory": "-1"})]
    with pytest.raises(PluginError) as caught:
        expand(world(discover=lambda: found), DOCUMENT)
    assert str(caught.value) == (
        "plugin acme: devices: pool h0: device odd: the name 'a-b' must be a C identifier of at most 32 characters, "
        "with or without a domain before it; device odd: capacity memory: -1 is negative"
    )


def test_of_many_faults_three_are_told_and_the_others_counted() -> None:
    found = [Device(f"d{i}", capacity={"memory": "-1"}) for i in range(5)]
    with pytest.raises(PluginError, match=r"device d2: capacity memory: -1 is negative \(and 2 more\)$"):
        expand(world(discover=lambda: found), DOCUMENT)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": ""},
        {"kind": "no kind"},
        {"kind": "k" * 64},
        {"kind": "a/b"},
        {"kind": "hot", "value": "no value"},
        {"kind": "hot", "value": "v" * 64},
        {"kind": "hot", "effect": "Sometimes"},
        {"kind": "hot", "effect": ""},
    ],
)
def test_a_problem_is_a_label_with_an_effect_or_an_error_that_names_it(fields: dict[str, Any]) -> None:
    kind = fields.pop("kind")
    with pytest.raises(ValueError, match=r"^problem "):
        Problem(kind, **fields)


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_of_too_many_taints_those_that_keep_claims_away_are_published(effect: Any) -> None:
    notes = [Problem(f"note-{i}", effect="None") for i in range(MAX_TAINTS + 4)]
    (found,) = devices(expand(world(health=lambda: [*notes, Problem("broken", effect=effect)]), DOCUMENT))
    assert len(found.taints) == MAX_TAINTS
    assert DeviceTaint(key=f"{ACME}/broken", effect=effect) in found.taints


@frozen(kw_only=True)
class LeavingInventory(Inventory):
    def hosts(self) -> Iterable[Host]:
        raise SystemExit(3)


def test_hosts_that_end_the_process_are_blamed_on_the_plugin() -> None:
    plugins = Plugins()
    plugins.register(plugin(driver=lambda: Driver(ACME, inventory=LeavingInventory)), "acme")
    with pytest.raises(PluginError, match=r"^plugin acme: Inventory.hosts: SystemExit: 3$"):
        expand(plugins, DOCUMENT)


FABRIC: Final = Domain("fabric", [Member("m0", node="h0"), Member("m1", node="h1")])


def of_family(partitions: Any) -> Expansion:
    """A domain whose shape family gives these partitions."""
    family = type("Family", (), {"partitions": lambda _, domain: partitions(domain)})()
    return expand(world(discover=lambda: None, domains=lambda: [FABRIC], partitions=lambda: family), DOCUMENT)


def test_a_family_that_ends_the_process_is_blamed_on_the_plugin() -> None:
    def leave(_: Domain) -> None:
        raise SystemExit(3)

    with pytest.raises(PluginError, match=r"^plugin acme: Family of domain fabric: SystemExit: 3$"):
        of_family(leave)


def test_a_family_without_partitions_is_an_error_that_names_the_domain() -> None:
    with pytest.raises(DrakitError, match="domain fabric: Family has no partitions"):
        of_family(lambda _: ())


def test_partitions_that_claims_share_have_capacities_and_exclude_no_other() -> None:
    def parts(domain: Domain) -> list[Partition]:
        apart = [Partition(member.name, [member], domain=domain) for member in domain.members]
        return [*apart, Partition("all", domain.members, domain=domain, shares={"hosts": quantity(2)})]

    (pool,) = [pool for pool in of_family(parts).pools if pool.name.endswith("/fabric")]
    *apart, together = pool.devices
    assert [bool(device.consumes_counters) for device in apart] == [True, True]
    assert (together.allow_multiple_allocations, together.consumes_counters) == (True, ())
    assert {name: capacity.value for name, capacity in together.capacity.items()} == {"hosts": quantity(2)}
