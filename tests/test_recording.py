"""The recording is read line by line while it grows, its times are looked up, its files are private."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentwatch.recording import (
    ArrivalTimes,
    Line,
    LineReader,
    create_file,
    nameless_file,
    new_session_files,
    now_ms,
    open_saved,
    saved_recordings,
    sessions_folder,
)
from agentwatch.recording.times import SavedTimes


@dataclass
class Growing:
    """A recording that grows when a test says so, and knows when each piece came."""

    path: Path
    fd: int
    times: ArrivalTimes = field(default_factory=ArrivalTimes)
    length: int = 0
    ended: bool = False

    def add(self, data: bytes, at_ms: int = 1000) -> None:
        """Append a piece."""
        self.times.note(self.length, at_ms)
        self.length += os.write(self.fd, data)

    def size(self) -> int:
        """Return how far a reader may read."""
        return self.length

    def has_ended(self) -> bool:
        """Return whether no more will come."""
        return self.ended

    def reader(self) -> LineReader:
        """Return a reader from the beginning."""
        return LineReader(self.fd, self, self.times)


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Growing]:
    """A recording that is empty so far."""
    path = tmp_path / "growing.ndjson"
    fd = create_file(path)
    yield Growing(path, fd)
    os.close(fd)


@contextmanager
def open_mask() -> Iterator[None]:
    """Let the process create files that anybody may read, if it wants to."""
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def read_all(path: Path) -> list[Line]:
    """Return all lines of a saved recording."""
    reader = open_saved(path)
    lines: list[Line] = []
    while found := reader.read():
        lines += found
    assert reader.is_at_end()
    os.close(reader.fd)
    return lines


# --- lines -----------------------------------------------------------------------------------------


def test_a_last_line_is_held_back_until_its_end_comes(growing: Growing) -> None:
    """Half a line is no line: it is returned whole, once, when its line end has arrived."""
    reader = growing.reader()
    assert list(reader.read()) == []
    growing.add(b"one\ntw", 1000)
    assert [line.data for line in reader.read()] == [b"one"]
    assert list(reader.read()) == []
    growing.add(b"o", 2000)
    assert list(reader.read()) == []
    assert (reader.offset, reader.is_at_end()) == (4, False)
    growing.add(b"\nthree\n", 3000)
    assert list(reader.read()) == [Line(4, b"two", 3000), Line(8, b"three", 3000)]
    assert reader.offset == growing.length


def test_a_last_line_without_an_end_is_returned_when_the_recording_ends(growing: Growing) -> None:
    """When no more will come, what there is of the last line is a line."""
    reader = growing.reader()
    growing.add(b"one\ntw", 1000)
    assert [line.data for line in reader.read()] == [b"one"]
    assert not reader.is_at_end()
    growing.ended = True
    assert list(reader.read()) == [Line(4, b"tw", 1000)]
    assert (list(reader.read()), reader.is_at_end()) == ([], True)


def test_a_recording_that_ends_with_a_line_end_has_no_line_after_it(growing: Growing) -> None:
    """Nothing follows the last line end, and an empty recording has no lines at all."""
    growing.ended = True
    assert list(growing.reader().read()) == []
    growing.add(b"one\n\n")
    reader = growing.reader()
    assert [line.data for line in reader.read()] == [b"one", b""]
    assert (list(reader.read()), reader.is_at_end()) == ([], True)


@pytest.mark.parametrize("char", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x00"])
def test_a_line_ends_at_a_line_feed_and_nowhere_else(growing: Growing, char: str) -> None:
    """What other readers take for a line end is a character of the line."""
    data = f"a{char}b".encode()
    growing.add(data + b"\n" + data + b"\n")
    assert [line.data for line in growing.reader().read()] == [data, data]


def test_a_line_may_be_cut_anywhere(growing: Growing) -> None:
    """A line that comes byte by byte, inside characters too, is the same line."""
    text = 'é日🦀"\\u'.encode()
    reader = growing.reader()
    for byte in text:
        growing.add(bytes([byte]))
        assert list(reader.read()) == []
    growing.add(b"\n")
    assert [line.data for line in reader.read()] == [text]


def test_a_huge_line_is_one_line(growing: Growing) -> None:
    """A line of many reads is whole, has its place, and the next begins after it."""
    huge = b"x" * 1_000_003
    growing.add(b"a\n" + huge, 1000)
    reader = growing.reader()
    assert [line.data for line in reader.read()] == [b"a"]
    assert (list(reader.read()), reader.offset) == ([], 2)
    growing.add(b"\nb\n", 2000)
    first, second = reader.read()
    assert (first.offset, first.seen_ms, len(first.data)) == (2, 2000, len(huge))
    assert set(first.data) == set(b"x")
    assert second == Line(3 + len(huge), b"b", 2000)
    assert len(reader.line_at(2, len(huge))) == len(huge)


def test_many_lines_come_in_portions(growing: Growing) -> None:
    """However many lines there are, each is read once and in order."""
    growing.add(b"".join(b"%d\n" % number for number in range(100_000)))
    reader = growing.reader()
    numbers: list[int] = []
    portions = 0
    while found := reader.read():
        numbers += [int(line.data) for line in found]
        portions += 1
    assert (len(numbers), numbers[0], numbers[-1]) == (100_000, 0, 99_999)
    assert numbers == sorted(set(numbers))
    assert portions > 1


def test_no_reader_goes_beyond_what_has_its_time(growing: Growing) -> None:
    """Bytes in the file that the recording does not own up to yet are not read."""
    growing.add(b"one\n")
    os.write(growing.fd, b"two\n")
    assert [line.data for line in growing.reader().read()] == [b"one"]


def test_two_readers_go_at_their_own_pace(growing: Growing) -> None:
    """A second reader begins at the beginning, wherever the first is."""
    growing.add(b"one\ntwo\n")
    first = growing.reader()
    assert len(first.read()) == 2
    assert len(growing.reader().read()) == 2
    assert list(first.read()) == []


def test_a_line_is_timed_by_its_last_byte(growing: Growing) -> None:
    """A line came when its line end came; lines of one read came together."""
    for data, at_ms in ((b"a\nb", 10), (b"b", 20), (b"\nc\n", 30), (b"d", 40)):
        growing.add(data, at_ms)
    growing.ended = True
    reader = growing.reader()
    lines = list(reader.read()) + list(reader.read())
    assert [(line.data, line.seen_ms) for line in lines] == [(b"a", 10), (b"bb", 30), (b"c", 30), (b"d", 40)]


def test_a_saved_recording_that_grows_is_followed(tmp_path: Path) -> None:
    """A follower gets what is appended, timed by now; who does not follow takes the file as found."""
    path = tmp_path / "a.ndjson"
    path.write_bytes(b"one\ntw")
    follower, once = open_saved(path, follow=True), open_saved(path)
    assert [(line.data, line.seen_ms) for line in follower.read()] == [(b"one", None)]
    assert [line.data for line in list(once.read()) + list(once.read())] == [b"one", b"tw"]
    before = now_ms()
    with path.open("ab") as file:
        file.write(b"o\n")
    [line] = follower.read()
    assert line.data == b"two"
    assert line.seen_ms is not None
    assert before <= line.seen_ms <= now_ms()
    assert (list(once.read()), once.is_at_end(), follower.is_at_end()) == ([], True, False)
    for reader in (follower, once):
        os.close(reader.fd)


def test_a_folder_is_no_recording(tmp_path: Path) -> None:
    """Opening a folder or a file that is not there raises, and leaves nothing open."""
    before = os.listdir("/dev/fd")
    with pytest.raises(IsADirectoryError):
        open_saved(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_saved(tmp_path / "none")
    assert len(os.listdir("/dev/fd")) == len(before)


# --- arrival times -----------------------------------------------------------------------------------


def test_an_arrival_time_holds_until_the_next() -> None:
    """A byte came with the newest read that begins at or before it."""
    times = ArrivalTimes()
    assert times.at(0) is None
    times.note(0, 1000)
    times.note(10, 2000)
    assert [times.at(offset) for offset in (0, 9, 10, 999)] == [1000, 1000, 2000, 2000]


def test_bytes_before_the_first_time_have_none() -> None:
    """What came before times were noted came at no known time."""
    times = ArrivalTimes()
    times.note(5, 1000)
    assert (times.at(4), times.at(5)) == (None, 1000)


def test_times_are_written_a_line_each(tmp_path: Path) -> None:
    """On disk a read is `OFFSET EPOCH_MS`, and what was written reads as the same times."""
    path = tmp_path / "a.times"
    times = ArrivalTimes(create_file(path))
    times.note(0, 1793610846218)
    times.note(455, 1793610846358)
    assert path.read_bytes() == b"0 1793610846218\n455 1793610846358\n"
    times.close()
    times.close()
    saved = SavedTimes(path)
    assert saved.refresh()
    assert [saved.at(offset) for offset in (0, 454, 455)] == [1793610846218, 1793610846218, 1793610846358]


def test_saved_times_are_read_on_where_they_grew(tmp_path: Path) -> None:
    """A refresh reads what is new, each line once, and a half line when it is whole."""
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


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"x", b"1", b"1 ", b" 1", b"-1 5", b"1 -5", b"1 2 3", b"1.5 2", b"1\t2", b"# 1 2"),
        b"\xff\xfe",
        b"\xd9\xa3 5",
        b"9" * 5_000 + b" 1",
        b"5 99999999999999999999",
        b"99999999999999999999 5",
    ],
)
def test_times_that_do_not_read_so_are_passed_over(tmp_path: Path, line: bytes) -> None:
    """A line that is no offset and time leaves the others as they are."""
    path = tmp_path / "a.times"
    path.write_bytes(b"0 1000\n" + line + b"\n10 2000\n")
    times = SavedTimes(path)
    assert times.refresh()
    assert [times.at(offset) for offset in (0, 9, 10, 99)] == [1000, 1000, 2000, 2000]


def test_a_recording_without_times_is_one(tmp_path: Path) -> None:
    """No file of times, a folder in its place or an empty one: the lines are there and have no time."""
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


def test_now_is_since_the_epoch_and_never_goes_back() -> None:
    """Our clock tells milliseconds since 1970 and only ever goes forward."""
    readings = [now_ms() for _ in range(1000)]
    assert readings == sorted(readings)
    assert abs(readings[0] - time.time_ns() // 1_000_000) < 60_000


# --- files -------------------------------------------------------------------------------------------


def mode(path: Path) -> int:
    """Return who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private_and_appends(tmp_path: Path) -> None:
    """A file that we make is ours alone whatever the umask, and is written at its end only."""
    path = tmp_path / "a"
    with open_mask():
        fd = create_file(path)
    assert mode(path) == 0o600
    os.write(fd, b"one")
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, b"two")
    os.close(fd)
    assert path.read_bytes() == b"onetwo"


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling", "fifo"])
def test_nothing_that_is_there_is_overwritten(tmp_path: Path, kind: str) -> None:
    """A name that is taken is refused, by a link that leads nowhere too, and what is there stays."""
    path, other = tmp_path / "a", tmp_path / "other"
    match kind:
        case "file":
            path.write_text("mine")
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case _:
            if kind == "link":
                other.write_text("mine")
            path.symlink_to(other)
    with pytest.raises(FileExistsError):
        create_file(path)
    assert other.exists() == (kind == "link")
    if kind in ("file", "link"):
        assert path.read_text() == "mine"


