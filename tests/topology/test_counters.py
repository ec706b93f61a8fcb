"""The certificate of the encoding: counters fit if and only if no member is given twice."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drakit.model import CounterSet, Device
from drakit.topology import DesiredPool, Domain, Grid, Partition, ShapeFamily, TopologyError, domain_pool
from tests.topology.builders import Explicit, consumed, fits, flat_domain, mesh

DRIVER = "tpu.example.com"
Collection = Sequence[tuple[Device, Partition]]


def candidates(pool: DesiredPool, by_device: dict[str, Partition]) -> Collection:
    return [(device, by_device[device.name]) for device in pool.devices]


def disjoint(partitions: Iterable[Partition]) -> bool:
    names = [member.name for partition in partitions for member in partition.members]
    return len(names) == len(set(names))


def lies(counter_sets: Sequence[CounterSet], collections: Iterable[Collection]) -> Iterator[list[str]]:
    """Collections of devices about which the counters say something else than the sets."""
    for collection in collections:
        devices, partitions = zip(*collection, strict=True)
        if fits(devices, counter_sets) != disjoint(partitions):
            yield [device.name for device in devices]


def pairs(items: Collection) -> Iterator[Collection]:
    return itertools.combinations(items, 2)


def made(domain: Domain, family: ShapeFamily) -> tuple[DesiredPool, Collection]:
    pool, by_device = domain_pool(DRIVER, domain, family)
    return pool, candidates(pool, dict(by_device))


SMALL_MESHES = [
    pytest.param(Grid((4, 4), (2, 2)), id="4x4"),
    pytest.param(Grid((4, 4, 4), (2, 2, 1)), id="cube"),
    pytest.param(Grid((8, 8), (2, 2)), id="8x8"),
]


@pytest.mark.parametrize("grid", [*SMALL_MESHES, pytest.param(Grid((16, 16), (2, 2)), id="16x16")])
def test_counters_tell_the_truth_about_every_pair(grid: Grid) -> None:
    pool, items = made(mesh(grid), grid)
    assert list(lies(pool.counter_sets, pairs(items))) == []
    assert any(fits([a, b], pool.counter_sets) for (a, _), (b, _) in pairs(items))
    assert not all(fits([a, b], pool.counter_sets) for (a, _), (b, _) in pairs(items))


def test_counters_tell_the_truth_about_every_collection_on_4x4() -> None:
    grid = Grid((4, 4), (2, 2))
    pool, items = made(mesh(grid), grid)
    every = [subset for size in range(1, len(items) + 1) for subset in itertools.combinations(items, size)]
    assert len(every) == 2**7 - 1
    assert list(lies(pool.counter_sets, every)) == []


@pytest.mark.parametrize("grid", SMALL_MESHES)
def test_counters_tell_the_truth_about_random_collections(grid: Grid) -> None:
    pool, items = made(mesh(grid), grid)
    chance = random.Random(0)
    collections = [chance.sample(items, chance.randint(1, min(8, len(items)))) for _ in range(2000)]
    assert list(lies(pool.counter_sets, collections)) == []
    assert len({disjoint(partition for _, partition in collection) for collection in collections}) == 2


@pytest.mark.parametrize("grid", SMALL_MESHES)
def test_all_partitions_of_one_shape_fit_together_and_use_everything_up(grid: Grid) -> None:
    pool, items = made(mesh(grid), grid)
    for _, group in itertools.groupby(items, key=lambda item: item[1].shape):
        devices = [device for device, _ in group]
        assert fits(devices, pool.counter_sets)
        assert not any(fits([*devices, device], pool.counter_sets) for device in pool.devices)


@st.composite
def odd_domains(draw: st.DrawFn) -> tuple[Domain, Explicit]:
    """Up to 64 hosts and any sets of them; every host is in one set at least."""
    size = draw(st.integers(1, 64))
    sets = draw(st.lists(st.sets(st.integers(0, size - 1), min_size=1), min_size=1, max_size=8))
    rest = set(range(size)).difference(*sets)
    return flat_domain(size), Explicit([*map(sorted, sets), *([index] for index in sorted(rest))])


@given(odd_domains(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_counters_tell_the_truth_about_any_sets(drawn: tuple[Domain, Explicit], chance: random.Random) -> None:
    pool, items = made(*drawn)
    collections = [chance.sample(items, chance.randint(1, min(4, len(items)))) for _ in range(10)]
    assert list(lies(pool.counter_sets, collections)) == []
    assert list(lies(pool.counter_sets, pairs(items[:8]))) == []


@given(odd_domains())
@settings(deadline=None)
def test_the_limits_of_the_api_are_kept(drawn: tuple[Domain, Explicit]) -> None:
    pool, items = made(*drawn)
    assert 1 <= len(pool.counter_sets) <= 2
    assert all(1 <= len(counter_set.counters) <= 32 for counter_set in pool.counter_sets)
    assert len({counter_set.name for counter_set in pool.counter_sets}) == len(pool.counter_sets)
    known = {(counter_set.name, name) for counter_set in pool.counter_sets for name in counter_set.counters}
    for device, partition in items:
        sets = [consumption.counter_set for consumption in device.consumes_counters]
        assert 1 <= len(sets) <= 2
        assert len(set(sets)) == len(sets)
        assert consumed(device).keys() <= known
        assert len(consumed(device)) == len(partition.members)


@pytest.mark.parametrize(
    "grid", [pytest.param(Grid((4, 4), (2, 2)), id="4x4"), pytest.param(Grid((4, 4, 4), (2, 2, 1)), id="cube")]
)
def test_the_same_check_flags_any_partition_that_forgets_to_count_one_of_its_members(grid: Grid) -> None:
    pool, items = made(mesh(grid), grid)
    host_alone = {partition.members[0].name: device.name for device, partition in items if len(partition.members) == 1}
    for index, (device, partition) in enumerate(items):
        for member in partition.members:
            broken = [*items[:index], (without(device, member.name), partition), *items[index + 1 :]]
            flagged = [names for names in lies(pool.counter_sets, pairs(broken)) if device.name in names]
            assert len(partition.members) == 1 or [host_alone[member.name], device.name] in flagged


def without(device: Device, counter: str) -> Device:
    """A device that forgot to count one member."""
    taken = [
        attrs.evolve(consumption, counters={name: c for name, c in consumption.counters.items() if name != counter})
        for consumption in device.consumes_counters
    ]
    return attrs.evolve(device, consumes_counters=taken)


def test_64_members_are_two_full_sets_and_the_whole_draws_on_both() -> None:
    grid = Grid((16, 16), (2, 2))
    pool, _ = made(mesh(grid), grid)
    assert [len(counter_set.counters) for counter_set in pool.counter_sets] == [32, 32]
    assert [len(consumption.counters) for consumption in pool.devices[-1].consumes_counters] == [32, 32]
    assert all(len(device.consumes_counters) == 1 for device in pool.devices[:-1])


@pytest.mark.parametrize("size", [1, 31, 32, 33, 63, 64])
def test_up_to_64_members_can_be_counted(size: int) -> None:
    pool, _ = made(flat_domain(size), Explicit([range(size)]))
    assert sum(len(counter_set.counters) for counter_set in pool.counter_sets) == size


def test_65_members_are_an_error_that_says_what_the_limit_is() -> None:
    with pytest.raises(TopologyError, match="domain rack has 65 members; one counter per member reaches 64"):
        domain_pool(DRIVER, flat_domain(65, "rack"), Explicit([[index] for index in range(65)]))
