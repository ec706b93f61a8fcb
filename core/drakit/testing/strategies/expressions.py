"""CEL selectors, written by a typed grammar from what a device has.

Most expressions are well typed and decide something about the device. The others have one slip: an attribute that is not
there, a value of another type, an unknown name, a misplaced character. Some fail without one, by overflow or an index.

The dialect: k8s.io/dynamic-resource-allocation ``cel/compile.go`` and the libraries it enables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import define
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from drakit.model import Device, qualify, semver, split_name
from drakit.testing.strategies.devices import devices
from drakit.testing.strategies.grammar import DEEP, RESULTS, SHALLOW, SLIPS, TYPES, WORDS
from drakit.testing.strategies.odds import pick

__all__ = ["EXAMPLE_DEVICE", "EXAMPLE_DRIVER", "devices_with_expressions", "expressions"]

EXAMPLE_DRIVER: Final = "dra.example.com"
EXAMPLE_DEVICE: Final = Device(
    "d0",
    attributes={
        "index": 3,
        "big": 2**63 - 1,
        "negative": -7,
        "healthy": True,
        "model": "a1b",
        "number": "42",
        "empty": "",
        "unicode": "h\u00e9llo\u2192\U0001f600",
        "firmware": semver("1.4.0"),
        "beta": semver("2.0.0-rc.1+b5"),
        "coords": [0, 1, 2],
        "flags": [True, False],
        "shapes": ["a", "2x2", "b"],
        "other.example.com/index": 1,
        "other.example.com/model": "b",
    },
    capacity={"memory": "80Gi", "cores": 16, "rate": "1500m", "other.example.com/pages": "1Pi"},
    allow_multiple_allocations=True,
)
"""A device with an attribute of every type, in two domains."""

_DEPTHS: Final = (0, 1, 1, 2, 2, 3)
_SLIPS: Final = (*("",) * 12, *("missing",) * 3, *("type",) * 3, *("unknown",) * 2, "syntax", "result")
_SLIP_PLACES: Final = (0, 1, 2, 3)


def expressions(device: Device | None = None, *, driver: str = EXAMPLE_DRIVER) -> SearchStrategy[str]:
    """Source texts of selectors for one device.

    About half of them are true or false of it, the others fail to compile or to run.

    :param device: whose attributes and capacities are used; none: :data:`EXAMPLE_DEVICE`.
    :param driver: the device's driver, whose domain the attributes without one have.
    """
    return _expressions(_vocabulary(EXAMPLE_DEVICE if device is None else device, driver))


@st.composite
def devices_with_expressions(draw: DrawFn, driver: str = EXAMPLE_DRIVER) -> tuple[str, Device, str]:
    """A driver, a device of it, and an expression about it."""
    device = draw(devices())
    return driver, device, _write(draw, _vocabulary(device, driver))


@st.composite
def _expressions(draw: DrawFn, words: Mapping[str, Sequence[str]]) -> str:
    return _write(draw, words)


def _write(draw: DrawFn, words: Mapping[str, Sequence[str]]) -> str:
    slip, place, depth = pick(draw, _SLIPS), pick(draw, _SLIP_PLACES), pick(draw, _DEPTHS)
    writer = _Writer(draw, words, slip, place)
    text = writer.written(pick(draw, RESULTS) if slip == "result" else "bool", depth)
    if slip == "syntax":
        return _misspelt(draw, text)
    return f"{text} && {writer.slipped('bool')}" if writer.slip in SLIPS else text


# -- words for a device ----------------------------------------------------------------------------------------------------


def _vocabulary(device: Device, driver: str) -> Mapping[str, Sequence[str]]:
    """The words that depend on the device, by symbol; where it has nothing of a type, the grammar's own stand in."""
    words = {symbol: list(texts) for symbol, texts in WORDS.items()}
    words["driver"] = [f'"{driver}"']
    found: dict[str, list[str]] = {}
    for name, attribute in device.attributes.items():
        symbol = f"{attribute.kind}_attribute"
        found.setdefault(symbol, []).extend(_references("attributes", name, driver))
        found.setdefault("reference", []).append(_reference("attributes", name, driver))
        found.setdefault("optional", []).append(_optional(name, driver))
        found.setdefault("membership", []).append(_membership(name, driver))
        literal = _LITERALS.get(attribute.kind)
        if literal:
            words[literal] += _near(attribute.value)
    for name, capacity in device.capacity.items():
        found.setdefault("capacity", []).extend(_references("capacity", name, driver))
        found.setdefault("reference", []).append(_reference("capacity", name, driver))
        words["quantity_text"].append(f'"{capacity.value}"')
    return {**words, **found}


