"""What all agents say is brought together."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.agents.description_files import own_files, stamp_of
from agentwatch.agents.places import Stamp
from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import Life, State
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.reports import Registries
from agentwatch.catalog.session_status import Ground
from agentwatch.catalog.status import counted, looked
from agentwatch.sources.proc import Proc
from tests.builders.machine.fake import save
from tests.builders.machine.made import Story, id_of
from tests.conftest import case
from tests.harness.codex_server import APPROVAL, BROKEN, IDLE, WORKS, codex_server


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
        assert {key: reported.life for key, reported in registries.reported.items()} == {
            ("claude", "c"): Life.LIVE,
            ("codex", "x"): Life.LIVE,
            ("copilot", "p"): Life.LIVE,
            ("agentwatch", "r"): Life.LIVE,
            ("gemini", "g"): Life.UNKNOWN,
        }
        assert registries.exact == {"codex"}
        reported = registries.reported
        assert not registries.refresh(1.1)
        assert registries.reported is reported


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
    assert registries.reported.keys() == {("claude", "old"), ("claude", "new")}
    assert registries.exact == frozenset()
    # A record that belongs to another user says nothing.
    registries = Registries(environ, home, uid=os.geteuid() + 1)
    assert not registries.refresh(1.0)
    assert registries.reported == {}


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
    codex, claude = registries.reported["codex", "x"], registries.reported["claude", "c"]
    assert (codex.life, codex.pid, codex.state, codex.since_ms, codex.about) == (
        Life.LIVE,
        os.getpid(),
        State.ASKS,
        7,
        "permission",
    )
    assert claude.state is State.WORKING


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
    assert registries.reported.keys() == {("agentwatch", "r")}


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
    assert ("claude", "c") in registries.reported


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
                    found = machine.rows["codex", story.id].status
                    assert (found.state, found.ground) == (state, ground)
                    if state is State.ASKS:
                        assert found.now == "exec_command pytest -q"
                        assert found.since_ms == story.ended_ms
                registries = Registries(environ, tmp_path)
                registries.refresh(now_s)
                totals = counted([*registries.reported.values()], {}, int(now_s * 1000))
                assert totals._asdict().items() >= counts.items()


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


UID = os.geteuid()


def names(folder: Path) -> list[str]:
    """Return the names of the files that are found."""
    return sorted(name for name, _ in own_files(folder, UID, lambda name: name != "b"))


def test_only_wanted_regular_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders, links, files that are not wanted and files that vanish are left out."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert names(tmp_path) == ["a"]
    assert names(tmp_path / "a") == []
    assert stamp_of(tmp_path / "link", UID) is None
    assert stamp_of(tmp_path / "none", UID) is None
    assert stamp_of(tmp_path / "a", UID + 1) is None
    state = stamp_of(tmp_path / "a", UID)
    assert state is not None
    assert state.size == 1

    @contextmanager
    def gone(folder: Path) -> Iterator[Iterator[_Gone]]:
        yield iter([_Gone()])

    monkeypatch.setattr(os, "scandir", gone)
    assert names(tmp_path) == []


class _Gone:
    """An entry of a folder whose file was removed."""

    name = "a"

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        """Fail as the system does."""
        raise FileNotFoundError(self.name)


def test_a_fresh_file_may_change_unseen() -> None:
    """Until its time has passed, a file may change without a change of its time; the future is past too."""
    for age_ns, is_settled in ((10**9, True), (0, False), (-(10**10), True)):
        with case(age_ns):
            assert Stamp(1, time.time_ns() - age_ns, 1).is_settled is is_settled
