"""The machine finds every session, follows what changes, and publishes rows."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import Life, State
from agentwatch.base.clock import now_ms
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.digest import reading
from agentwatch.catalog.evidence import evidence
from agentwatch.catalog.hiding import archive, is_hidden
from agentwatch.catalog.joining import RECENT_MS
from agentwatch.catalog.row import Row
from agentwatch.catalog.row_filter import row_filter
from agentwatch.catalog.session_status import Ground
from agentwatch.recording.acts import Act, acts_file, append_act
from agentwatch.recording.write_lock import hold
from agentwatch.sources.proc import Proc
from tests.builders import lines as stream
from tests.builders.codex.lines import BEGAN_MS, MINUTE_MS, file_name, meta, name_at, turn, written
from tests.builders.lines import final, init, line, result, user
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.on_disk import cursor_transcript as cursor
from tests.builders.on_disk import qwen_chat as qwen
from tests.catalog.started_agents import in_terminal, started
from tests.conftest import case

STEPS = 200


class Watched:
    """A machine whose clock the test moves."""

    def __init__(self, fake: FakeMachine) -> None:
        self.fake = fake
        self.seconds = 0.0
        self.began_ms = now_ms()
        self.machine = Machine(fake.environ, fake.home, clock=self._clock)

    def _clock(self) -> float:
        self.seconds += 0.0001  # every step ends
        return self.seconds

    def rows(self, seconds: float = 0.0) -> dict[Key, Row]:
        """Move the clock, do what is due, and return the rows."""
        self.seconds += seconds
        for _ in range(STEPS):
            if not self.machine.step(self.began_ms + round(self.seconds * 1000)):
                return dict(self.machine.rows)
        raise AssertionError(f"work is left after {STEPS} steps")

    def until(self, holds: Callable[[dict[Key, Row]], bool]) -> dict[Key, Row]:
        """Move the clock second by second until something holds, for at most two minutes of it."""
        for _ in range(120):
            if holds(rows := self.rows(1.0)):
                return rows
        raise AssertionError("it never holds")


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """Return a machine with the captures and 40 made sessions, the newest of which ends now."""
    return Watched(fake_machine(tmp_path, 40, newest_ms=now_ms()))


def test_every_session_has_a_row(watched: Watched) -> None:
    """The sessions of all agents are found, each with what its lines show, and what changes is noticed."""
    # Nothing waits where all that is shown is known.
    waits: list[float] = []
    watched.machine.settle_surely(lambda: watched.began_ms, waits.append)
    assert waits == []
    assert set(watched.fake.sessions) <= set(watched.machine.rows)
    # Each subagent is a row too, and is counted in that of its session.
    rows = watched.rows()
    parents = [row.parent for row in rows.values() if row.parent is not None]
    assert parents
    assert all(rows[parent].subagents == parents.count(parent) for parent in set(parents) if parent in rows)
    # Title, repository, calls and state come from the lines and from the working directory.
    row = watched.rows(3)[next(iter(watched.fake.made))]
    assert row.title == row.prompts == "Run the tests, part 0"
    assert (row.repo, row.branch, row.calls, row.failed, row.pid) == ("repo-00", "main", 1, 0, None)
    assert (row.status.state, row.status.ground) == (State.SUCCEEDED, Ground.SAID)
    # While nothing changes, the mapping stays the same object: the list need not compare the rows.
    watched.rows(90)
    before = watched.machine.rows
    watched.rows(90)
    assert watched.machine.rows is before
    # A line that is appended changes the row of its session.
    key, path = next((key, path) for key, path in watched.fake.made.items() if key[0] == "claude")
    append(path, type="custom-title", customTitle="The lows", sessionId=key[1])
    assert watched.until(lambda rows: rows[key].title == "The lows")[key].calls == 1
    # A new session appears and a removed one vanishes without another start.
    new = path.with_name("aaaaaaaa-0000-4000-8000-000000000000.jsonl")
    shutil.copy(path, new)
    path.unlink()
    rows = watched.until(lambda rows: (key[0], new.stem) in rows and key not in rows)
    assert rows[key[0], new.stem].path == new


def append(path: Path, **line: object) -> None:
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def with_recording(tmp_path: Path, *lines: bytes, sessions: int = 0) -> tuple[Watched, Path]:
    """Return a machine with made sessions and a recording of our own, and the file of that."""
    watched = Watched(fake_machine(tmp_path, sessions, newest_ms=now_ms(), with_captures=False))
    own = tmp_path / "home/.agentwatch/sessions/20261121-230000-123abcdef.ndjson"
    own.parent.mkdir(parents=True)
    if lines:
        own.write_bytes(b"".join(lines))
    return watched, own


def register(watched: Watched, pid: int, session_id: str, **fields: object) -> Path:
    """Write a record of Claude Code about a process, and return its file."""
    stat = Proc().stat(pid)
    record = {"pid": pid, "procStart": str(stat.began if stat else 0), "sessionId": session_id, **fields}
    path = watched.fake.home / ".claude" / "sessions" / f"{pid}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))
    return path


@pytest.mark.slow
def test_a_session_without_a_file_is_a_row_while_its_process_runs(watched: Watched, tmp_path: Path) -> None:
    """Claude Code writes the first line with the first prompt; before that, only its record exists."""
    with started(["claude"], tmp_path) as process:
        record = register(watched, process.pid, "5c0f", cwd=str(tmp_path), status="idle")
        row = watched.until(lambda rows: ("claude", "5c0f") in rows)["claude", "5c0f"]
        assert (row.status.state, row.can_open, row.pid) == (State.YOUR_TURN, False, process.pid)
    record.unlink()
    watched.until(lambda rows: ("claude", "5c0f") not in rows)


@pytest.mark.slow
def test_a_process_that_has_written_nothing_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in a terminal is a row until its session is found; nobody knows what it does."""
    fake = fake_machine(tmp_path, 40, newest_ms=now_ms())
    monkeypatch.setenv("HOME", str(fake.home))
    watched = Watched(fake)
    with in_terminal(["pi"], tmp_path) as process:
        key = ("pi", f"pid-{process.pid}")
        row = watched.until(lambda rows: key in rows)[key]
        assert row.status[:2] == (State.STARTING, Ground.INFERRED)
        assert (row.cwd, row.pid, row.can_open) == (str(tmp_path), process.pid, False)
        file = watched.fake.home / ".pi/agent/sessions/--x--/2026_01a20000-0000-7000-8000-000000000001.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        own = ("pi", file.stem.partition("_")[2])
        head = {"type": "session", "version": 3, "id": own[1], "cwd": str(tmp_path)}
        file.write_text(json.dumps({**head, "timestamp": "2026-11-24T10:00:00.000Z"}) + "\n")
        rows = watched.until(lambda rows: own in rows and key not in rows)
        assert rows[own].pid == process.pid
        file.unlink()
        watched.until(lambda rows: key in rows)
    watched.until(lambda rows: key not in rows)


