"""Becomes another program that ends when the process that started it does, however that ended.

Run as a script, ``launcher.py <pid of the parent> <program> <argument> ...``; it needs nothing but the standard library.
A launcher instead of ``preexec_fn``: that one may not be used in a process with threads.
"""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ask the kernel to be killed with the parent, and become the program."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - for Linux only

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    parent, *command = sys.argv[1:]
    if os.getppid() != int(parent):  # it died before the kernel was asked
        sys.exit(1)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main()
