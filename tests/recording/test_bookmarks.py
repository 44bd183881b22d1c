"""Bookmarks are kept in order, and shown where a line of the recording ends."""

import fcntl
import json
import os
import random
import stat
import threading
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentwatch.api.check_agent import WRONG
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import SessionFiles
from tests.conftest import case

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


def test_a_bookmark_is_set_and_removed(path: Path) -> None:
    """The same moment sets a bookmark and removes it, and both are in the file at once."""
    # The suffix replaces that of the recording, and is appended to a name that has one of ours.
    assert SessionFiles(Path("d/s.ndjson")).bookmarks == Path("d/s.bookmarks.json")
    assert SessionFiles(Path("d/s.json")).bookmarks == Path("d/s.json.bookmarks.json")
    # Only the user may read the file, whatever the umask, and nothing else is left in the folder.
    before = os.umask(0)
    try:
        Bookmarks(path, anywhere).toggle(1, None)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [*path.parent.iterdir()] == [path]
    path.unlink()
    bookmarks = Bookmarks(path, anywhere)
    assert bookmarks.toggle(20, 1234, "b") is True
    assert bookmarks.toggle(10, None) is True
    assert [(each.offset, each.ms, each.name) for each in bookmarks] == [(10, None, ""), (20, 1234, "b")]
    assert all(each.created_ms > 1_600_000_000_000 for each in bookmarks)
    assert written(path) == [(10, ""), (20, "b")]
    assert bookmarks.toggle(20, 1234) is False
    assert (offsets(bookmarks), written(path)) == ([10], [(10, "")])
    assert bookmarks.take_warning() == ""
    # What one viewer has written, the next one reads.
    bookmarks.toggle(5, 99, "before the rewrite")
    assert [*Bookmarks(path, anywhere)] == [*bookmarks]
    # The next bookmark is after the moment; one at it is not.
    path.unlink()
    bookmarks = Bookmarks(path, anywhere)
    for offset in (30, 10, 20):
        bookmarks.toggle(offset, None)
    found = [bookmarks.next(at) for at in (5, 10, 15, 30)]
    assert [each and each.offset for each in found] == [10, 20, 20, None]
    assert bookmarks.at(20) is not None
    assert bookmarks.at(21) is None
    # A new name is one line of at most 100 characters; without a bookmark, there is nothing to rename.
    path.unlink()
    bookmarks = Bookmarks(path, anywhere)
    bookmarks.toggle(7, None)
    assert bookmarks.rename(7, " before\nthe  rewrite ") is True
    assert written(path) == [(7, "before the rewrite")]
    assert bookmarks.rename(7, "x" * 300) is True
    assert written(path) == [(7, "x" * 100)]
    assert bookmarks.rename(7, "half \ud83d") is True
    assert written(path) == [(7, "half ?")]
    assert bookmarks.rename(8, "none") is False
    # All words must be in the name, in any case. Of two with the same name, the first counts.
    path.unlink()
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
    # A bookmark that another viewer has just set is set again, and one that it has removed stays so.
    path.unlink()
    one, two = Bookmarks(path, anywhere), Bookmarks(path, anywhere)
    one.toggle(10, None)
    assert two.toggle(10, None, "two") is True
    assert written(path) == [(10, "two")]
    one.refresh()
    one.toggle(10, None)
    assert two.rename(10, "again") is False
    assert written(path) == []
    # Another program may hold the lock for ever: setting a bookmark takes 0.5 s, and it is written later.
    path.unlink()
    bookmarks = Bookmarks(path, anywhere)
    with path.with_name(f".{path.name}.agentwatch").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert bookmarks.toggle(7, None) is True
    assert bookmarks.take_warning().endswith("another program is changing it")
    assert not path.exists()
    bookmarks.toggle(8, None)
    assert [offset for offset, _ in written(path)] == [7, 8]


@pytest.mark.system
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


