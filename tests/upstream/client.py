"""Asks the oracle: one process, questions and answers as lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self, TypeAlias

Question: TypeAlias = dict[str, Any]
Answer: TypeAlias = dict[str, Any]

PATIENCE: Final = 30.0
"""Seconds without a sign of life; an allocation ends itself after 10 on each node."""
CHUNK: Final = 1 << 16
"""Bytes that go through a pipe at once."""


class OracleError(Exception):
    """The oracle could not answer: it names the question."""


class Oracle:
    """A running oracle; threads take turns. Leave the ``with`` block to end it."""

    def __init__(self, binary: Path, *, patience: float = PATIENCE) -> None:
        self._binary = binary
        self._patience = patience
        self._turn = threading.Lock()
        self._process = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._end()

    def ask(self, what: str, **question: Any) -> Answer:
        """Ask one question; its fields are those of the Go types in ``oracle/``.

        :raises OracleError: it could not be read, Kubernetes panicked, or gave no answer in time.
        """
        return self.ask_all([{"ask": what, **question}])[0]

    def ask_all(self, questions: Sequence[Question]) -> list[Answer]:
        """Ask many questions; the answers come in the same order.

        :raises OracleError: as :meth:`ask`. The oracle is started anew then, so that the next one has an answer.
        """
        asked = "".join(json.dumps(question) + "\n" for question in questions).encode()
        with self._turn:
            if self._process.poll() is not None:
                self._end()
                self._process = self._start()
            try:
                answers: list[Answer] = [json.loads(line) for line in self._exchange(asked, len(questions))]
            except BaseException:  # what it has still to say would be taken for the answers to other questions
                self._process.kill()
                self._process.wait()
                raise
            why = self._silence() if len(answers) < len(questions) else ""
        for question, answer in zip(questions, answers, strict=False):
            if "failure" in answer:
                raise OracleError(f"{answer['failure']}\n{answer.get('stack', '')}\nquestion: {json.dumps(question)}")
        if why:
            raise OracleError(f"{why}\nquestion: {json.dumps(questions[len(answers)])}")
        return answers

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([self._binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert process.stdin
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def _end(self) -> None:
        self._stdin.close()
        try:
            self._process.wait(timeout=self._patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin
        return self._process.stdin

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout
        return self._process.stdout

    def _exchange(self, asked: bytes, expected: int) -> list[bytes]:
        """Write and read as far as either is possible, until all is answered or nothing more comes."""
        answered, position = bytearray(), 0
        with selectors.DefaultSelector() as ready:
            ready.register(self._stdout, selectors.EVENT_READ)
            ready.register(self._stdin, selectors.EVENT_WRITE)
            while expected > 0:
                events = ready.select(self._patience)
                if not events:
                    break
                for key, _ in events:
                    if key.fileobj is self._stdin:
                        with contextlib.suppress(BrokenPipeError):
                            position += os.write(key.fd, asked[position : position + CHUNK])
                            if position < len(asked):
                                continue
                        ready.unregister(self._stdin)
                    elif piece := os.read(key.fd, CHUNK):
                        answered += piece
                        expected -= piece.count(b"\n")
                    else:
                        return _lines(answered)
        return _lines(answered)

    def _silence(self) -> str:
        """Why there is no answer; whatever the oracle is still doing, it ends."""
        time.sleep(0.01)  # one that has closed its output is about to end
        ended = self._process.poll()
        self._process.kill()
        self._process.wait()
        return f"no answer in {self._patience:g} s" if ended is None else f"no answer, but an end with {ended}"


def _lines(text: bytearray) -> list[bytes]:
    """The lines that are complete."""
    return bytes(text).split(b"\n")[:-1]
