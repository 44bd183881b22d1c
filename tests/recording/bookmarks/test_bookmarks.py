"""Bookmarks are kept in order, and shown where a line of the recording ends."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from pathlib import Path

import orjson
import pytest

from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import SessionFiles

LINES = b'{"a":1}\n{"b":22}\n{"c":333}\n'
ENDS = (0, 8, 17, 27)
UNNAMED = "bookmarks are kept until you quit: nothing is written beside this recording"


def anywhere(offset: int) -> bool:
    """Return that a line ends at each offset."""
    return offset >= 0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the file of bookmarks, which does not exist yet."""
    return SessionFiles(tmp_path / "session.ndjson").bookmarks


def offsets(bookmarks: Bookmarks) -> list[int]:
    """Return the offsets of the bookmarks that are shown."""
    return [each.offset for each in bookmarks]


def written(path: Path) -> list[tuple[int, str]]:
    """Return the offset and the name of each bookmark in a file."""
    return [(each["offset"], each["name"]) for each in orjson.loads(path.read_bytes())["bookmarks"]]


def test_the_file_stands_beside_the_recording() -> None:
    """The suffix replaces that of the recording, and is appended to a name that has one of ours."""
    assert SessionFiles(Path("d/s.ndjson")).bookmarks == Path("d/s.bookmarks.json")
    assert SessionFiles(Path("d/s.json")).bookmarks == Path("d/s.json.bookmarks.json")


def test_a_bookmark_is_set_and_removed(path: Path) -> None:
    """The same moment sets a bookmark and removes it, and both are in the file at once."""
    bookmarks = Bookmarks(path, anywhere)
    assert bookmarks.toggle(20, 1234, "b") is True
    assert bookmarks.toggle(10, None) is True
    assert [(each.offset, each.ms, each.name) for each in bookmarks] == [(10, None, ""), (20, 1234, "b")]
    assert all(each.created_ms > 1_600_000_000_000 for each in bookmarks)
    assert written(path) == [(10, ""), (20, "b")]
    assert bookmarks.toggle(20, 1234) is False
    assert (offsets(bookmarks), written(path)) == ([10], [(10, "")])
    assert bookmarks.take_warning() == ""


def test_the_file_is_private(path: Path) -> None:
    """Only the user may read the file, whatever the umask, and nothing else is left in the folder."""
    before = os.umask(0)
    try:
        Bookmarks(path, anywhere).toggle(1, None)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [*path.parent.iterdir()] == [path]


def test_another_start_shows_the_same_bookmarks(path: Path) -> None:
    """What one viewer has written, the next one reads."""
    bookmarks = Bookmarks(path, anywhere)
    bookmarks.toggle(5, 99, "before the rewrite")
    assert [*Bookmarks(path, anywhere)] == [*bookmarks]


def test_next_and_previous(path: Path) -> None:
    """The next bookmark is after the moment, the previous one before it; a bookmark at it is neither."""
    bookmarks = Bookmarks(path, anywhere)
    for offset in (30, 10, 20):
        bookmarks.toggle(offset, None)
    found = [(bookmarks.previous(at), bookmarks.next(at)) for at in (5, 10, 15, 30)]
    shown = [(one and one.offset, two and two.offset) for one, two in found]
    assert shown == [(None, 10), (None, 20), (10, 20), (20, None)]
    assert bookmarks.at(20) is not None
    assert bookmarks.at(21) is None


def test_a_bookmark_is_renamed(path: Path) -> None:
    """A new name is one line of at most 100 characters; without a bookmark, there is nothing to rename."""
    bookmarks = Bookmarks(path, anywhere)
    bookmarks.toggle(7, None)
    assert bookmarks.rename(7, " before\nthe  rewrite ") is True
    assert written(path) == [(7, "before the rewrite")]
    assert bookmarks.rename(7, "x" * 300) is True
    assert written(path) == [(7, "x" * 100)]
    assert bookmarks.rename(7, "half \ud83d") is True
    assert written(path) == [(7, "half ?")]
    assert bookmarks.rename(8, "none") is False


def test_bookmarks_are_found_by_name(path: Path) -> None:
    """All words must be in the name, in any case. Of two with the same name, the first counts."""
    bookmarks = Bookmarks(path, anywhere)
    for offset, name in ((1, "Before the rewrite"), (2, ""), (3, "after"), (4, "after")):
        bookmarks.toggle(offset, None, name)
    assert [each.offset for each in bookmarks.named("REWRITE bef")] == [1]
    assert [each.offset for each in bookmarks.named("")] == [1, 3, 4]
    assert bookmarks.by_name() == {"Before the rewrite": 1, "after": 3}


