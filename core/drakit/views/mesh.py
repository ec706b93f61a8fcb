"""Meshes as text: who holds which chips, what is down, and what would still fit.

Works on ResourceSlices alone, whoever published them: a pool can be drawn if its devices say where they lie, by the
attributes ``topology`` (``4x8``) and ``origin`` (``0,8``) in the driver's domain.
"""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen
from rich.text import Text

from drakit.allocation import AllocatedState, Candidate, Cluster
from drakit.allocation.counters import CounterLedger
from drakit.allocation.tolerations import first_untolerated
from drakit.model import DeviceID
from drakit.views.tables import pool_name

__all__ = ["Mesh", "mesh_view", "meshes"]

FREE: Final = "."
DOWN: Final = "x"
LETTERS: Final = string.ascii_uppercase + string.ascii_lowercase.replace("x", "") + string.digits
COLORS: Final = ("green", "cyan", "magenta", "blue", "yellow", "bright_green", "bright_cyan", "bright_magenta")

MAX_CHIPS: Final = 65_536
"""Several times the largest pod there is; more cannot be looked at."""

Position = tuple[int, ...]


@frozen
class Box:
    """A device's place on the mesh."""

    candidate: Candidate
    origin: Position
    dims: tuple[int, ...]

    @property
    def shape(self) -> str:
        return "x".join(map(str, self.dims))

    @property
    def chips(self) -> int:
        return math.prod(self.dims)

    def positions(self) -> Iterator[Position]:
        return itertools.product(*(range(o, o + n) for o, n in zip(self.origin, self.dims, strict=True)))


@frozen(kw_only=True)
class Mesh:
    """A pool with geometry."""

    name: str
    boxes: tuple[Box, ...]
    """In publish order."""
    dims: tuple[int, ...]
    ledger: CounterLedger
    state: AllocatedState


def meshes(cluster: Cluster, state: AllocatedState) -> list[Mesh]:
    """Every pool of a cluster that can be drawn, by name."""
    found: dict[str, Mesh] = {}
    for node in cluster.nodes:
        for pool in cluster.pools.pools(node):
            boxes = [box for candidate in (*pool.candidates, *pool.elsewhere) if (box := _box(candidate)) is not None]
            if pool.key not in found and boxes and len({len(box.dims) for box in boxes}) == 1:
                dims = tuple(max(o + n for o, n in axis) for axis in _axes(boxes))
                if math.prod(dims) > MAX_CHIPS:
                    continue
                found[pool.key] = Mesh(
                    name=pool_name(pool.driver, pool.name),
                    boxes=tuple(boxes),
                    dims=dims,
                    ledger=CounterLedger(pool, state),
                    state=state,
                )
    return [found[key] for key in sorted(found)]


def _axes(boxes: Sequence[Box]) -> Iterator[list[tuple[int, int]]]:
    for axis in range(len(boxes[0].dims)):
        yield [(box.origin[axis], box.dims[axis]) for box in boxes]


def _box(candidate: Candidate) -> Box | None:
    topology = candidate.device.attribute(f"{candidate.id.driver}/topology", candidate.id.driver)
    origin = candidate.device.attribute(f"{candidate.id.driver}/origin", candidate.id.driver)
    if topology is None or origin is None or topology.string is None or origin.string is None:
        return None
    try:
        dims = tuple(_number(n) for n in topology.string.split("x"))
        start = tuple(_number(n) for n in origin.string.split(","))
    except ValueError:
        return None
    drawable = len(dims) == len(start) and len(dims) in (2, 3) and all(n > 0 for n in dims) and all(o >= 0 for o in start)
    reach = math.prod(o + n for o, n in zip(start, dims, strict=False))
    return Box(candidate, start, dims) if drawable and reach <= MAX_CHIPS else None


def _number(text: str) -> int:
    """:raises ValueError: anything but a few ASCII digits, of which ``int`` would take more."""
    if not re.fullmatch(r"[0-9]{1,6}", text):
        raise ValueError(text)
    return int(text)


