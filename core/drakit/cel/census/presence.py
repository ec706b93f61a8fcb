"""What an expression reads by name, and on which devices it is: presence, types, and names that are probably misspelt.

Used by :mod:`drakit.cel.census`, for people.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from attrs import evolve, frozen

from drakit.cel.census.parts import Anatomy
from drakit.cel.checking.types import Type
from drakit.cel.device import CelDevice
from drakit.cel.fast.places import DRIVER, Place, steps
from drakit.cel.syntax import ast
from drakit.cel.syntax.ast import Call, Node
from drakit.model import DeviceID, qualify

__all__ = ["Kind", "Mistake", "Presence", "presences"]

Kind: TypeAlias = Literal["attribute", "capacity", "attribute domain", "capacity domain", "driver"]
_KINDS: Final[Mapping[str, Kind]] = {"attributes": "attribute", "capacity": "capacity"}
_DOMAINS: Final[Mapping[str, Kind]] = {"attributes": "attribute domain", "capacity": "capacity domain"}


@frozen
class Mistake:
    """A value that is used as if it were of another type."""

    use: str
    """``compared with a string``"""
    type: str
    """What it is: ``version``."""
    devices: int
    advice: str


@frozen(kw_only=True)
class Presence:
    """Something that an expression names, and where it is."""

    kind: Kind
    name: str
    """``gpu.example.com/model``; of a domain its name."""
    types: Mapping[str, int]
    """How many devices have it, by type."""
    missing: tuple[DeviceID, ...]
    """Where it is not."""
    hint: str = ""
    """What may be meant where no device has it."""
    elsewhere: bool = False
    """It is the driver's own, not there, but another driver's is."""
    mistakes: tuple[Mistake, ...] = ()

    @property
    def devices(self) -> int:
        """How many have it."""
        return sum(self.types.values())

    @property
    def is_mistaken(self) -> bool:
        """Whether the expression has to be put right before anything else: no device has it, or it is of another type."""
        return bool(self.mistakes or not (self.types or self.elsewhere))


def presences(anatomy: Anatomy, devices: Sequence[tuple[DeviceID, CelDevice]]) -> list[Presence]:
    """Everything the expression names, in its order.

    A name in the driver's own domain is one for each driver.
    """
    published = _Published(devices)
    uses = _uses(anatomy)
    asked: dict[tuple[str, str], tuple[Place, list[_Use]]] = {}
    for where in _named(anatomy):
        for name in _names(where, published.drivers):
            known, of = asked.setdefault((where.part, name), (where, []))
            of += uses.get((where.part, where.domain, where.identifier), ())
            if known.domain is DRIVER and where.domain is not DRIVER:
                asked[where.part, name] = where, of  # of all devices, and not of one driver's
    found = {key: published.presence(where, key[1], of) for key, (where, of) in asked.items()}
    for key, (where, _) in asked.items():
        if where.domain is DRIVER and not found[key].types:
            others = (found[other] for other, (also, _) in asked.items() if also == where)
            if any(other.types for other in others):
                found[key] = evolve(found[key], hint="", elsewhere=True)
    return [*published.named_drivers(anatomy), *found.values()]


def _drivers(anatomy: Anatomy) -> Iterator[str]:
    for node in anatomy.nodes():
        match node:
            case Call(function="_==_", args=(one, other)):
                for side, literal in ((one, other), (other, one)):
                    where = anatomy.place(side)
                    if where and where.part == "driver" and isinstance(literal, ast.Literal) and isinstance(literal.value, str):
                        yield literal.value


def _named(anatomy: Anatomy) -> Iterator[Place]:
    """Places with a constant domain, asked for in any way; a domain only where it is not on the way to an identifier."""
    on_the_way = set(_on_the_way(anatomy))
    for node in anatomy.nodes():
        where = _searched(anatomy, node) or anatomy.place(node)
        if where is None or where.part not in _KINDS or where.domain is None:
            continue
        if where.identifier is not None or node not in on_the_way:
            yield where


def _on_the_way(anatomy: Anatomy) -> Iterator[Node]:
    """Nodes that a chain goes on from, or that are searched for a name."""
    for node in anatomy.nodes():
        link = steps(node)
        if link is not None:
            yield link[0]
        match node:
            case Call(function="@in", args=(ast.Literal(), container)):
                yield container


def _searched(anatomy: Anatomy, node: Node) -> Place | None:
    """``"x" in device.attributes["y"]``, as the place of x."""
    match node:
        case Call(function="@in", args=(ast.Literal(value=str() as name), container)):
            around = anatomy.place(container)
            if around is not None and around.identifier is None:
                return Place(around.part, name) if around.domain is None else Place(around.part, around.domain, name)
    return None


def _names(where: Place, drivers: Iterable[str]) -> list[str]:
    domains = [where.domain] if isinstance(where.domain, str) else sorted(drivers)
    return domains if where.identifier is None else [f"{domain}/{where.identifier}" for domain in domains]


class _Published:
    """What devices publish."""

    def __init__(self, devices: Sequence[tuple[DeviceID, CelDevice]]) -> None:
        self.devices = devices
        self.drivers = {device.driver for _, device in devices}
        self.names: dict[str, Counter[str]] = {"attributes": Counter(), "capacity": Counter()}
        for _, device in devices:
            for part, names in (("attributes", device.device.attributes), ("capacity", device.device.capacity)):
                self.names[part].update(qualify(name, device.driver) for name in names)

    def presence(self, where: Place, name: str, uses: Iterable[_Use]) -> Presence:
        types: Counter[str] = Counter()
        missing: list[DeviceID] = []
        for id_, device in self.devices:
            if where.domain is not None and not isinstance(where.domain, str) and not name.startswith(f"{device.driver}/"):
                continue  # another driver's own name
            kind = _type(device, where, name)
            if kind:
                types[kind] += 1
            else:
                missing.append(id_)
        return Presence(
            kind=(_KINDS if where.identifier else _DOMAINS)[where.part],
            name=name,
            types=dict(types),
            missing=tuple(missing),
            hint="" if types else self.hint(where, name),
            mistakes=tuple(_mistakes(types, uses)),
        )

    def named_drivers(self, anatomy: Anatomy) -> Iterator[Presence]:
        """Drivers that ``device.driver`` is compared with."""
        for name in dict.fromkeys(_drivers(anatomy)):
            there = sum(device.driver == name for _, device in self.devices)
            yield Presence(
                kind="driver",
                name=name,
                types={"driver": there} if there else {},
                missing=tuple(id_ for id_, device in self.devices if device.driver != name),
                hint="" if there else _did_you_mean(_close(name, self.drivers)),
            )

    def hint(self, where: Place, name: str) -> str:
        """What is published under a name like one that is not."""
        own, other = self.names[where.part], self.names["capacity" if where.part == "attributes" else "attributes"]
        if where.identifier is None:
            domains = {full.partition("/")[0] for full in own}
            return _did_you_mean(_close(name, domains))
        if name in other:
            return f"it is {'a capacity' if where.part == 'attributes' else 'an attribute'}"
        domain, _, identifier = name.partition("/")
        own_domain = {full.partition("/")[2] for full in own if full.startswith(f"{domain}/")}
        close = _close(identifier, own_domain)
        if close:
            return _did_you_mean(f"{domain}/{close}")
        close = _close(identifier, {full.partition("/")[2] for full in own})
        return _did_you_mean(_close(name, [full for full in own if full.endswith(f"/{close}")], cutoff=0)) if close else ""


def _close(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    folded = {name.lower(): name for name in sorted(known)}
    close = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else ""


def _did_you_mean(name: str) -> str:
    return f'did you mean "{name}"?' if name else ""


def _type(device: CelDevice, where: Place, name: str) -> str:
    """The type of what a device has under a name; empty where it has nothing."""
    own = device.device.attributes if where.part == "attributes" else device.device.capacity
    if where.identifier is None:
        has = any(qualify(full, device.driver).startswith(f"{name}/") for full in own)
        return "domain" if has else ""
    if "/" in where.identifier:
        return ""  # a name of another domain, asked of this one
    short = name.removeprefix(f"{device.driver}/")
    if where.part == "capacity":
        return "quantity" if name in own or short in own else ""
    attribute = device.device.attribute(name, device.driver)
    return (attribute.kind or "no value") if attribute else ""


# -- types ----------------------------------------------------------------------------------------------------------


@frozen
class _Use:
    """How an attribute is used."""

    words: str
    """``compared with a string``"""
    wanted: str
    """The type that goes with it: ``string``."""
    fitting: frozenset[str]
    """Types of attributes that do."""
    ordered: bool = False
    """By ``<`` and its like."""


_Uses: TypeAlias = dict[tuple[str, "str | bool | None", "str | None"], list[_Use]]
_ORDERS: Final = frozenset("_<_ _<=_ _>_ _>=_".split())
_COMPARISONS: Final = _ORDERS | {"_==_", "_!=_"}
_LOGICAL: Final = frozenset("_&&_ _||_ !_".split())
_FITTING: Final = {
    "bool": frozenset({"bool"}),
    "string": frozenset({"string"}),
    "int": frozenset({"int"}),
    "uint": frozenset({"int"}),
    "double": frozenset({"int"}),
    "kubernetes.Semver": frozenset({"version"}),
    "kubernetes.Quantity": frozenset[str](),
    "list": frozenset({"ints", "bools", "strings", "versions"}),
}
"""Types of attributes by the type of CEL that is wanted."""
_WORDS: Final = {
    "kubernetes.Semver": "version",
    "kubernetes.Quantity": "quantity",
    "int": "number",
    "uint": "number",
    "double": "number",
}


def _uses(anatomy: Anatomy) -> _Uses:
    """How each attribute is used, and the types that go with it."""
    found: _Uses = {}
    typed = set[tuple[str, "str | bool | None", "str | None"]]()
    for node, function in anatomy.checked.functions.items():
        if not isinstance(node, Call):
            continue  # a message that is made
        receiver = anatomy.checked.receivers.get(node)
        args = node.args if receiver is None else (receiver, *node.args)
        for index, arg in enumerate(args):
            where = _attribute(anatomy, arg)
            if where and function == "type":
                typed.add((where.part, where.domain, where.identifier))
            use = _use(anatomy, node, function, args, index) if where else None
            if where and use:
                found.setdefault((where.part, where.domain, where.identifier), []).append(use)
    return {key: uses for key, uses in found.items() if key not in typed}  # who asks for the type knows it


def _attribute(anatomy: Anatomy, node: Node) -> Place | None:
    """The attribute that is a node's value."""
    match node:
        case Call(function="orValue", target=ast.Select() | Call() as optional):
            node = optional
    where = anatomy.place(node)
    return where if where and where.part == "attributes" and where.identifier and not where.tested else None


