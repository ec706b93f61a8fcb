from __future__ import annotations

import io
from collections.abc import Sequence

import attrs
import pytest
from rich.console import Console

from drakit import Cluster, Device
from drakit.allocation import ClaimOutcome, Notice, PodOutcome, Reason, Report
from drakit.model import (
    AllocationResult,
    Pod,
    ResourceClaim,
    ResourceClaimStatus,
    hostnames,
)
from drakit.model.claim import DeviceAllocationResult, DeviceRequestAllocationResult
from drakit.model.meta import ObjectMeta
from drakit.model.quantity import quantity
from drakit.topology import DesiredPool, pack
from drakit.views.report import report_view
from drakit.views.slices import slices_view
from drakit.views.tables import pool_name


def shown(*claims: ClaimOutcome, pods: Sequence[PodOutcome] = (), wide: bool = False, warnings: Sequence[Notice] = ()) -> str:
    report = Report(claims=claims, pods=pods, warnings=warnings, cluster=Cluster())
    console = Console(file=io.StringIO(), width=200, highlight=False)
    console.print(report_view(report, wide=wide))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def refused(*reasons: Reason, name: str = "c") -> ClaimOutcome:
    return ClaimOutcome(claim=ResourceClaim(metadata=ObjectMeta(name=name, namespace="ns")), reasons=reasons)


def granted(*devices: DeviceRequestAllocationResult, name: str = "c") -> ClaimOutcome:
    allocation = AllocationResult(devices=DeviceAllocationResult(results=devices))
    status = ResourceClaimStatus(allocation=allocation)
    claim = ResourceClaim(metadata=ObjectMeta(name=name, namespace="ns"), status=status)
    return ClaimOutcome(claim=claim, node="n0")


def device(name: str, pool: str = "n0", **more: str) -> DeviceRequestAllocationResult:
    consumed = {key: quantity(value) for key, value in more.items()}
    return DeviceRequestAllocationResult(
        request="r", driver="d.example.com", pool=pool, device=name, consumed_capacity=consumed
    )


def reason(message: str, device: str = "", node: str = "") -> Reason:
    return Reason(check="taint", message=message, device=device, node=node)


def test_reasons_that_differ_in_the_device_only_are_one_line() -> None:
    reasons = [reason("is tainted", f"d.example.com/n0/gpu-{index}") for index in range(5)]
    out = shown(refused(*reasons))
    assert "n0/gpu-0, n0/gpu-1, n0/gpu-2 and 2 more: is tainted\n" in "".join(f"{line.rstrip()}\n" for line in out.splitlines())
    assert out.count("is tainted") == 1


def test_reasons_that_differ_in_the_node_only_are_one_line() -> None:
    out = shown(refused(*(reason("has no GPU", node=f"n{index}") for index in range(2))))
    assert "n0, n1: has no GPU" in out


def test_three_reasons_are_shown_and_the_number_of_the_others_unless_wide() -> None:
    reasons = [reason(f"reason {index}") for index in range(5)]
    assert "... 2 more reasons: -o wide" in shown(refused(*reasons))
    assert "reason 3" not in shown(refused(*reasons))
    assert "reason 4" in shown(refused(*reasons), wide=True)
    assert "more reasons" not in shown(refused(*reasons), wide=True)


def test_devices_of_a_pool_are_one_line_with_what_is_taken_of_them() -> None:
    out = shown(granted(device("gpu-0"), device("gpu-1", memory="2Gi"), device("nic-0", pool="d.example.com/fabric")))
    assert "d.example.com/n0: gpu-0, gpu-1 (memory 2Gi)" in out
    assert "d.example.com/fabric: nic-0" in out


def test_many_devices_are_counted_unless_wide() -> None:
    claim = granted(*(device(f"gpu-{index}") for index in range(9)))
    assert "gpu-5, 3 more" in shown(claim)
    assert "gpu-8" in shown(claim, wide=True)


def test_a_claim_for_nothing_is_allocated_nothing() -> None:
    assert "nothing asked for" in shown(granted())


@pytest.mark.parametrize(
    ("claims", "verdict"),
    [
        ([granted()], "allocated: 1 of 1 claims allocated"),
        ([granted(), refused(name="b")], "partly: 1 of 2 claims allocated"),
        ([refused()], "unschedulable: 0 of 1 claims allocated"),
        ([], "allocated: nothing was asked for; the input has no unallocated claims and no pods"),
    ],
)
def test_the_last_line_is_the_verdict(claims: list[ClaimOutcome], verdict: str) -> None:
    assert shown(*claims).rstrip().splitlines()[-1].rstrip() == verdict


def test_pods_are_a_table_with_their_nodes_or_why_not() -> None:
    placed = PodOutcome(pod=Pod(metadata=ObjectMeta(name="p", namespace="ns")), node="n0")
    stuck = PodOutcome(pod=Pod(metadata=ObjectMeta(name="q", namespace="ns")), reason="claim ns/c is not allocated")
    rows = [line.split(maxsplit=2) for line in shown(pods=[placed, stuck]).splitlines()]
    assert ["ns/p", "n0"] in rows
    assert ["ns/q", "-", "claim ns/c is not allocated"] in [[word.strip() for word in row] for row in rows]
    assert "1 of 2 pods have a node" in shown(pods=[placed, stuck])


def test_warnings_stand_before_the_verdict() -> None:
    out = shown(granted(), warnings=[Notice(code="x", object="ResourceClaim ns/c", message="look here")])
    lines = [line.rstrip() for line in out.rstrip().splitlines()]
    assert lines[-2:] == ["warning: ResourceClaim ns/c: look here", "allocated: 1 of 1 claims allocated"]


