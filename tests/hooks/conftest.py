"""Fixtures for the tests of hooks."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """Return the home folder of a user who has started all agents."""
    folder = tmp_path / "user"
    for name in (".codex", ".gemini", ".cursor"):
        (folder / name).mkdir(parents=True)
    return folder
