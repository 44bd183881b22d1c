"""Saved sessions are listed with time, outcome and prompt, newest first, and made safe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentwatch.feed.catalog import saved_sessions
from tests.builders.late_agent import ASKED, LATE_START, add_late_agent
from tests.builders.lines import init, line
from tests.conftest import RECORDINGS
from tests.harness.program import FAILED, PLAIN, watch


def test_sessions_are_listed_newest_first(home: Path) -> None:
    """Each saved session is listed with its time, outcome and prompt, the newest first."""
    assert watch("sessions").stdout == b""
    folder = home / "sessions"
    folder.mkdir(parents=True)
    for stem, path in (("20260102-030405-aaaaaa", FAILED), ("20261120-140307-bbbbbb", PLAIN)):
        (folder / f"{stem}.ndjson").write_bytes(path.read_bytes())
    (folder / "20260601-000000-cccccc.ndjson").write_bytes(init() + line({"type": "user", "message": {}}))
    done = watch("sessions")
    assert (done.returncode, done.stderr) == (0, b"")
    listing = done.stdout.decode()
    stems = re.findall(r"(\d{8}-\d{6}-\w{6})\.ndjson", listing)
    assert stems == ["20261120-140307-bbbbbb", "20260601-000000-cccccc", "20260102-030405-aaaaaa"]
    newest = listing.partition("20261120-140307")[0]
    assert "2026-11-20 14:03:07" in newest
    assert "succeeded" in newest
    assert "Raise the request timeout in settings.py to 45 seconds." in newest
    assert "unfinished" in listing
    assert "failed" in listing


def test_a_listing_is_safe(home: Path) -> None:
    """A hostile prompt does not act on the terminal on which the sessions are listed."""
    folder = home / "sessions"
    folder.mkdir(parents=True)
    (folder / "20260102-030405-aaaaaa.ndjson").write_bytes((RECORDINGS / "hostile.ndjson").read_bytes())
    listing = watch("sessions").stdout.decode()
    assert len(listing.splitlines()) == 2
    assert "\x1b" not in listing


def test_a_prompt_before_the_agent_is_known_is_listed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt of a format that is recognised by a later line is the prompt of its session."""
    add_late_agent(monkeypatch)
    folder = home / "sessions"
    folder.mkdir(parents=True)
    (folder / "20260102-030405-aaaaaa.ndjson").write_bytes(ASKED + LATE_START)
    assert [session.prompt for session in saved_sessions()] == ["Do it."]
