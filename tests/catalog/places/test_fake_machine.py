"""The machine that other tests build is one that agents could have written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.session.session import Session
from tests.builders.machine.fake import AGENTS, NEWEST_MS, fake_machine


@pytest.mark.parametrize("agent", sorted({*AGENTS}))
def test_a_made_session_is_read_as_its_agents(
    agent: str, tmp_path: Path, opened_session: Callable[[Path], Session]
) -> None:
    """A made session is recognised, has its id, its prompt and its one call, which ended well."""
    machine = fake_machine(tmp_path, len(AGENTS), with_captures=False)
    ((_, name), path), *_ = (item for item in machine.made.items() if item[0][0] == agent)
    session = opened_session(path)
    assert session.agent_name == agent
    assert [run.session_id for run in session.runs] == [name]
    assert [call.target for call in session.calls] == ["pytest -q"]
    assert not session.open_calls
    assert not session.lines.malformed


@pytest.mark.parametrize("agent", sorted({*AGENTS} - {"gemini"}))
def test_the_newest_made_sessions_may_have_an_open_call(
    agent: str, tmp_path: Path, opened_session: Callable[[Path], Session]
) -> None:
    """A made session may end while its call is open; Gemini writes a call when it has ended."""
    machine = fake_machine(tmp_path, len(AGENTS), open_calls=len(AGENTS), with_captures=False)
    (path, *_) = (path for (name, _), path in machine.made.items() if name == agent)
    assert opened_session(path).never_completed == 1


def test_the_machine_lies_in_its_folder(tmp_path: Path) -> None:
    """All files are below the home folder, with the times of their last lines."""
    machine = fake_machine(tmp_path / "new", 30)
    assert all(path.is_relative_to(machine.home) for path in machine.sessions.values())
    assert len(machine.sessions) == len(machine.captured) + 30
    assert next(iter(machine.made.values())).stat().st_mtime_ns == NEWEST_MS * 10**6