def test_bookmarks_have_a_bound_and_may_be_at_an_unfinished_line(tmp_path: Path, path: Path) -> None:
    """A last line without its line end ends where its line end would be; an empty recording has a start.
    After 1,000 bookmarks another one is refused, with the reason; removing one makes room.
    """
    recording = tmp_path / "session.ndjson"
    for data, ends in ((b"{}\n[]", [0, 3, 6]), (b"{}\n", [0, 3]), (b"", [0]), (b"1", [0, 2])):
        recording.write_bytes(data)
        reader = open_saved(recording)
        assert [at for at in range(9) if ends_a_line(reader.line_at, at)] == ends
        os.close(reader.fd)
        assert not ends_a_line(reader.line_at, 3)
    bookmarks = Bookmarks(None, anywhere)
    for offset in range(1000):
        bookmarks.toggle(offset, None)
    bookmarks.take_warning()
    assert bookmarks.toggle(5000, None) is False
    assert bookmarks.take_warning() == "a recording has at most 1,000 bookmarks"
    bookmarks.toggle(3, None)
    assert len(bookmarks) == 999
    # Without a name they work all the same, and the reason is reported once.
    bookmarks = Bookmarks(None, anywhere)
    assert bookmarks.take_warning() == ""
    bookmarks.toggle(1, None)
    assert bookmarks.take_warning() == UNNAMED
    bookmarks.toggle(2, None)
    bookmarks.toggle(1, None)
    assert (bookmarks.take_warning(), offsets(bookmarks)) == ("", [2])
    assert bookmarks.refresh() is False


NAME = "s.bookmarks.json"
ENTRY = {"offset": 10, "time_ms": 5, "name": "kept", "created_ms": 6}
WHOLE = [value for value in WRONG if value != "\ud83d"]
"""The values that a file in UTF-8 can have."""


def content(*entries: Any, version: Any = 1) -> bytes:
    """Return the content of a file of bookmarks."""
    return json.dumps({"version": version, "bookmarks": entries}).encode()


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """The path of a file of bookmarks in a folder of its own."""
    (tmp_path / "f").mkdir()
    return tmp_path / "f" / NAME


def link(hostile: Path) -> None:
    """Put a link to another file of bookmarks in the place."""
    (hostile.parent.parent / "victim").write_bytes(content(ENTRY))
    hostile.symlink_to(hostile.parent.parent / "victim")


def dangling(hostile: Path) -> None:
    """Put a link to nothing in the place."""
    hostile.symlink_to(hostile.parent.parent / "victim")


UNUSABLE: list[tuple[str, Callable[[Path], object]]] = [
    ("it is a link, which is not followed", link),
    ("it is a link, which is not followed", dangling),
    ("not a regular file", lambda hostile: hostile.mkdir()),
    ("not a regular file", os.mkfifo),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(content(ENTRY)[:-3])),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(b"\0\xff\x00")),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(b"[" * 200_000)),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(b"[]")),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(b'{"version":1}')),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(b'{"version":1,"bookmarks":{}}')),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(content(ENTRY, version=True))),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(content(ENTRY, version="1"))),
    ("it is not a file of bookmarks", lambda hostile: hostile.write_bytes(content(ENTRY, version=0))),
    (
        "a newer version of agentwatch has written it",
        lambda hostile: hostile.write_bytes(content(ENTRY, version=2)),
    ),
    ("it is larger than 1 MiB", lambda hostile: hostile.write_bytes(content(ENTRY) + b" " * (1 << 20))),
]


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return the mode, the inode and the content of everything below a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for hostile in sorted(folder.rglob("*")):
        facts = hostile.lstat()
        data = hostile.read_bytes() if hostile.is_file() else None
        found[str(hostile)] = (facts.st_mode, facts.st_ino, data)
    return found


def test_what_is_no_file_of_ours_is_left_alone(tmp_path: Path) -> None:
    """The bookmarks stay in memory, the reason is reported once, and nothing in the folder changes."""
    for number, (reason, put) in enumerate(UNUSABLE):
        hostile = tmp_path / str(number) / "f" / NAME
        hostile.parent.mkdir(parents=True)
        with case(f"{number}: {reason}"):
            put(hostile)
            before = state(hostile.parent.parent)
            bookmarks = Bookmarks(hostile, anywhere)
            assert [*bookmarks] == []
            assert bookmarks.toggle(7, None, "mine") is True
            assert bookmarks.take_warning() == f"bookmarks are kept until you quit: {NAME}: {reason}"
            bookmarks.toggle(8, None)
            assert bookmarks.take_warning() == ""
            assert [each.offset for each in bookmarks] == [7, 8]
            assert state(hostile.parent.parent) == before


