"""The ends of lines are found in both directions, at a cost that does not depend on what lies beyond."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from agentwatch.recording.line_ends import line_end_after, line_end_before


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[int]:
    """Yield the descriptor of an empty file."""
    fd = os.open(tmp_path / "lines", os.O_RDWR | os.O_CREAT)
    yield fd
    os.close(fd)


def test_line_ends_are_those_of_the_bytes(opened: int) -> None:
    """From any offset, the line ends on both sides are found, with lines of any length.

    The first read is of 4 KiB, each further one of 64 KiB.
    """
    chance, offsets, data = Random(3), set[int](), b""
    for _ in range(40):
        length = chance.choice((0, 0, 1, 40, 4095, 4096, 4097, 69_631, 69_632, 69_633, 200_000))
        begin, end = len(data), len(data) + length
        offsets.update(range(begin, min(begin + 3, end)), range(end, begin, -1000), (end, end + 1))
        data += b"x" * length + b"\n"
    os.pwrite(opened, data, 0)
    for offset in sorted(offsets):
        assert line_end_before(opened, offset) == data.rfind(b"\n", 0, offset) + 1
        found = data.find(b"\n", offset)
        assert line_end_after(opened, offset, len(data)) == (len(data) if found < 0 else found + 1)


def test_a_line_that_is_cut_off_ends_where_the_file_was_said_to_end(opened: int) -> None:
    """In a file that was truncated since, the next line ends at the size that it had."""
    os.pwrite(opened, b"one\ntwo", 0)
    assert line_end_after(opened, 4, 900) == 900
    assert line_end_before(opened, 900) == 4


def test_a_huge_line_is_read_once(opened: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passing a line of 32 MiB reads each of its bytes once, 64 KiB at a time."""
    size, reads = 32 << 20, list[int]()
    os.ftruncate(opened, size)
    os.pwrite(opened, b"\n", 9)
    os.pwrite(opened, b"\n", size - 1)
    pread = os.pread

    def counted(fd: int, length: int, offset: int) -> bytes:
        reads.append(length)
        return pread(fd, length, offset)

    monkeypatch.setattr(os, "pread", counted)
    assert line_end_before(opened, size - 1) == 10
    assert line_end_after(opened, 10, size) == size
    assert max(reads) <= 1 << 16
    assert sum(reads) <= 2 * size
