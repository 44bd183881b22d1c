"""Fixtures for all tests: a private home folder, and an environment without CI and colour variables."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.feed import Feed
from agentwatch.recording import open_saved
from agentwatch.session import Session

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "recordings"
SHARED = ROOT.parent / "shared" / "recordings"
Saver = Callable[..., Path]
"""The type of the fixture `recording`: a function that saves lines as a recording and returns its path."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep saved sessions out of the user's own folder, and return the folder used instead."""
    folder = tmp_path / "home"
    monkeypatch.setenv("AGENTWATCH_HOME", str(folder))
    monkeypatch.setenv("AGENTWATCH_CONFIG", os.devnull)
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def session_of(tmp_path: Path) -> Callable[[bytes], Session]:
    """Return a function that reads a recording with these bytes into a session."""

    def read(data: bytes) -> Session:
        path = tmp_path / "case.ndjson"
        path.write_bytes(data)
        feed = Feed(open_saved(path))
        feed.advance()
        return feed.session

    return read


@pytest.fixture
def recording(tmp_path: Path) -> Saver:
    """Return a function that saves these lines as a recording and returns its path."""

    def save(*lines: bytes) -> Path:
        path = tmp_path / "session.ndjson"
        path.write_bytes(b"".join(lines))
        return path

    return save
