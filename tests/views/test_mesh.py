from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs
import pytest

from drakit import Cluster, Device, Domain, Grid, Member
from drakit.allocation import simulate
from drakit.model import DeviceTaint, Node, ObjectMeta, ResourceClaim, device_class
from drakit.model.wire import decode_as
from drakit.topology import DesiredPool, domain_pool, pack
from drakit.views.mesh import mesh_view, meshes

DRIVER: Final = "tpu.example.com"


def claim(name: str, shape: str) -> ResourceClaim:
    expression = f'device.attributes["{DRIVER}"].topology == "{shape}"'
    exactly = {"deviceClassName": DRIVER, "selectors": [{"cel": {"expression": expression}}]}
    body: Any = {
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"devices": {"requests": [{"name": "s", "exactly": exactly}]}},
    }
    return decode_as(body, ResourceClaim, name)


def mesh_pool(grid: Grid, *down: str) -> tuple[DesiredPool, list[Node]]:
    """A mesh whose devices say where they lie; ``down`` names hosts."""
    members = [Member(f"h{index}", node=f"n{index}", position=p) for index, p in enumerate(grid.positions())]
    pool, partitions = domain_pool(DRIVER, Domain("mesh", members), grid)
    devices = []
    for device in pool.devices:
        part = partitions[device.name]
        taints = [
            DeviceTaint(key=f"{DRIVER}/host-down", value=member.node, effect="NoSchedule")
            for member in part.members
            if member.node in down
        ]
        place = {"topology": part.shape, "origin": ",".join(map(str, part.origin))}
        devices.append(attrs.evolve(device, attributes=place, taints=taints))
    nodes = [
        Node(metadata=ObjectMeta(name=m.node, labels={"kubernetes.io/hostname": m.hostname}))  # as an Inventory brings them
        for m in members
    ]
    return attrs.evolve(pool, devices=devices), nodes


def world(pools: Iterable[DesiredPool], nodes: Iterable[Node], *claims: ResourceClaim) -> Cluster:
    slices = [slice_ for pool in pools for slice_ in pack(pool)]
    classes = [device_class(DRIVER, f'device.driver == "{DRIVER}"')]
    return simulate(Cluster.of([*nodes, *slices, *classes, *claims])).cluster


def pictures(cluster: Cluster) -> list[str]:
    return [mesh_view(mesh).plain for mesh in meshes(cluster, cluster.state)]


def picture(grid: Grid, *claims: ResourceClaim, down: tuple[str, ...] = ()) -> str:
    pool, nodes = mesh_pool(grid, *down)
    (drawn,) = pictures(world([pool], nodes, *claims))
    return drawn


def test_a_mesh_shows_who_holds_which_chips_what_is_down_and_what_would_fit() -> None:
    drawn = picture(Grid([4, 4], [2, 2]), claim("train", "2x4"), claim("notebook", "2x2"), down=("n2",))
    assert drawn == (
        "tpu.example.com/mesh  4x4 chips\n"
        "\n"
        "      0     2\n"
        "  0   B  B  x  x\n"
        "  1   B  B  x  x\n"
        "  2   A  A  A  A\n"
        "  3   A  A  A  A\n"
        "\n"
        "  A  team/train  ss-2x4-2-0 (2x4)\n"
        "  B  team/notebook  ss-2x2-0-0 (2x2)\n"
        "  x  ss-2x2-0-2 (2x2)  tpu.example.com/host-down=n2:NoSchedule\n"
        "  .  free\n"
        "\n"
        "would still fit: 0 of 1 4x4, 0 of 2 2x4, 0 of 4 2x2\n"
        "usable chips: 12 of 16\n"
    )


def test_an_idle_mesh_is_all_free() -> None:
    assert picture(Grid([4, 4], [2, 2])) == (
        "tpu.example.com/mesh  4x4 chips\n"
        "\n"
        "      0     2\n"
        "  0   .  .  .  .\n"
        "  1   .  .  .  .\n"
        "  2   .  .  .  .\n"
        "  3   .  .  .  .\n"
        "\n"
        "  .  free\n"
        "\n"
        "would still fit: 1 of 1 4x4, 2 of 2 2x4, 4 of 4 2x2\n"
        "usable chips: 16 of 16\n"
    )


def test_what_a_claim_holds_would_not_fit_again_nor_what_overlaps_it() -> None:
    drawn = picture(Grid([4, 4], [2, 2]), claim("a", "2x2"))
    assert "would still fit: 0 of 1 4x4, 1 of 2 2x4, 3 of 4 2x2\n" in drawn
    assert "usable chips: 16 of 16\n" in drawn


def test_a_host_that_is_down_while_a_claim_holds_it_is_drawn_as_down_and_the_claim_stays_in_the_legend() -> None:
    grid = Grid([4, 4], [2, 2])
    pool, nodes = mesh_pool(grid)
    before = world([pool], nodes, claim("a", "2x4"))
    broken, _ = mesh_pool(grid, "n0")
    (drawn,) = pictures(attrs.evolve(before, slices=pack(broken)))
    assert "  A  team/a  ss-2x4-0-0 (2x4)\n" in drawn
    assert "  0   x  x  A  A\n" in drawn


def test_taints_that_keep_nobody_away_are_not_drawn() -> None:
    pool, nodes = mesh_pool(Grid([4, 4], [2, 2]))
    note = DeviceTaint(key="example.com/note", effect="None")
    drawn = pictures(world([attrs.evolve(pool, devices=[attrs.evolve(d, taints=[note]) for d in pool.devices])], nodes))
    assert " x " not in drawn[0]
    assert "usable chips: 16 of 16" in drawn[0]