@pytest.mark.slow
def test_a_session_that_asks_needs_the_user(watched: Watched, tmp_path: Path) -> None:
    """What the agent says counts at once, and its end too."""
    key = next(iter(watched.fake.made))
    with started(["claude"], tmp_path) as process:
        register(watched, process.pid, key[1], status="waiting", waitingFor="permission prompt")
        rows = watched.until(lambda rows: rows[key].status.state is State.ASKS)
        assert rows[key].status.ground is Ground.SAID
    watched.until(lambda rows: rows[key].status.state is State.SUCCEEDED)


@pytest.mark.slow
def test_a_machine_is_still_while_nothing_in_view_runs(watched: Watched, tmp_path: Path) -> None:
    """Without a view all that run count, and so does a question that may be none."""
    key, other = [key for key in watched.fake.made if key[0] == "claude"][:2]
    machine = watched.machine
    with started(["claude"], tmp_path) as process:
        register(watched, process.pid, key[1], status="busy")
        watched.until(lambda rows: rows[key].status.state is State.WORKING)
        assert not machine.is_still
        for in_view, is_still in ({key}, False), ({other}, True), (set(), True):
            with case(in_view):
                machine.in_view = in_view
                watched.rows(0.01)
                assert machine.is_still is is_still
        row, at_ms = machine.rows[key], watched.began_ms + round(watched.seconds * 1000)
        asks = row.status._replace(state=State.ASKS, ground=Ground.INFERRED)
        machine._table.steady.shown(key, asks, row.status, at_ms)
        watched.rows(0.01)
        assert not machine.is_still