_LITERALS: Final = {"int": "int_literal", "string": "string_literal", "version": "version_text", "strings": "string_literal"}


def _near(value: object) -> Iterator[str]:
    """Literals that are like a value of the device, so that comparisons can go either way."""
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, int):
            yield str(one)
            yield str(one - 1)
        else:
            yield _quoted(str(one))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _reference(what: str, name: str, driver: str) -> str:
    domain, identifier = split_name(qualify(name, driver))
    return f'device.{what}["{domain}"].{identifier}'


def _references(what: str, name: str, driver: str) -> Iterator[str]:
    domain, identifier = split_name(qualify(name, driver))
    yield f'device.{what}["{domain}"].{identifier}'
    yield f"device.{what}['{domain}']['{identifier}']"
    if domain == driver:
        yield f"device.{what}[device.driver].{identifier}"


def _optional(name: str, driver: str) -> str:
    domain, identifier = split_name(qualify(name, driver))
    return f'device.attributes["{domain}"].?{identifier}'


def _membership(name: str, driver: str) -> str:
    domain, identifier = split_name(qualify(name, driver))
    return f'"{identifier}" in device.attributes["{domain}"]'


# -- writing ---------------------------------------------------------------------------------------------------------------

_SYMBOL: Final = re.compile(r"<(\w+)>")
_SHALLOW: Final = {symbol: tuple(map(_SYMBOL.split, texts)) for symbol, texts in SHALLOW.items()}
_DEEP: Final = {symbol: tuple(map(_SYMBOL.split, (*SHALLOW[symbol], *texts))) for symbol, texts in DEEP.items()}


@define
class _Writer:
    draw: DrawFn
    words: Mapping[str, Sequence[str]]
    slip: str
    """The mistake still to be made, empty: none."""
    place: int
    """How many typed symbols come before it."""

    def written(self, symbol: str, depth: int) -> str:
        """A text for a symbol of the grammar, at most ``depth`` templates deep before the shallow ones."""
        if symbol in self.words:
            return pick(self.draw, self.words[symbol])
        if self._is_the_place(symbol):
            return self.slipped(symbol)
        templates = _SHALLOW[symbol] if depth <= 0 else _DEEP[symbol]
        parts = pick(self.draw, templates)
        return "".join(self.written(part, depth - 1) if place % 2 else part for place, part in enumerate(parts))

    def _is_the_place(self, symbol: str) -> bool:
        if self.slip not in SLIPS or symbol not in TYPES:
            return False
        self.place -= 1
        return self.place < 0

    def slipped(self, symbol: str) -> str:
        """A text with the mistake, where a symbol should stand."""
        slip, self.slip = self.slip, ""
        if slip == "type":
            others = [other for other in TYPES if other != symbol]
            return self.written(pick(self.draw, others), 0)
        return pick(self.draw, SLIPS[slip])


_MISSPELLINGS: Final[tuple[str, ...]] = (*("", "", "&&"), *"()=\" .,?[!-'\\$1a|{`")
"""What is put somewhere into an expression; nothing: a character goes."""


def _misspelt(draw: DrawFn, text: str) -> str:
    place = draw(st.integers(0, len(text) - 1))
    typed = pick(draw, _MISSPELLINGS)
    return text[:place] + typed + text[place + (not typed) :]
