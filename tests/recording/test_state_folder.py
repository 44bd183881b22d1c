"""The state folder is the one that the environment names, or else the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.base.files import state_folder
from agentwatch.recording.store import sessions_folder


def test_the_environment_names_the_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """AGENTWATCH_HOME is the folder; without it, or if it is empty, the user's state folder has one."""
    assert state_folder() == home
    assert sessions_folder() == home / "sessions"
    assert state_folder({"AGENTWATCH_HOME": "/x"}) == Path("/x")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder({"AGENTWATCH_HOME": ""}).name == "agentwatch"
