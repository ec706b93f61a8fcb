"""Loading plugins, and a typed facade over pluggy: nobody else touches a plugin manager.

Each plugin is called on its own, so that one that fails is reported with its name and hook and the others still answer.
``DRAKIT_TRACE=1`` prints every hook call to standard error; ``DRAKIT_DISABLE=name,name`` keeps plugins from loading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

import pluggy
from attrs import field, frozen

from drakit.hooks.calling import Caller, PluginError, described, items_of, to_stderr
from drakit.hooks.checks import HOOK_NAMES, check_hooks, check_inventory
from drakit.hooks.markers import PROJECT
from drakit.hooks.objects import AllocatedDevice, DeviceEdits, DomainSource, Driver, Host, Journal, Problem
from drakit.model import Device, DeviceClass, DrakitError, ResourceClaim
from drakit.model.errors import did_you_mean
from drakit.topology import Domain, ShapeFamily, Split

__all__ = ["LoadedPlugin", "PluginConflict", "PluginError", "Plugins", "UnknownPlugin"]


class PluginConflict(DrakitError):
    """Two plugins claim the same name; the message names both distributions."""


class UnknownPlugin(DrakitError):
    """A document or an option names a plugin that is not loaded."""


@frozen(kw_only=True)
class LoadedPlugin:
    """One plugin, and where it came from."""

    name: str
    """Name of its entry point."""
    plugin: object = field(repr=False)
    distribution: str
    """Name and version of the distribution; empty for one registered by hand."""
    module: str
    hooks: tuple[str, ...]
    driver: Driver | None
    everybody: frozenset[str] = frozenset()
    """Hooks that want the devices of all drivers: those with a ``driver`` argument."""

    @property
    def classes(self) -> tuple[DeviceClass, ...]:
        return self.driver.classes if self.driver is not None else ()

    def concerns(self, hook: str, driver: str) -> bool:
        """Whether a hook of this plugin is called for the devices of a driver."""
        own = self.driver is None or self.driver.name == driver
        return hook in self.hooks and (own or hook in self.everybody)

    def __str__(self) -> str:
        return f"{self.name} ({self.distribution or self.module})"


class Plugins(Caller):
    """The loaded plugins, by name, each of their hooks as a typed method."""

    def __init__(self, *, trace: Callable[[str], None] | None = None) -> None:
        """:param trace: called with one line before and after each hook call."""
        super().__init__(trace)
        self.failures: list[PluginError] = []
        """Plugins that could not be loaded."""
        self._loaded: dict[str, LoadedPlugin] = {}
        self._disabled: set[str] = set()

    # -- loading -----------------------------------------------------------------------------------------------------

    @classmethod
    def load(cls, environment: Mapping[str, str]) -> Plugins:
        """Every plugin installed under the entry-point group ``drakit``; one that cannot be imported is in ``failures``.

        :param environment: ``os.environ``, for DRAKIT_TRACE and DRAKIT_DISABLE.
        :raises PluginConflict: two plugins have one name, or bring one driver.
        """
        tracing = environment.get("DRAKIT_TRACE", "0") not in ("", "0")
        plugins = cls(trace=to_stderr if tracing else None)
        plugins._disabled = {name.strip() for name in environment.get("DRAKIT_DISABLE", "").split(",")} - {""}
        entries = sorted(metadata.entry_points(group=PROJECT), key=lambda entry: entry.name)
        for name in sorted(plugins._disabled - {entry.name for entry in entries}):
            plugins.failures.append(PluginError(name, "DRAKIT_DISABLE", "there is no such plugin to keep from loading"))
        for entry in entries:
            if entry.name not in plugins._disabled:
                plugins._load_entry(entry)
        return plugins

    def _load_entry(self, entry: metadata.EntryPoint) -> None:
        distribution = f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""
        try:
            plugin = entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin that cannot be imported must not stop the others
            self.failures.append(PluginError(entry.name, "import", described(error)))
            return
        try:
            self.register(plugin, entry.name, distribution)
        except PluginError as error:
            self.failures.append(error)

    def register(self, plugin: object, name: str, distribution: str = "") -> LoadedPlugin:
        """Add one plugin: a module, or an object with hook methods.

        :raises PluginConflict: its name or its driver is taken.
        :raises PluginError: it has a hook drakit does not know, or one with other arguments; it is left out.
        """
        if name in self._loaded:
            raise PluginConflict(
                f"two plugins are named {name!r}: {self._loaded[name]} and {distribution or plugin!r}; uninstall one of them"
            )
        known_as = self._manager.get_name(plugin)
        if known_as is not None:
            mine = f"{name} ({distribution or _module_of(plugin)})"
            raise PluginConflict(f"one plugin is registered under two names: {self._loaded[known_as]} and {mine}")
        check_hooks(self._manager, plugin, name)
        self._callers.clear()  # a caller for one plugin leaves out the others there were when it was made
        try:
            self._manager.register(plugin, name)
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            self._unregister(name)
            # pluggy names the hook, then the signature, then what is wrong with it.
            raise PluginError(name, "registration", "; ".join(str(error).splitlines())) from error
        try:
            loaded = self._described(plugin, name, distribution)
        except DrakitError:
            self._unregister(name)
            raise
        self._loaded[name] = loaded
        return loaded

    def _unregister(self, name: str) -> None:
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)

    def _described(self, plugin: object, name: str, distribution: str) -> LoadedPlugin:
        hooks = tuple(hook for hook in HOOK_NAMES if self._implements(plugin, hook))
        driver = self._driver_of(name)
        if driver is not None:
            check_inventory(name, driver.inventory)
            for other in self._loaded.values():
                if other.driver is not None and other.driver.name == driver.name:
                    mine = f"{name} ({distribution or _module_of(plugin)})"
                    raise PluginConflict(
                        f"driver {driver.name} is brought by two plugins: {other} and {mine}; "
                        f"DRAKIT_DISABLE={name} keeps one of them from loading"
                    )
        return LoadedPlugin(
            name=name,
            plugin=plugin,
            distribution=distribution,
            module=_module_of(plugin),
            hooks=hooks,
            driver=driver,
            everybody=frozenset(hook for hook in hooks if "driver" in self._arguments(plugin, hook)),
        )

    def _arguments(self, plugin: object, hook: str) -> tuple[str, ...]:
        """The arguments of a hook that the plugin takes."""
        implementations = getattr(self._manager.hook, hook).get_hookimpls()
        return next(tuple(i.argnames) + tuple(i.kwargnames) for i in implementations if i.plugin is plugin)

    def _driver_of(self, name: str) -> Driver | None:
        driver: Driver | None = self._first(name, "drakit_driver", Driver)
        return driver

    def _implements(self, plugin: object, hook: str) -> bool:
        return any(implementation.plugin is plugin for implementation in getattr(self._manager.hook, hook).get_hookimpls())

    # -- asking ------------------------------------------------------------------------------------------------------

    @property
    def loaded(self) -> tuple[LoadedPlugin, ...]:
        """The plugins in the order they are asked."""
        return tuple(self._loaded.values())

    def __contains__(self, name: object) -> bool:
        return name in self._loaded

    def __getitem__(self, name: str) -> LoadedPlugin:
        """:raises UnknownPlugin: naming what is loaded, and why the named one is not if it failed to load."""
        if name in self._loaded:
            return self._loaded[name]
        failed = next((f"; it failed to load: {error}" for error in self.failures if error.plugin == name), None)
        if name in self._disabled:
            failed = "; DRAKIT_DISABLE keeps it from loading"
        known = ", ".join(self._loaded) or "none"
        hint = failed or f"{did_you_mean(name, self._loaded)}; loaded are: {known}"
        raise UnknownPlugin(f'plugin "{name}" is not loaded{hint}')

    def discover(self, plugin: str, host: Host) -> list[Device]:
        """The devices of a host that one plugin finds.

        :raises PluginError: the plugin raised, or gave something else than devices.
        """
        return self._collected(plugin, "drakit_discover", Device, host=host)

    def domains(self, plugin: str, source: DomainSource) -> list[Domain]:
        """The domains one plugin sees.

        :raises PluginError: as :meth:`discover`.
        """
        return self._collected(plugin, "drakit_domains", Domain, source=source)

    def partitions(self, plugin: str, target: Device | Domain) -> ShapeFamily | Split | None:
        """The shape family one plugin gives a domain, or the split it gives a device.

        :raises PluginError: as :meth:`discover`.
        """
        family: ShapeFamily | Split | None = self._first(plugin, "drakit_partitions", Split, ShapeFamily, target=target)
        return family

    def attributes(self, plugin: str, device: Device, driver: str) -> Mapping[str, Any]:
        """What one plugin adds to a device.

        :raises PluginError: as :meth:`discover`.
        """
        return self._named(plugin, "drakit_attributes", device=device, driver=driver)

    def health(self, plugin: str, device: Device, driver: str) -> list[Problem]:
        """The open problems one plugin knows of.

        :raises PluginError: as :meth:`discover`.
        """
        return self._collected(plugin, "drakit_health", Problem, device=device, driver=driver)

    def validate_config(self, plugin: str, parameters: Mapping[str, Any]) -> object | None:
        """A driver's opaque parameters, decoded by its hook; None: by ``Driver.configs``.

        :raises PluginError: as :meth:`discover`; also for parameters that are wrong, with the hook's words.
        """
        decoded: object | None = self._first(plugin, "drakit_validate_config", object, parameters=parameters)
        return decoded

    def prepare(
        self, plugin: str, claim: ResourceClaim, devices: tuple[AllocatedDevice, ...], journal: Journal
    ) -> list[DeviceEdits]:
        """What containers get with a claim's devices.

        :raises PluginError: as :meth:`discover`.
        """
        arguments = {"claim": claim, "devices": devices, "journal": journal}
        edits = self._ask(plugin, "drakit_prepare", arguments, lambda answer: [] if answer is None else list(items_of(answer)))
        return [self._checked(plugin, "drakit_prepare", edit, DeviceEdits) for edit in edits]

    def unprepare(self, plugin: str, claim_uid: str, devices: tuple[AllocatedDevice, ...], journal: Journal) -> None:
        """Undo :meth:`prepare`.

        :raises PluginError: as :meth:`discover`; the call is to be repeated.
        """
        self._ask(plugin, "drakit_unprepare", {"claim_uid": claim_uid, "devices": devices, "journal": journal})

    def environment(self, plugin: str, claim: ResourceClaim, device: AllocatedDevice, host: Host) -> Mapping[str, str]:
        """Environment variables one plugin gives on one host.

        :raises PluginError: as :meth:`discover`.
        """
        return self._named(plugin, "drakit_environment", claim=claim, device=device, host=host)


def _module_of(plugin: object) -> str:
    return getattr(plugin, "__name__", None) or f"{type(plugin).__module__}.{type(plugin).__qualname__}"
