"""What all agents say is brought together."""

import errno
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
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog import reports
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.quick_look import counted, looked
from agentwatch.catalog.reports import HookLogs, OwnRecordings, Registries
from agentwatch.catalog.session_status import Ground
from agentwatch.recording.store import open_regular
from agentwatch.sources.proc import Proc
from tests.builders.machine.fake import save
from tests.builders.machine.made import Story, id_of
from tests.catalog.started_agents import started
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


# The last lines of a hook's log say what the agent does.


class Logs:
    """A folder of logs, and its reader."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reader = HookLogs(folder, os.geteuid())
        self.now = 1.0

    def log(self, session_id: str, *events: str, agent: str = "codex") -> Path:
        """Append events to the log of a session, 1 ms after each other from the count of its lines on."""
        path = self.folder / agent / f"{session_id}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        first = path.read_bytes().count(b"\n") if path.exists() else 0
        with path.open("a") as file:
            for at_ms, event in enumerate(events, first):
                file.write(json.dumps({"event": event, "tool": "shell", "at_ms": at_ms}) + "\n")
        return path

    def reported(self, after: float = 0.5) -> dict[str, StateReport]:
        """Return what is said half a second later, by the session's id."""
        self.now += after
        self.reader.refresh(self.now)
        return {key[1]: reported for key, reported in self.reader.reported.items()}


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    """Return an empty folder of logs."""
    return Logs(tmp_path / "hooks")


def test_each_event_is_a_state(tmp_path: Path) -> None:
    """The last event says the state, but not that the agent still runs."""
    states = {
        "PermissionRequest": (State.ASKS, "permission"),
        "UserPromptSubmit": (State.WORKING, ""),
        "PreToolUse": (State.WORKING, ""),
        "PostToolUse": (State.WORKING, ""),
        "beforeShellExecution": (State.WORKING, ""),
        "Stop": (State.YOUR_TURN, ""),
        "stop": (State.YOUR_TURN, ""),
    }
    for number, (event, expected) in enumerate(states.items()):
        with case(event):
            logs = Logs(tmp_path / f"{number}")
            logs.log("a", "UserPromptSubmit", "Stop", "PreToolUse", "SessionStart")
            logs.log("a", event)
            reported = logs.reported()["a"]
            assert (reported.agent, reported.life, reported.pid) == ("codex", Life.UNKNOWN, None)
            assert (reported.state, reported.about) == expected


def test_a_state_began_with_its_first_event(logs: Logs) -> None:
    """Tools that follow each other do not begin a new state, nor does the end of a session."""
    logs.log("a", "Stop", "UserPromptSubmit", "PreToolUse", "Notification", "PostToolUse")
    assert logs.reported()["a"].since_ms == 1
    logs.log("a", "PermissionRequest")
    assert logs.reported()["a"].since_ms == 5
    for event in ("SessionEnd", "sessionEnd"):
        logs.log("a", "stop", event)
        assert logs.reported()["a"].state is State.YOUR_TURN
        since_ms = logs.reported()["a"].since_ms
        logs.log("a", event)
        assert logs.reported()["a"].since_ms == since_ms


