"""The system notes what changes in watched folders."""

import gc
import os
import sys
from pathlib import Path

import pytest

from agentwatch.sources import folder_watch
from agentwatch.sources.folder_watch import FolderWatch, Note

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is of Linux")


@pytest.fixture
def watch() -> FolderWatch:
    return FolderWatch()


def test_changes_are_noted_once(watch: FolderWatch, tmp_path: Path) -> None:
    """A new file, its growth, a new folder and what is deleted; nothing before the folder is watched."""
    folder = str(tmp_path)
    (tmp_path / "old").touch()
    assert watch.add(folder)
    assert watch.add(folder)
    assert watch.notes() == []
    for _ in range(3):
        with (tmp_path / "old").open("a") as file:
            file.write("x")
    assert watch.notes() == [Note(folder, "old")]
    (tmp_path / "new\udcff").touch()
    (tmp_path / "below").mkdir()
    (tmp_path / "old").unlink()
    assert watch.notes() == [
        Note(folder, "new\udcff", is_entry=True),
        Note(folder, "below", is_folder=True, is_entry=True),
        Note(folder, "old", is_entry=True),
    ]
    tmp_path.chmod(0o750)  # it may be readable again
    assert watch.notes() == [Note(folder, "", is_folder=True)]
    (tmp_path / "later").touch()
    assert watch.notes() == []


def test_a_folder_that_ends_is_not_watched_any_more(watch: FolderWatch, tmp_path: Path) -> None:
    """It is deleted or moved; a new one at its path is watched by another call, also before the notes are
    read."""
    for number in range(2):
        path = tmp_path / str(number)
        path.mkdir()
        assert watch.add(str(path))
        if number:
            path.rename(tmp_path / "moved")
        else:
            path.rmdir()
        assert set(watch.notes() or ()) == {Note(str(path), "")}
        path.mkdir()
        assert watch.add(str(path))
        path.rename(tmp_path / f"{number}-away")
        path.mkdir()
        assert watch.add(str(path))
        (path / "file").touch()
        (tmp_path / f"{number}-away" / "file").touch()
        assert Note(str(path), "file", is_entry=True) in (watch.notes() or ())
        watch.remove(str(path))
        (path / "another").touch()
        assert watch.notes() == []


def test_what_cannot_be_watched_is_polled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a link, a folder with two paths, one of a file system of others, too many, and no inotify."""
    watch = FolderWatch()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    assert not watch.add(str(tmp_path / "file"))
    assert not watch.add(str(tmp_path / "link"))
    assert not watch.add(str(tmp_path / "missing"))
    assert not watch.add("/proc/self")
    assert watch.add(str(tmp_path))
    assert not watch.add(f"{tmp_path}/.")
    monkeypatch.setattr(folder_watch, "_MOST_FOLDERS", 1)
    (tmp_path / "below").mkdir()
    assert not watch.add(str(tmp_path / "below"))
    monkeypatch.setattr(sys, "platform", "darwin")
    other = FolderWatch()
    assert not other.add(str(tmp_path))
    assert other.notes() == []
    other.remove(str(tmp_path))


def test_lost_notes_are_told(watch: FolderWatch, tmp_path: Path) -> None:
    """The kernel keeps 16,384 notes; what comes after the loss is noted again."""
    assert watch.add(str(tmp_path))
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.touch()
    for _ in range(limit // 2 + 1):
        os.utime(one)
        os.utime(other)
    assert watch.notes() is None
    while watch.notes():
        pass
    one.touch()
    assert watch.notes() == [Note(str(tmp_path), "one")]


def test_its_file_is_closed_with_it(tmp_path: Path) -> None:
    """A list that has ended leaves no file open."""
    gc.collect()
    before = set(os.listdir("/proc/self/fd"))
    watch = FolderWatch()
    assert watch.add(str(tmp_path))
    assert set(os.listdir("/proc/self/fd")) != before
    del watch
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == before
