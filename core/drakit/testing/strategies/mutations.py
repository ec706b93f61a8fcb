"""Mistakes in JSON documents: what people and programs get wrong about the objects of resource.k8s.io.

A mutation changes a document in place. Where it is and what it does is drawn, so that a shrunk document has as few and as
simple mistakes as it takes.

Sources for the limits: k8s.io/api ``resource/v1/types.go``; for the names: k8s.io/apimachinery ``pkg/util/validation``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen
from hypothesis.strategies import DrawFn, SearchStrategy

from drakit.testing.strategies.expressions import expressions
from drakit.testing.strategies.odds import happens, pick
from drakit.testing.strategies.values import quantity_texts, version_texts

__all__ = ["mutate"]

Document: TypeAlias = dict[str, Any]


@frozen
class _Place:
    """Where a value stands in a document."""

    parent: Any
    key: str | int

    @property
    def value(self) -> Any:
        return self.parent[self.key]

    def put(self, value: Any) -> None:
        self.parent[self.key] = value


def mutate(draw: DrawFn, document: Document) -> None:
    """Make one mistake in the name, the labels or the spec of a document."""
    places = list(_places(document.get("spec")))
    if happens(draw, 5) or not places:
        _change_text(draw, _Place(document["metadata"], "name"))
        return
    place = pick(draw, [_Place(document, "spec"), *places])
    pick(draw, _CHANGES.get(type(place.value), (_retype,)))(draw, place)


def _places(value: Any) -> Iterator[_Place]:
    """Every value in a document, outermost first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield _Place(value, key)
        yield from _places(inner)


# -- any value -------------------------------------------------------------------------------------------------------------

_OTHER_TYPES: Final[tuple[Any, ...]] = (None, "x", 1, 1.5, True, [], {}, [1], ["x"], {"x": 1}, "1", [None])


def _remove(_: DrawFn, place: _Place) -> None:
    del place.parent[place.key]


def _retype(draw: DrawFn, place: _Place) -> None:
    place.put(copy.deepcopy(pick(draw, _OTHER_TYPES)))


# -- objects ---------------------------------------------------------------------------------------------------------------

_REQUEST: Final = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
_TERM: Final = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]}
_RIVALS: Final[Mapping[str, tuple[tuple[str, Any], ...]]] = {
    "nodeName": (("allNodes", True), ("nodeSelector", {"nodeSelectorTerms": [_TERM]}), ("perDeviceNodeSelection", True)),
    "allNodes": (("nodeName", "node-b"), ("perDeviceNodeSelection", True)),
    "nodeSelector": (("allNodes", True), ("nodeName", "node-a")),
    "perDeviceNodeSelection": (("allNodes", True), ("nodeName", "node-a")),
    "nodeSelectorTerms": (("nodeSelectorTerms", [_TERM, _TERM]),),
    "matchExpressions": (("matchFields", [{"key": "metadata.name", "operator": "In", "values": ["a"]}]),),
    "exactly": (("firstAvailable", [{"name": "s0", **_REQUEST}]),),
    "firstAvailable": (("exactly", _REQUEST),),
    "allocationMode": (("allocationMode", "All"), ("count", 1), ("adminAccess", True), ("derivedAttributes", [])),
    "deviceClassName": (("tolerations", [{"operator": "Exists", "value": "x"}]), ("capacity", {"requests": {"c": "1"}})),
    "matchAttribute": (("distinctAttribute", "test.example.com/x"), ("matchAttribute", "x")),
    "distinctAttribute": (("matchAttribute", "test.example.com/x"), ("distinctAttribute", "x")),
    "int": (("bool", True), ("string", "x"), ("ints", [1])),
    "bool": (("int", 1), ("bools", [])),
    "string": (("version", "1.0.0"), ("strings", ["x"]), ("int", 1)),
    "version": (("string", "x"), ("versions", ["1.0.0"])),
    "devices": (("sharedCounters", [{"name": "set", "counters": {"x": {"value": "1"}}}]), ("devices", [])),
    "sharedCounters": (("devices", []), ("devices", [{"name": "d0"}])),
    "value": (
        ("requestPolicy", {"default": "1", "validRange": {"min": "1", "step": "1"}}),
        ("requestPolicy", {"default": "1", "validRange": {"min": "2", "max": "1"}}),
        ("requestPolicy", {"default": "1", "validRange": {"min": "0", "max": "2", "step": "0"}}),
        ("requestPolicy", {"default": "2", "validValues": ["3", "1"]}),
        ("requestPolicy", {"validValues": ["1"]}),
    ),
    "validRange": (("validValues", ["1"]), ("validRange", {"max": "1"}), ("validRange", {"min": "100"})),
    "validValues": (("validRange", {"min": "1"}), ("validValues", ["1", "1"]), ("validValues", ["2", "1"])),
    "bindingConditions": (("bindingFailureConditions", ["example.com/up"]), ("bindingConditions", ["a b"])),
    "effect": (("effect", "PreferNoSchedule"), ("timeAdded", "2026-01-01T00:00:00Z"), ("timeAdded", "yesterday")),
    "operator": (("operator", "Maybe"), ("values", []), ("operator", "Gt"), ("tolerationSeconds", -1)),
    "opaque": (("opaque", {"driver": "a.example.com"}), ("opaque", {"driver": "a.example.com", "parameters": []})),
    "driver": (("driver", "A.example.com"), ("driver", "a_b"), ("driver", "d" * 64)),
    "counterSet": (("compatibilityGroups", ["g1", "g1"]), ("counters", {})),
    "generation": (("resourceSliceCount", 0), ("generation", -1)),
    "selectors": (("selectors", [{}]), ("selectors", [{"cel": {}}])),
    "name": (
        ("name", ""),
        ("allowMultipleAllocations", True),
        ("bindingConditions", ["example.com/up"]),
        ("bindsToNode", True),
    ),
    "deviceSelector": (("deviceSelector", {}), ("deviceSelector", {"pool": "P0"}), ("deviceSelector", {"driver": "a/b"})),
}
"""By a field that is there: fields that must not stand beside it, and values it must not have."""

