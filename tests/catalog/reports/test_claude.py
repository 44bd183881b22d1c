"""What Claude Code says about its sessions is read as it changes."""

import ast
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agentwatch.agents.claude import reported as module
from agentwatch.agents.claude.reported import ClaudeRecords
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.sources.folder_watch import FolderWatch
from agentwatch.sources.proc import Proc, ProcessEnds
from tests.builders.captures import OWN
from tests.catalog.reports.claude_registry import NOW, RECORD, Registry
from tests.catalog.started_agents import started
from tests.conftest import case
from tests.harness.processes import until


@pytest.fixture(params=["watched", "polled"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Registry:
    """Each test holds for a list that stays open, and for a command."""
    found = Registry(tmp_path)
    if request.param == "watched":
        found.watch()
    return found


def _holds_processes() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


on_linux = pytest.mark.skipif(not _holds_processes(), reason="it needs inotify and pidfd_open")


@on_linux
@pytest.mark.slow
def test_records_that_are_watched_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither are their processes. All records are listed once a minute, and after a note is lost."""
    registry, listed = Registry(tmp_path), Counter[str]()
    registry.watch()

    def count(name: str) -> None:
        known = getattr(module if hasattr(module, name) else Proc, name)

        def counted(*arguments: Any) -> Any:
            listed[name] += 1
            return known(*arguments)

        monkeypatch.setattr(module if hasattr(module, name) else Proc, name, counted)

    with started(["claude"], tmp_path) as process:
        registry.write(process.pid, updatedAt=1)
        os.utime(tmp_path / f"{process.pid}.json", (1, 1))
        assert registry.reported()["7e82"].life is Life.LIVE
        for name in ("own_files", "stamp_of", "stat", "has_program", "_exists"):
            count(name)
        for seconds in range(1, 30):
            assert not registry.reader.refresh(NOW + seconds)
            assert not registry.reader.refresh(NOW + seconds, {("claude", "7e82")})
        assert not listed
        # Another file of the folder is of no interest; a change and an end are shown at any look.
        (tmp_path / "note.txt").write_text("")
        registry.write(process.pid, status="waiting")
        registry.reader.refresh(NOW + 30, frozenset())
        assert registry.reader.reported["claude", "7e82"].state is State.ASKS
        process.kill()
        until(lambda: Proc().stat(process.pid) is None)
        registry.reader.refresh(NOW + 31, frozenset())
        assert registry.reader.reported["claude", "7e82"].life is Life.DEAD
    assert "own_files" not in listed
    registry.reported(NOW + 70)
    assert listed.pop("own_files") == 2
    (tmp_path / "none").mkdir()
    (tmp_path / "none/7.json").write_text(json.dumps(RECORD | {"sessionId": "new"}))
    assert registry.reported(NOW + 71).keys() == {"7e82", "new"}
    shutil.rmtree(tmp_path / "none")
    (tmp_path / f"{process.pid}.json").unlink()
    monkeypatch.setattr(FolderWatch, "notes", lambda _: None)
    registry.reader.refresh(NOW + 71, frozenset())
    assert registry.reported(NOW + 71) == {}


@on_linux
def test_few_processes_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the descriptors stay free; a process that is not held is asked for, as is one that is gone."""
    monkeypatch.setattr("agentwatch.sources.proc._MOST_HELD", 1)
    ends = ProcessEnds()
    for pid in (1 << 40, 1 << 22, os.getpid(), os.getppid()):
        ends.hold(pid)
    assert [pid in ends for pid in (1 << 22, os.getpid(), os.getppid())] == [False, True, False]
    assert ends.take() == set()
    ends.release(os.getpid())
    assert os.getpid() not in ends


def test_a_record_says_all_that_a_row_needs(registry: Registry) -> None:
    """The state, its time, the name, the folder and the pane of tmux are in the record."""
    registry.write()
    assert registry.reported() == {
        "7e82": StateReport(
            "claude",
            "7e82",
            Life.LIVE,
            os.getpid(),
            str(Proc().stat(os.getpid()).began),  # type: ignore[union-attr]
            State.WORKING,
            1795301643059,
            "",
            "proj-a8",
            is_users_name=False,
            cwd="/home/dev/proj",
            tmux="main:@0.%0",
            began_ms=1795301454020,
            source=f"file {registry.folder / f'{os.getpid()}.json'}",
        )
    }


STATES: list[tuple[dict[str, Any], State | None, str]] = [
    ({"status": "busy"}, State.WORKING, ""),
    ({"status": "idle"}, State.YOUR_TURN, ""),
    ({"status": "shell"}, State.SHELL, ""),
    ({"status": "waiting", "waitingFor": "permission prompt"}, State.ASKS, "permission"),
    ({"status": "waiting", "waitingFor": "input needed"}, State.ASKS, "question"),
    ({"status": "waiting", "waitingFor": "dialog open"}, State.ASKS, "dialog"),
    ({"status": "waiting", "waitingFor": "something new"}, State.ASKS, ""),
    ({"status": "busy", "waitingFor": "dialog open"}, State.WORKING, ""),
    ({"status": "something new"}, None, ""),
    ({"status": None}, None, ""),
]


def test_each_status_is_a_state(tmp_path: Path) -> None:
    """Each status of Claude Code is a state; an unknown or absent one says only that the session is open."""
    for number, (fields, state, about) in enumerate(STATES):
        with case(fields):
            folder = tmp_path / f"{number}"
            folder.mkdir()
            registry = Registry(folder)
            registry.write(**fields)
            reported = registry.reported()["7e82"]
            assert (reported.life, reported.state, reported.about) == (Life.LIVE, state, about)
            assert (reported.since_ms is None) == (state is None)


def test_a_record_that_changes_is_read_again(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that cannot be read says what it said before; one that is removed says nothing."""
    registry.write()
    path = registry.folder / f"{os.getpid()}.json"
    before = registry.reported()
    whole = path.read_bytes()
    for torn in (whole[:40], b""):
        path.write_bytes(torn)
        assert registry.reported() == before

    def gone(path: Path) -> int:
        raise FileNotFoundError(path)

    with monkeypatch.context() as patch:
        patch.setattr("agentwatch.agents.description_files.open_own", gone)
        registry.write(status="waiting", waitingFor="permission prompt")
        assert registry.reported() == before
    # A question is shown at once, and so is what came to rest in the past.
    registry.write(status="waiting", waitingFor="permission prompt")
    assert registry.reported()["7e82"].state is State.ASKS
    registry.write(status="idle", statusUpdatedAt=int(NOW * 1000) - 5000)
    assert registry.reported()["7e82"].state is State.YOUR_TURN
    # A record that is written twice within the resolution of the clock, with the same size, is read twice.
    with monkeypatch.context() as patch:
        patch.setattr("agentwatch.agents.places.wall_ns", lambda: path.stat().st_mtime_ns)
        registry.write(status="busy")
        registry.reported()
        when = path.stat().st_mtime_ns
        registry.write(status="what")
        os.utime(path, ns=(when, when))
        assert registry.reported()["7e82"].state is None
    # After `/clear` the same process says nothing of the session before.
    registry.write(sessionId="56e9", status="idle", statusUpdatedAt=int(NOW * 1000) - 5000)
    reported = registry.reported()
    assert [(key, each.state) for key, each in reported.items()] == [("56e9", State.YOUR_TURN)]
    # A record whose time has passed is read once.
    os.utime(path, (1, 1))
    before = registry.reported()
    with monkeypatch.context() as patch:
        patch.setattr("agentwatch.agents.description_files.open_own", None)
        assert registry.reported(NOW + 2) == before
        path.unlink()
        assert registry.reported() == {}


def test_the_name_of_the_user_is_in_the_record(registry: Registry) -> None:
    """It differs from a derived one, and a one-line prompt from a conversation; half an emoji is replaced."""
    registry.write(name="release", nameSource="user", entrypoint="sdk-cli")
    reported = registry.reported()["7e82"]
    assert (reported.name, reported.is_users_name, reported.is_one_liner) == ("release", True, True)
    registry.write(name="Fix it \ud83d", status="waiting")
    reported = registry.reported()["7e82"]
    assert (reported.name, reported.state) == ("Fix it \N{REPLACEMENT CHARACTER}", State.ASKS)


def test_a_session_that_vanishes_during_a_blink_is_forgotten(registry: Registry) -> None:
    """A session that is still shown as working is gone with its record."""
    registry.write()
    registry.reported()
    registry.write(status="idle", statusUpdatedAt=None)
    assert registry.reported()["7e82"].state is State.WORKING
    (registry.folder / f"{os.getpid()}.json").unlink()
    assert registry.reported() == {}
    registry.write(status="idle")
    assert registry.reported()["7e82"].state is State.YOUR_TURN


def test_other_files_are_never_opened(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, old records and links are not opened."""
    secret = registry.folder / "secret"
    secret.write_text(json.dumps(RECORD))
    names = [f"pid-{os.getpid()}.json", f"{os.getpid()}.ab12.key", "12a.json", "１２.json", f"{1 << 40}.json"]
    for name in names:
        registry.write(file=name)
    (registry.folder / "77.json").symlink_to(secret)
    os.mkfifo(registry.folder / "78.json")
    opened: list[Path] = []
    with monkeypatch.context() as patch:
        patch.setattr("agentwatch.agents.description_files.open_own", opened.append)
        assert registry.reported() == {}
    assert opened == []
    # The folder of the records is not a link.
    registry.write()
    link = registry.folder / "link"
    link.symlink_to(registry.folder)
    registry.reader = ClaudeRecords([link], os.geteuid(), Proc())
    assert registry.reported() == {}


def test_a_blink_of_idle_is_not_shown(registry: Registry) -> None:
    """A session that comes to rest is shown so after 0.4 s; a new turn before that leaves it working."""
    registry.write(statusUpdatedAt=int(NOW * 1000) - 60_000)
    began = registry.reported()["7e82"].since_ms
    rest = NOW + 5
    registry.write(status="idle", statusUpdatedAt=int(rest * 1000))
    shown = registry.reported(rest + 0.1)["7e82"]
    assert (shown.state, shown.since_ms) == (State.WORKING, began)
    registry.write(statusUpdatedAt=int(rest * 1000) + 300)
    assert registry.reported(rest + 1.5)["7e82"].state is State.WORKING
    registry.write(status="shell", statusUpdatedAt=int(rest * 1000) + 2000)
    assert registry.reported(rest + 2.1)["7e82"].state is State.WORKING
    assert registry.reader.refresh(rest + 2.3) is False
    assert registry.reader.refresh(rest + 2.5) is True
    shown = registry.reported(rest + 3)["7e82"]
    assert (shown.state, shown.since_ms) == (State.SHELL, int(rest * 1000) + 2000)


def test_any_field_may_have_any_value(registry: Registry) -> None:
    """A record with a field of another type says what the other fields say."""
    values: list[Any] = [None, 7, [], {}, "", "x" * 50_000, True, -1, 1 << 80]
    for value in values:
        with case(f"{value!r:.40}"):
            for field in (*RECORD, "procStart", "pidDomain", "waitingFor"):
                registry.write(**{field: value})
                reported = registry.reported()
                assert all(len(each.name) <= 200 and len(each.tmux) <= 200 for each in reported.values()), (
                    field
                )


CAPTURE = OWN / "disk/claude-registry/status-against-transcript-timeline.txt"
STATE_OF = {"busy": State.WORKING, "idle": State.YOUR_TURN, "waiting": State.ASKS, "shell": State.SHELL}
ABOUT = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}
EPOCH = 1_795_300_000.0
TICK = 0.25


class Change(NamedTuple):
    """A change of the record of one process."""

    seconds: float
    session_id: str
    status: str
    about: str


def changes(pid: int) -> list[Change]:
    """Return the changes of the status in the capture."""
    found = []
    for line in CAPTURE.read_text().splitlines():
        words = line.split(None, 3)
        if words[1:3] == ["REG", f"{pid}.json"]:
            fields = ast.literal_eval(words[3])
            if "status" in fields:
                about = ABOUT.get(fields.get("waitingFor", ""), "")
                found.append(Change(float(words[0]), fields["sessionId"], fields["status"], about))
    return found


class Play:
    """The record of a live process, written as the capture says, and read four times a second."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{os.getpid()}.json"
        self.reader = ClaudeRecords([folder], os.geteuid(), Proc())
        stat = Proc().stat(os.getpid())
        assert stat is not None
        self.began = str(stat.began)
        self.shown: list[tuple[float, str, State | None, str]] = []
        """The time of each reading, the session, its state and what it asks for."""

    def write(self, change: Change) -> None:
        """Write the record as it was after a change."""
        at_ms = int((EPOCH + change.seconds) * 1000)
        waiting = {key for key, about in ABOUT.items() if about == change.about}
        record = {
            "sessionId": change.session_id,
            "procStart": self.began,
            "status": change.status,
            "statusUpdatedAt": at_ms,
            "updatedAt": at_ms,
            **({"waitingFor": waiting.pop()} if waiting else {}),
        }
        self.path.write_text(json.dumps(record))

    def run(self, played: list[Change]) -> None:
        """Play the changes, and 3 s more."""
        left, seconds = list(played), played[0].seconds
        while left or seconds < played[-1].seconds + 3:
            while left and left[0].seconds <= seconds:
                self.write(left.pop(0))
            self.reader.refresh(EPOCH + seconds)
            for (_, session_id), reported in self.reader.reported.items():
                assert reported.life is Life.LIVE
                self.shown.append((seconds, session_id, reported.state, reported.about))
            seconds += TICK

    def between(self, begin: float, end: float) -> set[tuple[str, State | None, str]]:
        """Return what was shown from one time to another."""
        return {(each[1], each[2], each[3]) for each in self.shown if begin <= each[0] < end}


def test_each_state_is_shown_in_time(tmp_path: Path) -> None:
    """A question and a turn are shown with the next reading, and rest after 0.4 s, if it lasts that long."""
    plays = {}
    for pid in (984, 1416, 16837):
        with case(pid):
            (tmp_path / f"{pid}").mkdir()
            play, captured = Play(tmp_path / f"{pid}"), changes(pid)
            play.run(captured)
            plays[pid] = play, captured
            following = [*captured[1:], captured[-1]._replace(seconds=captured[-1].seconds + 3)]
            checked = 0
            for change, after in zip(captured, following, strict=True):
                delay = TICK if change.status in ("busy", "waiting") else 0.4 + TICK
                expected = {(change.session_id, STATE_OF[change.status], change.about)}
                if after.seconds - change.seconds > delay + TICK:
                    checked += 1
                    assert play.between(change.seconds + delay, after.seconds) == expected, change
            assert checked > len(captured) / 2
    # Between the end of a task in the background and the next turn, the session goes on working.
    play, captured = plays[1416]
    blinks = [
        (change.seconds, after.seconds)
        for before, change, after in zip(captured, captured[1:], captured[2:], strict=False)
        if (change.status, after.status) == ("idle", "busy")
        and before.session_id == change.session_id
        and after.seconds - change.seconds < 1
    ]
    assert len(blinks) == 2
    for begin, end in blinks:
        assert State.YOUR_TURN not in {state for _, state, _ in play.between(begin, end + TICK)}
    # After `/clear`, only the session that the process has now is shown as its own.
    sessions = [session_id for _, session_id, _, _ in play.shown]
    assert sessions == sorted(sessions, key=list(dict.fromkeys(sessions)).index)
    assert len(set(sessions)) == 2


@pytest.mark.slow
def test_a_killed_process_leaves_a_dead_record(registry: Registry) -> None:
    """A record that says busy is dead once its process is killed, also if its parent has not noticed."""
    # Nobody has waited for the process; all records are read once a second.
    with started(["claude"], registry.folder) as process:
        registry.write(process.pid)
        registry.reported()
        process.kill()
        until(lambda: Proc().stat(process.pid) is None)
        registry.reader.refresh(NOW + 0.5, {("claude", "7e82")})
        assert registry.reported(NOW + 1)["7e82"].life is Life.DEAD
    with started(["claude"], registry.folder) as process:
        registry.write(process.pid)
        assert registry.reported()["7e82"].life is Life.LIVE
        process.kill()
        process.wait()
        assert registry.reported()["7e82"].life is Life.DEAD


def test_a_record_lives_with_its_process(registry: Registry) -> None:
    """A record is of the process with its start, on this machine, not of a later one with its id."""
    registry.write(procStart="1")
    assert registry.reported()["7e82"].life is Life.DEAD
    # Without the start of the process, a process that began after the session is another.
    stat = Proc().stat(os.getpid())
    assert stat is not None
    for late_ms, life in ((1000, Life.LIVE), (-20_000, Life.DEAD)):
        registry.write(procStart=None, startedAt=stat.began_ms + late_ms)
        assert registry.reported()["7e82"].life is life
    # A process id of another namespace proves nothing; an id of the machine may be that of a container.
    here, space = Path("/etc/machine-id").read_text().strip(), os.readlink("/proc/self/ns/pid")
    cases = dict.fromkeys(("darwin", "win32:box", "x"), (Life.UNKNOWN, Life.UNKNOWN))
    cases["linux:0123456789abcdef0123456789abcdef:pid:[1]"] = (Life.UNKNOWN, Life.UNKNOWN)
    cases[f"linux:{here}:{space}"] = (Life.LIVE, Life.DEAD)
    cases[f"linux:{'0' * 32}:{space}"] = (Life.LIVE, Life.UNKNOWN)
    for domain, lives in cases.items():
        with case(domain):
            registry.write(pidDomain=domain)
            registry.write(1 << 22, pidDomain=domain, sessionId="gone")
            reported = registry.reported()
            assert (reported["7e82"].life, reported["gone"].life) == lives
    # Of two records of one session, that of the live process is shown.
    registry.write(1 << 22, updatedAt=9_999_999_999_999, status="waiting")
    registry.write()
    assert registry.reported()["7e82"].state is State.WORKING
    registry.write(kind="daemon")
    assert registry.reported()["7e82"].life is Life.DEAD


def test_without_proc_the_process_must_exist(registry: Registry, tmp_path: Path) -> None:
    """On a system without /proc, the record of an existing process is live, if it is of this system."""
    registry.reader = ClaudeRecords([registry.folder], os.geteuid(), Proc(tmp_path / "proc"))
    registry.write()
    registry.write(1 << 22, sessionId="gone")
    registry.write(9_999_999_999, sessionId="huge")
    registry.write(1, sessionId="else", pidDomain="solaris")
    assert {name: reported.life for name, reported in registry.reported().items()} == {
        "7e82": Life.LIVE,
        "gone": Life.DEAD,
        "huge": Life.DEAD,
        "else": Life.UNKNOWN,
    }


def test_the_domain_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The domain is that of the system; a machine without an id has an empty one."""
    monkeypatch.setattr("agentwatch.agents.claude.reported._MACHINE_ID", tmp_path / "none")
    linux = f"linux::{os.readlink('/proc/self/ns/pid')}"
    for platform, domain in (("darwin", "darwin"), ("linux", linux)):
        with case(platform):
            monkeypatch.setattr("sys.platform", platform)
            assert ClaudeRecords([tmp_path], 0, Proc())._domain == domain
