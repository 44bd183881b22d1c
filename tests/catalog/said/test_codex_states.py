"""The list, `sessions --json` and `status` show the states that the server of Codex reports."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path

import pytest

from agentwatch.agents.reported import State
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.reports import Registries
from agentwatch.catalog.standing import Ground
from agentwatch.catalog.status.look import counted, looked
from tests.builders.machine.fake import save
from tests.builders.machine.made import Story, id_of
from tests.conftest import case
from tests.harness.codex_server import APPROVAL, BROKEN, IDLE, WORKS, codex_server


def test_all_views_show_what_the_server_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question has the words of the open call; what the server does not say is inferred as before."""
    monkeypatch.setattr("agentwatch.agents.codex.server._MOST_SECONDS", 10.0)
    monkeypatch.setattr("agentwatch.agents.codex.server._TIMES_AS_LONG", 0)
    now_s = time.time()
    story = Story(id_of(1), str(tmp_path), "Run the tests", int(now_s * 1000) - 60_000, is_open=True)
    save(tmp_path, "codex", story)
    locks, environ = tmp_path / ".codex/thread-writer-locks", {"AGENTWATCH_HOME": str(tmp_path / "own")}
    locks.mkdir()
    watched = Machine(environ, tmp_path, clock=lambda: now_s)
    with (
        open(locks / f"{story.id}.lock", "w") as lock,
        codex_server(tmp_path / ".codex", {story.id: APPROVAL}) as server,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        for status, state, ground, counts in (
            (APPROVAL, State.ASKS, Ground.SAID, {"needs_you": 1}),
            (WORKS, State.WORKING, Ground.SAID, {"working": 1}),
            (IDLE, State.YOUR_TURN, Ground.SAID, {"your_turn": 1}),
            (BROKEN, State.TURN_FAILED, Ground.SAID, {"failed": 1}),
            ({"type": "new"}, State.WORKING, Ground.INFERRED, {"unknown": 1}),
        ):
            server.threads[story.id]["status"] = status
            now_s += 3
            with case(status):
                for machine in (watched, Machine(environ, tmp_path)):
                    machine.settle(int(now_s * 1000))
                    standing = machine.rows["codex", story.id].standing
                    assert (standing.state, standing.ground) == (state, ground)
                    if state is State.ASKS:
                        assert standing.now == "exec_command pytest -q"
                        assert standing.since_ms == story.ended_ms
                registries = Registries(environ, tmp_path)
                registries.refresh(now_s)
                found = counted([*registries.said.values()], {}, int(now_s * 1000))
                assert found._asdict().items() >= counts.items()


def test_status_asks_the_server_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where reports do not decide, the list takes them as they were read, also without a file."""
    monkeypatch.setattr("agentwatch.agents.codex.server._MOST_SECONDS", 10.0)
    user = home.parent / "user"
    story = Story(id_of(1), str(user), "Run the tests", int(time.time() * 1000) - 60_000, is_open=True)
    save(user, "codex", story)
    locks, new = user / ".codex/thread-writer-locks", id_of(2)
    locks.mkdir()
    with (
        open(locks / f"{story.id}.lock", "w") as lock,
        open(locks / f"{new}.lock", "w") as other_lock,
        codex_server(user / ".codex", {story.id: IDLE, new: APPROVAL}) as server,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.flock(other_lock, fcntl.LOCK_EX)
        for number, has_limits in enumerate((False, True), 1):
            with case(has_limits):
                counts = looked(most_seconds=20, has_limits=has_limits).counts
                assert (counts.needs_you, counts.your_turn) == (1, 1)
                assert server.clients == number