def _use(anatomy: Anatomy, node: Call, function: str, args: Sequence[Node], index: int) -> _Use | None:
    """What a call makes of one of its operands."""
    if function in _COMPARISONS:
        return _wanted("compared with", anatomy.checked.types[args[1 - index]], ordered=function in _ORDERS)
    if function in _LOGICAL or (function == "_?_:_" and index == 0):
        return _Use("used as true or false", "bool", _FITTING["bool"])
    if function == "@in":
        other = anatomy.checked.types[args[1 - index]]
        if index == 1:
            return _Use("searched as a list", "list", _FITTING["list"])
        return _wanted("compared with", other.parameters[0]) if other.kind == "list" else None
    if function in ("orValue", "_[_]", "_[?_]", "_?._"):
        return None
    kinds = {overload.parameters[index] for overload in anatomy.checked.overloads.get(node, ())}
    return _wanted(f"given to {function}(), which takes", kinds.pop()) if len(kinds) == 1 else None


def _wanted(use: str, type_: Type, *, ordered: bool = False) -> _Use | None:
    name = type_.name if type_.kind == "struct" else type_.kind
    fitting = _FITTING.get(name)
    word = _WORDS.get(name, name)
    return None if fitting is None else _Use(f"{use} a {word}", word, fitting, ordered)


