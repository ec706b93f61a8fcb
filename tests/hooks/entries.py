"""Plugins for tests, installed or not: entry points that no distribution has to be built for."""

from __future__ import annotations

import sys
from importlib import metadata
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import pytest
from attrs import field, frozen

from drakit import Driver, Host, Inventory, device_class, hookimpl

__all__ = ["ACME", "AcmeInventory", "Namer", "acme", "entry", "install", "namer"]

ACME: Final = "gpu.acme.example"


@frozen(kw_only=True)
class AcmeInventory(Inventory):
    """Hosts by name, with a number of cards each."""

    hosts_: tuple[str, ...] = field(default=("h0",), alias="hosts_", metadata={"wire": "hostNames"})
    cards: int = 1

    def hosts(self) -> list[Host]:
        return [Host(name) for name in self.hosts_]


def acme(name: str = ACME, **hooks: Any) -> SimpleNamespace:
    """A plugin that is a driver; each keyword is a further hook, without its ``drakit_``."""

    @hookimpl
    def drakit_driver() -> Driver:
        return Driver(name, classes=[device_class(name, f'device.driver == "{name}"')], inventory=AcmeInventory)

    implemented = {f"drakit_{hook}": hookimpl(function) for hook, function in hooks.items()}
    return SimpleNamespace(drakit_driver=drakit_driver, **implemented)


class Namer:
    """A plugin that is no driver, as an object: it names devices of others."""

    @hookimpl
    def drakit_attributes(self, device: Any) -> dict[str, str]:
        return {"example.com/nick": device.name}


def namer() -> Namer:
    return Namer()


def entry(name: str, plugin: object, distribution: str = "", version: str = "1.0") -> metadata.EntryPoint:
    """An entry point that loads to a plugin; an exception instead of a plugin is raised by the import."""
    made: Any = metadata.EntryPoint(name=name, value=f"module_of_{name}", group="drakit")

    class _Entry(metadata.EntryPoint):
        def load(self) -> object:
            if isinstance(plugin, BaseException):
                raise plugin
            return plugin

    made = _Entry(name=name, value=f"module_of_{name}", group="drakit")
    vars(made).update(dist=SimpleNamespace(name=distribution, version=version) if distribution else None)
    return made  # type: ignore[no-any-return]


def install(monkeypatch: pytest.MonkeyPatch, *entries: metadata.EntryPoint) -> None:
    """Make these the only plugins that are installed."""

    def entry_points(*, group: str) -> list[metadata.EntryPoint]:
        return [entry for entry in entries if entry.group == group]

    monkeypatch.setattr(metadata, "entry_points", entry_points)


def module(name: str, source: str) -> ModuleType:
    """A module made from source, as a plugin's would be imported; not left in ``sys.modules``."""
    made = ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), vars(made))  # noqa: S102 - the test's own text
    sys.modules.pop(name, None)
    return made