def mesh_view(mesh: Mesh) -> Text:
    """The mesh as a picture with its legend. A three-dimensional one is drawn layer by layer."""
    held = sorted((box for box in mesh.boxes if box.candidate.id in mesh.state.holders), key=lambda box: -box.chips)
    letters = {box.candidate.id: _label(index, len(held)) for index, box in enumerate(held)}
    styles = {letters[box.candidate.id]: COLORS[index % len(COLORS)] for index, box in enumerate(held)}
    styles |= {FREE: "dim", DOWN: "bold red"}
    cells = {position: letters[box.candidate.id] for box in held for position in box.positions()}
    for box in _smallest_down(mesh):
        cells |= dict.fromkeys(box.positions(), DOWN)
    text = Text()
    size = "x".join(map(str, mesh.dims))
    text.append(f"{mesh.name}", style="bold").append(f"  {size} chips\n\n")
    for layer in range(mesh.dims[2]) if len(mesh.dims) == 3 else (None,):
        _draw(text, mesh, cells, styles, layer)
    _legend(text, mesh, held, letters, styles)
    return text


def _label(index: int, total: int) -> str:
    """One letter for each holder; two where there are more holders than letters."""
    if total <= len(LETTERS):
        return LETTERS[index]
    first, second = divmod(index, len(LETTERS))
    return LETTERS[first % len(LETTERS)] + LETTERS[second]


def _draw(text: Text, mesh: Mesh, cells: Mapping[Position, str], styles: Mapping[str, str], layer: int | None) -> None:
    """One layer: the first dimension runs down, the second across."""
    tail = () if layer is None else (layer,)
    if layer is not None:
        text.append(f"z={layer}\n")
    text.append("     " + " ".join(f"{y % 100:2}" if y % 2 == 0 else "  " for y in range(mesh.dims[1])).rstrip() + "\n", "dim")
    for x in range(mesh.dims[0]):
        text.append(f"{x:3} ", "dim")
        for y in range(mesh.dims[1]):
            mark = cells.get((x, y, *tail), FREE)
            text.append(f"{mark:>3}", styles[mark])
        text.append("\n")
    text.append("\n")


def _smallest_down(mesh: Mesh) -> list[Box]:
    """The smallest tainted devices that no smaller tainted one lies in: what is actually broken."""
    down: list[Box] = []
    for box in sorted(mesh.boxes, key=lambda box: box.chips):
        if _is_down(box):
            inside = set(box.positions())
            if not any(inside.issuperset(known.positions()) for known in down):
                down.append(box)
    return down


def _is_down(box: Box) -> bool:
    return first_untolerated(box.candidate.taints, ()) is not None


def _legend(text: Text, mesh: Mesh, held: Sequence[Box], letters: Mapping[DeviceID, str], styles: Mapping[str, str]) -> None:
    for box in held:
        mark = letters[box.candidate.id]
        holders = ", ".join(holder.claim for holder in mesh.state.holders[box.candidate.id])
        text.append(f"{mark:>3}", styles[mark]).append(f"  {holders}  {box.candidate.id.device} ({box.shape})\n")
    for box in _smallest_down(mesh):
        taints = ", ".join(map(str, box.candidate.taints))
        text.append(f"  {DOWN}", styles[DOWN]).append(f"  {box.candidate.id.device} ({box.shape})  {taints}\n")
    text.append(f"  {FREE}", styles[FREE]).append("  free\n\n")
    text.append("would still fit: ").append(", ".join(_still_free(mesh)) + "\n")
    text.append(f"usable chips: {_usable_chips(mesh)} of {_chips(mesh.boxes)}\n")


def _still_free(mesh: Mesh) -> Iterator[str]:
    """How many devices of each shape could be had now, largest first; each counted on its own."""
    shapes = {box.shape: box.chips for box in mesh.boxes}
    for shape, _ in sorted(shapes.items(), key=lambda item: -item[1]):
        boxes = [box for box in mesh.boxes if box.shape == shape]
        free = sum(not _is_down(box) and not mesh.ledger.short(box.candidate) and not _held(mesh, box) for box in boxes)
        yield f"{free} of {len(boxes)} {shape}"


def _held(mesh: Mesh, box: Box) -> bool:
    return box.candidate.id in mesh.state.devices


def _usable_chips(mesh: Mesh) -> int:
    return _chips(box for box in mesh.boxes if not _is_down(box))


def _chips(boxes: Iterable[Box]) -> int:
    return len({position for box in boxes for position in box.positions()})