def _mistakes(types: Mapping[str, int], uses: Iterable[_Use]) -> Iterator[Mistake]:
    for use in dict.fromkeys(uses):
        for kind, devices in types.items():
            if kind not in use.fitting:
                yield Mistake(use.words, kind, devices, _advice(kind, use))
            elif kind == "version" and use.ordered:
                yield Mistake("compared by an operator", kind, devices, _ORDER_OF_VERSIONS)


_ORDER_OF_VERSIONS: Final = 'versions have no < and >, but isLessThan(semver("1.2.3")), isGreaterThan() and compareTo()'
_COMPARED: Final = {
    "bool": "compare it with true or false, without quotes",
    "int": "compare it with a number, without quotes",
    "string": "compare it with text in quotes: it is no number or version even if it looks like one",
}


def _advice(kind: str, use: _Use) -> str:
    """What to write instead."""
    if kind in _FITTING["list"]:
        return "a list is asked with includes()"
    if kind == "version":
        if use.ordered:
            return _ORDER_OF_VERSIONS
        return "it is one already" if use.words.startswith("given to semver") else 'a version is compared with semver("1.2.3")'
    if use.wanted == "quantity":
        reader = "; quantity() reads one from text" if kind == "string" else ""
        return f"attributes are no quantities, capacities are{reader}"
    if kind == "string" and use.wanted == "version":
        return "semver() reads one from text"
    return _COMPARED.get(kind, "")
