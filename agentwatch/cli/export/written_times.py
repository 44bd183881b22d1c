"""Writes the arrival times of a recording that a command has written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from agentwatch.cli.export.output import write_file
from agentwatch.recording import SessionFiles

_LINES_AT_ONCE = 1 << 12


def write_times(recording: Path, times: Iterable[tuple[int, int]], *, replaces: bool) -> None:
    """Write the arrival times beside a regular file; those of a file that it replaces are removed.

    Args:
        recording: The file that was written.
        times: The offset of each line that arrived at another time than the line before it, and its time in
            milliseconds since the epoch. None are known if it is empty.
        replaces: Whether an existing file of times may be replaced or removed.

    Raises:
        Fault: The file of times cannot be written.
    """
    if not recording.is_file():
        return
    path, pieces = SessionFiles(recording.resolve()).times, _pieces(iter(times))
    first = next(pieces, None)
    if first is not None:
        write_file(path, chain((first,), pieces), replaces=replaces)
    elif replaces:
        with suppress(FileNotFoundError):
            path.unlink()


def _pieces(times: Iterator[tuple[int, int]]) -> Iterator[bytes]:
    while lines := [b"%d %d\n" % each for each in islice(times, _LINES_AT_ONCE)]:
        yield b"".join(lines)