def test_a_failed_write_leaves_the_old_file(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk the file stays whole, and no piece of a new one is left."""
    # Once the folder is there again, the next change writes all of them.
    hostile.parent.rmdir()
    bookmarks = Bookmarks(hostile, anywhere)
    bookmarks.toggle(7, None)
    assert bookmarks.take_warning().endswith("No such file or directory")
    hostile.parent.mkdir()
    bookmarks.toggle(8, None)
    assert [each.offset for each in Bookmarks(hostile, anywhere)] == [7, 8]
    hostile.unlink()
    bookmarks = Bookmarks(hostile, anywhere)
    bookmarks.toggle(7, None)
    before = state(hostile.parent)

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        bookmarks.toggle(8, None)
    assert bookmarks.take_warning() == f"bookmarks are kept until you quit: {NAME}: No space left on device"
    assert state(hostile.parent) == before
    assert bookmarks.toggle(9, None) is True
    assert [each.offset for each in Bookmarks(hostile, anywhere)] == [7, 8, 9]
    # In a folder that refuses new files even to root, bookmarks work until the end of the session.
    bookmarks = Bookmarks(Path("/proc/self") / NAME, anywhere)
    assert bookmarks.toggle(7, None) is True
    assert bookmarks.toggle(9, None) is True
    assert bookmarks.toggle(7, None) is False
    assert [each.offset for each in bookmarks] == [9]
    assert bookmarks.take_warning().startswith(f"bookmarks are kept until you quit: {NAME}: ")
    assert bookmarks.take_warning() == ""
    # Its bookmarks are neither shown nor changed.
    hostile.write_bytes(content(ENTRY))
    before = state(hostile.parent)
    monkeypatch.setattr(os, "geteuid", lambda: hostile.stat().st_uid + 1)
    bookmarks = Bookmarks(hostile, anywhere)
    bookmarks.toggle(7, None)
    assert [each.offset for each in bookmarks] == [7]
    assert bookmarks.take_warning().endswith("it belongs to another user")
    assert state(hostile.parent) == before


@pytest.mark.system
def test_a_file_of_bookmarks_may_have_any_content(hostile: Path) -> None:
    """What is not a bookmark is ignored, and what can be read is used."""
    # A file whose content was lost is written again.
    hostile.write_bytes(b"")
    bookmarks = Bookmarks(hostile, anywhere)
    bookmarks.toggle(7, None)
    assert [each.offset for each in Bookmarks(hostile, anywhere)] == [7]
    # An entry that is not a bookmark is ignored.
    for entry in WHOLE:
        with case(f"{entry!r:.80}"):
            hostile.write_bytes(content(entry, ENTRY))
            assert [each.offset for each in Bookmarks(hostile, anywhere)] == [10]
    # JSON with half of a surrogate pair is not valid UTF-8 text.
    hostile.write_bytes(content(ENTRY | {"name": "\ud83d"}))
    assert [*Bookmarks(hostile, anywhere)] == []
    # Of two entries with the same offset, the last counts.
    hostile.write_bytes(content(ENTRY, ENTRY | {"name": "last"}))
    assert [each.name for each in Bookmarks(hostile, anywhere)] == ["last"]
    # A file with more entries than a viewer writes is read up to that number.
    hostile.write_bytes(content(*({"offset": offset} for offset in range(3000))))
    bookmarks = Bookmarks(hostile, anywhere)
    assert len(bookmarks) == 1000
    assert bookmarks.toggle(2000, None) is False
    # An entry without a possible offset is ignored, any other wrong field counts as absent.
    for key, value in product(ENTRY, WHOLE):
        with case(f"{key}: {value!r:.80}"):
            hostile.write_bytes(content(ENTRY | {key: value}, ENTRY | {"offset": 20}))
            found = {each.offset: each for each in Bookmarks(hostile, anywhere)}
            assert found[20] == (20, 5, "kept", 6)
            assert len(found) == (1 if key == "offset" and not (type(value) is int and value == 0) else 2)
            for each in found.values():
                assert isinstance(each.name, str)
                assert len(each.name) <= 100
                assert type(each.created_ms) is int
                assert each.ms is None or 0 <= each.ms < 1 << 62
    # Of 500 mangled files, each is read or refused, and a bookmark is set all the same.
    chosen = random.Random(14)
    whole = content(ENTRY, ENTRY | {"offset": 20, "name": "é\x1b[31m"}, ENTRY | {"offset": 30})
    for _ in range(500):
        mangled = bytearray(whole)
        for _ in range(chosen.randrange(1, 4)):
            mangled[chosen.randrange(len(mangled))] = chosen.choice(b'{}[]",:0\\\xff19n')
        hostile.write_bytes(mangled[: chosen.randrange(len(mangled)) if chosen.random() < 0.3 else None])
        bookmarks = Bookmarks(hostile, anywhere)
        bookmarks.toggle(999, None)
        assert bookmarks.at(999) is not None
