"""Plugins for tests, installed or not: entry points that no distribution has to be built for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from types import ModuleType, SimpleNamespace
from typing import Final

import pytest
from attrs import field, frozen

from drakit import Device, Driver, Host, Inventory, device_class, hookimpl

__all__ = ["ACME", "AcmeInventory", "Namer", "acme", "entry", "install", "plugin"]

ACME: Final = "gpu.acme.example"


@frozen(kw_only=True)
class AcmeInventory(Inventory):
    """Hosts by name, with a number of cards each."""

    hosts_: tuple[str, ...] = field(default=("h0",), alias="hosts_", metadata={"wire": "hostNames"})
    cards: int = 1

    def hosts(self) -> list[Host]:
        return [Host(name) for name in self.hosts_]


def plugin(**hooks: Callable[..., object]) -> ModuleType:
    """A plugin as a module; each keyword is a hook without its ``drakit_``."""
    made = ModuleType("drakit_made_up")
    vars(made).update({f"drakit_{name}": hookimpl(hook) for name, hook in hooks.items()})
    return made


def acme(name: str = ACME, **hooks: Callable[..., object]) -> ModuleType:
    """A plugin that is a driver, with further hooks."""

    def driver() -> Driver:
        return Driver(name, classes=[device_class(name, f'device.driver == "{name}"')], inventory=AcmeInventory)

    return plugin(driver=driver, **hooks)


class Namer:
    """A plugin that is no driver, as an object: it names devices of others."""

    @hookimpl
    def drakit_attributes(self, device: Device) -> dict[str, str]:
        return {"example.com/nick": device.name}


def entry(name: str, plugin: object, distribution: str = "", version: str = "1.0") -> metadata.EntryPoint:
    """An entry point that loads to a plugin; an exception instead of a plugin is raised by the import."""

    class _Entry(metadata.EntryPoint):
        def load(self) -> object:
            if isinstance(plugin, BaseException):
                raise plugin
            return plugin

    made = _Entry(name=name, value=f"module_of_{name}", group="drakit")
    vars(made)["dist"] = SimpleNamespace(name=distribution, version=version) if distribution else None
    return made


def install(monkeypatch: pytest.MonkeyPatch, *entries: metadata.EntryPoint) -> None:
    """Make these the only plugins that are installed."""

    def entry_points(*, group: str) -> list[metadata.EntryPoint]:
        return [entry for entry in entries if entry.group == group]

    monkeypatch.setattr(metadata, "entry_points", entry_points)
