"""What an evaluation of a selector costs: drakit, Kubernetes' own code, and cel-python, side by side in one run.

Needs the oracle (``python -m tests.upstream.build oracle``); cel-python is left out where it is not installed. Run it from
the root of the repository as ``python -m benchmarks.cel``. Exits with 1 where drakit's fast path is less than 4 times
faster than Kubernetes on any selector, or takes longer to compile.

All times are the least of many goes, so that other work on the machine counts as little as it can. An evaluation is one of
64 devices that differ, without grouping; drakit's and cel-python's are CPU time, Kubernetes' wall time inside its process.
Compiling is what the scheduler does with a stored expression: no cost estimate. drakit generates its function at the
second evaluation; the time for that has a column of its own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import frozen

from drakit import cel
from drakit.cel import celpython
from drakit.model import Device, semver
from tests.upstream.build import folder, missing
from tests.upstream.client import Oracle
from tests.upstream.test_cel import celled

DRIVER: Final = "gpu.example.com"
ATTRIBUTES: Final = f'device.attributes["{DRIVER}"]'
MEMORY: Final = f'device.capacity["{DRIVER}"].memory'
SELECTORS: Final = {
    "driver ==": f'device.driver == "{DRIVER}"',
    "type, attribute, in": f'{ATTRIBUTES}.type == "gpu" && {ATTRIBUTES}.index > 5 && {ATTRIBUTES}.model in ["m1", "m2", "m3"]',
    "quantity": f'{MEMORY}.compareTo(quantity("40Gi")) >= 0',
    "has, semver": f'has({ATTRIBUTES}.firmware) && {ATTRIBUTES}.firmware.isGreaterThan(semver("1.30.0"))',
    "regex, quantity": f'{ATTRIBUTES}.model.matches("^m[1-5]$") && {MEMORY}.isGreaterThan(quantity("8Gi"))',
}
"""The five selectors that are measured, by what they have."""
NUMBER: Final = 64
GOES: Final = 40
FASTER: Final = 4
"""How many times faster than Kubernetes an evaluation must be."""


def devices() -> list[Device]:
    """Devices that differ in every value; most selectors are true of some of them."""
    return [
        Device(
            f"gpu-{index}",
            attributes={
                "type": "mig" if index % 16 == 15 else "gpu",
                "model": f"m{index % 8}",
                "uuid": f"GPU-{index:08x}",
                "index": index,
                "firmware": semver(f"1.{index}.0"),
                "ecc": index % 2 == 0,
            },
            capacity={"memory": f"{index + 1}Gi", "cores": index + 1},
        )
        for index in range(NUMBER)
    ]


def best(run: Callable[[], Any], times: int) -> float:
    """The least CPU time of one of so many runs, in seconds."""
    found = float("inf")
    for _ in range(GOES):
        started = time.process_time()
        for _ in range(times):
            run()
        found = min(found, (time.process_time() - started) / times)
    return found


@frozen
class Figures:
    """What was measured of drakit, in seconds."""

    fast: float
    """Per evaluation, as :attr:`exact`."""
    exact: float
    compilation: float
    generation: float
    verdicts: list[bool]


def of_drakit(expression: str) -> Figures:
    """What is measured of drakit for a selector."""
    found = [cel.CelDevice(DRIVER, device) for device in devices()]
    selector = cel.compile(expression)
    verdicts = [selector.matches(device) for device in found]

    def fast() -> None:
        for device in found:
            selector.matches(device)

    def exact() -> None:
        for device in found:
            selector.matches_exactly(device)

    compilation = best(lambda: cel.compile.__wrapped__(expression), 3)
    return Figures(best(fast, 5) / NUMBER, best(exact, 1) / NUMBER, compilation, best(selector.warm, 3), verdicts)


def of_kubernetes(expressions: Sequence[str]) -> list[dict[str, Any]]:
    """Per expression: nanoseconds per evaluation and per compilation, and how many devices match."""
    bodies = [celled(DRIVER, device) for device in devices()]
    with Oracle(folder("oracle") / "oracle") as oracle:
        answer = oracle.ask("celbench", exprs=list(expressions), devices=bodies, rounds=5, compiles=3, repeat=GOES)
    found: list[dict[str, Any]] = answer["answers"]
    return found


def of_celpy(expression: str) -> float | str:
    """Seconds per evaluation by cel-python, or why there are none."""
    try:
        selector = celpython.compile(expression)
    except celpython.MissingEngine:
        return "not installed"
    found = [cel.CelDevice(DRIVER, device) for device in devices()]

    def run() -> None:
        for device in found:
            selector.matches(device)

    run()
    return best(run, 1) / NUMBER


def say(line: str) -> None:
    """One line on standard output."""
    sys.stdout.write(line + "\n")


def main() -> int:
    """Print the table, and tell whether it is as it must be."""
    if why := missing("oracle"):
        raise SystemExit(why)
    wrong = []
    say(f"{'microseconds':22}{'evaluation':>36}{'':14}{'compilation':>14}")
    columns = {"": 22, "fast": 8, "exact": 8, "upstream": 10, "factor": 8, "cel-python": 15, "drakit": 10, "generated": 11}
    say("".join(f"{name:>{width}}" for name, width in columns.items()) + f"{'upstream':>10}")
    for (name, expression), theirs in zip(SELECTORS.items(), of_kubernetes(list(SELECTORS.values())), strict=True):
        ours = of_drakit(expression)
        assert sum(ours.verdicts) == theirs["matches"], (expression, sum(ours.verdicts), theirs)
        upstream, upstream_compilation = theirs["perEvaluation"] / 1e9, theirs["perCompile"] / 1e9
        celpy = of_celpy(expression)
        shown = celpy if isinstance(celpy, str) else f"{celpy * 1e6:.1f}"
        say(
            f"{name:22}{ours.fast * 1e6:8.2f}{ours.exact * 1e6:8.2f}{upstream * 1e6:10.2f}{upstream / ours.fast:7.1f}x"
            f"{shown:>15}{ours.compilation * 1e6:10.0f}{ours.generation * 1e6:11.0f}{upstream_compilation * 1e6:10.0f}"
        )
        if upstream < FASTER * ours.fast or ours.compilation > upstream_compilation:
            wrong.append(name)
    if wrong:
        say(f"not {FASTER} times faster, or slower to compile: {', '.join(wrong)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
