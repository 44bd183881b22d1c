"""A file of bookmarks is foreign data: whatever is in its place, viewing goes on and it stays as it is."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from agentwatch.api.check_agent import WRONG
from agentwatch.recording.bookmarks import Bookmarks
from tests.conftest import case

NAME = "s.bookmarks.json"
ENTRY = {"offset": 10, "time_ms": 5, "name": "kept", "created_ms": 6}
WHOLE = [value for value in WRONG if value != "\ud83d"]
"""The values that a file in UTF-8 can have."""


def anywhere(offset: int) -> bool:
    """Return that a line ends at each offset."""
    return offset >= 0


def content(*entries: Any, version: Any = 1) -> bytes:
    """Return the content of a file of bookmarks."""
    return json.dumps({"version": version, "bookmarks": entries}).encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a file of bookmarks in a folder of its own."""
    (tmp_path / "f").mkdir()
    return tmp_path / "f" / NAME


def link(path: Path) -> None:
    """Put a link to another file of bookmarks in the place."""
    (path.parent.parent / "victim").write_bytes(content(ENTRY))
    path.symlink_to(path.parent.parent / "victim")


def dangling(path: Path) -> None:
    """Put a link to nothing in the place."""
    path.symlink_to(path.parent.parent / "victim")


UNUSABLE: list[tuple[str, Callable[[Path], object]]] = [
    ("it is a link, which is not followed", link),
    ("it is a link, which is not followed", dangling),
    ("it is not a regular file", lambda path: path.mkdir()),
    ("it is not a regular file", os.mkfifo),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(content(ENTRY)[:-3])),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(b"\0\xff\x00")),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(b"[" * 200_000)),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(b"[]")),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(b'{"version":1}')),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(b'{"version":1,"bookmarks":{}}')),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(content(ENTRY, version=True))),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(content(ENTRY, version="1"))),
    ("it is not a file of bookmarks", lambda path: path.write_bytes(content(ENTRY, version=0))),
    (
        "a newer version of agentwatch has written it",
        lambda path: path.write_bytes(content(ENTRY, version=2)),
    ),
    ("it is larger than 1 MiB", lambda path: path.write_bytes(content(ENTRY) + b" " * (1 << 20))),
]


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return the mode, the inode and the content of everything below a folder."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        data = path.read_bytes() if path.is_file() else None
        found[str(path)] = (facts.st_mode, facts.st_ino, data)
    return found


def test_what_is_no_file_of_ours_is_left_alone(tmp_path: Path) -> None:
    """The bookmarks stay in memory, the reason is reported once, and nothing in the folder changes."""
    for number, (reason, put) in enumerate(UNUSABLE):
        path = tmp_path / str(number) / "f" / NAME
        path.parent.mkdir(parents=True)
        with case(f"{number}: {reason}"):
            put(path)
            before = state(path.parent.parent)
            bookmarks = Bookmarks(path, anywhere)
            assert [*bookmarks] == []
            assert bookmarks.toggle(7, None, "mine") is True
            assert bookmarks.take_warning() == f"bookmarks are kept until you quit: {NAME}: {reason}"
            bookmarks.toggle(8, None)
            assert bookmarks.take_warning() == ""
            assert [each.offset for each in bookmarks] == [7, 8]
            assert state(path.parent.parent) == before


