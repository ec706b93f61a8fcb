"""The faults Kubernetes' allocator is or was known for: what is meant, and what the release of the yardstick answers.

drakit gives the meant answer whatever a release does. A release that mends a fault, or brings one back, makes the row
of that fault fail: the table is then to be changed, and docs/explanation/yardstick.md with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from attrs import frozen

from drakit.model import ResourceClaim
from tests.allocation.builders import (
    alternative,
    claim,
    counted,
    device,
    devices,
    distinct,
    first_available,
    holding,
    match,
    named,
    request,
    slice_,
    taint,
    with_name,
)


@frozen(kw_only=True)
class KnownFault:
    """One fault, on a world as small as shows it."""

    issue: str
    """``repository#number``; empty: reported by nobody, seen by us."""
    title: str
    """What goes wrong."""
    objects: Sequence[Any]
    claims: Sequence[ResourceClaim]
    meant: list[str] | str | None
    """``request=pool/device`` in order; None: does not fit; a text: part of the error."""
    stock: list[str] | str | None
    """The same from the release of the yardstick; equal where it is mended there."""
    kept: str = ""
    """Why drakit answers as a release does that is not mended."""

    @property
    def state(self) -> str:
        """For the table of docs/explanation/yardstick.md."""
        if self.kept:
            return f"still so; drakit answers the same: {self.kept}"
        return "mended" if self.meant == self.stock else "still so; drakit gives what is meant"


X: Final = "test.example.com/x"


def lettered(name: str, *letters: str, **options: Any) -> Any:
    """A device whose attribute for constraints has one value, or a list of them."""
    return with_name(name, attributes={X: letters[0] if len(letters) == 1 else list(letters)}, **options)


def _two_drivers() -> Iterable[Any]:
    for driver in ("a.example.com", "b.example.com"):
        part = device(f"{driver[0]}-whole", consumes={"card": {"slots": 2}})
        yield from counted({"card": {"slots": 2}}, part, driver=driver, pool="node-a")


CARD: Final = {"card": {"slots": 2}}
WHOLE: Final = {"card": {"slots": 2}}
HALF: Final = {"card": {"slots": 1}}

