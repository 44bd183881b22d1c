"""The digests of real sessions on disk agree with the full sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.on_disk.digested import digest_of, facts_of_digest, facts_of_session, session_of
from tests.conftest import SHARED

FOLDERS = {
    "claude-transcript": "claude",
    "codex-rollout": "codex",
    "gemini-chat": "gemini",
    "qwen-chat": "qwen",
    "pi-session": "pi",
    "copilot-events": "copilot",
    "cursor-transcript": "cursor",
}
CAPTURES = [
    pytest.param(path, agent, id=f"{folder}-{path.stem[-16:]}-{number}")
    for folder, agent in FOLDERS.items()
    for root in ("disk", "agents")
    for number, path in enumerate(sorted((SHARED / root / folder).rglob("*.jsonl")))
]
WITHOUT_TIMES = "cursor"
"""The agent whose lines have no times: its digest has those of the file."""
pytestmark = pytest.mark.skipif(not CAPTURES, reason="the captures are not here")


@pytest.mark.parametrize(("path", "agent"), CAPTURES)
def test_the_digest_of_a_capture_agrees_with_its_session(path: Path, agent: str, tmp_path: Path) -> None:
    """Counts, outcome, prompts, model, folder, branch and title are those of the full session."""
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    session = session_of(path.read_bytes().splitlines(keepends=True), agent)
    digest = digest_of(copy, agent)
    assert digest.is_whole
    expected = facts_of_session(session)
    if agent == WITHOUT_TIMES:
        expected["seen"] = copy.stat().st_mtime_ns // 10**6
    assert facts_of_digest(digest) == expected
