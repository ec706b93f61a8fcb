"""An expression taken apart: the parts that decide about a device, and what they read of it.

Each part is evaluated alone. Used by :mod:`drakit.cel.census`, for people; nothing here is asked where it must be fast.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Final

import attrs
from attrs import frozen

from drakit.cel.checking.checker import check
from drakit.cel.checking.environment import Environment
from drakit.cel.device import CelDevice
from drakit.cel.errors import CelError
from drakit.cel.exact.evaluator import Program, plan
from drakit.cel.fast.places import Place, is_device, place, steps
from drakit.cel.go.quoting import quoted, quoted_bytes
from drakit.cel.reads import tells_holding
from drakit.cel.syntax.ast import Call, Comprehension, Node, children
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.cel.syntax.unparsing import unparse
from drakit.cel.values import Map, NotDecided, Optional, TypeValue, Value, format_double, type_name

__all__ = ["Anatomy", "Part", "Reading", "Result", "shown"]

_DEVICE: Final = "device"
_KEYS_SHOWN: Final = 8
_UNKNOWN: Final = frozenset({"?"})
"""The variables of a part of a name, which is nothing by itself."""


@frozen
class Result:
    """What a part comes to."""

    value: Value = None
    error: str = ""
    """The message where it fails; then there is no value."""

    def __str__(self) -> str:
        return self.error or shown(self.value)


@frozen
class Reading:
    """What a part read of a device."""

    text: str
    """As the expression has it: ``device.attributes["gpu.example.com"].model``."""
    label: str
    """Short: ``model``."""
    value: str


@frozen
class Part:
    """A part that decides: no ``&&``, ``||``, ``!`` or ``?:`` itself."""

    text: str
    result: str
    """``true``, ``false``, another value, or what it failed with."""
    fails: bool
    readings: tuple[Reading, ...]


class Anatomy:
    """The parts of one expression."""

    def __init__(self, expression: str, environment: Environment) -> None:
        """Take an expression apart.

        :raises CelError: it does not compile.
        """
        source = Source(expression)
        self.environment: Final = environment
        self.checked: Final = check(parse(source, escaped_names=environment.escaped_names), source, environment)
        self._programs: dict[Node, Program | None] = {}
        self._fresh: Final = tells_holding(self.checked)
        self._texts: dict[Node, str] = {}
        self._read: dict[Node, list[tuple[Node, str, str]]] = {}
        self._shadowed: Final = any(_DEVICE in _bound(node) for node in self.nodes())

    @property
    def root(self) -> Node:
        return self.checked.root

    def nodes(self, top: Node | None = None) -> Iterator[Node]:
        """Every node from one on, each once, from the left."""
        pending, seen = [top or self.checked.root], set[Node]()
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                yield node
                pending.extend(reversed(list(children(node))))

    def place(self, node: Node) -> Place | None:
        """Where in the device a node reads, if its name is constant."""
        return place(self.checked, node, shadowed=self._shadowed)

    def result(self, node: Node, device: CelDevice) -> Result | None:
        """What a node comes to on a device; None if that cannot be said of the node alone."""
        program = self._program(node)
        if program is None:
            return None
        try:
            outcome = program.evaluate(device.value(fresh=self._fresh))
        except (CelError, NotDecided):
            return None
        return Result(outcome.value, str(outcome.error or ""))

    def _program(self, node: Node) -> Program | None:
        if node not in self._programs:
            self._programs[node] = self._planned(node)
        return self._programs[node]

    def _planned(self, node: Node) -> Program | None:
        if node is not self.root and (self._shadowed or self._free.get(node, _UNKNOWN) - {_DEVICE}):
            return None
        try:
            return plan(attrs.evolve(self.checked, root=node), minor=self.environment.minor)
        except CelError:
            return None

    @functools.cached_property
    def _free(self) -> dict[Node, frozenset[str]]:
        """The variables that each node needs."""
        found: dict[Node, frozenset[str]] = {}
        pending = [self.root]
        while pending:
            node = pending[-1]
            below = [child for child in children(node) if child not in found]
            if below and node not in self.checked.names:
                pending.extend(below)
                continue
            pending.pop()
            found[node] = self._free_of(node, found)
        return found

    def _free_of(self, node: Node, below: Mapping[Node, frozenset[str]]) -> frozenset[str]:
        name = self.checked.names.get(node)
        if name is not None:
            return frozenset() if self.checked.types[node].kind == "type" else frozenset([name.removeprefix(".")])
        if isinstance(node, Comprehension):
            inside = below[node.condition] | below[node.step] | below[node.result]
            return below[node.range_] | below[node.initial] | (inside - _bound(node))
        return frozenset().union(*(below[child] for child in children(node)))

    # -- what decides ---------------------------------------------------------------------------------------------

    def deciding(self, device: CelDevice) -> list[Node]:
        """The nodes that decide about a device, in the order of the expression."""
        found: list[Node] = []
        pending = [self.checked.root]
        while pending:
            node = pending.pop()
            below = self._decided_by(node, device)
            pending.extend(reversed(below))
            if not below:
                found.append(node)
        return found

    def _decided_by(self, node: Node, device: CelDevice) -> list[Node]:
        """The operands that a node's result comes from; none if it has to be taken as it is."""
        match node:
            case Call(function="_&&_" | "_||_" as function, args=args):
                return self._of_chain(node, args, device, ends=function == "_||_")
            case Call(function="!_", args=(operand,)):
                return [operand]
            case Call(function="_?_:_", args=(condition, then, otherwise)):
                truth = self.result(condition, device)
                if truth is None or not isinstance(truth.value, bool):
                    return [condition] if truth else []
                return [condition, then if truth.value else otherwise]
        return []

    def _of_chain(self, node: Node, args: tuple[Node, ...], device: CelDevice, *, ends: bool) -> list[Node]:
        """Of a chain of ``&&`` or ``||``; ``ends`` is the value at which it ends."""
        whole = self.result(node, device)
        if whole is None:
            return []
        if whole.value is (not ends):
            return list(args)
        for arg in args:
            result = self.result(arg, device)
            if result is None:
                return []
            if result.value is ends if whole.value is ends else not isinstance(result.value, bool):
                return [arg]
        return []

    def deciding_parts(self, device: CelDevice) -> tuple[Part, ...]:
        """What decides about a device, as text, with what it read."""
        return tuple(dict.fromkeys(self._part(node, device) for node in self.deciding(device)))

    def _part(self, node: Node, device: CelDevice) -> Part:
        result = self.result(node, device)
        readings: list[Reading] = []
        for chain, text, label in self._chains_read(node):
            value = self.result(chain, device)
            if value and not value.error and not isinstance(value.value, Map):
                readings.append(Reading(text, label, shown(value.value)))
        said = "undecided" if result is None else str(result)
        return Part(self._text(node), said, bool(result and result.error), tuple(readings))

    def _text(self, node: Node) -> str:
        if node not in self._texts:
            self._texts[node] = unparse(node)
        return self._texts[node]

    def _chains_read(self, node: Node) -> list[tuple[Node, str, str]]:
        """The chains in a node, each text once, with text and label."""
        if node not in self._read:
            texts = {self._text(chain): chain for chain in reversed(list(self.chains(node))) if chain is not node}
            self._read[node] = [(chain, text, self._label(chain)) for text, chain in reversed(texts.items())]
        return self._read[node]

    def chains(self, node: Node) -> Iterator[Node]:
        """The selections from ``device`` in a node, each as long as it goes, those in the indexes of others too."""
        pending, seen = [node], set[Node]()
        while pending:
            current = pending.pop()
            if current in seen:
                continue  # optMap writes its operand twice
            seen.add(current)
            if self._starts_at_device(current):
                yield current
                step: Node | None = current
                while step is not None and (link := steps(step)) is not None:
                    step, key = link[0], link[1]
                    if not isinstance(key, str):
                        pending.append(key)
                continue
            pending.extend(reversed(list(children(current))))

    def _starts_at_device(self, node: Node) -> bool:
        link = steps(node)
        if link is None or link[3]:
            return False
        while link is not None:
            node = link[0]
            link = steps(node)
        return is_device(self.checked, node, shadowed=self._shadowed)

    def _label(self, chain: Node) -> str:
        where = self.place(chain)
        if where is None:
            return unparse(chain)
        return where.identifier or (where.domain if isinstance(where.domain, str) else where.part)


def _bound(node: Node) -> frozenset[str]:
    """The variables that a fold brings."""
    if not isinstance(node, Comprehension):
        return frozenset()
    return frozenset(filter(None, (node.variable, node.second_variable, node.accumulator)))


def shown(value: Value) -> str:
    """A value for people: of a map only the keys, and of an optional what is in it."""
    match value:
        case Optional():
            return shown(value.value) if value.present else "not there"
        case Map():
            keys = [key if isinstance(key, str) else shown(key) for key in value]
            return f"{{{', '.join(keys[:_KEYS_SHOWN])}{', ...' if len(keys) > _KEYS_SHOWN else ''}}}"
        case tuple():
            return f"[{', '.join(map(shown, value))}]"
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case str():
            return quoted(value)
        case bytes():
            return f"b{quoted_bytes(value)}"
        case float():
            return format_double(value)
        case TypeValue():
            return value.name
    text = str(value)
    return type_name(value) if text.startswith("<") else text