def test_wide_meshes_number_every_second_column() -> None:
    header = picture(Grid([2, 16], [2, 2])).splitlines()[2]
    assert header == "      0     2     4     6     8    10    12    14"


def test_a_mesh_of_three_dimensions_is_drawn_layer_by_layer() -> None:
    assert picture(Grid([2, 2, 2], [2, 2, 1]), claim("a", "2x2x1"), down=("n1",)) == (
        "tpu.example.com/mesh  2x2x2 chips\n"
        "\n"
        "z=0\n"
        "      0\n"
        "  0   A  A\n"
        "  1   A  A\n"
        "\n"
        "z=1\n"
        "      0\n"
        "  0   x  x\n"
        "  1   x  x\n"
        "\n"
        "  A  team/a  ss-2x2x1-0-0-0 (2x2x1)\n"
        "  x  ss-2x2x1-0-0-1 (2x2x1)  tpu.example.com/host-down=n1:NoSchedule\n"
        "  .  free\n"
        "\n"
        "would still fit: 0 of 1 2x2x2, 0 of 2 2x2x1\n"
        "usable chips: 4 of 8\n"
    )


def test_many_claims_have_a_letter_each_and_none_is_taken_for_down() -> None:
    claims = [claim(f"c{index}", "2x2") for index in range(60)]
    drawn = picture(Grid([16, 16], [2, 2]), *claims)
    legend = [line.split()[0] for line in drawn.splitlines() if " team/" in line]
    assert len(legend) == len(set(legend)) == 60
    assert not {"x", "."} & set(legend)


def test_where_there_are_more_claims_than_letters_each_has_two_and_all_are_different() -> None:
    drawn = picture(Grid([16, 16], [2, 2]), *(claim(f"c{index}", "2x2") for index in range(64)))
    legend = [line.split()[0] for line in drawn.splitlines() if " team/" in line]
    assert len(legend) == len(set(legend)) == 64
    assert {len(mark) for mark in legend} == {2}
    rows = [line.split()[1:] for line in drawn.splitlines()[3:19]]
    assert {mark for row in rows for mark in row} == set(legend), "every chip shows its holder's letters"


# -- what has no picture ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        {},
        {"topology": "2x2"},
        {"origin": "0,0"},
        {"topology": "2x2", "origin": "0"},
        {"topology": "wide", "origin": "0,0"},
        {"topology": "2x2", "origin": "here"},
        {"topology": "0x2", "origin": "0,0"},
        {"topology": "-2x2", "origin": "0,0"},
        {"topology": "2x2", "origin": "-1,0"},
        {"topology": "2", "origin": "0"},
        {"topology": "2x2x2x2", "origin": "0,0,0,0"},
        {"topology": 4, "origin": 0},
        {"topology": "999999999x2", "origin": "0,0"},
        {"topology": "4096x4096x4096", "origin": "0,0,0"},
        {"topology": "9" * 60 + "x2", "origin": "0,0"},
        {"topology": "1_0x1", "origin": "0,0"},
        {"topology": "٢x٢", "origin": "0,0"},
        {"topology": "2x2", "origin": "0,²"},
        {"topology": "+2x2", "origin": "0,0"},
        {"topology": " 2x2", "origin": "0,0"},
    ],
)
def test_a_pool_without_geometry_is_left_out(place: dict[str, Any]) -> None:
    pool = DesiredPool(driver=DRIVER, name="n0", node_name="n0", devices=[Device("d", attributes=place)])
    node = Node(metadata=ObjectMeta(name="n0"))
    assert meshes(world([pool], [node]), world([pool], [node]).state) == []


def test_pools_with_geometry_are_drawn_by_name_the_others_left_out() -> None:
    pools = [
        DesiredPool(driver=DRIVER, name=name, node_name="n0", devices=[Device("d", attributes=place)])
        for name, place in (
            ("z", {"topology": "2x2", "origin": "0,0"}),
            ("gpus", {}),
            ("a", {f"{DRIVER}/topology": "2x2", f"{DRIVER}/origin": "0,0"}),
        )
    ]
    cluster = world(pools, [Node(metadata=ObjectMeta(name="n0"))])
    assert [mesh.name for mesh in meshes(cluster, cluster.state)] == [f"{DRIVER}/a", f"{DRIVER}/z"]


def test_attributes_of_another_domain_are_no_geometry() -> None:
    place = {"other.example.com/topology": "2x2", "other.example.com/origin": "0,0"}
    pool = DesiredPool(driver=DRIVER, name="n0", node_name="n0", devices=[Device("d", attributes=place)])
    cluster = world([pool], [Node(metadata=ObjectMeta(name="n0"))])
    assert meshes(cluster, cluster.state) == []


def test_devices_that_can_be_drawn_alone_but_not_together_are_left_out() -> None:
    """Two long strips across each other span more chips than anybody can look at."""
    strips = [Device("down", attributes={"topology": "60000x1", "origin": "0,0"})]
    strips += [Device("across", attributes={"topology": "1x60000", "origin": "0,0"})]
    for devices, drawn in ((strips[:1], 1), (strips, 0)):
        pool = DesiredPool(driver=DRIVER, name="n0", node_name="n0", devices=devices)
        cluster = world([pool], [Node(metadata=ObjectMeta(name="n0"))])
        assert len(meshes(cluster, cluster.state)) == drawn
