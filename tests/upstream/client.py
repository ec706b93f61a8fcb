"""Asks the oracle: one process, questions and answers as lines of JSON."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self, TypeAlias

Question: TypeAlias = dict[str, Any]
Answer: TypeAlias = dict[str, Any]

PATIENCE: Final = 30.0
"""Seconds for one question; an allocation ends itself after 10 on each node."""


class OracleError(Exception):
    """The oracle could not answer: it names the question."""


class Oracle:
    """A running oracle. Leave the ``with`` block to end it."""

    def __init__(self, binary: Path, *, patience: float = PATIENCE) -> None:
        self._binary = binary
        self._patience = patience
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
        if self._process.poll() is not None:
            self._process = self._start()
        writer = threading.Thread(target=self._write, args=(questions,), daemon=True)
        writer.start()
        answers = [self._read(question) for question in questions]
        writer.join()
        for question, answer in zip(questions, answers, strict=True):
            if "failure" in answer:
                raise OracleError(f"{answer['failure']}\n{answer.get('stack', '')}\nquestion: {json.dumps(question)}")
        return answers

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen([self._binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def _end(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has ended already, with a question half written
            self._stdin.close()
        try:
            self._process.wait(timeout=self._patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin
        return self._process.stdin

    @property
    def _stdout(self) -> IO[str]:
        assert self._process.stdout
        return self._process.stdout

    def _write(self, questions: Iterable[Question]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the reader finds out that nobody answers, and says to what
            for question in questions:
                self._stdin.write(json.dumps(question) + "\n")
            self._stdin.flush()

    def _read(self, question: Question) -> Answer:
        watchdog = threading.Timer(self._patience, self._process.kill)
        watchdog.start()
        try:
            line = self._stdout.readline()
        finally:
            watchdog.cancel()
        if not line:
            ended = self._process.wait(self._patience)
            self._end()
            raise OracleError(
                f"no answer in {self._patience:g} s, or none at all (exit {ended})\nquestion: {json.dumps(question)}"
            )
        answer: Answer = json.loads(line)
        return answer
