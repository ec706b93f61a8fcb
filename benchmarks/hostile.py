"""What expressions made to hurt cost: CPU time and memory of each, in a process of its own.

Run it from the root of the repository as ``python -m benchmarks.hostile``. It needs Linux, for the memory. Exits with 1 where
one takes a second or more, or 200 MiB or more.

The time is that of compiling, estimating and evaluating once on one device, without starting Python.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from drakit.cel import CelError, Environment
from drakit.cel.judging import judge
from tests.cel.builders import card
from tests.cel.hostile import EXPRESSIONS

SECONDS: Final = 1.0
MEBIBYTES: Final = 200.0


def measure(expression: str) -> tuple[str, float, float]:
    """The verdict on an expression, the CPU time it takes in seconds, and the most memory this process had, in MiB."""
    device, environment = card(), Environment()
    judge("true", device, environment)
    started = time.process_time()
    try:
        found = str(judge(expression, device, environment).verdict)
    except CelError:
        found = "given up"
    seconds = time.process_time() - started
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return found, seconds, int(peak) / 1024


def say(line: str) -> None:
    """One line on standard output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Print the table, and tell whether it is as it must be."""
    wrong = []
    say(f"{'':50}{'verdict':>14}{'seconds':>9}{'MiB':>6}")
    for name in EXPRESSIONS:
        answer = subprocess.run(  # noqa: S603  # this file
            [sys.executable, "-m", "benchmarks.hostile", name], capture_output=True, text=True, check=True, timeout=120
        )
        verdict, seconds, mebibytes = json.loads(answer.stdout)
        say(f"{name:50}{verdict:>14}{seconds:9.3f}{mebibytes:6.0f}")
        if seconds >= SECONDS or mebibytes >= MEBIBYTES:
            wrong.append(name)
    if wrong:
        say(f"more than {SECONDS:g} s or {MEBIBYTES:g} MiB: {', '.join(wrong)}")
    return bool(wrong)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        say(json.dumps(measure(EXPRESSIONS[sys.argv[1]])))
    else:
        sys.exit(main())
