"""Arrival times are found wherever they are: in memory, in the file, or nowhere."""

from __future__ import annotations

import errno
import os
import threading
import tracemalloc
from bisect import bisect_right

import pytest

from agentwatch.recording import times
from agentwatch.recording.times import TimeColumns

COUNT = 30_000


def filled(count: int = COUNT) -> TimeColumns:
    """Return columns with a pair for each 10 bytes."""
    columns = TimeColumns()
    for number in range(count):
        columns.append(10 * number + 5, 1_000 + number)
    return columns


def test_each_time_is_found() -> None:
    """A time is found for every offset from the first on, in any order, and none before."""
    columns = filled()
    offsets = range(5, 10 * COUNT, 10)
    for offset in (0, 4, 5, 14, 15, *range(10 * COUNT, 0, -997), 40_964, 40_965, 40_966, 10**12):
        found = bisect_right(offsets, offset) - 1
        assert columns.at(offset) == (1_000 + found if found >= 0 else None)
    assert TimeColumns().at(7) is None


def test_a_full_chunk_is_found_before_the_next_pair() -> None:
    """Right after a chunk was written, its last time holds for all later offsets."""
    columns = filled(4_096)
    assert (columns.at(10**9), columns.at(5), columns.at(4)) == (1_000 + 4_095, 1_000, None)


@pytest.mark.system
@pytest.mark.slow
def test_a_million_times_take_little_memory() -> None:
    """200,000 times take less than 400 KB of memory; in memory they would take 3.2 MB."""
    tracemalloc.start()
    columns = filled(200_000)
    assert columns.at(5) == 1_000
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 400_000


@pytest.mark.parametrize("taken", ["nameless_file", "write"])
def test_without_a_file_times_stay_in_memory(monkeypatch: pytest.MonkeyPatch, taken: str) -> None:
    """If the file cannot be created or the disk is full, every time is found all the same."""

    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    owner = times if taken == "nameless_file" else os
    monkeypatch.setattr(owner, taken, refuse)
    columns = filled(10_000)
    assert [columns.at(offset) for offset in (5, 40_960, 99_999)] == [1_000, 5_095, 10_999]


@pytest.mark.parametrize("is_short", [False, True])
def test_a_file_that_cannot_be_read_has_no_times(monkeypatch: pytest.MonkeyPatch, is_short: bool) -> None:
    """If the file was lost, the times in it are unknown and those in memory are found."""
    columns = filled(5_000)

    def lose(*_: object) -> bytes:
        if is_short:
            return b"x"
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", lose)
    assert (columns.at(5), columns.at(49_995)) == (None, 5_999)


def test_times_are_found_while_another_thread_appends() -> None:
    """A reader finds the time of each pair that was appended before it looks."""
    columns, appended, wrong = TimeColumns(), [0], []

    def look() -> None:
        while appended[0] < COUNT:
            newest = appended[0] - 1
            if newest >= 0 and columns.at(10 * newest) not in (newest, newest + 1):
                wrong.append(newest)

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(COUNT):
        columns.append(10 * number, number)
        appended[0] = number + 1
    reader.join()
    assert wrong == []


@pytest.mark.parametrize("count", [0, 9, 4_096, COUNT])
def test_a_time_has_an_offset(count: int) -> None:
    """The first offset with a later time is found in memory, in the file and between the two."""
    columns = filled(count)
    for number in range(0, count - 1, max(count // 97, 1)):
        assert columns.around(1_000 + number)[1] == (10 * (number + 1) + 5, 1_001 + number)
        assert columns.around(999.5 + number)[1] == (10 * number + 5, 1_000 + number)


def test_pairs_may_be_appended_together() -> None:
    """Pairs that are appended together are found like those appended one by one."""
    columns, offsets = TimeColumns(), range(5, 10 * COUNT, 10)
    for start in range(0, COUNT, 5_000):
        part = offsets[start : start + 5_000]
        columns.extend(part, range(1_000 + start, 1_000 + start + len(part)))
    for offset in range(5, 10 * COUNT, 997):
        assert columns.at(offset) == 1_000 + (offset - 5) // 10
    assert columns.around(COUNT)[1] == (10 * (COUNT - 999) + 5, COUNT + 1)


@pytest.mark.parametrize("count", [0, 1, 4_096, 9_000])
def test_pairs_between_two_offsets_are_noticed(count: int) -> None:
    """Whether a pair lies after one offset and up to another is known in memory and in the file."""
    columns = filled(count)
    for start in range(0, 10 * count + 20, 1 + 10 * count // 31):
        for end in (start, start + 3, start + 10, start + 41_000):
            expected = any(start < offset <= end for offset in range(5, 10 * count, 10))
            assert columns.has_between(start, end) is expected


def test_lost_times_lead_somewhere() -> None:
    """If the file has lost the times, only those in memory are found, and nothing is raised."""
    columns = filled()
    assert columns._fd is not None
    os.ftruncate(columns._fd, 0)
    assert columns.at(40) is None
    assert columns.around(1_000)[1] is None
    assert columns.around(1_000 + COUNT - 2)[1] == (10 * COUNT - 5, 999 + COUNT)
