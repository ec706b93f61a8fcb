from __future__ import annotations

from importlib import metadata

import attrs
import pytest

from drakit import Device, Driver, Host, Inventory, hookimpl
from drakit.hooks import PluginConflict, PluginError, Plugins, UnknownPlugin
from tests.hooks.entries import ACME, Namer, acme, entry, install, plugin


def loaded(monkeypatch: pytest.MonkeyPatch, *entries: metadata.EntryPoint, **environment: str) -> Plugins:
    install(monkeypatch, *entries)
    return Plugins.load(environment)


def test_plugins_are_found_by_entry_point_and_asked_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = loaded(monkeypatch, entry("namer", Namer(), "drakit-namer", "2.1"), entry("acme", acme(), "drakit-acme"))
    assert [(p.name, p.distribution, p.hooks) for p in plugins.loaded] == [
        ("acme", "drakit-acme 1.0", ("drakit_driver",)),
        ("namer", "drakit-namer 2.1", ("drakit_attributes",)),
    ]
    assert plugins["acme"].driver is not None
    assert plugins["acme"].driver.name == ACME
    assert plugins["namer"].driver is None
    assert plugins.failures == []


def test_entry_points_of_other_groups_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    other = metadata.EntryPoint(name="x", value="no_such_module", group="pytest11")
    assert loaded(monkeypatch, other).loaded == ()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ImportError("No module named 'libacme'"), "ImportError: No module named 'libacme'"),
        (SystemExit("no licence"), "SystemExit: no licence"),
        (ZeroDivisionError(), "ZeroDivisionError: no message"),
        (RuntimeError("one\ntwo"), "RuntimeError: one; two"),
        (GeneratorExit("left"), "GeneratorExit: left"),
        (BaseException("odd"), "BaseException: odd"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_reported_and_the_others_work(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, message: str
) -> None:
    plugins = loaded(monkeypatch, entry("broken", error), entry("namer", Namer()))
    assert list(map(str, plugins.failures)) == [f"plugin broken: import: {message}"]
    assert plugins.attributes("namer", Device("d"), ACME) == {"example.com/nick": "d"}


def test_an_interrupt_by_the_user_is_not_a_fault_of_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded(monkeypatch, entry("slow", KeyboardInterrupt()))


@pytest.mark.parametrize(
    ("hook", "nearest"),
    [("drakit_discovr", "drakit_discover"), ("discover", "drakit_discover"), ("drakit_attribute", "drakit_attributes")],
)
def test_a_misspelt_hook_is_reported_with_the_nearest_name(monkeypatch: pytest.MonkeyPatch, hook: str, nearest: str) -> None:
    misspelt = plugin()
    setattr(misspelt, hook, hookimpl(lambda: None))
    plugins = loaded(monkeypatch, entry("typo", misspelt), entry("namer", Namer()))
    assert [str(f) for f in plugins.failures] == [f'plugin typo: {hook}: drakit has no such hook, did you mean "{nearest}"?']
    assert [p.name for p in plugins.loaded] == ["namer"]


def test_wrong_arguments_are_reported_with_plugin_hook_and_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = plugin(discover=lambda hosts: [hosts])
    plugins = loaded(monkeypatch, entry("namer", Namer()), entry("wrong", wrong))
    (failure,) = plugins.failures
    assert str(failure).startswith("plugin wrong: ")
    assert "drakit_discover" in str(failure)
    assert "hosts" in str(failure)
    assert "\n" not in str(failure)
    assert [p.name for p in plugins.loaded] == ["namer"]
    assert plugins.attributes("namer", Device("d"), ACME) == {"example.com/nick": "d"}


def test_a_plugin_left_out_for_wrong_arguments_is_never_asked() -> None:
    plugins = Plugins()
    asked: list[object] = []

    def attributes(device: Device) -> None:
        asked.append(device)

    with pytest.raises(PluginError):
        plugins.register(plugin(attributes=attributes, health=lambda gpu: [gpu]), "wrong")
    plugins.register(Namer(), "namer")
    assert plugins.attributes("namer", Device("d"), ACME)
    assert asked == []
    assert [p.name for p in plugins.loaded] == ["namer"]


def test_a_plugin_whose_members_raise_is_reported_and_the_others_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Prickly:
        @property
        def handle(self) -> object:
            raise OSError("no hardware")

        @hookimpl
        def drakit_discover(self) -> list[Device]:
            return []

    plugins = loaded(monkeypatch, entry("prickly", Prickly()), entry("namer", Namer()))
    assert "namer" in [p.name for p in plugins.loaded]
    assert all(failure.plugin == "prickly" for failure in plugins.failures)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("gpu.acme.example", "plugin acme: drakit_driver: gave 'gpu.acme.example', which is not a Driver"),
        (RuntimeError("no card"), "plugin acme: drakit_driver: RuntimeError: no card"),
        (SystemExit(3), "plugin acme: drakit_driver: SystemExit: 3"),
    ],
)
def test_a_driver_hook_that_fails_keeps_only_its_plugin_from_loading(
    monkeypatch: pytest.MonkeyPatch, answer: object, message: str
) -> None:
    def driver() -> object:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    plugins = loaded(monkeypatch, entry("acme", plugin(driver=driver)), entry("namer", Namer()))
    assert [str(failure) for failure in plugins.failures] == [message]
    assert [p.name for p in plugins.loaded] == ["namer"]


