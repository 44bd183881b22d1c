"""Indexes are kept only where the user may keep them, and do not fill the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentwatch.feed.index import places
from agentwatch.feed.index.places import index_path, make_room, own_key, read_key, remove_left
from agentwatch.recording import sessions_folder


def test_an_index_is_beside_its_recording(tmp_path: Path) -> None:
    """The index has the stem of the recording, and is beside it, even if it was opened by a link."""
    recording = tmp_path / "work" / "r.ndjson"
    recording.parent.mkdir()
    recording.touch()
    assert index_path(recording) == recording.with_suffix(".index")
    (tmp_path / "link.ndjson").symlink_to(recording)
    assert index_path(tmp_path / "link.ndjson") == recording.with_suffix(".index")
    assert index_path(sessions_folder() / "s.ndjson") is None  # the folder does not exist
    sessions_folder().mkdir(parents=True)
    assert index_path(sessions_folder() / "s.ndjson") == sessions_folder().resolve() / "s.index"


def test_the_folder_of_an_agent_is_not_written(tmp_path: Path) -> None:
    """The index of a recording below a hidden folder is in the state folder, with a name of its own."""
    folder = tmp_path / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    one, other = (index_path(folder / name) for name in ("a.jsonl", "b.jsonl"))
    assert one is not None
    assert other is not None
    assert one.parent == other.parent == places._state_folder()
    assert one != other
    assert index_path(folder / "a.jsonl") == one


def test_our_sessions_may_be_below_a_hidden_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default folder of sessions is below `.local`. Their indexes are beside them."""
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path / ".local" / "state" / "agentwatch"))
    sessions_folder().mkdir(parents=True)
    assert index_path(sessions_folder() / "s.ndjson") == sessions_folder().resolve() / "s.index"


def test_nothing_is_written_in_a_folder_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording in a folder of another user, or in one that cannot be written, has no index."""
    recording = tmp_path / "r.ndjson"
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert index_path(recording) is None
    monkeypatch.undo()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert index_path(recording) is None


def test_the_oldest_indexes_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the state folder, the oldest indexes are removed; the key and other files stay."""
    monkeypatch.setattr(places, "_MOST_BYTES", 100)
    own_key()
    folder = places._state_folder()
    for age, name in enumerate(("new.index", "middle.index", "old.index", "other.txt")):
        (folder / name).write_bytes(b"." * 40)
        os.utime(folder / name, (1000 - age, 1000 - age))
    assert make_room(folder / "next.index", 60)
    assert sorted(each.name for each in folder.iterdir()) == ["key", "new.index", "other.txt"]
    assert make_room(folder / "new.index", 100)
    assert (folder / "new.index").exists()
    assert not make_room(folder / "next.index", 101)
    assert make_room(tmp_path / "beside.index", 101)


def test_a_full_disk_gets_no_index(tmp_path: Path) -> None:
    """No index is written if the disk has less than twice its size."""
    disk = os.statvfs(tmp_path)
    assert not make_room(tmp_path / "r.index", disk.f_bavail * disk.f_frsize)


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    """Unfinished files of the same index are removed, and no others."""
    for name in (".r.index.0123", ".r.index.4567", "r.index", ".other.index.0123", ".r.index"):
        (tmp_path / name).touch()
    remove_left(tmp_path / "r.index")
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        ".other.index.0123",
        ".r.index",
        "r.index",
    ]
    remove_left(tmp_path / "absent" / "r.index")


def test_the_key_is_made_once() -> None:
    """The first index makes a key of 32 random bytes, which stays."""
    assert read_key() is None
    key = own_key()
    assert (len(key), own_key(), read_key()) == (32, key, key)
