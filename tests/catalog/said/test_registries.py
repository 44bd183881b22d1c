"""What all agents say is brought together."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from agentwatch.agents.found import Key
from agentwatch.agents.reported import Life, State
from agentwatch.catalog.reports import Registries
from agentwatch.sources.proc import Proc


def claude_record(folder: Path, session_id: str) -> None:
    """Write a record of this process into a folder of Claude Code."""
    stat = Proc().stat(os.getpid())
    assert stat is not None
    (folder / "sessions").mkdir(parents=True)
    record = {"sessionId": session_id, "procStart": str(stat.began), "status": "busy"}
    (folder / "sessions" / f"{os.getpid()}.json").write_text(json.dumps(record))


def hook(own: Path, agent: str, session_id: str, event: str) -> None:
    """Write the log of a hook."""
    path = own / "hooks" / agent / f"{session_id}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"event": event, "at_ms": 7}) + "\n")


def test_all_agents_are_read_below_the_home_folder(tmp_path: Path) -> None:
    """Claude Code, Codex, Copilot, hooks and own recordings are read where they are by default."""
    home, own = tmp_path / "dev", tmp_path / "own"
    claude_record(home / ".claude", "c")
    hook(own, "gemini", "g", "stop")
    for folder in (".codex/thread-writer-locks", ".copilot/session-state/p"):
        (home / folder).mkdir(parents=True)
    (home / f".copilot/session-state/p/inuse.{os.getpid()}.lock").touch()
    (own / "sessions").mkdir(parents=True)
    registries = Registries({"AGENTWATCH_HOME": str(own)}, home)
    with (
        open(home / ".codex/thread-writer-locks/x.lock", "w") as lock,
        open(own / "sessions/r.ndjson", "w") as recording,
    ):
        for file in (lock, recording):
            fcntl.flock(file, fcntl.LOCK_EX)
        assert registries.refresh(1.0)
        assert {key: said.life for key, said in registries.said.items()} == {
            ("claude", "c"): Life.LIVE,
            ("codex", "x"): Life.LIVE,
            ("copilot", "p"): Life.LIVE,
            ("agentwatch", "r"): Life.LIVE,
            ("gemini", "g"): Life.UNKNOWN,
        }
        assert registries.exact == {"codex"}
        said = registries.said
        assert not registries.refresh(1.1)
        assert registries.said is said


def test_variables_move_the_folders(tmp_path: Path) -> None:
    """A folder that the environment names is read beside the default one; a relative path is not."""
    home = tmp_path / "dev"
    claude_record(home / ".claude", "old")
    claude_record(tmp_path / "moved", "new")
    environ = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "moved"),
        "CODEX_HOME": "relative",
        "AGENTWATCH_HOME": str(tmp_path),
    }
    registries = Registries(environ, home)
    registries.refresh(1.0)
    assert registries.said.keys() == {("claude", "old"), ("claude", "new")}
    assert registries.exact == frozenset()


def test_a_hook_adds_what_the_agent_does_not_say(tmp_path: Path) -> None:
    """A hook of Codex says the state of a loaded session; a record of Claude Code needs no hook."""
    home = tmp_path / "dev"
    claude_record(home / ".claude", "c")
    (home / ".codex/thread-writer-locks").mkdir(parents=True)
    hook(tmp_path, "codex", "x", "PermissionRequest")
    hook(tmp_path, "claude", "c", "PermissionRequest")
    registries = Registries({"AGENTWATCH_HOME": str(tmp_path)}, home)
    with open(home / ".codex/thread-writer-locks/x.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        registries.refresh(1.0)
    codex, claude = registries.said["codex", "x"], registries.said["claude", "c"]
    assert (codex.life, codex.pid, codex.state, codex.since_ms, codex.about) == (
        Life.LIVE,
        os.getpid(),
        State.ASKS,
        7,
        "permission",
    )
    assert claude.state is State.WORKING


def test_files_of_other_users_are_not_read(tmp_path: Path) -> None:
    """A record that belongs to another user says nothing."""
    claude_record(tmp_path / ".claude", "c")
    registries = Registries({"AGENTWATCH_HOME": str(tmp_path)}, tmp_path, uid=os.geteuid() + 1)
    assert not registries.refresh(1.0)
    assert registries.said == {}


def test_own_recordings_lie_in_the_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the variable, the recordings are where `run` saves them."""
    monkeypatch.delenv("AGENTWATCH_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    registries = Registries({}, tmp_path)
    folder = registries._own._folder
    assert folder.is_relative_to(tmp_path)
    folder.mkdir(parents=True)
    with open(folder / "r.ndjson", "w") as recording:
        fcntl.flock(recording, fcntl.LOCK_EX)
        registries.refresh(1.0)
    assert registries.said.keys() == {("agentwatch", "r")}


def test_what_cannot_be_read_is_a_problem_until_all_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at chosen sessions, which does not read the file, leaves the problem."""
    claude_record(tmp_path / ".claude", "c")
    registries = Registries({"AGENTWATCH_HOME": str(tmp_path / "own")}, tmp_path)
    with monkeypatch.context() as damaged:

        def fail(*_: object) -> None:
            raise ZeroDivisionError

        damaged.setattr("agentwatch.agents.claude.reported.own_object", fail)
        for keys in (None, frozenset[Key]()):
            registries.refresh(1.0, keys)
            assert [*registries.problems] == [tmp_path / ".claude/sessions"]
    registries.refresh(2.0)
    assert registries.problems == {}
    assert ("claude", "c") in registries.said