def test_only_what_has_changed_is_read(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that has not changed is not opened again."""
    logs.log("a", "UserPromptSubmit")
    logs.log("b", "UserPromptSubmit", agent="gemini")
    assert logs.reported().keys() == {"a", "b"}
    opened: list[Path] = []
    original = open_regular

    def noted(path: Path) -> int:
        opened.append(path)
        return original(path)

    monkeypatch.setattr(reports, "open_regular", noted)
    assert not logs.reader.refresh(logs.now + 0.5)
    assert not logs.reader.refresh(logs.now + 20)
    assert opened == []
    path = logs.log("b", "afterAgent", agent="gemini")
    assert logs.reported()["b"].state is State.YOUR_TURN
    assert opened == [path]


def test_new_and_removed_logs_are_found(logs: Logs) -> None:
    """A log that is new or removed is found in the next full reading."""
    assert logs.reported() == {}
    path = logs.log("a", "UserPromptSubmit")
    assert logs.reported() == {}
    assert logs.reported(5.0).keys() == {"a"}
    path.unlink()
    assert logs.reported(5.1) == {}


def test_only_the_end_of_a_log_is_read(logs: Logs) -> None:
    """Of a long log the last 4 KiB count, without a line that is cut or not complete yet."""
    path = logs.log("a", "PermissionRequest", *["UserPromptSubmit"] * 1000)
    with path.open("a") as file:
        file.write('{"event":"PermissionRequest","at_ms":1')
    reported = logs.reported()["a"]
    assert reported.state is State.WORKING
    assert reported.since_ms is not None
    assert reported.since_ms > 900


def test_strange_lines_say_nothing(tmp_path: Path) -> None:
    """A line that is not an event is left out; an invalid time is unknown."""
    events = (
        "",
        "x",
        "[]",
        "7",
        '{"event":7}',
        '{"event":null}',
        '{"at_ms":1}',
        '{"event":{"a":[]}}',
        "\xff",
    )
    for number, line in enumerate(events):
        with case(line):
            logs = Logs(tmp_path / f"{number}")
            path = logs.log("a", "Stop")
            with path.open("ab") as file:
                file.write(line.encode("latin-1") + b"\n")
            assert logs.reported()["a"].state is State.YOUR_TURN
            with path.open("a") as file:
                file.write('{"event":"PreToolUse","at_ms":[]}\n')
            reported = logs.reported()["a"]
            assert (reported.state, reported.since_ms) == (State.WORKING, None)


def test_no_link_is_followed(logs: Logs) -> None:
    """Links and other files than logs are not read."""
    logs.log("a", "Stop")
    (logs.folder / "codex" / "link.log").symlink_to(logs.folder / "codex" / "a.log")
    (logs.folder / "linked").symlink_to(logs.folder / "codex")
    (logs.folder / "codex" / "notes.txt").touch()
    (logs.folder / "file").touch()
    os.mkfifo(logs.folder / "codex" / "fifo.log")
    assert logs.reported().keys() == {"a"}


def test_a_log_that_vanishes_while_it_is_read(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that cannot be opened or read says nothing."""
    logs.log("a", "Stop")

    def gone(path: Path) -> int:
        raise FileNotFoundError(path)

    monkeypatch.setattr(reports, "open_regular", gone)
    assert logs.reported() == {}
    monkeypatch.setattr(reports, "open_regular", lambda path: os.open(path.parent, os.O_RDONLY))
    logs.log("a", "Stop")
    assert logs.reported() == {}


def test_the_logs_that_changed_last_count(logs: Logs) -> None:
    """At most 256 logs are read, the newest."""
    for number in range(260):
        path = logs.log(f"s{number}", "Stop")
        os.utime(path, (number, number))
    assert list(logs.reported()) == [f"s{number}" for number in range(259, 3, -1)]


# The own recordings that are being written are known exactly.

LIVE_AGENT: dict[str, object] = {"command": ["claude"], "cwd": "/repo", "ended_ms": None, "exit_code": None}


class Recordings:
    """A folder of recordings, and its reader."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reader = OwnRecordings(folder, os.geteuid())
        self.now = 1.0

    def record(self, stem: str, **process: object) -> Path:
        """Create a recording; with fields, also the file that describes its process."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{stem}.ndjson"
        path.touch()
        if process:
            path.with_suffix(".json").write_text(json.dumps({**LIVE_AGENT, **process}))
        return path

    def reported(self, after: float = 0.5) -> dict[str, StateReport]:
        """Return what is said half a second later, by the stem."""
        self.now += after
        self.reader.refresh(self.now)
        return {key[1]: reported for key, reported in self.reader.reported.items()}


@pytest.fixture
def recordings(tmp_path: Path) -> Recordings:
    """Return a folder that does not exist yet."""
    return Recordings(tmp_path / "sessions")


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of a recording, as the process that writes it does."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_a_recording_is_live_while_it_is_written(recordings: Recordings) -> None:
    """A recording is live while its lock is held; links and other files are not recordings."""
    assert recordings.reported() == {}
    path = recordings.record("one")
    recordings.record("two")
    (recordings.folder / "link.ndjson").symlink_to(path)
    (recordings.folder / "notes.txt").touch()
    # An agent that has ended is not live, though another process still holds the lock.
    ended = recordings.record("ended", pid=os.getpid(), started_ms=1, exit_code=0)
    with held(path), held(ended):
        assert recordings.reported() == {"one": StateReport("agentwatch", "one", Life.LIVE)}
        assert not recordings.reader.refresh(recordings.now)
    assert recordings.reported() == {}


def test_a_recording_that_cannot_be_opened_has_ended(
    recordings: Recordings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording that vanishes while it is read is not live."""

    def gone(path: Path) -> int:
        raise FileNotFoundError(path)

    monkeypatch.setattr(reports, "open_regular", gone)
    with held(recordings.record("one")):
        assert recordings.reported() == {}


@pytest.mark.slow
def test_the_process_of_a_recording_is_known(recordings: Recordings, tmp_path: Path) -> None:
    """The process that `run` has started keeps its recording live, also when the monitor was killed."""
    began_ms = int(time.time() * 1000)
    with started(["claude"], tmp_path) as process:
        recordings.record("one", pid=process.pid, started_ms=began_ms)
        recordings.record("past", pid=process.pid, started_ms=1000)
        reported = recordings.reported()
        assert reported == {
            "one": StateReport("agentwatch", "one", Life.LIVE, process.pid, began_ms=began_ms, runs="claude")
        }
        process.kill()
        process.wait()
        assert recordings.reported() == {}


def test_an_ended_recording_is_read_once(recordings: Recordings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording that has ended is not opened again until it has changed."""
    path = recordings.record("one")
    settled = path.parent.stat().st_mtime - 10
    os.utime(path.parent, (settled, settled))
    assert recordings.reported() == {}
    opened: list[Path] = []
    original = open_regular

    def noted(path: Path) -> int:
        opened.append(path)
        return original(path)

    monkeypatch.setattr(reports, "open_regular", noted)
    with held(path):
        assert recordings.reported() == {}
        assert recordings.reported(70.0) == {}
        assert opened == []
        path.write_text("more")
        assert recordings.reported(70.0).keys() == {"one"}


def test_recordings_are_removed(recordings: Recordings) -> None:
    """A recording that is removed while it is written is no longer live."""
    path = recordings.record("one")
    other = recordings.record("two")
    with held(path), held(other):
        assert recordings.reported().keys() == {"one", "two"}
        path.unlink()
        assert recordings.reported().keys() == {"two"}
    assert recordings.reported() == {}
    with held(other):
        other.unlink()
        recordings.folder.rmdir()
        assert recordings.reported() == {}


def test_many_recordings_are_read_200_at_a_time(recordings: Recordings) -> None:
    """The newest recordings are read first, and the others with the next steps."""
    paths = [recordings.record(f"2026-{number:03}") for number in range(405)]
    with held(paths[0]), held(paths[404]):
        assert recordings.reported().keys() == {"2026-404"}
        assert recordings.reported().keys() == {"2026-404"}
        assert recordings.reported().keys() == {"2026-404", "2026-000"}


def test_without_locks_a_pipe_that_grows_may_be_written(
    recordings: Recordings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On NFS nobody says so: a pipe that grew lately is not known to run, and one that did not has ended."""
    grown, old = recordings.record("grown"), recordings.record("old")
    os.utime(old, (1, 1))

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    with held(grown), monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refuse)
        assert recordings.reported() == {"grown": StateReport("agentwatch", "grown", Life.UNKNOWN)}
        os.utime(grown, (1, 1))
        assert recordings.reported() == {}


def test_the_command_names_the_agent_before_the_first_line(recordings: Recordings) -> None:
    """The agent, and whether it answers one prompt, are read from the command that `run` has started."""
    cases: dict[str, tuple[list[object], str, bool | None]] = {
        "one": (["/opt/bin/codex", "exec", "--json", "x" * 10**6], "codex", True),
        "several": (["claude", "-p", "--input-format", "stream-json"], "claude", False),
        "other": (["make", "test"], "", None),
        "odd": ([7, {}], "", None),
    }
    for stem, (command, runs, has_one_prompt) in cases.items():
        recordings.record(stem, command=command, pid=os.getpid(), started_ms=int(time.time() * 1000))
        with case(stem), held(recordings.folder / f"{stem}.ndjson"):
            reported = recordings.reported(after=100.0)[stem]
            assert (reported.runs, reported.has_one_prompt) == (runs, has_one_prompt)