def test_names_that_look_like_markup_are_shown_as_they_are() -> None:
    out = shown(refused(reason("[bold]x[/bold] is [red]down")), granted(device("[/]"), name="[/c]"))
    assert "[bold]x[/bold] is [red]down" in out
    assert "[/]" in out
    assert "ns/[/c]" in out


def test_slices_are_one_row_each() -> None:
    console = Console(file=io.StringIO(), width=200, highlight=False)
    pool = DesiredPool(driver="d.example.com", name="n0", node_name="n0", devices=[Device("a"), Device("b")])
    console.print(slices_view(pack(pool)))
    assert isinstance(console.file, io.StringIO)
    assert [pack(pool)[0].metadata.name, "d.example.com", "n0", "n0", "2", "0", "0"] in [
        line.split() for line in console.file.getvalue().splitlines()
    ]


@pytest.mark.parametrize(
    ("driver", "pool", "name"),
    [("d", "n0", "d/n0"), ("d", "d/mesh", "d/mesh"), ("d", "dd/mesh", "d/dd/mesh"), ("d", "d", "d/d")],
)
def test_a_pool_is_named_with_its_driver_once(driver: str, pool: str, name: str) -> None:
    assert pool_name(driver, pool) == name


# -- rows that are alike ---------------------------------------------------------------------------------------------


def worker(index: int, *, gpu: str = "gpu-0") -> ClaimOutcome:
    claim = granted(device(gpu, pool=f"tray-{index}"), name=f"train-{index}").claim
    return ClaimOutcome(claim=claim, node=f"tray-{index}")


def test_many_claims_that_are_alike_are_one_row_unless_wide() -> None:
    workers = [worker(index) for index in range(12)]
    lines = [line.split() for line in shown(*workers).splitlines()]
    assert ["ns/train-0", "tray-0", "d.example.com/<node>:", "gpu-0"] in lines
    assert ["..", "ns/train-11", "(12)", "..", "tray-11"] in lines
    assert "train-5" not in shown(*workers)
    assert all(f"d.example.com/tray-{index}: gpu-0" in shown(*workers, wide=True) for index in range(12))


def test_a_few_claims_that_are_alike_keep_their_rows() -> None:
    out = shown(*(worker(index) for index in range(3)))
    assert all(f"d.example.com/tray-{index}: gpu-0" in out for index in range(3))


def test_a_claim_that_differs_is_never_folded_away() -> None:
    out = shown(*(worker(index, gpu="gpu-7" if index == 5 else "gpu-0") for index in range(11)))
    assert "d.example.com/tray-5: gpu-7" in out


def test_refused_claims_that_are_alike_are_one_row_and_keep_their_reason() -> None:
    out = shown(*(refused(reason("is tainted", "d.example.com/n-0/gpu-0"), name=f"c-{index}") for index in range(9)))
    assert out.count("gpu-0: is tainted") == 1
    assert ".. ns/c-8 (9)" in out


def test_pods_that_are_alike_are_one_row() -> None:
    pods = [PodOutcome(pod=Pod(metadata=ObjectMeta(name=f"p-{i}", namespace="ns")), node=f"n-{i}") for i in range(5)]
    lines = [line.split() for line in shown(pods=pods).splitlines()]
    assert ["ns/p-0", "n-0"] in lines
    assert ["..", "ns/p-4", "(5)", "..", "n-4"] in lines


def stuck(name: str, why: str) -> PodOutcome:
    return PodOutcome(pod=Pod(metadata=ObjectMeta(name=name, namespace="ns")), reason=why)


def test_pods_that_fail_for_reasons_alike_are_one_row_and_keep_one_reason() -> None:
    out = shown(pods=[stuck(f"p-{i}", f"claim ns/p-{i}-gpu is not allocated") for i in range(5)])
    assert out.count("is not allocated") == 1
    assert "claim ns/p-0-gpu is not allocated" in out
    assert ".. ns/p-4 (5)" in out
    assert ".. and so on" in out


def test_a_pod_that_fails_for_another_reason_keeps_its_row() -> None:
    pods = [stuck(f"p-{i}", "there are no nodes" if i == 3 else "claim ns/c is not allocated") for i in range(8)]
    assert shown(pods=pods).count("there are no nodes") == 1


def test_why_not_is_a_column_only_where_a_pod_failed() -> None:
    fine = PodOutcome(pod=Pod(metadata=ObjectMeta(name="q", namespace="ns")), node="n0")
    assert "WHY NOT" not in shown(pods=[fine])
    assert "WHY NOT" in shown(pods=[fine, stuck("p", "there are no nodes")])


@pytest.mark.parametrize(
    ("hosts", "share", "told"),
    [
        (("n0",), None, "n0"),
        (("n0", "n1", "n2"), None, "1 pod on each of 3 hosts"),
        (("n0", "n1", "n2"), "00000000-0000-4000-8000-000000000000", "3 hosts"),
    ],
)
def test_a_claim_of_several_hosts_says_how_many_and_for_how_many_pods(
    hosts: tuple[str, ...], share: str | None, told: str
) -> None:
    held = attrs.evolve(device("d0"), share_id=share)
    allocation = AllocationResult(devices=DeviceAllocationResult(results=[held]), node_selector=hostnames(*hosts))
    claim = ResourceClaim(metadata=ObjectMeta(name="c", namespace="ns"), status=ResourceClaimStatus(allocation=allocation))
    words = " ".join(shown(ClaimOutcome(claim=claim, node="n0")).split())
    assert told in words.replace("d.example.com/n0: d0 ", "")
    assert ("hosts" in words) == (len(hosts) > 1)
    assert ("1 pod on each" in words) == (len(hosts) > 1 and share is None)
