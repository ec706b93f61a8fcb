from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drakit.topology import Clique, Domain, Grid, Member, Partition, ShapeFamily, TopologyError, domain_pool
from tests.topology.builders import flat_domain, mesh

GRIDS = [
    pytest.param(Grid((2, 2), (2, 2)), id="2x2"),
    pytest.param(Grid((4, 4), (2, 2)), id="4x4"),
    pytest.param(Grid((8, 8), (2, 2)), id="8x8"),
    pytest.param(Grid((8, 16), (2, 2)), id="8x16"),
    pytest.param(Grid((16, 16), (2, 2)), id="16x16"),
    pytest.param(Grid((2, 16), (2, 2)), id="2x16"),
    pytest.param(Grid((4, 4, 4), (2, 2, 1)), id="4x4x4"),
    pytest.param(Grid((8,), (1,)), id="8"),
    pytest.param(Grid((6, 12), (3, 3)), id="6x12 of 3x3"),
]


def partitions(grid: Grid) -> tuple[Partition, ...]:
    return grid.partitions(mesh(grid))


def hosts(partition: Partition) -> frozenset[str]:
    return frozenset(member.name for member in partition.members)


def box(partition: Partition) -> list[range]:
    """The chips of a partition in each dimension, as its shape and origin say."""
    sizes = map(int, partition.shape.split("x"))
    return [range(start, start + size) for start, size in zip(partition.origin, sizes, strict=True)]


def by_shape(found: tuple[Partition, ...]) -> Iterator[list[Partition]]:
    """The partitions of each shape in turn."""
    for _, group in itertools.groupby(found, key=lambda partition: partition.shape):
        yield list(group)


@pytest.mark.parametrize(
    ("grid", "shapes", "references"),
    [
        (Grid((4, 4), (2, 2)), {"2x2": 4, "2x4": 2, "4x4": 1}, 12),
        (Grid((8, 8), (2, 2)), {"2x2": 16, "2x4": 8, "4x4": 4, "4x8": 2, "8x8": 1}, 80),
        (Grid((8, 16), (2, 2)), {"2x2": 32, "2x4": 16, "4x4": 8, "4x8": 4, "8x8": 2, "8x16": 1}, 192),
        (
            Grid((16, 16), (2, 2)),
            {"2x2": 64, "2x4": 32, "4x4": 16, "4x8": 8, "8x8": 4, "8x16": 2, "16x16": 1},
            448,
        ),
        (Grid((4, 4, 4), (2, 2, 1)), {"2x2x1": 16, "2x2x2": 8, "2x2x4": 4, "2x4x4": 2, "4x4x4": 1}, 80),
        (Grid((2, 2), (2, 2)), {"2x2": 1}, 1),
    ],
    ids=["4x4", "8x8", "8x16", "16x16", "4x4x4", "one host"],
)
def test_a_mesh_has_the_known_aligned_sub_slices(grid: Grid, shapes: dict[str, int], references: int) -> None:
    found = partitions(grid)
    assert list(Counter(partition.shape for partition in found).items()) == list(shapes.items())
    assert sum(len(partition.members) for partition in found) == references
    pool, _ = domain_pool("tpu.example.com", mesh(grid), grid)
    assert sum(len(taken.counters) for device in pool.devices for taken in device.consumes_counters) == references


@pytest.mark.parametrize("grid", GRIDS)
def test_every_partition_is_aligned_to_hosts_and_to_its_own_size(grid: Grid) -> None:
    for partition in partitions(grid):
        for chips, size, block in zip(box(partition), grid.dims, grid.block, strict=True):
            assert 0 <= chips.start < chips.stop <= size
            assert chips.start % block == 0
            assert len(chips) % block == 0
            assert chips.start % len(chips) == 0


@pytest.mark.parametrize("grid", GRIDS)
def test_the_members_of_a_partition_are_the_hosts_in_its_box(grid: Grid) -> None:
    for partition in partitions(grid):
        spans = [range(r.start // b, r.stop // b) for r, b in zip(box(partition), grid.block, strict=True)]
        inside = [position[::-1] for position in itertools.product(*reversed(spans))]
        assert [member.position for member in partition.members] == inside


@pytest.mark.parametrize("grid", GRIDS)
def test_two_partitions_are_disjoint_or_one_holds_the_other(grid: Grid) -> None:
    sets = [hosts(partition) for partition in partitions(grid)]
    assert all(a.isdisjoint(b) or a <= b or b <= a for a, b in itertools.combinations(sets, 2))
    assert len(set(sets)) == len(sets)


@pytest.mark.parametrize("grid", GRIDS)
def test_the_partitions_of_a_shape_tile_the_mesh_exactly(grid: Grid) -> None:
    everything = sorted(member.name for member in mesh(grid).members)
    for group in by_shape(partitions(grid)):
        assert sorted(name for partition in group for name in hosts(partition)) == everything


@pytest.mark.parametrize("grid", GRIDS)
def test_small_shapes_come_first_and_neighbours_in_order_form_the_next_shape(grid: Grid) -> None:
    groups = list(by_shape(partitions(grid)))
    assert [len(group[0].members) for group in groups] == [2**level for level in range(len(groups))]
    assert len(groups[-1]) == 1
    for smaller, larger in itertools.pairwise(groups):
        pairs = zip(smaller[::2], smaller[1::2], strict=True)
        assert [hosts(a) | hosts(b) for a, b in pairs] == [hosts(partition) for partition in larger]


def test_the_order_is_written_out_once() -> None:
    assert [partition.name for partition in partitions(Grid((4, 4), (2, 2)))] == [
        *["ss-2x2-0-0", "ss-2x2-0-2", "ss-2x2-2-0", "ss-2x2-2-2"],
        *["ss-2x4-0-0", "ss-2x4-2-0"],
        "ss-4x4-0-0",
    ]


@pytest.mark.parametrize("grid", GRIDS)
def test_names_are_unique_dns_labels(grid: Grid) -> None:
    names = [partition.name for partition in partitions(grid)]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 63 and re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name) for name in names)


