"""An index that is not a private file, or not that of the recording as it is now, is ignored."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agentwatch.feed.index import kept_file
from agentwatch.recording import SessionFiles
from tests.builders.moment.indexed import index_of, is_restored, opened, write_index


def test_a_link_is_not_followed(recorded: Path) -> None:
    """A link in the place of the index is not read; the next index replaces the link, not its target."""
    path, other = index_of(recorded), recorded.with_name("other")
    path.rename(other)
    path.symlink_to(other)
    before = other.read_bytes()
    assert not is_restored(recorded)
    write_index(recorded)
    assert is_restored(recorded)
    assert not path.is_symlink()
    assert other.read_bytes() == before


def test_an_index_with_two_names_or_another_mode_is_ignored(recorded: Path) -> None:
    """An index that others may read or write, or that has a second name, is ignored."""
    path = index_of(recorded)
    path.chmod(0o640)
    assert not is_restored(recorded)
    path.chmod(0o600)
    second = path.with_name("second")
    os.link(path, second)
    assert not is_restored(recorded)
    second.unlink()
    assert is_restored(recorded)


def test_an_index_of_another_user_is_ignored(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that does not belong to the user is ignored."""
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert kept_file.open_index(index_of(recorded)) is None


def test_a_fifo_or_a_folder_is_ignored(recorded: Path) -> None:
    """A FIFO or a folder in the place of the index is ignored, and opening it does not wait."""
    index_of(recorded).unlink()
    os.mkfifo(index_of(recorded), 0o600)
    assert not is_restored(recorded)
    index_of(recorded).unlink()
    index_of(recorded).mkdir()
    assert not is_restored(recorded)
    write_index(recorded)
    assert sorted(each.name for each in recorded.parent.iterdir()) == ["r.index", "r.ndjson"]


def test_a_recording_that_shrank_is_read_again(recorded: Path) -> None:
    """The index of a recording that has lost its end is ignored."""
    os.truncate(recorded, recorded.stat().st_size // 2)
    assert not is_restored(recorded)


def test_a_recording_that_was_replaced_is_read_again(recorded: Path) -> None:
    """The index of another file of the same name is ignored, even if its size and time are the same."""
    status = recorded.stat()
    copy = recorded.with_name("copy")
    shutil.copy2(recorded, copy)
    copy.replace(recorded)
    os.utime(recorded, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not is_restored(recorded)


@pytest.mark.parametrize("at", [0, 100, -100, -1])
def test_a_recording_whose_ends_have_changed_is_read_again(recorded: Path, at: int) -> None:
    """The index of a recording with other bytes near its ends is ignored, even if the time is the same."""
    status, data = recorded.stat(), bytearray(recorded.read_bytes())
    data[at] ^= 1
    with recorded.open("r+b") as changed:
        changed.write(data)
    os.utime(recorded, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not is_restored(recorded)


def test_a_recording_that_was_written_since_is_read_again(recorded: Path) -> None:
    """The index of a recording of the same size with a later time is ignored."""
    os.utime(recorded, ns=(1, 2))
    assert not is_restored(recorded)


def test_arrival_times_that_have_changed_are_read_again(recorded: Path) -> None:
    """An index without arrival times is ignored once the recording has them."""
    SessionFiles(recorded).times.write_bytes(b"0 1700000000000\n")
    assert not is_restored(recorded)


def test_no_index_is_written_of_a_recording_that_changed_while_it_was_read(recorded: Path) -> None:
    """What was read of a recording that another program wrote meanwhile is not kept."""
    index_of(recorded).unlink()
    with opened(recorded) as first:
        os.utime(recorded, ns=(1, 2))
        assert first.index is not None
        first.index.keep((), first.feed.session)
        first.index.finish()
    assert not index_of(recorded).exists()