def test_a_file_of_another_user_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bookmarks are neither shown nor changed."""
    path.write_bytes(content(ENTRY))
    before = state(path.parent)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    bookmarks = Bookmarks(path, anywhere)
    bookmarks.toggle(7, None)
    assert [each.offset for each in bookmarks] == [7]
    assert bookmarks.take_warning().endswith("it belongs to another user")
    assert state(path.parent) == before


def test_a_folder_that_cannot_be_written_keeps_them_in_memory() -> None:
    """In a folder that refuses new files even to root, bookmarks work until the end of the session."""
    bookmarks = Bookmarks(Path("/proc/self") / NAME, anywhere)
    assert bookmarks.toggle(7, None) is True
    assert bookmarks.toggle(9, None) is True
    assert bookmarks.toggle(7, None) is False
    assert [each.offset for each in bookmarks] == [9]
    assert bookmarks.take_warning().startswith(f"bookmarks are kept until you quit: {NAME}: ")
    assert bookmarks.take_warning() == ""


def test_a_folder_that_is_gone_keeps_them_in_memory(path: Path) -> None:
    """Once the folder is there again, the next change writes all of them."""
    path.parent.rmdir()
    bookmarks = Bookmarks(path, anywhere)
    bookmarks.toggle(7, None)
    assert bookmarks.take_warning().endswith("No such file or directory")
    path.parent.mkdir()
    bookmarks.toggle(8, None)
    assert [each.offset for each in Bookmarks(path, anywhere)] == [7, 8]


def test_a_failed_write_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk the file stays whole, and no piece of a new one is left."""
    bookmarks = Bookmarks(path, anywhere)
    bookmarks.toggle(7, None)
    before = state(path.parent)

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        bookmarks.toggle(8, None)
    assert bookmarks.take_warning() == f"bookmarks are kept until you quit: {NAME}: No space left on device"
    assert state(path.parent) == before
    assert bookmarks.toggle(9, None) is True
    assert [each.offset for each in Bookmarks(path, anywhere)] == [7, 8, 9]


def test_an_empty_file_has_no_bookmarks(path: Path) -> None:
    """A file whose content was lost is written again."""
    path.write_bytes(b"")
    bookmarks = Bookmarks(path, anywhere)
    bookmarks.toggle(7, None)
    assert [each.offset for each in Bookmarks(path, anywhere)] == [7]


def test_a_field_may_have_any_value(path: Path) -> None:
    """An entry without a possible offset is ignored, any other wrong field counts as absent."""
    for key, value in product(ENTRY, WHOLE):
        with case(f"{key}: {value!r:.80}"):
            path.write_bytes(content(ENTRY | {key: value}, ENTRY | {"offset": 20}))
            found = {each.offset: each for each in Bookmarks(path, anywhere)}
            assert found[20] == (20, 5, "kept", 6)
            assert len(found) == (1 if key == "offset" and not (type(value) is int and value == 0) else 2)
            for each in found.values():
                assert isinstance(each.name, str)
                assert len(each.name) <= 100
                assert type(each.created_ms) is int
                assert each.ms is None or 0 <= each.ms < 1 << 62


def test_an_entry_may_be_any_value(path: Path) -> None:
    """An entry that is not a bookmark is ignored."""
    for entry in WHOLE:
        with case(f"{entry!r:.80}"):
            path.write_bytes(content(entry, ENTRY))
            assert [each.offset for each in Bookmarks(path, anywhere)] == [10]


def test_half_a_character_makes_the_file_unusable(path: Path) -> None:
    """JSON with half of a surrogate pair is not valid UTF-8 text."""
    path.write_bytes(content(ENTRY | {"name": "\ud83d"}))
    assert [*Bookmarks(path, anywhere)] == []


def test_a_duplicate_counts_once(path: Path) -> None:
    """Of two entries with the same offset, the last counts."""
    path.write_bytes(content(ENTRY, ENTRY | {"name": "last"}))
    assert [each.name for each in Bookmarks(path, anywhere)] == ["last"]


def test_only_the_first_thousand_entries_are_read(path: Path) -> None:
    """A file with more entries than a viewer writes is read up to that number."""
    path.write_bytes(content(*({"offset": offset} for offset in range(3000))))
    bookmarks = Bookmarks(path, anywhere)
    assert len(bookmarks) == 1000
    assert bookmarks.toggle(2000, None) is False


def test_no_mangled_file_raises(path: Path) -> None:
    """Of 500 mangled files, each is read or refused, and a bookmark is set all the same."""
    chosen = random.Random(14)
    whole = content(ENTRY, ENTRY | {"offset": 20, "name": "é\x1b[31m"}, ENTRY | {"offset": 30})
    for _ in range(500):
        mangled = bytearray(whole)
        for _ in range(chosen.randrange(1, 4)):
            mangled[chosen.randrange(len(mangled))] = chosen.choice(b'{}[]",:0\\\xff19n')
        path.write_bytes(mangled[: chosen.randrange(len(mangled)) if chosen.random() < 0.3 else None])
        bookmarks = Bookmarks(path, anywhere)
        bookmarks.toggle(999, None)
        assert bookmarks.at(999) is not None