def test_the_order_of_the_members_does_not_matter() -> None:
    grid = Grid((8, 8), (2, 2), prefix="slice")
    domain = mesh(grid)
    shuffled = Domain(domain.name, reversed(domain.members))
    assert grid.partitions(shuffled) == grid.partitions(domain)
    assert grid.partitions(domain)[-1].name == "slice-8x8-0-0"
    assert grid.partitions(domain)[-1].domain is domain


def test_positions_run_fastest_in_the_first_dimension() -> None:
    assert list(Grid((4, 2, 2), (2, 2, 1)).positions()) == [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)]


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), min_size=1, max_size=3))
@settings(deadline=None)
def test_any_mesh_of_powers_of_two_is_a_full_binary_tree(axes: list[tuple[int, int]]) -> None:
    grid = Grid([block * 2**power for block, power in axes], [block for block, _ in axes])
    count = math.prod(grid.hosts)
    sizes = Counter(len(partition.members) for partition in partitions(grid))
    assert sizes == {2**level: count // 2**level for level in range(count.bit_length())}


@pytest.mark.parametrize(
    ("dims", "block"),
    [
        ((6, 4), (2, 2)),
        ((12, 12), (2, 2)),
        ((5, 4), (2, 2)),
        ((4, 4), (3, 3)),
        ((2, 2), (4, 4)),
        ((4, 4), (0, 2)),
        ((4, 4), (-2, 2)),
        ((0, 4), (2, 2)),
        ((-4, 4), (2, 2)),
        ((4, 4), (2, 2, 1)),
        ((4, 4, 4), (2, 2)),
        ((), ()),
    ],
)
def test_sizes_that_do_not_halve_are_refused(dims: tuple[int, ...], block: tuple[int, ...]) -> None:
    with pytest.raises(TopologyError, match="chips"):
        Grid(dims, block)


def test_the_error_of_an_odd_size_says_what_would_fit() -> None:
    with pytest.raises(TopologyError, match=r"6x4 chips with hosts of 2x2 .* 6 must be 2 times a power of two"):
        Grid((6, 4), (2, 2))


def moved(domain: Domain, index: int, position: tuple[int, ...]) -> Domain:
    members = list(domain.members)
    members[index] = Member("moved", node="moved", position=position)
    return Domain(domain.name, members)


@pytest.mark.parametrize(
    "domain",
    [
        pytest.param(Domain("pod", mesh(Grid((4, 4), (2, 2))).members[:-1]), id="missing"),
        pytest.param(moved(mesh(Grid((4, 4), (2, 2))), 3, (0, 0)), id="duplicate"),
        pytest.param(moved(mesh(Grid((4, 4), (2, 2))), 3, (2, 0)), id="off the grid"),
        pytest.param(moved(mesh(Grid((4, 4), (2, 2))), 3, (1, 1, 0)), id="other dimension"),
        pytest.param(mesh(Grid((8, 4), (2, 2))), id="larger mesh"),
        pytest.param(flat_domain(4), id="no positions"),
    ],
)
def test_members_must_fill_the_grid_one_at_each_position(domain: Domain) -> None:
    expected = f"domain {domain.name}: a mesh of 4x4 chips has 4 hosts of 2x2, .* got {len(domain.members)} members"
    with pytest.raises(TopologyError, match=expected):
        Grid((4, 4), (2, 2)).partitions(domain)


def test_a_domain_has_members_with_names_and_nodes_of_their_own() -> None:
    with pytest.raises(TopologyError, match="domain d has no members"):
        Domain("d", [])
    with pytest.raises(TopologyError, match="domain d has two members with name a"):
        Domain("d", [Member("a", node="n1"), Member("a", node="n2")])
    with pytest.raises(TopologyError, match="domain d has two members with node n"):
        Domain("d", [Member("a", node="n"), Member("b", node="n")])


def test_a_hostname_is_the_name_of_the_node_unless_given() -> None:
    assert Member("a", node="n").hostname == "n"
    assert Member("a", node="n", hostname="h").hostname == "h"


def test_a_clique_has_one_partition_of_all_members() -> None:
    domain = flat_domain(5)
    (partition,) = Clique("fabric", "seats").partitions(domain)
    assert (partition.name, partition.members, partition.shape) == ("fabric", domain.members, "")


def test_grids_and_cliques_are_shape_families() -> None:
    assert isinstance(Grid((2, 2), (2, 2)), ShapeFamily)
    assert isinstance(Clique("fabric", "seats"), ShapeFamily)
