"""Calling one plugin's hooks, so that whatever it does wrong is told with its name and does not reach the others.

pluggy calls all plugins in one go and stops at the first that raises; here each is asked on its own.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import pluggy

from drakit.hooks import hookspecs
from drakit.hooks.markers import PROJECT
from drakit.model import DrakitError

__all__ = ["Caller", "PluginError", "blaming", "described", "items_of", "shown", "to_stderr"]

T = TypeVar("T")


class PluginError(DrakitError):
    """A plugin raised, or gave something that is not what its hook promises."""

    def __init__(self, plugin: str, hook: str, message: str) -> None:
        self.plugin = plugin
        self.hook = hook
        self.where = ""
        """File and document that had it asked; whoever reads them says so."""
        super().__init__(f"plugin {plugin}: {hook}: {message}")

    def __str__(self) -> str:
        return f"{self.where}: {super().__str__()}" if self.where else super().__str__()


class Caller:
    """A pluggy manager whose plugins are asked one at a time, answers checked against what a hook promises."""

    def __init__(self, trace: Callable[[str], None] | None) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._callers: dict[tuple[str, str], pluggy.HookCaller] = {}
        self._trace = trace

    def _named(self, plugin: str, hook: str, **arguments: object) -> Mapping[str, Any]:
        """The values by name that one plugin gives for a collected hook."""
        added: dict[str, Any] = {}
        for answer in self._ask(plugin, hook, arguments):
            if not isinstance(answer, Mapping) or not all(isinstance(name, str) for name in answer):
                raise PluginError(plugin, hook, f"gave {shown(answer)}, which is not a mapping of values by name")
            added.update(answer)
        return added

    def _collected(self, plugin: str, hook: str, type_: type[T], **arguments: object) -> list[T]:
        """Everything one plugin gives for a collected hook."""
        items = self._ask(plugin, hook, arguments, lambda answers: [item for answer in answers for item in items_of(answer)])
        return [self._checked(plugin, hook, item, type_) for item in items]

    def _first(self, plugin: str, hook: str, *types: Any, **arguments: object) -> Any:
        answer = self._ask(plugin, hook, arguments)
        return None if answer is None else self._checked(plugin, hook, answer, *types)

    def _ask(
        self, plugin: str, hook: str, arguments: Mapping[str, object], read: Callable[[Any], Any] = lambda answer: answer
    ) -> Any:
        """What one plugin answers.

        :param read: what to make of the answer; a generator is read to its end here, where its faults are the plugin's.
        :raises PluginError: the plugin raised.
        """
        caller = self._caller(plugin, hook)
        traced = self._trace is not None and bool(caller.get_hookimpls())
        try:
            with blaming(plugin, hook):
                if traced:
                    given = ", ".join(f"{name}={shown(value)}" for name, value in arguments.items())
                    self._tell(f"{hook}({given}) -> {plugin}")
                answer = read(caller(**arguments))
        except PluginError as error:
            if traced:
                self._tell(f"{hook} = raised {error}")
            raise
        if traced:
            self._tell(f"{hook} = {shown(answer)}")
        return answer

    def _tell(self, line: str) -> None:
        if self._trace is not None:
            self._trace(f"drakit: {line}")

    def _caller(self, plugin: str, hook: str) -> pluggy.HookCaller:
        """The hook as implemented by one plugin alone; made once, for a device asks for several."""
        caller = self._callers.get((plugin, hook))
        if caller is None:
            others = [other for other in self._manager.get_plugins() if self._manager.get_name(other) != plugin]
            caller = self._callers[plugin, hook] = self._manager.subset_hook_caller(hook, others)
        return caller

    def _checked(self, plugin: str, hook: str, answer: Any, *types: Any) -> Any:
        if isinstance(answer, types):
            return answer
        wanted = " or ".join(type_.__name__ for type_ in types)
        raise PluginError(plugin, hook, f"gave {shown(answer)}, which is not a {wanted}")


@contextlib.contextmanager
def blaming(plugin: str, hook: str) -> Iterator[None]:
    """Whatever is raised inside is the plugin's fault, even an attempt to end the process."""
    try:
        yield
    except KeyboardInterrupt:
        raise  # the user's, as far as can be told
    except BaseException as error:
        raise PluginError(plugin, hook, described(error)) from error


def shown(answer: object) -> str:
    """An answer for a message, cut short; also one whose ``repr`` raises."""
    try:
        return f"{answer!r:.80}"
    except Exception:  # noqa: BLE001 - whatever it is, it cannot even say so
        return f"a {type(answer).__name__}"


def items_of(answer: Any) -> Iterable[Any]:
    """The items of an answer; text and mappings can be iterated too, but are never what was meant.

    :raises TypeError: it has no items.
    """
    if isinstance(answer, str | Mapping) or not isinstance(answer, Iterable):
        raise TypeError(f"must give an iterable, not {shown(answer)}")
    return answer


def described(error: BaseException) -> str:
    """What a plugin raised, on one line; our own errors speak for themselves."""
    try:
        text = "; ".join(str(error).split("\n")) or "no message"
    except Exception:  # noqa: BLE001 - an exception whose text cannot be had
        text = "no message"
    return text if isinstance(error, DrakitError) else f"{type(error).__name__}: {text}"


def to_stderr(line: str) -> None:
    """Where ``DRAKIT_TRACE`` writes."""
    print(line, file=sys.stderr)  # noqa: T201 - what DRAKIT_TRACE is for
