"""The counts of an open list are read by other processes while they are fresh, and only then."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.row_counts import Publisher
from agentwatch.catalog.status import (
    FRESH_MS,
    StatusCounts,
    read_limits,
    read_status,
    status_path,
    write_status,
)
from agentwatch.session.limits import Reported
from tests.builders.machine.rows import NOW_MS, row
from tests.conftest import case

COUNTS = StatusCounts(needs_you=2, working=3, ended_today=None)


def changed(home: Path, **keys: object) -> None:
    """Change keys of the file that was written."""
    path = home / "status.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


def test_what_was_written_is_read(home: Path) -> None:
    """The counts are kept in a private file in the state folder, and unknown ones stay unknown."""
    assert read_status(NOW_MS) is None
    write_status(COUNTS, NOW_MS)
    assert read_status(NOW_MS + 1000) == COUNTS
    assert status_path() == home / "status.json"
    assert [path.name for path in home.iterdir()] == ["status.json"]
    assert stat.S_IMODE(status_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    # The file is replaced as a whole: a descriptor opened before keeps what was written before.
    with open(status_path()) as before:
        write_status(StatusCounts(), NOW_MS)
        assert json.load(before)["needs_you"] == 2
    assert read_status(NOW_MS) == StatusCounts()
    # The limits beside them are words of a bounded length, and as fresh as the counts.
    assert read_limits(NOW_MS) == ""
    write_status(COUNTS, NOW_MS, "claude 5 h 62 %")
    assert read_limits(NOW_MS) == "claude 5 h 62 %"
    assert read_limits(NOW_MS + FRESH_MS) is None
    write_status(COUNTS, NOW_MS, "ä" * 10_000)
    assert (read_limits(NOW_MS), read_status(NOW_MS)) == ("ä" * 500, COUNTS)
    changed(home, limits=7)
    assert (read_limits(NOW_MS), read_status(NOW_MS)) == (None, COUNTS)


def test_what_is_old_or_no_status_is_not_read(home: Path, tmp_path: Path) -> None:
    """Counts that are 5 s old or come from the future, other values and other files are not used."""
    write_status(COUNTS, NOW_MS)
    for late_ms in (-FRESH_MS, FRESH_MS, 10**15, -(10**15)):
        with case(late_ms):
            assert read_status(NOW_MS + late_ms) is None
            assert read_status(NOW_MS + FRESH_MS - 1) == COUNTS
    values: list[dict[str, Any]] = [
        *({"version": version} for version in (2, "1", None)),
        *({"pid": pid} for pid in (0, -1, 1 << 31, 1 << 80, "1", None, 1.5, True)),
        *({"written_ms": at} for at in ("1", None, "", True, float(NOW_MS))),
        *({"needs_you": count} for count in (-1, 1.5, "2", "", True, 1 << 60)),
        {"needs_you": []},
    ]
    for keys in values:
        with case(keys):
            write_status(COUNTS, NOW_MS)
            changed(home, **keys)
            assert read_status(NOW_MS) is None
    write_status(COUNTS, NOW_MS)
    kept = json.loads(status_path().read_text())
    del kept["quiet"]
    contents = (b"", b"{", b"[]", b"null", b"[" * 4000, b"\xff", b"{}", b" " * 5000 + b"{}")
    for data in (json.dumps(kept).encode(), *contents):
        with case(f"{data!r:.40}"):
            status_path().write_bytes(data)
            assert read_status(NOW_MS) is None
    # A link, a FIFO, a folder or a device in the place of the file delays nothing.
    write_status(COUNTS, NOW_MS)
    path = status_path().rename(tmp_path / "elsewhere")
    for target in (path, "/dev/zero"):
        status_path().symlink_to(target)
        assert read_status(NOW_MS) is None
        status_path().unlink()
    for make in (os.mkfifo, os.mkdir):
        make(status_path())
        assert read_status(NOW_MS) is None
        status_path().unlink() if make is os.mkfifo else status_path().rmdir()


@pytest.mark.slow
def test_counts_of_a_dead_process_are_not_read(home: Path) -> None:
    """The counts of a list that was closed or killed are not used."""
    write_status(COUNTS, NOW_MS)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    changed(home, pid=ended.pid)
    assert read_status(NOW_MS) is None


def test_a_folder_that_cannot_be_written_is_no_error(home: Path) -> None:
    """An open list goes on if its counts cannot be written, and leaves no file behind."""
    home.write_bytes(b"")
    write_status(COUNTS, NOW_MS)
    assert read_status(NOW_MS) is None
    home.unlink()
    status_path().mkdir(parents=True)  # nothing can replace a folder
    write_status(COUNTS, NOW_MS)
    assert [path.name for path in home.iterdir()] == ["status.json"]


ASKS, WORKS = row(State.ASKS), row(State.WORKING)


def test_counts_are_written_at_once_and_then_within_a_second() -> None:
    """A change is written after a second at most, and not more often; the first at once."""
    assert Publisher().publish({ASKS.key: ASKS}, NOW_MS)
    assert read_status(NOW_MS) == StatusCounts(needs_you=1)
    publisher, before, after = Publisher(), {ASKS.key: ASKS}, {WORKS.key: WORKS}
    publisher.publish(before, NOW_MS)
    assert not publisher.publish(after, NOW_MS + 999)
    assert read_status(NOW_MS) == StatusCounts(needs_you=1)
    assert publisher.publish(after, NOW_MS + 1000)
    assert read_status(NOW_MS + 1000) == StatusCounts(working=1)
    # Counts that do not change are fresh at any time, although rows change and they are written rarely.
    publisher, rows = Publisher(), {ASKS.key: ASKS}
    written = sum(publisher.publish(dict(rows), NOW_MS + late) for late in range(0, 60_000, 250))
    assert written == 60_000 // (FRESH_MS // 2)
    assert read_status(NOW_MS + 59_750) == StatusCounts(needs_you=1)
    # Counts with a time in the future are replaced.
    publisher, rows = Publisher(), {ASKS.key: ASKS}
    publisher.publish(rows, NOW_MS + 3_600_000)
    assert publisher.publish(rows, NOW_MS)
    assert read_status(NOW_MS) == StatusCounts(needs_you=1)


def test_the_limits_are_written_with_the_counts() -> None:
    """Limits that change are written although the counts are the same, and so is their age."""
    publisher, window = Publisher(), Reported("5h", 62.0, None, NOW_MS)
    rows = {ASKS.key: ASKS}
    publisher.publish(rows, NOW_MS)
    assert read_limits(NOW_MS) == ""
    limited = {ASKS.key: ASKS._replace(limits=(window,))}
    assert publisher.publish(limited, NOW_MS + 1000)
    assert read_limits(NOW_MS + 1000) == "claude 5 h 62 %"
    assert publisher.publish(limited, NOW_MS + 120_000)
    assert read_limits(NOW_MS + 120_000) == "claude 5 h 62 % · 2 min ago"
