"""In these tests, recordings of any size have an index."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.feed import checkpoints
from agentwatch.feed.index import index
from tests.builders.lines import completed, init, result, started, user
from tests.builders.moment.indexed import is_restored, write_index


@pytest.fixture(autouse=True)
def small_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep an index of small recordings too, with a checkpoint every 512 bytes."""
    monkeypatch.setattr(index, "LEAST_BYTES", 0)
    monkeypatch.setattr(checkpoints, "_LEAST_BYTES", 512)
    monkeypatch.setattr(checkpoints, "_STATE_SHARE", 0)


def session_lines() -> list[bytes]:
    """Return the lines of a session of 200 calls."""
    calls = [
        line
        for number in range(200)
        for line in (
            started("read", f"c{number}", path=f"{number}.py"),
            completed("read", f"c{number}", {"success": {"content": "x"}}, path=f"{number}.py"),
        )
    ]
    return [init(), user("Read."), *calls, result("Done.")]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Return the path of a recording that has an index."""
    path = tmp_path / "work" / "r.ndjson"
    path.parent.mkdir()
    path.write_bytes(b"".join(session_lines()))
    write_index(path)
    assert is_restored(path)
    return path
