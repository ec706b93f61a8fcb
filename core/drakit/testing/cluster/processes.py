"""Processes that are started, watched and stopped by their pid."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeVar

from attrs import define

from drakit.testing.cluster.errors import NotInTime, ProcessDied

__all__ = ["LOOPBACK", "Process", "free_ports", "wait_for"]

T = TypeVar("T")

LOOPBACK: Final = "127.0.0.1"
LAUNCHER: Final = Path(__file__).with_name("launcher.py")
PATIENCE: Final = 5.0
"""Seconds a process has to stop by itself."""
PAUSE: Final = 0.03
"""Seconds between two looks."""


@define(eq=False)
class Process:
    """One running program. On Linux it is killed when the thread that started it ends, even by SIGKILL."""

    name: str
    log: Path
    """What it writes to standard output and standard error."""
    popen: subprocess.Popen[bytes]

    @classmethod
    def start(cls, name: str, command: Sequence[str | Path], log: Path, folder: Path) -> Process:
        """Start a program in a folder, out of reach of the terminal's Ctrl-C, which would stop all at once."""
        launched = [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), *map(str, command)]
        with log.open("ab") as output:
            # etcd would take flags from the environment of whoever runs one too.
            environment = {name: value for name, value in os.environ.items() if not name.startswith("ETCD_")}
            popen = subprocess.Popen(  # noqa: S603 - the program the caller asked for
                launched, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0, env=environment
            )
        return cls(name=name, log=log, popen=popen)

    @property
    def pid(self) -> int:
        return self.popen.pid

    def check(self) -> None:
        """:raises ProcessDied: it does not run any more."""
        if (exit_code := self.popen.poll()) is not None:
            raise ProcessDied(self.name, exit_code, self.log)

    def stop(self) -> None:
        """Ask it to stop, kill it if it does not; whatever happens meanwhile, it does not run on."""
        try:
            self.popen.terminate()
            self.popen.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.popen.kill()
            self.popen.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.popen.pid, signal.SIGKILL)  # what a script started that stood for the program


def wait_for(question: Callable[[], T], *, timeout_s: float, what: str, check: Callable[[], None]) -> T:
    """Ask until the answer is true.

    :param timeout_s: seconds.
    :param what: for the message, such as ``pod ml/train-00 is bound``.
    :param check: asked in between; raises when waiting is no use any more.
    :returns: the answer.
    :raises NotInTime: it was not true in time.
    """
    deadline = time.monotonic() + timeout_s
    while not (answer := question()):
        check()
        if time.monotonic() > deadline:
            raise NotInTime(f"{what}: not within {timeout_s:g} s")
        time.sleep(PAUSE)
    return answer


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on, all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]
