"""Reads many sessions with as many processes as there are cores: sessions go to them, and rows come back."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Any

import agentwatch
from agentwatch.agents.session_entry import SessionEntry
from agentwatch.catalog.index_rows import Rows, rows_of
from agentwatch.catalog.repository import Repositories
from agentwatch.feed.checkpoints import NOT_PICKLED

_LEAST_BYTES = 8 << 20
"""What a process must have to read: 0.25 s. Its start takes 0.1 s."""
_MOST_PROCESSES = 8
"""Each takes 40 MB."""
_BATCH_BYTES = 1 << 20
_MOST_IN_BATCH = 32
_HEADER = 8
"""The bytes of the size before a message."""
_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from agentwatch.catalog.reader_processes import main; main()"
)
_Batch = list[SessionEntry]


def read_sessions(due: Sequence[SessionEntry]) -> Generator[tuple[SessionEntry, Rows], None, None]:
    """Yield each session with its rows, in any order. Sessions that a process did not return, because it was
    killed or met an error of ours, are read here."""
    number = min(_cores(), _MOST_PROCESSES, sum(found.size for found in due) // _LEAST_BYTES, len(due))
    readers = _started(number) if number > 1 else []
    repositories = Repositories()
    try:
        for found, rows in _returned(readers, due) if readers else ((found, None) for found in due):
            yield found, rows_of(found, repositories) if rows is None else rows
    finally:
        for reader in readers:
            reader.end()


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux only
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Reader:
    def __init__(self) -> None:
        """Raise `OSError`."""
        folder = os.path.dirname(os.path.dirname(os.path.abspath(agentwatch.__file__)))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._to, self._from = self.process.stdin, self.process.stdout
        self.batch: _Batch = []
        """What it is reading."""

    def fileno(self) -> int:
        return self._from.fileno()

    def give(self, batch: _Batch) -> None:
        """It must be waiting for a batch. If it has ended, `take` says so."""
        self.batch = batch
        try:
            _write(self._to, batch)
        except (OSError, *NOT_PICKLED):
            self.process.kill()

    def take(self) -> list[Rows | None] | None:
        """Wait for the rows of the batch; None if the process has ended."""
        return _read(self._from)

    def end(self) -> None:
        self.process.kill()
        with suppress(OSError), self.process:
            pass


def _started(number: int) -> list[_Reader]:
    readers = list[_Reader]()
    with suppress(OSError):  # then there are fewer
        readers.extend(_Reader() for _ in range(number))
    return readers


def _returned(
    readers: Sequence[_Reader], due: Sequence[SessionEntry]
) -> Iterator[tuple[SessionEntry, Rows | None]]:
    """Yield the sessions with their rows, None for one that is still to be read."""
    batches = deque(_batches(due))
    with DefaultSelector() as waiting:
        for reader in readers[: len(batches)]:
            reader.give(batches.popleft())
            waiting.register(reader, EVENT_READ, reader)
        while waiting.get_map():
            for key, _ in waiting.select():
                reader = key.data
                done, rows = reader.batch, reader.take()
                if rows is not None and batches:
                    reader.give(batches.popleft())
                else:
                    waiting.unregister(reader)
                yield from zip(done, [None] * len(done) if rows is None else rows, strict=True)
    for batch in batches:  # all processes have ended
        yield from ((found, None) for found in batch)


def _batches(due: Sequence[SessionEntry]) -> Iterator[_Batch]:
    """The largest first: no process is to begin a large session when the others have ended."""
    batch, size = _Batch(), 0
    for found in sorted(due, key=lambda found: -found.size):
        batch.append(found)
        size += found.size
        if size >= _BATCH_BYTES or len(batch) == _MOST_IN_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write(pipe: IO[bytes], message: list[Any]) -> None:
    """Raise `OSError` if the other side has ended."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(_HEADER, "big"))
    pipe.write(data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> list[Any] | None:
    """Wait for a message; None if the other side has ended."""
    head = pipe.read(_HEADER)
    size = int.from_bytes(head, "big")
    data = pipe.read(size) if len(head) == _HEADER else b""
    if not data or len(data) < size:
        return None
    message: list[Any] = pickle.loads(data)  # noqa: S301 - written by _write of another process of ours
    return message


def main() -> None:
    """Read what the process asks for that has started this one, until it closes the pipe."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # a key is meant for that process
    gc.set_threshold(200_000, 20, 1000)  # as in `cli.start`
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a plug-in prints is not an answer
    repositories = Repositories()
    with suppress(OSError, *NOT_PICKLED):
        while (batch := _read(asked)) is not None:
            _write(answers, [_rows(found, repositories) for found in batch])
    os._exit(0)


def _rows(found: SessionEntry, repositories: Repositories) -> Rows | None:
    """None if it fails: the other process reads it again, and reports the error."""
    try:
        return rows_of(found, repositories)
    except Exception:  # noqa: BLE001 - the edge of a process whose stderr nobody reads
        return None