def test_the_folder_of_sessions_is_private(home: Path) -> None:
    """The sessions lie in our own folder, which only we may enter, whatever the umask."""
    assert sessions_folder() == home / "sessions"
    with open_mask():
        files = new_session_files()
    assert files.recording.parent == home / "sessions"
    assert mode(home / "sessions") == 0o700
    assert list((home / "sessions").iterdir()) == []


def test_a_session_has_one_stem(home: Path) -> None:
    """All files of a session differ in their ending only, and no two sessions share a stem."""
    files = new_session_files()
    names = [files.recording, files.times, files.log, files.stderr, files.process]
    assert {path.stem for path in names} == {files.recording.stem}
    assert [path.suffix for path in names] == [".ndjson", ".times", ".log", ".stderr", ".json"]
    assert len({new_session_files().recording for _ in range(50)}) == 50


def test_without_a_home_of_ours_the_state_folder_is_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default the sessions lie under the user's state folder."""
    monkeypatch.delenv("AGENTWATCH_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert sessions_folder().is_relative_to(tmp_path)
    assert sessions_folder().name == "sessions"


def test_saved_recordings_are_listed_newest_first(home: Path) -> None:
    """Names tell the time: the list goes from the newest back, and holds recordings only."""
    assert saved_recordings() == []
    folder = new_session_files().recording.parent
    names = ["20260101-000000-ffffff", "20261120-120000-000000", "20261120-115959-aaaaaa"]
    for name in names:
        (folder / f"{name}.ndjson").touch()
        (folder / f"{name}.log").touch()
    assert [path.stem for path in saved_recordings()] == [names[1], names[2], names[0]]


def test_a_nameless_file_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that stands in for a recording can be written and read, and is in no folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fd = nameless_file()
    assert list(tmp_path.iterdir()) == []
    assert os.fstat(fd).st_nlink == 0
    assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o600
    os.write(fd, b"one")
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, b"two")
    assert os.pread(fd, 10, 0) == b"onetwo"
    os.close(fd)
