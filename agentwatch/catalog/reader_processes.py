"""Reads many sessions with as many processes as there are cores: sessions go to them, and rows come back."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from agentwatch.agents.session_entry import SessionEntry
from agentwatch.base.helper_process import HelperProcess, cores
from agentwatch.catalog.repository import Repositories

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from agentwatch.catalog.index_rows import Rows

_LEAST_BYTES = 8 << 20
"""What a process must have to read: 0.25 s. Its start takes 0.1 s."""
_MOST_PROCESSES = 8
"""Each takes 40 MB."""
_BATCH_BYTES = 1 << 20
_MOST_IN_BATCH = 32


def read_sessions(due: Sequence[SessionEntry]) -> Generator[tuple[SessionEntry, Rows], None, None]:
    """Yield each session with its rows, in any order. Sessions that a process did not return, because it was
    killed or met an error of ours, are read here."""
    number = min(cores(), _MOST_PROCESSES, sum(found.size for found in due) // _LEAST_BYTES, len(due))
    readers = _started(number) if number > 1 and sys.executable else []
    from agentwatch.catalog.index_rows import rows_of  # 60 ms, in which the processes start

    repositories = Repositories()
    try:
        for found, rows in _returned(readers, due) if readers else ((found, None) for found in due):
            yield found, rows_of(found, repositories) if rows is None else rows
    finally:
        for reader in readers:
            reader.end()


class _Reader(HelperProcess):
    def __init__(self) -> None:
        """Raise `OSError`."""
        super().__init__(__name__)
        self.batch: Sequence[SessionEntry] = []
        """What it is reading."""

    def give(self, batch: Sequence[SessionEntry]) -> None:
        """Give a batch to the process, which must be waiting for one. If it has ended, `take` says so."""
        from agentwatch.feed.checkpoints import NOT_PICKLED

        self.batch = batch
        try:
            self.pipe.send(batch)
        except (OSError, *NOT_PICKLED):
            self.process.kill()

    def take(self) -> list[Rows | None] | None:
        """Wait for the rows of the batch; None if the process has ended."""
        with suppress(OSError, EOFError):
            rows: list[Rows | None] = self.pipe.recv()
            return rows
        return None


def _started(number: int) -> list[_Reader]:
    readers = list[_Reader]()
    with suppress(OSError):  # then there are fewer
        readers.extend(_Reader() for _ in range(number))
    return readers


def _returned(
    readers: Sequence[_Reader], due: Sequence[SessionEntry]
) -> Iterator[tuple[SessionEntry, Rows | None]]:
    """Yield the sessions with their rows, None for one that is still to be read."""
    from multiprocessing.connection import wait

    batches = deque(_batches(due))
    waiting: dict[object, _Reader] = {reader.pipe: reader for reader in readers[: len(batches)]}
    for reader in waiting.values():
        reader.give(batches.popleft())
    while waiting:
        for pipe in wait([reader.pipe for reader in waiting.values()]):
            reader = waiting[pipe]
            done, rows = reader.batch, reader.take()
            if rows is not None and batches:
                reader.give(batches.popleft())
            else:
                del waiting[pipe]
            yield from zip(done, [None] * len(done) if rows is None else rows, strict=True)
    for batch in batches:  # all processes have ended
        yield from ((found, None) for found in batch)


def _batches(due: Sequence[SessionEntry]) -> Iterator[list[SessionEntry]]:
    """The largest first: no process is to begin a large session when the others have ended."""
    batch, size = list[SessionEntry](), 0
    for found in sorted(due, key=lambda found: -found.size):
        batch.append(found)
        size += found.size
        if size >= _BATCH_BYTES or len(batch) == _MOST_IN_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def serve(pipe: Connection) -> None:
    """Read what the process asks for that has started this one, until it closes the pipe."""
    import agentwatch.catalog.index_rows  # noqa: F401 - before the first sessions arrive

    repositories = Repositories()
    while True:
        pipe.send([_rows(found, repositories) for found in pipe.recv()])


def _rows(found: SessionEntry, repositories: Repositories) -> Rows | None:
    """Return None if it fails: the other process reads it again, and reports the error."""
    from agentwatch.catalog.index_rows import rows_of

    try:
        return rows_of(found, repositories)
    except Exception:  # noqa: BLE001 - the edge of a process whose stderr nobody reads
        return None