class Later:
    """A clock that is ahead by 5 s, and goes on when something waits."""

    def __init__(self) -> None:
        self.seconds = 5.0
        self.began_ms = now_ms()

    def now(self) -> float:
        return self.seconds

    def now_ms(self) -> int:
        """Return the milliseconds since the epoch."""
        return self.began_ms + round(self.seconds * 1000)


@pytest.mark.slow
def test_one_look_takes_a_command_that_has_just_ended_for_no_question(tmp_path: Path) -> None:
    """Between the exit of a command and the line of its result, a session seems to ask for a second. If the
    agent does nothing for half a second, no more time is needed."""
    file = tmp_path / ".qwen/projects/-x/chats/5c0f0000-0000-7000-8000-000000000001.jsonl"
    file.parent.mkdir(parents=True)
    part = {"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "make"}}}
    asked = [qwen.user("Go", uuid="u"), qwen.line("assistant", part, uuid="a", parent="u")]
    key = ("qwen", file.stem)
    for ends, expected in ((False, State.ASKS), (True, State.WORKING)):
        with case(ends), started(["qwen"], tmp_path):
            now = {"timestamp": datetime.now(UTC).isoformat()}
            about = {"sessionId": file.stem, "cwd": str(tmp_path)} | now
            file.write_text("".join(f"{json.dumps(each | about)}\n" for each in asked))

            result = json.dumps(qwen.returned("c", uuid="r", parent="a") | about) + "\n" if ends else ""

            clock, waits = Later(), list[float]()

            def later(
                seconds: float, clock: Later = clock, result: str = result, waits: list[float] = waits
            ) -> None:
                clock.seconds += seconds
                waits.append(seconds)
                with file.open("a") as chat:
                    chat.write(result)

            machine = Machine({}, tmp_path, clock=clock.now)
            machine.settle_surely(clock.now_ms, later)
            assert machine.rows[key].status[:2] == (expected, Ground.INFERRED)
            assert waits == [pytest.approx(0.52)]


@pytest.mark.slow
def test_the_words_of_a_silence_grow_while_nothing_else_does(watched: Watched, tmp_path: Path) -> None:
    """A session that says that it works, and writes nothing, shows for how many minutes it is silent."""
    key = next(iter(watched.fake.made))
    with started(["claude"], tmp_path) as process:
        register(watched, process.pid, key[1], status="busy")
        prompt = {"role": "user", "content": "Wait"}
        at = datetime.fromtimestamp(watched.began_ms / 1000, UTC).isoformat()
        append(watched.fake.made[key], type="user", message=prompt, uuid="u", sessionId=key[1], timestamp=at)
        watched.until(lambda rows: rows[key].status.state is State.WORKING)
        watched.rows(5 * 60 - watched.seconds)
        shown = [watched.rows(1.0)[key].status for _ in range(75)]
        assert "nothing for 5 min" in shown[15].now
        assert "nothing for 6 min" in shown[-1].now
        assert {each.ground for each in shown} == {Ground.SAID}


@pytest.mark.slow
def test_sessions_out_of_view_are_read_less_often(watched: Watched, tmp_path: Path) -> None:
    """What a session in view says and writes is in its row half a second later. Of others it takes 2 s, and
    30 s for the lines of one whose agent says that it works."""
    key, other = [key for key in watched.fake.made if key[0] == "claude"][:2]
    views = frozenset({key}), frozenset({other}), frozenset[Key]()
    with started(["claude"], tmp_path) as process, started(["claude"], tmp_path) as second:
        register(watched, process.pid, key[1], status="busy")
        register(watched, second.pid, other[1], status="busy")
        states = {State.WORKING, State.QUIET}
        watched.until(lambda rows: {rows[key].status.state, rows[other].status.state} <= states)
        for status, in_view, halves in (
            ("busy", views[0], range(1, 2)),
            ("busy", views[1], range(50, 65)),
            ("busy", None, range(1, 2)),
            ("idle", views[1], range(1, 5)),
        ):
            with case(f"{status}, {in_view}"):
                watched.machine.in_view = in_view
                register(watched, process.pid, key[1], status=status)
                append(watched.fake.made[key], type="assistant", message={"role": "assistant"})
                watched.rows(2.1)
                watched.rows(2.1)
                assert writes(watched, key, f"{status} {in_view}") in halves
        for in_view, most in ((views[0], 1), (views[1], 4), (views[2], 4)):
            with case(in_view):
                watched.machine.in_view = in_view
                register(watched, process.pid, key[1], status="busy")
                watched.rows(2.1)
                title = f"Asked {in_view}"  # the lines are as new as the state
                append(watched.fake.made[key], type="custom-title", customTitle=title, sessionId=key[1])
                register(watched, process.pid, key[1], status="waiting", waitingFor="permission prompt")
                passed = 1
                while (row := watched.rows(0.51)[key]).status.state is not State.ASKS:
                    passed += 1
                assert (passed <= most, row.title) == (True, title)


def writes(watched: Watched, key: Key, title: str) -> int:
    """Let a session get a title, and return after how many half seconds it is in the row."""
    append(watched.fake.made[key], type="custom-title", customTitle=title, sessionId=key[1])
    passed = 1
    while watched.rows(0.51)[key].title != title:
        passed += 1
    return passed


@pytest.mark.slow
def test_lines_that_wait_are_read_when_they_matter(watched: Watched, tmp_path: Path) -> None:
    """They are read when the session comes into view, with another state, when it may be silent, and at the
    end."""
    key, other = [key for key in watched.fake.made if key[0] == "claude"][:2]
    path = watched.fake.made[key]

    def write(title: str) -> None:
        """Let a title wait."""
        watched.machine.in_view = frozenset({other})
        watched.rows(20)
        before = watched.rows(2.1)[key].title
        append(path, type="custom-title", customTitle=title, sessionId=key[1])
        watched.rows(2.1)
        assert watched.rows(2.1)[key].title == before

    def prompted() -> None:
        at = datetime.fromtimestamp(watched.began_ms / 1000 + watched.seconds, UTC).isoformat()
        message = {"role": "user", "content": "Wait"}
        append(path, type="user", message=message, uuid=at, sessionId=key[1], timestamp=at)
        watched.machine.in_view = frozenset({key})
        watched.rows(2.1)

    with started(["claude"], tmp_path) as process, started(["claude"], tmp_path) as second:
        register(watched, process.pid, key[1], status="busy")
        register(watched, second.pid, other[1], status="busy")
        watched.until(lambda rows: rows[key].status.state is State.WORKING)
        prompted()
        write("In view")
        watched.machine.in_view = frozenset({key})
        assert watched.rows(0.01)[key].title == "In view"
        prompted()
        watched.machine.in_view = frozenset({other})
        watched.rows(2.1)
        append(path, type="custom-title", customTitle="Just now", sessionId=key[1])
        watched.machine.in_view = frozenset({key})
        assert watched.rows(0.01)[key].title == "Just now"
        prompted()
        write("All that run")
        watched.machine.in_view = None
        assert watched.rows(0.01)[key].title == "All that run"
        prompted()
        write("Asks")
        register(watched, process.pid, key[1], status="waiting", waitingFor="permission prompt")
        row = watched.rows(2.1)[key]
        assert (row.title, row.status.state) == ("Asks", State.ASKS)
        register(watched, process.pid, key[1], status="busy")
        prompted()
        write("Without a process")
        watched.machine._take_lives({key: (Life.UNKNOWN, None)}, watched.began_ms)
        assert watched.rows(0.6)[key].title == "Without a process"
        watched.machine._joins.is_due = True
        prompted()
        write("Silent")
        assert watched.rows(30)[key].title == "Silent"
        assert "nothing for" in watched.rows(12)[key].status.now
        prompted()
        write("Ended")
        process.kill()
        process.wait()
        row = watched.rows(2.1)[key]
        assert (row.title, row.status.state) == ("Ended", State.UNFINISHED)
        # The row goes with the file.
        path.unlink()
        watched.until(lambda rows: key not in rows)


def test_a_store_that_was_read_just_now_is_read_again_later(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has changed meanwhile is not lost until the next change."""
    seconds = count(100.0, 0.001)
    monkeypatch.setattr(reading, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    key = ("gemini", "70a6e3dc-0c3d")
    began = datetime.fromtimestamp(watched.began_ms / 1000, UTC)
    path = watched.fake.home / f".gemini/tmp/proj/chats/session-{began:%Y-%m-%dT%H-%M}-70a6e3dc.json"
    document = {"sessionId": key[1], "projectHash": "h", "startTime": began.isoformat()}
    prompt = {"id": "1", "timestamp": began.isoformat(), "type": "user"}
    monkeypatch.setattr(reading, "_LARGEST_SHARE", 1e-9)
    for words in ("Go", "More"):
        path.write_text(json.dumps(document | {"messages": [prompt | {"content": words}]}))
        watched.rows(70)
    assert watched.rows()[key].title == "Go"
    seconds = count(1e9)
    assert watched.rows(1)[key].title == "More"


@pytest.mark.slow
def test_a_subagent_runs_as_long_as_the_process_of_its_session(watched: Watched, tmp_path: Path) -> None:
    """A subagent in the middle of its turn works while the process runs; then it is unfinished."""
    made = next(iter(watched.fake.made))
    path = watched.rows()[made].path.with_suffix("") / "subagents" / "agent-a0000000000000001.jsonl"
    path.parent.mkdir(parents=True)
    with started(["claude"], tmp_path) as process:
        register(watched, process.pid, made[1], status="busy")
        at = datetime.fromtimestamp(now_ms() / 1000 + 1, UTC).isoformat()
        message = {"role": "user", "content": "Count the files"}
        line = {"type": "user", "isSidechain": True, "timestamp": at, "message": message, "uuid": "u"}
        path.write_text(json.dumps(line) + "\n")
        rows = watched.until(lambda rows: any(row.parent == made and row.title for row in rows.values()))
        (key,) = [row.key for row in rows.values() if row.parent == made]
        rows = watched.until(lambda rows: rows[key].status.state is State.WORKING)
        assert (rows[made].subagents, rows[made].working_subagents) == (1, 1)
        facts = watched.machine.facts(made)
        assert facts is not None
        assert facts.subagent is not None
        assert (facts.subagent.source, facts.subagent.since_ms) == (f"file {path}", rows[key].seen_ms)
        later = datetime.fromtimestamp(now_ms() / 1000 + 2, UTC).isoformat()
        append(rows[made].path, **{**line, "isSidechain": False, "timestamp": later})
        watched.until(lambda rows: (rows[made].seen_ms or 0) > (rows[key].seen_ms or 0))
        facts = watched.machine.facts(made)
        assert facts is not None
        assert facts.subagent is None
    rows = watched.until(lambda rows: rows[key].status.state is State.UNFINISHED)
    assert rows[made].working_subagents == 0


def test_a_recording_of_our_own_stands_for_the_agents_own_file(tmp_path: Path) -> None:
    """The session is one row, unless it was continued without us."""
    watched, own = with_recording(tmp_path, sessions=1)
    key, path = next(iter(watched.fake.made.items()))
    assert set(watched.rows()) == {key}
    head = {"type": "system", "subtype": "init", "session_id": key[1], "model": "opus", "cwd": "/w"}
    append(own, **head, tools=[], claude_code_version="2.1.330", uuid="1", mcp_servers=[])
    rows = watched.until(lambda rows: ("agentwatch", own.stem) in rows and key not in rows)
    assert rows["agentwatch", own.stem].agent == "claude"
    os.utime(own, (1, 1))
    os.utime(path, (now_ms() / 1000 + 1, now_ms() / 1000 + 1))
    own.unlink()
    assert set(watched.until(lambda rows: key in rows)) == {key}


def test_a_recording_of_our_own_is_a_row(tmp_path: Path) -> None:
    """Its agent, state and result are those of its lines; what the user did is in the file beside it."""
    watched, own = with_recording(tmp_path, init(), user("Find the lows"), final("Done."), result())
    append_act(own.with_suffix(".acts"), Act(now_ms(), "stop", "s-1", "session", "SIGTERM", "sent"))
    row = watched.rows()["agentwatch", own.stem]
    assert (row.agent, row.is_own, row.title) == ("cursor", True, "Find the lows")
    assert row.status.state is State.SUCCEEDED
    assert [act.act for act in row.acts] == ["stop"]


def test_a_recording_of_an_unknown_agent_says_so(tmp_path: Path) -> None:
    """Nothing is missing in it: this version does not know its lines, which are counted in the first MiB."""
    line = b'{"kind":"hello","n":1}\n'
    for number, words in ((1, "1 line"), (12, "12 lines"), (50_000, "over 45,590 lines")):
        with case(number):
            watched, _ = with_recording(tmp_path / f"{number}", line * number)
            [row] = watched.rows(3).values()
            assert (row.status.state, row.status.ground) == (State.UNKNOWN, Ground.UNKNOWN)
            assert row.status.now == f"unknown agent, {words}"
            why = evidence(row, watched.machine.facts(row.key), watched.began_ms)
            assert "The lines are of no agent that this version knows." in [each.what for each in why]


def test_a_transcript_of_cursor_is_a_row(tmp_path: Path) -> None:
    """It has prompts and calls, and no results: how many calls failed is unknown."""
    watched = Watched(fake_machine(tmp_path, 0, with_captures=False))
    path = tmp_path / "home/.cursor/projects/w/agent-transcripts/s1/s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(map(line, (cursor.user("Tidy up"), cursor.called()))))
    row = watched.rows()["cursor", "s1"]
    assert (row.title, row.calls, row.failed, row.lines_added) == ("Tidy up", 1, None, None)
    assert row.status.state is State.UNKNOWN
    with path.open("ab") as file:
        file.write(line(cursor.ended()))
    watched.until(lambda rows: rows["cursor", "s1"].status.state is State.SUCCEEDED)


def test_a_recording_has_the_time_at_which_it_was_made(tmp_path: Path) -> None:
    """Stamps of the stream may be old: the arrival times say when it ended, and that it runs."""
    old_ms = 10**12
    watched, own = with_recording(
        tmp_path, init(), user("Find the lows"), stream.started("shell", command="make", at_ms=old_ms)
    )
    with own.open("ab") as file:
        hold(file.fileno())
        rows = watched.until(lambda rows: rows["agentwatch", own.stem].status.state is State.WORKING)
    row = rows["agentwatch", own.stem]
    assert row.status.since_ms is None or abs(row.status.since_ms - now_ms()) < 300_000
    assert row.seen_ms is not None
    assert abs(row.seen_ms - now_ms()) < 300_000
    began_ms = watched.began_ms - 120_000
    call = stream.started("shell", at_ms=old_ms, command="make")
    done = {"success": {"exitCode": 0}}
    call += stream.completed("shell", result=done, at_ms=old_ms + 60_000, command="make")
    times = {
        "new": f"0 {began_ms}\n9 {began_ms + 60_000}\n",
        "none": "",
        "stale": f"0 {old_ms}\n9 {old_ms + 60_000}\n",
    }
    for name, arrived in times.items():
        own.with_name(f"{name}.ndjson").write_bytes(init() + user() + call + final("Done.") + result())
        own.with_name(f"{name}.times").write_text(arrived)
    rows = watched.until(lambda rows: all(("agentwatch", name) in rows for name in times))
    found = {name: rows["agentwatch", name] for name in times}
    ended = {name: (row.seen_ms, row.status.since_ms) for name, row in found.items()}
    assert ended["new"] == (began_ms + 60_000, began_ms + 60_000)
    assert ended["none"] == ended["stale"] == (old_ms + 60_000, old_ms + 60_000)
    assert found["new"].began_ms == began_ms
    assert [name for name, row in found.items() if is_hidden(row, now_ms())] == ["none", "stale"]


def test_a_new_recording_has_begun_when_it_is_found(tmp_path: Path) -> None:
    """Its lock is read in the step that finds its file, and it is never shown as ended before."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    watched = Watched(FakeMachine(tmp_path, {"AGENTWATCH_HOME": str(tmp_path)}, {}, {}))
    watched.rows()
    with (folder / "20261124-101010-0123456789.ndjson").open("w") as file:
        hold(file.fileno())
        while not (rows := watched.rows(0.1)):
            pass
        states = [row.status.state for row in rows.values()]
    assert states == [State.STARTING]


def test_an_empty_machine_has_no_rows(tmp_path: Path) -> None:
    """Folders that are missing are not an error; what is older than a week is read when it is wanted."""
    machine = Machine({"AGENTWATCH_HOME": str(tmp_path / "none")}, tmp_path / "nobody")
    assert machine.settle(now_ms())
    assert machine.rows == {}
    # A session older than a week is a row with what its file name shows, until all are wanted.
    watched = Watched(fake_machine(tmp_path, 3, newest_ms=now_ms() - 2 * RECENT_MS, with_captures=False))
    assert {row.title for row in watched.rows().values()} == {""}
    watched.machine.wants_all = True
    assert {row.title for row in watched.rows(1).values()} == {f"Run the tests, part {n}" for n in range(3)}


def test_a_thread_in_two_files_is_one_row(tmp_path: Path) -> None:
    """Its end is read from the newest file. How many calls the others have is not known in the list."""
    fake = fake_machine(tmp_path, with_captures=False)
    day = fake.home / ".codex/sessions/2026/11/24"
    day.mkdir(parents=True)
    thread, at_ms = name_at(BEGAN_MS, 1), BEGAN_MS + 10 * MINUTE_MS
    first = [meta(thread, BEGAN_MS), *turn(thread, BEGAN_MS + MINUTE_MS, 11, 1000, 1000)]
    older, newer = day / file_name(BEGAN_MS, thread), day / file_name(at_ms, thread, name_at(at_ms, 2))
    older.write_bytes(written(first))
    watched = Watched(fake)
    watched.machine.wants_all = True
    [row] = watched.rows().values()
    assert (row.id, row.path, row.calls) == (thread, older, 1)
    base = {"thread_id": thread, "end_ordinal_exclusive": 1, "end_byte_offset": len(written(first))}
    lines = [meta(thread, at_ms, history_base=base), *turn(thread, at_ms + MINUTE_MS, 12, 2000, 1000)]
    newer.write_bytes(written(lines))
    rows = watched.until(lambda rows: any(row.path == newer for row in rows.values()))
    assert [(row.id, row.calls) for row in rows.values()] == [(thread, None)]


def test_a_brief_machine_has_the_rows_of_what_runs(watched: Watched, tmp_path: Path) -> None:
    """They are those of a list, so that `status` counts the same states; what has ended is not read."""
    made = iter(watched.fake.made)
    with started(["claude"], tmp_path) as one, started(["claude"], tmp_path) as other:
        keys = {next(made), next(made)}
        for (_, session_id), process in zip(sorted(keys), (one, other), strict=True):
            register(watched, process.pid, session_id, status="idle")
        brief = Machine(watched.fake.environ, watched.fake.home, is_brief=True)
        brief.settle(now_ms())
        rows = watched.until(lambda rows: all(rows[key].status.state is State.YOUR_TURN for key in keys))
        assert keys <= brief.rows.keys()
        for key, row in brief.rows.items():
            with case(key):
                assert row.status == rows[key].status


@pytest.mark.slow
def test_archived_sessions_are_hidden(watched: Watched, home: Path) -> None:
    """The user archives and restores sessions in a file of ours, which the machine notices."""
    key, other, *_ = watched.fake.made
    assert not watched.rows()[key].is_archived
    assert archive([key, other], is_archived=True) == 2
    rows = watched.until(lambda rows: rows[key].is_archived and rows[other].is_archived)
    assert is_hidden(rows[key], now_ms())
    assert archive([key, ("claude", "gone")], is_archived=False) == 1
    watched.until(lambda rows: not rows[key].is_archived and rows[other].is_archived)
    (file,) = home.glob("archived.json")
    file.write_text("no json")
    watched.until(lambda rows: not rows[other].is_archived)
    # An act on a session of any agent is in its row within seconds, and selects it in the filter.
    assert not watched.rows()[key].acts
    path = acts_file(*key, None, os.environ)
    assert path is not None
    acts = [Act(now_ms(), name, key[1], "list", "hook", "sent") for name in ("allow", "deny")]
    for each in acts:
        append_act(path, each)
    watched.machine.in_view = frozenset({key})
    rows = watched.until(lambda rows: bool(rows[key].acts))
    assert rows[key].acts == acts
    matches = row_filter("acted:allow")
    assert matches is not None
    assert matches(rows[key])
    assert not matches(rows[other])
    assert not matches(rows[key]._replace(host="build"))
    path.unlink()
    path.symlink_to("/dev/zero")
    watched.until(lambda rows: not rows[key].acts)