def test_two_plugins_with_one_name_are_an_error_that_names_both_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, entry("acme", acme(), "drakit-acme", "1.0"), entry("acme", Namer(), "acme-fork", "2.0"))
    with pytest.raises(PluginConflict, match=r"two plugins are named 'acme'") as caught:
        Plugins.load({})
    assert "drakit-acme 1.0" in str(caught.value)
    assert "acme-fork 2.0" in str(caught.value)


def test_two_plugins_for_one_driver_are_an_error_that_names_both_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, entry("acme", acme(), "drakit-acme", "1.0"), entry("fork", acme(), "acme-fork", "2.0"))
    with pytest.raises(PluginConflict) as caught:
        Plugins.load({})
    expected = f"driver {ACME} is brought by two plugins: acme (drakit-acme 1.0) and fork (acme-fork 2.0)"
    assert str(caught.value) == f"{expected}; DRAKIT_DISABLE=fork keeps one of them from loading"


def test_one_module_under_two_names_is_an_error_that_names_both_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Namer()
    install(monkeypatch, entry("new", one, "drakit-acme", "1.0"), entry("old", one, "acme-fork", "2.0"))
    with pytest.raises(PluginConflict) as caught:
        Plugins.load({})
    assert "drakit-acme 1.0" in str(caught.value)
    assert "acme-fork 2.0" in str(caught.value)


def test_after_a_conflict_the_first_plugin_is_asked_and_the_second_is_not() -> None:
    plugins = Plugins()
    plugins.register(acme(discover=lambda: [Device("first")]), "acme")
    with pytest.raises(PluginConflict):
        plugins.register(acme(discover=lambda: [Device("second")]), "fork")
    assert [device.name for device in plugins.discover("acme", Host("h0"))] == ["first"]
    assert [p.name for p in plugins.loaded] == ["acme"]


@pytest.mark.parametrize("disabled", ["acme", "acme,", " acme ,acme"])
def test_a_disabled_plugin_is_not_even_imported(monkeypatch: pytest.MonkeyPatch, disabled: str) -> None:
    broken = entry("acme", ImportError("must not be imported"))
    plugins = loaded(monkeypatch, broken, entry("namer", Namer()), DRAKIT_DISABLE=disabled)
    assert [p.name for p in plugins.loaded] == ["namer"]
    assert plugins.failures == []


def test_a_plugin_that_is_disabled_but_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = loaded(monkeypatch, entry("namer", Namer()), DRAKIT_DISABLE="namr")
    assert list(map(str, plugins.failures)) == ["plugin namr: DRAKIT_DISABLE: there is no such plugin to keep from loading"]


def test_a_disabled_plugin_that_is_asked_for_is_said_to_be_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownPlugin, match="DRAKIT_DISABLE keeps it from loading"):
        loaded(monkeypatch, entry("namer", Namer()), DRAKIT_DISABLE="namer")["namer"]


def test_a_hook_without_its_marker_is_an_error() -> None:
    module = plugin()
    vars(module)["drakit_health"] = lambda: ()
    with pytest.raises(PluginError) as caught:
        Plugins().register(module, "p")
    assert str(caught.value) == "plugin p: drakit_health: is not marked with @hookimpl, so it would never be called"


def test_a_misspelt_argument_gets_the_nearest_name() -> None:
    with pytest.raises(PluginError) as caught:
        Plugins().register(plugin(health=lambda devise: [devise]), "p")
    message = 'has no argument "devise", did you mean "device"?; it has: device, driver'
    assert str(caught.value) == f"plugin p: drakit_health: {message}"


def test_an_inventory_class_must_be_an_attrs_class_derived_from_inventory() -> None:
    class Forgotten(Inventory):
        cards: int = 1

    for inventory, complaint in ((dict, "must be a class derived from Inventory"), (Forgotten, "put @frozen")):
        with pytest.raises(PluginError, match=complaint):
            Plugins().register(plugin(driver=lambda given=inventory: Driver(ACME, inventory=given)), "p")


def test_an_unknown_plugin_is_told_with_the_nearest_name_and_what_is_loaded() -> None:
    plugins = Plugins()
    with pytest.raises(UnknownPlugin) as caught:
        plugins["acme"]
    assert str(caught.value) == 'plugin "acme" is not loaded; loaded are: none'
    plugins.register(acme(), "acme")
    plugins.register(Namer(), "namer")
    with pytest.raises(UnknownPlugin) as caught:
        plugins["amce"]
    assert str(caught.value) == 'plugin "amce" is not loaded, did you mean "acme"?; loaded are: acme, namer'


def test_a_plugin_that_failed_to_load_is_told_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = loaded(monkeypatch, entry("acme", ImportError("No module named 'libacme'")))
    with pytest.raises(UnknownPlugin, match="libacme"):
        plugins["acme"]


@pytest.mark.parametrize("name", ["kind", "metadata", "plugin"])
def test_an_inventory_class_with_a_field_that_every_document_has_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Such a field could never be given: in the document it says something else."""
    unreachable = attrs.make_class("Unreachable", {name: attrs.field(type=str, default="")}, bases=(Inventory,), frozen=True)
    driver = plugin(driver=lambda: Driver(ACME, inventory=unreachable))
    (failure,) = loaded(monkeypatch, entry("acme", driver)).failures
    assert f'"{name}"' in str(failure)
