"""Old saved sessions are found by their age; those that are still being recorded are kept."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agentwatch.recording.saved_sessions import Prunable, prunable
from agentwatch.recording.write_lock import hold
from tests.builders.machine.saved import DAY_SECONDS, MARKED, save


def before(days: float) -> int:
    """Return the time some days ago, in milliseconds since the epoch."""
    return int((time.time() - days * DAY_SECONDS) * 1000)


def paths(found: Prunable) -> list[Path]:
    """Return the recordings that may be deleted."""
    return [stem.recording for stem in found.sessions]


def test_sessions_are_chosen_by_age() -> None:
    """Only sessions that were last written before the time are chosen, newest first, with all their files."""
    save(1)
    old, oldest = save(40, ".log"), save(50)
    found = prunable(before(30))
    assert paths(found) == [old, oldest]
    assert found.size == old.stat().st_size + oldest.stat().st_size + 100
    assert paths(prunable(before(60))) == []


def test_a_session_is_as_old_as_its_last_line() -> None:
    """A session that was written today is new, and so is one that was started today."""
    path = save(40)
    os.utime(path)
    assert paths(prunable(before(30))) == []
    restored = save(1)
    os.utime(restored, (0, 0))
    assert paths(prunable(before(30))) == []


def test_a_stem_that_is_no_time_is_as_old_as_its_file() -> None:
    """A stem with a thirteenth month has the age of its file."""
    path = save(40)
    moved = path.rename(path.with_name("20261399-999999-abcdef.ndjson"))
    assert paths(prunable(before(30))) == [moved]


def test_a_session_that_is_being_recorded_is_kept() -> None:
    """An agent that has written nothing for a month is still recorded."""
    path = save(40)
    fd = os.open(path, os.O_RDWR)
    hold(fd)
    assert prunable(before(30)) == Prunable([], recorded=1)
    os.close(fd)
    assert paths(prunable(before(30))) == [path]


@pytest.mark.parametrize(
    ("marks", "is_kept"),
    [(MARKED, True), (b"{", True), (b"", False), (b'{"version":1,"bookmarks":[]}', False), (None, False)],
)
def test_bookmarked_sessions_are_kept_on_demand(marks: bytes | None, is_kept: bool) -> None:
    """A session with bookmarks, or whose bookmarks cannot be read, is kept if that is wanted."""
    path = save(40)
    if marks is not None:
        path.with_suffix(".bookmarks.json").write_bytes(marks)
    assert paths(prunable(before(30))) == [path]
    found = prunable(before(30), keep_bookmarked=True)
    assert (paths(found), found.bookmarked) == ([], 1) if is_kept else ([path], 0)


def test_a_traceback_without_a_session_is_pruned() -> None:
    """Files whose recording is gone have the age of the newest of them."""
    path = save(40, ".crash")
    path.unlink()
    assert paths(prunable(before(30))) == [path]
    os.utime(path.with_suffix(".crash"))
    assert paths(prunable(before(30))) == []


def test_sessions_of_another_user_are_kept() -> None:
    """Sessions that belong to another user are not chosen."""
    save(40)
    assert paths(prunable(before(30), uid=os.geteuid() + 1)) == []
