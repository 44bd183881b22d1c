"""The fixture that the tests of digests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.on_disk import transcript as claude
from tests.catalog.digest.growing import jsonl


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a session with one prompt."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(jsonl(claude.user("Fix it")))
    return path
