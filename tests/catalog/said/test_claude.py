"""What Claude Code says about its sessions is read as it changes."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agentwatch.agents.claude.reported import ClaudeRecords
from agentwatch.agents.reported import Life, Said, State
from agentwatch.sources.proc import Proc
from tests.builders.captures import OWN
from tests.catalog.said.claude_registry import NOW, RECORD, Registry
from tests.catalog.started_agents import started
from tests.conftest import case
from tests.harness.processes import until


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Return an empty registry."""
    return Registry(tmp_path)


def test_a_record_says_all_that_a_row_needs(registry: Registry) -> None:
    """The state, its time, the name, the folder and the pane of tmux are in the record."""
    registry.write()
    assert registry.said() == {
        "7e82": Said(
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
            said = registry.said()["7e82"]
            assert (said.life, said.state, said.about) == (Life.LIVE, state, about)
            assert (said.since_ms is None) == (state is None)


def test_a_torn_record_keeps_what_it_said(registry: Registry) -> None:
    """A record that is read in the middle of a write says what it said before, and is read again."""
    registry.write()
    path = registry.folder / f"{os.getpid()}.json"
    before = registry.said()
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    assert registry.said() == before
    path.write_bytes(b"")
    assert registry.said() == before
    registry.write(status="waiting")
    assert registry.said()["7e82"].state is State.ASKS


def test_half_an_emoji_in_the_name_hides_nothing(registry: Registry) -> None:
    """Claude Code cuts names; half a surrogate pair becomes U+FFFD."""
    registry.write(name="Fix it \ud83d", status="waiting")
    said = registry.said()["7e82"]
    assert (said.name, said.state) == ("Fix it \N{REPLACEMENT CHARACTER}", State.ASKS)


def test_a_change_of_the_same_size_is_seen(registry: Registry) -> None:
    """A record that is written twice within the resolution of the clock is read twice."""
    registry.write(status="busy")
    path = registry.folder / f"{os.getpid()}.json"
    registry.said()
    when = path.stat().st_mtime_ns
    registry.write(status="what")
    os.utime(path, ns=(when, when))
    assert registry.said()["7e82"].state is None


def test_clear_moves_the_process_to_another_session(registry: Registry) -> None:
    """After `/clear` the same process says nothing of the session before."""
    registry.write()
    assert registry.said().keys() == {"7e82"}
    registry.write(sessionId="56e9", status="idle")
    said = registry.said()
    assert said.keys() == {"56e9"}
    assert said["56e9"].state is State.YOUR_TURN


def test_a_record_that_is_removed_says_nothing(registry: Registry) -> None:
    """Claude Code removes its record when it exits."""
    registry.write()
    assert registry.said()
    (registry.folder / f"{os.getpid()}.json").unlink()
    assert registry.said() == {}


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
    monkeypatch.setattr("agentwatch.agents.small_files.open_own", opened.append)
    assert registry.said() == {}
    assert opened == []


def test_a_blink_of_idle_is_not_shown(registry: Registry) -> None:
    """A session that comes to rest is shown so after 0.4 s; a new turn before that leaves it working."""
    registry.write(statusUpdatedAt=int(NOW * 1000) - 60_000)
    began = registry.said()["7e82"].since_ms
    rest = NOW + 5
    registry.write(status="idle", statusUpdatedAt=int(rest * 1000))
    shown = registry.said(rest + 0.1)["7e82"]
    assert (shown.state, shown.since_ms) == (State.WORKING, began)
    registry.write(statusUpdatedAt=int(rest * 1000) + 300)
    assert registry.said(rest + 1.5)["7e82"].state is State.WORKING
    registry.write(status="shell", statusUpdatedAt=int(rest * 1000) + 2000)
    assert registry.said(rest + 2.1)["7e82"].state is State.WORKING
    assert registry.reader.refresh(rest + 2.3) is False
    assert registry.reader.refresh(rest + 2.5) is True
    shown = registry.said(rest + 3)["7e82"]
    assert (shown.state, shown.since_ms) == (State.SHELL, int(rest * 1000) + 2000)


def test_waiting_is_shown_at_once(registry: Registry) -> None:
    """A question is not held back, and what comes to rest in the past is not either."""
    registry.write()
    registry.said()
    registry.write(status="waiting", waitingFor="permission prompt")
    assert registry.said()["7e82"].state is State.ASKS
    registry.write(status="idle", statusUpdatedAt=int(NOW * 1000) - 5000)
    assert registry.said()["7e82"].state is State.YOUR_TURN


def test_the_user_gives_a_name(registry: Registry) -> None:
    """A name of the user differs from a derived one, and a one-line prompt from a conversation."""
    registry.write(name="release", nameSource="user", entrypoint="sdk-cli")
    said = registry.said()["7e82"]
    assert (said.name, said.is_users_name, said.is_one_liner) == ("release", True, True)


def test_any_field_may_have_any_value(registry: Registry) -> None:
    """A record with a field of another type says what the other fields say."""
    values: list[Any] = [None, 7, [], {}, "", "x" * 50_000, True, -1, 1 << 80]
    for value in values:
        with case(f"{value!r:.40}"):
            for field in (*RECORD, "procStart", "pidDomain", "waitingFor"):
                registry.write(**{field: value})
                said = registry.said()
                assert all(len(each.name) <= 200 and len(each.tmux) <= 200 for each in said.values()), field


def test_a_record_that_vanishes_while_it_is_read(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that cannot be opened keeps what it said."""
    registry.write()
    before = registry.said()

    def gone(path: Path) -> int:
        raise FileNotFoundError(path)

    monkeypatch.setattr("agentwatch.agents.small_files.open_own", gone)
    registry.write(status="waiting")
    assert registry.said() == before


def test_a_session_that_vanishes_during_a_blink_is_forgotten(registry: Registry) -> None:
    """A session that is still shown as working is gone with its record."""
    registry.write()
    registry.said()
    registry.write(status="idle", statusUpdatedAt=None)
    assert registry.said()["7e82"].state is State.WORKING
    (registry.folder / f"{os.getpid()}.json").unlink()
    assert registry.said() == {}
    registry.write(status="idle")
    assert registry.said()["7e82"].state is State.YOUR_TURN


def test_a_link_in_place_of_the_folder_is_not_followed(registry: Registry, tmp_path: Path) -> None:
    """The folder of the records is no link."""
    registry.write()
    link = tmp_path / "link"
    link.symlink_to(registry.folder)
    registry.reader = ClaudeRecords([link], os.geteuid(), Proc())
    assert registry.said() == {}


def test_a_record_that_has_not_changed_is_not_opened(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record whose time has passed is read once."""
    registry.write()
    path = registry.folder / f"{os.getpid()}.json"
    os.utime(path, (1, 1))
    before = registry.said()
    monkeypatch.setattr("agentwatch.agents.small_files.open_own", None)
    assert registry.said(NOW + 2) == before
    path.unlink()
    assert registry.said() == {}


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
            for (_, session_id), said in self.reader.said.items():
                assert said.life is Life.LIVE
                self.shown.append((seconds, session_id, said.state, said.about))
            seconds += TICK

    def between(self, begin: float, end: float) -> set[tuple[str, State | None, str]]:
        """Return what was shown from one time to another."""
        return {(each[1], each[2], each[3]) for each in self.shown if begin <= each[0] < end}


@pytest.mark.parametrize("pid", [984, 1416, 16837])
def test_each_state_is_shown_in_time(pid: int, tmp_path: Path) -> None:
    """A question and a turn are shown with the next reading, and rest after 0.4 s, if it lasts that long."""
    play, captured = Play(tmp_path), changes(pid)
    play.run(captured)
    following = [*captured[1:], captured[-1]._replace(seconds=captured[-1].seconds + 3)]
    checked = 0
    for change, after in zip(captured, following, strict=True):
        delay = TICK if change.status in ("busy", "waiting") else 0.4 + TICK
        expected = {(change.session_id, STATE_OF[change.status], change.about)}
        if after.seconds - change.seconds > delay + TICK:
            checked += 1
            assert play.between(change.seconds + delay, after.seconds) == expected, change
    assert checked > len(captured) / 2


def test_a_blink_is_never_shown(tmp_path: Path) -> None:
    """Between the end of a task in the background and the next turn, the session goes on working."""
    play, captured = Play(tmp_path), changes(1416)
    blinks = [
        (change.seconds, after.seconds)
        for before, change, after in zip(captured, captured[1:], captured[2:], strict=False)
        if (change.status, after.status) == ("idle", "busy")
        and before.session_id == change.session_id
        and after.seconds - change.seconds < 1
    ]
    play.run(captured)
    assert len(blinks) == 2
    for begin, end in blinks:
        assert State.YOUR_TURN not in {state for _, state, _ in play.between(begin, end + TICK)}


def test_clear_leaves_no_row_behind(tmp_path: Path) -> None:
    """Only the session that the process has now is shown as its own."""
    play = Play(tmp_path)
    play.run(changes(1416))
    sessions = [session_id for _, session_id, _, _ in play.shown]
    assert sessions == sorted(sessions, key=list(dict.fromkeys(sessions)).index)
    assert len(set(sessions)) == 2


@pytest.mark.slow
def test_a_killed_process_leaves_a_dead_record(registry: Registry) -> None:
    """A record that says busy is dead once its process is killed."""
    with started(["claude"], registry.folder) as process:
        registry.write(process.pid)
        assert registry.said()["7e82"].life is Life.LIVE
        process.kill()
        process.wait()
        assert registry.said()["7e82"].life is Life.DEAD


@pytest.mark.slow
def test_a_process_that_nobody_waits_for_has_ended(registry: Registry) -> None:
    """A killed process whose parent has not noticed is dead once all records are read."""
    with started(["claude"], registry.folder) as process:
        registry.write(process.pid)
        registry.said()
        process.kill()
        until(lambda: Proc().stat(process.pid) is None)
        assert not registry.reader.refresh(NOW + 0.5, {("claude", "7e82")})
        assert registry.said(NOW + 1)["7e82"].life is Life.DEAD


def test_a_process_id_that_is_used_again_is_dead(registry: Registry) -> None:
    """A record is of the process with its start, not of a later one with its id."""
    registry.write(procStart="1")
    assert registry.said()["7e82"].life is Life.DEAD


@pytest.mark.parametrize(
    "domain", ["linux:0123456789abcdef0123456789abcdef:pid:[1]", "darwin", "win32:box", "x"]
)
def test_a_record_of_another_machine_or_container_is_unknown(registry: Registry, domain: str) -> None:
    """A process id of another namespace proves nothing here, whatever process has it."""
    registry.write(pidDomain=domain)
    registry.write(1 << 22, pidDomain=domain, sessionId="gone")
    assert {each.life for each in registry.said().values()} == {Life.UNKNOWN}


def test_a_record_of_this_machine_is_checked(registry: Registry) -> None:
    """A record with the domain of this machine lives with its process."""
    domain = f"linux:{Path('/etc/machine-id').read_text().strip()}:{os.readlink('/proc/self/ns/pid')}"
    registry.write(pidDomain=domain)
    registry.write(1 << 22, pidDomain=domain, sessionId="gone")
    said = registry.said()
    assert (said["7e82"].life, said["gone"].life) == (Life.LIVE, Life.DEAD)


def test_the_record_of_a_live_process_counts(registry: Registry) -> None:
    """Of two records of one session, that of the live process is shown."""
    registry.write(1 << 22, updatedAt=9_999_999_999_999, status="waiting")
    registry.write()
    assert registry.said()["7e82"].state is State.WORKING
    registry.write(kind="daemon")
    assert registry.said()["7e82"].life is Life.DEAD


def test_a_machine_with_another_id_is_this_one_if_the_process_is(registry: Registry) -> None:
    """A container may have an id of its own for the machine: the process itself proves where it runs."""
    registry.write(pidDomain=f"linux:{'0' * 32}:{os.readlink('/proc/self/ns/pid')}")
    assert registry.said()["7e82"].life is Life.LIVE


def test_an_older_record_has_no_start(registry: Registry) -> None:
    """Without the start of the process, a process that began after the session is another."""
    stat = Proc().stat(os.getpid())
    assert stat is not None
    registry.write(procStart=None, startedAt=stat.began_ms + 1000)
    assert registry.said()["7e82"].life is Life.LIVE
    registry.write(procStart=None, startedAt=stat.began_ms - 20_000)
    assert registry.said()["7e82"].life is Life.DEAD


def test_without_proc_the_process_must_exist(registry: Registry, tmp_path: Path) -> None:
    """On a system without /proc, the record of an existing process is live, if it is of this system."""
    registry.reader = ClaudeRecords([registry.folder], os.geteuid(), Proc(tmp_path / "proc"))
    registry.write()
    registry.write(1 << 22, sessionId="gone")
    registry.write(9_999_999_999, sessionId="huge")
    registry.write(1, sessionId="else", pidDomain="solaris")
    assert {name: said.life for name, said in registry.said().items()} == {
        "7e82": Life.LIVE,
        "gone": Life.DEAD,
        "huge": Life.DEAD,
        "else": Life.UNKNOWN,
    }


@pytest.mark.parametrize(
    ("platform", "domain"), [("darwin", "darwin"), ("linux", f"linux::{os.readlink('/proc/self/ns/pid')}")]
)
def test_the_domain_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, domain: str
) -> None:
    """The domain is that of the system; a machine without an id has an empty one."""
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr("agentwatch.agents.claude.reported._MACHINE_ID", tmp_path / "none")
    assert ClaudeRecords([tmp_path], 0, Proc())._domain == domain
