"""The arrival time of each byte is saved beside the recording and found again."""

import errno
import os
import threading
import time
import tracemalloc
from bisect import bisect_right
from pathlib import Path

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.recording import times
from agentwatch.recording.head_tail import arrivals_ms
from agentwatch.recording.lines import Line
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import create_file
from agentwatch.recording.times import ArrivalTimes, SavedTimes, TimeColumns
from tests.conftest import case


def read_all(path: Path) -> list[Line]:
    reader = open_saved(path)
    lines: list[Line] = []
    while found := reader.read():
        lines += found
    assert reader.is_at_end()
    os.close(reader.fd)
    return lines


def test_times_may_be_missing_and_never_go_back(tmp_path: Path) -> None:
    """Without a times file, or with an empty one or a folder in its place, lines have no time. `now_ms`
    returns milliseconds since 1970 and never goes back.
    """
    # The arrival time of a byte is that of the last read that begins at or before it. Bytes before the first
    # noted time have no time.
    times = ArrivalTimes()
    assert times.at(0) is None
    times.note(0, 1000)
    times.note(10, 2000)
    assert [times.at(offset) for offset in (0, 9, 10, 999)] == [1000, 1000, 2000, 2000]
    times = ArrivalTimes()
    times.note(5, 1000)
    assert (times.at(4), times.at(5)) == (None, 1000)
    path = tmp_path / "a.ndjson"
    path.write_bytes(b"one\n")
    assert read_all(path) == [Line(0, b"one", None)]
    path.with_suffix(".times").write_bytes(b"")
    assert read_all(path) == [Line(0, b"one", None)]
    path.with_suffix(".times").write_bytes(b"0 1000\n")
    assert read_all(path) == [Line(0, b"one", 1000)]
    path.with_suffix(".times").unlink()
    path.with_suffix(".times").mkdir()
    assert read_all(path) == [Line(0, b"one", None)]
    readings = [now_ms() for _ in range(1000)]
    assert readings == sorted(readings)
    assert abs(readings[0] - time.time_ns() // 1_000_000) < 60_000
    # Half a line, other lines and figures that are not a time are skipped; without a file it is unknown.
    path = tmp_path / "b.times"
    long = b"".join(b"%d 1793610846%03d\n" % (number, number) for number in range(900))
    cases: dict[bytes, tuple[int, int] | None] = {
        b"": None,
        b"0 17": None,
        b"0 17\n": (17, 17),
        b"0 17\n9 18": (17, 17),
        b"x\n0 17\n9 18\n": (17, 18),
        b"0 17\ngap 4 9\nx y\n9 -3\n": (17, 17),
        b"0 " + b"9" * 400 + b"\n": None,
        b"0 17\n5 " + b"9" * 16 + b"\n": (17, 17),
        long: (1793610846000, 1793610846899),
    }
    assert arrivals_ms(path) is None
    assert arrivals_ms(tmp_path) is None
    for data, expected in cases.items():
        path.write_bytes(data)
        with case(data[:40]):
            assert arrivals_ms(path) == expected


def test_a_file_of_times_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Each read is a line `OFFSET EPOCH_MS`; a refresh reads new lines, and skips what is none."""
    path = tmp_path / "a.times"
    noted = ArrivalTimes(create_file(path))
    noted.note(0, 1793610846218)
    noted.note(455, 1793610846358)
    assert path.read_bytes() == b"0 1793610846218\n455 1793610846358\n"
    noted.close()
    noted.close()
    # Half a line that a killed process has left makes no other time of the next one.
    with path.open("ab") as file:
        file.write(b"4")
    noted = ArrivalTimes(os.open(path, os.O_RDWR | os.O_APPEND))
    noted.note(600, 1793610846400)
    noted.close()
    assert path.read_bytes().endswith(b"\n4?\n600 1793610846400\n")
    saved = SavedTimes(path)
    assert saved.refresh()
    assert [saved.at(offset) for offset in (0, 454, 455)] == [1793610846218, 1793610846218, 1793610846358]
    # A refresh reads only new lines, each once, and an incomplete line when it is complete.
    path = tmp_path / "a.times"
    path.write_bytes(b"0 1000\n10 20")
    times = SavedTimes(path)
    assert times.refresh()
    assert times.at(99) == 1000
    with path.open("ab") as file:
        file.write(b"00\n20 3000\n")
    assert times.refresh()
    assert times.refresh()
    assert [times.at(offset) for offset in (9, 10, 20)] == [1000, 2000, 3000]
    # A line that is not an offset and a time is ignored, and the other times stay.
    for line in (
        *(b"", b"x", b"1", b"1 ", b" 1", b"-1 5", b"1 -5", b"1 2 3", b"1.5 2", b"1\t2", b"# 1 2"),
        b"\xff\xfe",
        b"\xd9\xa3 5",
        b"9" * 5_000 + b" 1",
        b"5 99999999999999999999",
        b"99999999999999999999 5",
    ):
        with case(f"{line!r:.80}"):
            path.write_bytes(b"0 1000\n" + line + b"\n10 2000\n")
            times = SavedTimes(path)
            assert times.refresh()
            assert [times.at(offset) for offset in (0, 9, 10, 99)] == [1000, 1000, 2000, 2000]
    # A file of times is read in pieces of 1 MiB, and a piece without a line end is skipped.
    path.write_bytes(b"0 1000\n10 2000\n" + b"x" * (3 << 20) + b"\n20 3000\n30 4000\n40 50")
    times = SavedTimes(path)
    assert times.refresh()
    assert [times.at(offset) for offset in (0, 10, 20, 30, 40)] == [1000, 2000, 3000, 4000, 4000]


@pytest.mark.parametrize("kind", ["fifo", "link to a device", "link"])
def test_times_are_read_from_a_regular_file_only(tmp_path: Path, kind: str) -> None:
    """Arrival times that are not a regular file are not opened; the recording has no times then."""
    (tmp_path / "a.ndjson").write_bytes(b"one\n")
    times = tmp_path / "a.times"
    match kind:
        case "fifo":
            os.mkfifo(times)
        case "link to a device":
            times.symlink_to("/dev/zero")
        case "link":
            (tmp_path / "other").write_bytes(b"0 1000\n")
            times.symlink_to(tmp_path / "other")
    [line] = read_all(tmp_path / "a.ndjson")
    assert line.seen_ms is None


COUNT = 30_000


def filled(count: int = COUNT) -> TimeColumns:
    """Return columns with a pair for each 10 bytes."""
    columns = TimeColumns()
    for number in range(count):
        columns.append(10 * number + 5, 1_000 + number)
    return columns


def test_each_time_is_found() -> None:
    """A time is found for every offset from the first on, in any order, and none before. Right after a chunk
    was written, its last time holds for all later offsets.
    """
    columns = filled()
    offsets = range(5, 10 * COUNT, 10)
    for offset in (0, 4, 5, 14, 15, *range(10 * COUNT, 0, -997), 40_964, 40_965, 40_966, 10**12):
        found = bisect_right(offsets, offset) - 1
        assert columns.at(offset) == (1_000 + found if found >= 0 else None)
    assert TimeColumns().at(7) is None
    columns = filled(4_096)
    assert (columns.at(10**9), columns.at(5), columns.at(4)) == (1_000 + 4_095, 1_000, None)
    # Pairs that are appended together are found like those appended one by one.
    columns, offsets = TimeColumns(), range(5, 10 * COUNT, 10)
    for start in range(0, COUNT, 5_000):
        part = offsets[start : start + 5_000]
        columns.extend(part, range(1_000 + start, 1_000 + start + len(part)))
    for offset in range(5, 10 * COUNT, 997):
        assert columns.at(offset) == 1_000 + (offset - 5) // 10
    assert columns.around(COUNT)[1] == (10 * (COUNT - 999) + 5, COUNT + 1)
    # If the file has lost the times, only those in memory are found, and nothing is raised.
    columns = filled()
    assert columns._fd is not None
    os.ftruncate(columns._fd, 0)
    assert columns.at(40) is None
    assert columns.around(1_000)[1] is None
    assert columns.around(1_000 + COUNT - 2)[1] == (10 * COUNT - 5, 999 + COUNT)
    # The first offset with a later time is found in memory, in the file and between the two.
    for count in (0, 9, 4_096, COUNT):
        with case(count):
            columns = filled(count)
            for number in range(0, count - 1, max(count // 97, 1)):
                assert columns.around(1_000 + number)[1] == (10 * (number + 1) + 5, 1_001 + number)
                assert columns.around(999.5 + number)[1] == (10 * number + 5, 1_000 + number)
    # Whether a pair lies after one offset and up to another is known in memory and in the file.
    for count in (0, 1, 4_096, 9_000):
        with case(count):
            columns = filled(count)
            for start in range(0, 10 * count + 20, 1 + 10 * count // 31):
                for end in (start, start + 3, start + 10, start + 41_000):
                    expected = any(start < offset <= end for offset in range(5, 10 * count, 10))
                    assert columns.has_between(start, end) is expected


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
