"""What an agent writes to its standard error is read in bounded pieces."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from agentwatch.sources.process import StderrFile


@pytest.fixture
def stderr(tmp_path: Path) -> tuple[StderrFile, int]:
    """Return the file, and a descriptor to write to it."""
    fd = os.open(tmp_path / "stderr", os.O_RDWR | os.O_CREAT)
    return StderrFile(fd), fd


def test_lines_are_returned_once_they_are_complete(stderr: tuple[StderrFile, int]) -> None:
    """A line is returned when its line end arrives."""
    file, fd = stderr
    os.write(fd, b"one\ntw")
    assert file.new_lines() == ["one"]
    assert file.new_lines() == []
    os.write(fd, b"o\n")
    assert file.new_lines() == ["two"]


def test_text_without_a_line_end_is_not_kept(stderr: tuple[StderrFile, int]) -> None:
    """20 MB without a line end are returned in pieces, and less than 1 MB of them is in memory."""
    file, fd = stderr
    for _ in range(20):
        os.write(fd, b"x" * 1_000_000)
    read, tracemalloc_started = 0, tracemalloc.is_tracing()
    assert not tracemalloc_started
    tracemalloc.start()
    for _ in range(400):
        read += sum(map(len, file.new_lines()))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000
    os.write(fd, b"\nlast\n")
    lines = file.new_lines()
    assert read + len(lines[0]) == 20_000_000
    assert lines[1:] == ["last"]