_UNKNOWN: Final[tuple[tuple[str, Any], ...]] = (
    *(("colour", "red"), ("NAME", "x"), ("nodename", "a"), ("basic", {}), ("Devices", []), ("", 1), ("spec", {})),
)


def _add_rival(draw: DrawFn, place: _Place) -> None:
    rivals = [rival for name in place.value for rival in _RIVALS.get(name, ())]
    name, value = pick(draw, rivals) if rivals else pick(draw, _UNKNOWN)
    place.value[name] = copy.deepcopy(value)


def _add_unknown(draw: DrawFn, place: _Place) -> None:
    name, value = pick(draw, _UNKNOWN)
    place.value[name] = copy.deepcopy(value)


def _rename_key(draw: DrawFn, place: _Place) -> None:
    """Another name for the first entry: of an attribute, a capacity, a counter."""
    entries = place.value
    if entries:
        first = next(iter(entries))
        entries[pick(draw, _NAMES)] = entries.pop(first)


# -- lists -----------------------------------------------------------------------------------------------------------------

_LENGTHS: Final = (33, 32, 2, 3, 4, 5, 8, 9, 10, 11, 16, 17, 48, 49, 64, 65, 128, 129)


def _repeat(_: DrawFn, place: _Place) -> None:
    place.value.extend(copy.deepcopy(place.value[:1]))


def _lengthen(draw: DrawFn, place: _Place) -> None:
    """The list at one of the API's limits, or one beyond it; what has a name has another one each time."""
    items = place.value
    if not items:
        return
    for number in range(len(items), pick(draw, _LENGTHS)):
        item = copy.deepcopy(items[0])
        if isinstance(item, dict) and "name" in item:
            item["name"] = f"n{number}"
        items.append(f"n{number}" if isinstance(item, str) else number if isinstance(item, int) else item)


def _reverse(_: DrawFn, place: _Place) -> None:
    place.value.reverse()


def _empty(_: DrawFn, place: _Place) -> None:
    place.value.clear()


# -- scalars ---------------------------------------------------------------------------------------------------------------

_NAMES: Final = (
    *(
        "x",
        "",
        "X",
        "a.b",
        "-a",
        "a-",
        "a_b",
        "a b",
        "a/b",
        "A.example.com/x",
        "a.example.com/x",
        "a.example.com/X-y",
        "/x",
        "x/",
    ),
    *(
        "a" * 63,
        "a" * 64,
        "a" * 32,
        "a" * 33,
        "a" * 253,
        "a" * 254,
        "a/b/c",
        "\u00e9",
        "1x",
        "_x",
        "a..b",
        ".",
        "a%b",
        "p/q",
        "p//q",
    ),
    *(
        "d" * 63 + "/x",
        "d" * 64 + "/x",
        "kubernetes.io/x",
        "requests.example.com/x",
        "example.com/" + "x" * 63,
        "a.example.com/",
    ),
)
_TEXTS: Final[Mapping[str, SearchStrategy[str]]] = {
    **dict.fromkeys(("value", "default", "min", "max", "step"), quantity_texts()),
    "version": version_texts(),
    "expression": expressions(),
}
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "effect": ("", "None", "NoExecute", "PreferNoSchedule", "noschedule"),
    "operator": ("", "Exists", "Equal", "exists", "In", "Gt", "DoesNotExist", "Lt"),
    "allocationMode": ("", "All", "ExactCount", "Any", "all"),
    "string": ("", "x" * 64, "x" * 65, "\u00e9" * 32, "\u00e9" * 33, "\u0000"),
    "driver": ("", "A.example.com", "a_b", "d" * 63, "d" * 64, "a/b", "b.example.com"),
    "nodeName": ("", "node-b", "Node", "a/b", "n" * 254),
    "expression": ("", "true", "1", "device.driver == 1", "x" * 10241, '"' + "x" * 10238 + '" == ""', " ", "[1].all(i, ["),
    "requests": ("r0", "r9", "", "r0/s0", "r0/", "/s0", "R0", "r0/s9"),
}
_INTS: Final = (-1, 0, 1, 2, 33, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 1.5, 1e3)


def _change_text(draw: DrawFn, place: _Place) -> None:
    texts = _TEXTS.get(place.key) if isinstance(place.key, str) else None
    if texts is not None and happens(draw, 70):
        place.put(draw(texts))
    else:
        place.put(pick(draw, _CHOICES.get(str(place.key), _NAMES)))


def _change_int(draw: DrawFn, place: _Place) -> None:
    place.put(pick(draw, _INTS))


def _flip(_: DrawFn, place: _Place) -> None:
    place.put(not place.value)


_CHANGES: Final[Mapping[type, tuple[Callable[[DrawFn, _Place], None], ...]]] = {
    dict: (_remove, _add_rival, _add_rival, _add_rival, _add_rival, _add_unknown, _rename_key, _rename_key, _empty, _retype),
    list: (_remove, _repeat, _repeat, _lengthen, _lengthen, _reverse, _empty, _retype),
    str: (_remove, _change_text, _change_text, _change_text, _change_text, _change_text, _retype),
    int: (_remove, _change_int, _change_int, _change_int, _retype),
    bool: (_remove, _flip, _flip, _retype),
}