KNOWN: Final = (
    KnownFault(
        issue="kubernetes/kubernetes#140326",
        title="matchAttribute over lists forgets values when a device is taken back",
        objects=[
            slice_(lettered("d1", "a", "b"), lettered("d2", "a", "c"), lettered("d3", "b", "c"), lettered("d4", "b", "d"))
        ],
        claims=[claim(request(count=3), constraints=[match(X)])],
        meant=["r=d1", "r=d3", "r=d4"],
        stock=["r=d1", "r=d3", "r=d4"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#139332",
        title="matchAttribute over lists finds nothing",
        objects=[slice_(lettered("d1", "a", "b"), lettered("d2", "b", "c"))],
        claims=[claim(request(count=2), constraints=[match(X)])],
        meant=["r=d1", "r=d2"],
        stock=["r=d1", "r=d2"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#140438",
        title="distinctAttribute with a count compares with the last device only",
        objects=[slice_(lettered("d0", "A"), lettered("d1", "B"), lettered("d2", "A"), lettered("d3", "C"))],
        claims=[claim(request(count=3), constraints=[distinct(X)])],
        meant=["r=d0", "r=d1", "r=d3"],
        stock=["r=d0", "r=d1", "r=d3"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#140438",
        title="distinctAttribute forgets a request's values when one of its devices is taken back",
        objects=[slice_(lettered("d0", "A"), lettered("d1", "B"), lettered("d2", "A"))],
        claims=[claim(request("r", count=2), request("s", named("d1")), constraints=[distinct(X)])],
        meant=None,
        stock=None,
    ),
    KnownFault(
        issue="kubernetes/kubernetes#140431",
        title="counters of a device refused for a taint stay taken",
        objects=counted(CARD, device("d0", consumes=WHOLE, taints=[taint()]), device("d1", consumes=WHOLE)),
        claims=[claim(request())],
        meant=["r=d1"],
        stock=["r=d1"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#140431",
        title="counters of a device refused for a constraint stay taken",
        objects=counted(
            CARD, lettered("d0", "A", consumes=HALF), lettered("d1", "B", consumes=HALF), lettered("d2", "A", consumes=HALF)
        ),
        claims=[claim(request(count=2), constraints=[match(X)])],
        meant=["r=d0", "r=d2"],
        stock=["r=d0", "r=d2"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#140434",
        title="two drivers with one pool name share their counters",
        objects=list(_two_drivers()),
        claims=[claim(request(count=2))],
        meant=["r=a-whole", "r=b-whole"],
        stock=["r=a-whole", "r=b-whole"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#140433",
        title="a second share of a device is charged to its counters again",
        objects=[
            *counted(CARD, device("d0", consumes=WHOLE, capacity={"memory": 2}, shared=True)),
            holding("d0", share={"memory": 1}),
        ],
        claims=[claim(request(capacity={"memory": 1}))],
        meant=["r=d0"],
        stock=["r=d0"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#134100",
        title="two requests of one claim cannot share a device that counts",
        objects=counted(CARD, device("d0", consumes=WHOLE, capacity={"memory": 2}, shared=True)),
        claims=[claim(request("r", capacity={"memory": 1}), request("s", capacity={"memory": 1}))],
        meant=["r=d0", "s=d0"],
        stock=["r=d0", "s=d0"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#139034",
        title="shares that are held take no counters",
        objects=[
            *counted(CARD, device("d0", consumes=WHOLE, capacity={"memory": 2}, shared=True), device("d1", consumes=HALF)),
            holding("d0", share={"memory": 1}),
        ],
        claims=[claim(request("r", "device.allowMultipleAllocations == false"))],
        meant=None,
        stock=None,
    ),
    KnownFault(
        issue="",
        title="counters of a shared device that is taken back stay taken",
        objects=counted(
            CARD,
            with_name("d0", consumes=WHOLE, capacity={"memory": 2}, shared=True),
            with_name("d1", consumes=WHOLE),
            with_name("d2"),
        ),
        claims=[claim(request("r", named("d0", "d2")), request("s", named("d1")))],
        meant=["r=d2", "s=d1"],
        stock=["r=d2", "s=d1"],
    ),
    KnownFault(
        issue="",
        title="a device that is held in shares is given away once it no longer allows them",
        objects=[slice_(*devices("d0", "d1")), holding("d0", share={"memory": 1})],
        claims=[claim(request())],
        meant=["r=d1"],
        stock=["r=d0"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#140769",
        title="All gives the devices that are free",
        objects=[slice_(*devices("d0", "d1")), holding("d0")],
        claims=[claim(request(every=True))],
        meant=None,
        stock=None,
    ),
    KnownFault(
        issue="kubernetes/kubernetes#129310",
        title="All of no devices is granted",
        objects=[],
        claims=[claim(request(every=True))],
        meant=None,
        stock=None,
    ),
    KnownFault(
        issue="kubernetes/kubernetes#138882",
        title="All over devices that count panics",
        objects=counted(CARD, device("d0", consumes=HALF), device("d1", consumes=HALF)),
        claims=[claim(request(every=True))],
        meant=["r=d0", "r=d1"],
        stock=["r=d0", "r=d1"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#134466",
        title="All of a pool with slices for several nodes never fits",
        objects=[
            slice_(device("d0"), name="here", count=2, pool="p"),
            slice_(device("d1"), name="there", count=2, pool="p", node_name="node-b"),
        ],
        claims=[claim(request(every=True))],
        meant=["r=d0"],
        stock=["r=d0"],
    ),
    KnownFault(
        issue="kubernetes/kubernetes#140802",
        title="a held device that is no longer published gives its counters back",
        objects=[*counted(CARD, device("d1", consumes=WHOLE)), holding("d0")],
        claims=[claim(request())],
        meant=["r=d1"],
        stock=["r=d1"],
        kept="nobody knows what it consumed; `simulate` warns (`allocated-device-not-published`)",
    ),
    KnownFault(
        issue="kubernetes/kubernetes#141829",
        title="a bad pool of another driver ends All everywhere",
        objects=[slice_(device("d0")), slice_(*devices("e0", "e0"), driver="other.example.com", pool="bad", name="bad")],
        claims=[claim(request("r", 'device.driver == "gpu.example.com"', every=True))],
        meant="is currently invalid",
        stock="is currently invalid",
        kept="the error names the pool and what is wrong with it",
    ),
    KnownFault(
        issue="",
        title="All with a device that violates a constraint ends the attempt, though an alternative would fit",
        objects=[slice_(lettered("d0", "A"), lettered("d1", "B"))],
        claims=[
            claim(
                first_available("r", alternative("all", every=True), alternative("one")),
                constraints=[match(X)],
            )
        ],
        meant="because a claim constraint would not be satisfied",
        stock="because a claim constraint would not be satisfied",
        kept="it is what a pod would get",
    ),
)
