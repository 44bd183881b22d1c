"""A source that is closed leaves no descriptor and no thread behind."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.feed.feed import Feed
from agentwatch.recording.write_lock import hold
from tests.builders.machine.app import descriptors
from tests.conftest import RECORDINGS

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")


def stores() -> list[threading.Thread]:
    """Return the threads that read a store."""
    return [thread for thread in threading.enumerate() if thread.name == "store"]


def test_a_recording_is_closed_with_the_stderr_beside_it(tmp_path: Path) -> None:
    """Both files are closed, while the recording is still followed."""
    path = tmp_path / "session.ndjson"
    shutil.copy(RECORDINGS / "plain.ndjson", path)
    path.with_suffix(".stderr").write_text("a warning\n")
    described = {"command": ["agent"], "pid": 1, "started_ms": 1, "exit_code": None}
    path.with_suffix(".json").write_text(json.dumps(described))
    with path.open("ab") as writer:
        hold(writer.fileno())
        before = descriptors()
        source = saved_source(path, None)
        assert not source.reader.growth.has_ended()
        assert source.new_stderr() == ["a warning"]
        Feed(source.reader).advance()
        assert len(descriptors()) == len(before) + 2
        source.close()
        assert descriptors() == before
        assert source.reader.growth.has_ended()


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a session of Claude Code that may get subagents."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    path = tmp_path / "projects" / "-src" / "0f4c2b7e-1111-4222-8333-444455556666.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"type":"user","sessionId":"x","message":{"role":"user","content":"go on"}}\n')
    return path


def test_a_store_that_is_followed_is_closed(claude: Path) -> None:
    """The thread that reads it has ended when `close` returns, and its files are closed."""
    before = descriptors()
    source = saved_source(claude, None, follow_store=True)
    assert len(stores()) == 1
    Feed(source.reader).advance()
    source.close()
    assert stores() == []
    assert descriptors() == before


def test_a_store_that_was_read_whole_is_closed(claude: Path) -> None:
    """Without a thread, only the recording is left to close."""
    before = descriptors()
    source = saved_source(claude, False)
    assert stores() == []
    source.close()
    assert descriptors() == before