def test_two_viewers_keep_each_others_bookmarks(path: Path) -> None:
    """A viewer reads again before it writes: what another one has set or removed stays so."""
    one, two = Bookmarks(path, anywhere), Bookmarks(path, anywhere)
    one.toggle(10, None)
    two.toggle(20, None)
    assert offsets(two) == [10, 20]
    assert one.refresh() is True
    one.toggle(10, None)
    two.toggle(30, None)
    assert (offsets(two), written(path)) == ([20, 30], [(20, ""), (30, "")])
    one.refresh()
    one.rename(20, "one")
    two.rename(20, "two")
    assert written(path) == [(20, "two"), (30, "")]
    assert two.refresh() is False


def test_what_is_shown_decides(path: Path) -> None:
    """A bookmark that another viewer has just set is set again, and one that it has removed stays so."""
    one, two = Bookmarks(path, anywhere), Bookmarks(path, anywhere)
    one.toggle(10, None)
    assert two.toggle(10, None, "two") is True
    assert written(path) == [(10, "two")]
    one.refresh()
    one.toggle(10, None)
    assert two.rename(10, "again") is False
    assert written(path) == []


def test_viewers_that_write_at_the_same_time_lose_nothing(path: Path) -> None:
    """What a viewer cannot write because others do, its next change writes."""
    viewers = [Bookmarks(path, anywhere) for _ in range(8)]

    def mark(first: int, bookmarks: Bookmarks) -> None:
        for offset in range(first, first + 25):
            bookmarks.toggle(offset, None)

    threads = [threading.Thread(target=mark, args=(100 * at, each)) for at, each in enumerate(viewers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, bookmarks in enumerate(viewers):
        bookmarks.toggle(100 * at + 50, None)
    assert len(written(path)) == 8 * 26


def test_a_folder_that_stays_locked_keeps_them_in_memory(path: Path) -> None:
    """Another program may hold the lock for ever: setting a bookmark takes 0.1 s, and it is written later."""
    bookmarks = Bookmarks(path, anywhere)
    fd = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    assert bookmarks.toggle(7, None) is True
    assert bookmarks.take_warning().endswith("another program has locked its folder")
    assert not path.exists()
    os.close(fd)
    bookmarks.toggle(8, None)
    assert [offset for offset, _ in written(path)] == [7, 8]


def test_a_recording_without_a_name_has_bookmarks_in_memory() -> None:
    """They work all the same, and the reason is reported once."""
    bookmarks = Bookmarks(None, anywhere)
    assert bookmarks.take_warning() == ""
    bookmarks.toggle(1, None)
    assert bookmarks.take_warning() == UNNAMED
    bookmarks.toggle(2, None)
    bookmarks.toggle(1, None)
    assert (bookmarks.take_warning(), offsets(bookmarks)) == ("", [2])
    assert bookmarks.refresh() is False


def test_only_line_ends_of_the_recording_are_shown(tmp_path: Path) -> None:
    """Bookmarks of a recording that was replaced, or behind the end, stay in the file and are not shown."""
    recording = tmp_path / "session.ndjson"
    recording.write_bytes(LINES)
    reader = open_saved(recording)
    path = SessionFiles(recording).bookmarks
    everywhere = Bookmarks(path, anywhere)
    for offset in (*ENDS, 3, 9, 28, 30, 10**15, (1 << 62) - 1):
        everywhere.toggle(offset, None)
    bookmarks = Bookmarks(path, lambda offset: ends_a_line(reader.line_at, offset))
    assert offsets(bookmarks) == [*ENDS]
    bookmarks.toggle(8, None)
    assert len(written(path)) == 9
    with recording.open("ab") as file:
        file.write(b"{}\n")
    assert bookmarks.refresh() is True
    assert offsets(bookmarks) == [0, 17, 27, 30]
    os.close(reader.fd)


def test_the_end_of_an_unfinished_line_is_a_moment(tmp_path: Path) -> None:
    """A last line without its line end ends where its line end would be; an empty recording has a start."""
    recording = tmp_path / "session.ndjson"
    for data, ends in ((b"{}\n[]", [0, 3, 6]), (b"{}\n", [0, 3]), (b"", [0]), (b"1", [0, 2])):
        recording.write_bytes(data)
        reader = open_saved(recording)
        assert [at for at in range(9) if ends_a_line(reader.line_at, at)] == ends
        os.close(reader.fd)
        assert not ends_a_line(reader.line_at, 3)


def test_there_is_a_bound_on_bookmarks(path: Path) -> None:
    """After 1,000 bookmarks another one is refused, with the reason; removing one makes room."""
    bookmarks = Bookmarks(None, anywhere)
    for offset in range(1000):
        bookmarks.toggle(offset, None)
    bookmarks.take_warning()
    assert bookmarks.toggle(5000, None) is False
    assert bookmarks.take_warning() == "a recording has at most 1,000 bookmarks"
    bookmarks.toggle(3, None)
    assert len(bookmarks) == 999
