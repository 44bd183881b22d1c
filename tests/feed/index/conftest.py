"""In these tests, recordings of any size have an index."""

from __future__ import annotations

import pytest

from agentwatch.feed import checkpoints
from agentwatch.feed.index import index


@pytest.fixture(autouse=True)
def small_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep an index of small recordings too, with a checkpoint every 512 bytes."""
    monkeypatch.setattr(index, "LEAST_BYTES", 0)
    monkeypatch.setattr(checkpoints, "_LEAST_BYTES", 512)
    monkeypatch.setattr(checkpoints, "_STATE_SHARE", 0)
