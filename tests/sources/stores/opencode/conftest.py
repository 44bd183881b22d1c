"""Fixtures for the tests of opencode's stored sessions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.agents.opencode import store
from tests.sources.stores.opencode.written_database import OpencodeDatabase


@pytest.fixture
def database(tmp_path: Path) -> Iterator[OpencodeDatabase]:
    """Return an empty database in the mode of a write-ahead log, which opencode has open."""
    made = OpencodeDatabase(tmp_path / "opencode.db")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a followed store be asked as often as it is polled."""
    monkeypatch.setattr(store, "_POLL_SECONDS", 0.0)
