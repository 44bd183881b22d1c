"""Bookmarks are kept beside a recording that has a name."""

from __future__ import annotations

import json
import os
from pathlib import Path

from agentwatch.agents.opening import saved_source
from agentwatch.sources.open import KeepOptions, agent_source, pipe_source
from tests.conftest import RECORDINGS

STORED = {"sessionId": "s", "projectHash": "p", "startTime": "2026-11-20T14:03:07Z", "messages": []}


def test_a_saved_recording_has_them_beside_it(tmp_path: Path) -> None:
    """The file of a recording has its stem."""
    path = tmp_path / "s.ndjson"
    path.write_bytes((RECORDINGS / "plain.ndjson").read_bytes())
    source = saved_source(path)
    assert source.bookmarks_path == tmp_path / "s.bookmarks.json"
    os.close(source.reader.fd)


def test_a_pipe_has_them_beside_its_recording(tmp_path: Path) -> None:
    """Without a recording that is kept, there is no place for them."""
    for keep, path in (
        (KeepOptions(recording=tmp_path / "r.ndjson", write_log=False), tmp_path / "r.bookmarks.json"),
        (KeepOptions(record=False, write_log=False), None),
    ):
        read_fd, write_fd = os.pipe()
        os.close(write_fd)
        source = pipe_source(read_fd, keep)
        assert source.bookmarks_path == path
        source.finish()


def test_an_agent_has_them_beside_its_recording(tmp_path: Path) -> None:
    """The same holds under `run`."""
    source = agent_source(["true"], KeepOptions(recording=tmp_path / "r.ndjson", write_log=False))
    assert source.bookmarks_path == tmp_path / "r.bookmarks.json"
    source.stop()
    source.finish()


def test_a_session_in_a_store_has_no_place_for_them(tmp_path: Path) -> None:
    """Its recording has no name: its offsets mean nothing in the files of the other program."""
    path = tmp_path / "chats" / "session-2026-11-20T14-03-1.json"
    path.parent.mkdir()
    path.write_text(json.dumps(STORED))
    source = saved_source(path)
    assert source.bookmarks_path is None
    source.close()
