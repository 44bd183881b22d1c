"""A session is loaded as a whole, and summarised as the command line does it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import agentwatch
from agentwatch.machine.found import Reach
from agentwatch.machine.places import Places
from tests.builders.machine.fake import fake_machine
from tests.conftest import RECORDINGS, Saver
from tests.harness.program import watch

EVERY = sorted(RECORDINGS.glob("*.ndjson"))


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_the_summary_is_that_of_the_command_line(path: Path) -> None:
    """`summary` returns what `--output-format summary` prints."""
    done = watch(str(path), "--print", "--output-format", "summary")
    assert agentwatch.summary(path) == json.loads(done.stdout)


def test_a_loaded_session_is_over() -> None:
    """Calls that never ended are unfinished, and so is the run."""
    session = agentwatch.load(RECORDINGS / "unfinished.ndjson")
    assert session.is_closed
    assert session.outcome is agentwatch.Outcome.UNFINISHED
    assert agentwatch.Outcome.UNFINISHED in {call.outcome for call in session.calls}


def test_lines_of_no_known_agent_are_a_session_without_a_format(recording: Saver) -> None:
    """A file that no known agent wrote can be loaded: its format and its outcome are None."""
    session = agentwatch.load(recording(b'{"level":"info"}\n', b"plain text\n"))
    assert (session.format, session.outcome, session.lines.unknown, session.lines.malformed) == (
        None,
        None,
        1,
        1,
    )


def test_the_sessions_of_all_agents_are_loaded(tmp_path: Path) -> None:
    """What agents keep on disk is loaded: lines, JSON documents and rows of a database."""
    machine = fake_machine(tmp_path)
    found = Places(machine.environ, machine.home, os.geteuid()).first()
    paths = [each.path for batch in found for each in batch if each.reach is not Reach.LISTED]
    formats = {agentwatch.load(path).format for path in paths}
    assert formats >= {"claude-transcript", "codex-rollout", "copilot", "cursor", "cursor-transcript"}
    assert formats >= {"gemini-chat", "opencode", "pi-session", "qwen-chat"}
    assert {path.suffix for path in paths} >= {".jsonl", ".json"}
    assert any(path.parent.suffix == ".db" for path in paths)
