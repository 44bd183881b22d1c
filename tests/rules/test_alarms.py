"""Alarms: the events of a rule, the thread that watches, and what it watches."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentwatch.base.config import SessionRule
from agentwatch.feed.feed import Feed
from agentwatch.output.log import ActionLog, follow_log
from agentwatch.recording.alarms import read_alarms
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import create_file, nameless_file
from agentwatch.recording.times import ArrivalTimes
from agentwatch.rules.alarms import thread as module
from agentwatch.rules.alarms.events import EVENTS, Changes, state_of
from agentwatch.rules.alarms.events import Event as SessionEvent
from agentwatch.rules.alarms.thread import AlarmThread
from agentwatch.rules.alarms.tripwire import Action, Tripwire, tripwire
from agentwatch.rules.alarms.watch import Hit, Watch
from agentwatch.session.agent_process import AgentFacts
from agentwatch.session.call import Place
from agentwatch.session.events import Event, Limits, Outcome, Permission, Prompt, RunStarted, TurnEnded
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from tests.builders.lines import asked, completed, init, result, started, user
from tests.conftest import case as case_of
from tests.harness.processes import until
from tests.rules.calls.test_filter import starts

BEGAN_MS = 1_790_000_000_000


class Growing:
    """The growth of a recording, and a reader of it."""

    def __init__(self) -> None:
        self._size = 0
        self.is_over = False
        self.times = ArrivalTimes(None)
        self.reader = LineReader(nameless_file(), self, self.times)

    def size(self) -> int:
        """Return how many bytes there are."""
        return self._size

    def has_ended(self) -> bool:
        """Return whether no more will come."""
        return self.is_over

    def append(self, data: bytes, at_ms: int = BEGAN_MS, *, is_over: bool = False) -> None:
        os.write(self.reader.fd, data)
        self.times.note(self._size, at_ms)
        self._size += len(data)
        self.is_over = is_over


class Watched:
    """A growing recording with rules that watch it."""

    def __init__(self, *wires: Tripwire) -> None:
        self.growing = Growing()
        self.feed = Feed(self.growing.reader)
        self.watch = Watch(self.feed, wires)
        self.now_ms = BEGAN_MS

    def hits(self, *lines: bytes, after_ms: int = 0, is_over: bool = False) -> list[Hit]:
        """Append lines, and return the rules that are hit then."""
        self.now_ms += after_ms
        self.growing.append(b"".join(lines), self.now_ms, is_over=is_over)
        while self.feed.advance():
            pass
        return self.watch.update(self.now_ms)


def calls_of(hits: Sequence[Hit]) -> list[int | None]:
    """Return the numbers of the calls that hit a rule."""
    return [hit.call for hit in hits]


NOW_MS = 1_790_000_000_000
BEGIN: list[Event] = [RunStarted("made", "s1", None, "/w"), Prompt("Do it")]


def apply(session: Session, *events: Event) -> None:
    apply_line(session, list(events), Place(0, 0, None), 0)


def test_a_change_of_state_is_told_once() -> None:
    """A question, an end with the outcome of its turn, and a refusal with its time; not what was before the
    first look.
    """
    session = Session()
    changes = Changes(session)
    command = "ls\nrm -rf x"
    apply(session, *BEGIN, starts("c", target=command))
    apply(session, Permission("Bash", None, key="1", call_id="c", target=command))
    assert [*changes.new(NOW_MS)] == [("needs-you", "Bash ls ⏎ +1 line", command)]
    assert (state_of(session, NOW_MS), [*changes.new(NOW_MS)]) == ("asks", [])
    apply(
        session, Permission("Bash", "allowed", key="1"), Permission("Read", None, key="2", is_automatic=True)
    )
    assert (state_of(session, NOW_MS), [*changes.new(NOW_MS)]) == ("working", [])
    apply(session, Permission("Bash", None, key="3"), Permission("Bash", "allowed", key="3"))
    assert [*changes.new(NOW_MS)] == []
    session = Session()
    changes = Changes(session)
    apply(session, *BEGIN)
    assert (state_of(session, NOW_MS), [*changes.new(NOW_MS)]) == ("working", [])
    apply(session, TurnEnded(Outcome.FAILED), *BEGIN)
    assert [name for name, *_ in changes.new(NOW_MS)] == ["ended", "failed"]
    assert state_of(session, NOW_MS) == "working"
    apply(session, TurnEnded(Outcome.SUCCEEDED))
    assert [[name for name, *_ in changes.new(NOW_MS)] for _ in range(2)] == [["ended"], []]
    assert state_of(session, NOW_MS) == "succeeded"
    session = Session()
    changes = Changes(session)
    refused = Limits((), is_refused=True, until_ms=NOW_MS + 3_600_000)
    apply(session, *BEGIN, refused)
    [(name, words, _)] = changes.new(NOW_MS)
    assert (name, state_of(session, NOW_MS)) == ("limit", "limited")
    assert words.startswith("waits for the limit until ")
    apply(session, refused)
    assert [*changes.new(NOW_MS)] == []
    apply(session, Limits((), is_refused=False), Limits((), is_refused=True))
    assert [*changes.new(NOW_MS)] == []
    apply(session, Limits((), is_refused=False))
    assert (state_of(session, NOW_MS), [*changes.new(NOW_MS)]) == ("working", [])
    apply(session, Limits((), is_refused=True))
    assert [*changes.new(NOW_MS)] == [("limit", "waits for the limit", None)]
    close_session(session)
    assert state_of(session, NOW_MS) == "unfinished"
    session = Session()
    apply(session, *BEGIN, Permission("Bash", None, key="1"))
    assert [*Changes(session).new(NOW_MS)] == []


class Case:
    """A growing recording that is judged, with its log and its alarms."""

    def __init__(self, folder: Path, *wires: Tripwire, can_act: bool = True) -> None:
        self.growing = Growing()
        self.folder = folder
        self.acted: list[tuple[Action, str]] = []
        self._can_act = can_act
        log_fd, alarms_path = create_file(folder / "r.log"), folder / "r.alarms"
        self.judge = AlarmThread(
            self.growing.reader,
            wires,
            self._act,
            log=lambda feed, alarms: ActionLog(feed.session, alarms),
            log_fd=log_fd,
            alarms_path=alarms_path,
        )

    def _act(self, action: Action, rule: str) -> bool:
        self.acted.append((action, rule))
        return self._can_act

    def end(self, *lines: bytes) -> list[str]:
        """Append the last lines, and return the announcements."""
        self.growing.append(b"".join(lines), BEGAN_MS + 1000, is_over=True)
        self.judge.finish()
        return [news.words for news in self.judge.take_news()]

    @property
    def log(self) -> list[str]:
        return (self.folder / "r.log").read_text().splitlines()

    def printed_again(self) -> list[str]:
        """Return the lines of the log as `--print --times` makes them later."""
        reader = self.growing.reader
        feed = Feed(type(reader)(reader.fd, self.growing, self.growing.times))
        return [*follow_log(feed, alarms=read_alarms(self.folder / "r.alarms"))]


class Told:
    """The events that commands are given."""

    def __init__(self) -> None:
        self.faults: dict[str, OSError | None] = {}
        self.events: list[tuple[tuple[str, ...], SessionEvent]] = []
        self.is_finished = False

    def tell(self, command: tuple[str, ...], event: SessionEvent) -> None:
        """Note an event."""
        self.events.append((command, event))

    def finish(self) -> None:
        """Note the end."""
        self.is_finished = True


def told(*lines: bytes, wires: Sequence[Tripwire] = (), address: str = "r") -> Told:
    """Return the events of a session with these lines, which has ended."""
    growing, commands = Growing(), Told()
    rules = [SessionRule(name, f"on {name}", (name,)) for name in EVENTS]
    judge = AlarmThread(
        *(growing.reader, wires, lambda _action, _rule: True),
        log=lambda feed, alarms: ActionLog(feed.session, alarms),
        session_rules=rules,
        commands=commands,
        address=address,
    )
    for line in lines[:-1]:
        growing.append(line)
    growing.append(lines[-1], is_over=True)
    judge.finish()
    assert judge.has_rules is bool(wires)
    assert commands.is_finished
    return commands


def test_a_session_tells_its_changes_and_hits() -> None:
    """Each end, failure and hit is told once, with the name of the session."""
    # The end and a failure are told once each, with the state.
    cases: list[tuple[list[bytes], list[tuple[str, str]]]] = [
        ([init(), user(), result()], [("ended", "succeeded")]),
        ([init(), user(), result(is_error=True)], [("ended", "failed"), ("failed", "failed")]),
        ([init(), user(), read("a")], [("ended", "unfinished")]),
    ]
    for lines, expected in cases:
        with case_of(lines):
            commands = told(*lines)
            assert [(each.event, each.state) for _, each in commands.events] == expected
            assert all(command == (each.event,) for command, each in commands.events)
            assert {(each.agent, each.session, each.call) for _, each in commands.events} == {
                ("cursor", "r", None)
            }
    # A stream that does not say one has no name.
    lines = [init(session_id="s-1"), user(), result()]
    assert [each.session for _, each in told(*lines, address="").events] == ["s-1"]
    assert [each.session for _, each in told(b'{"type":"user"}\n', address="").events] == [""]
    # Each hit is told, also within the 10 s in which a bell rings once.
    wire = tripwire("tool:read", "run", "reads", ("x", "y"))
    commands = told(init(), user(), read("a"), read("b", "b.py"), result(), wires=[wire])
    hits = [(command, each) for command, each in commands.events if each.event == "rule"]
    assert [(command, each.rule, each.call, each.words) for command, each in hits] == [
        (("x", "y"), "reads", 1, "Read file a.py"),
        (("x", "y"), "reads", 2, "Read file b.py"),
    ]


def read(call_id: str, path: str = "a.py") -> bytes:
    """Return the start and the end of a read."""
    return started("read", call_id, path=path) + completed("read", call_id, {"success": {}}, path=path)


def shell(call_id: str, command: str) -> bytes:
    """Return the start of a command."""
    return started("shell", call_id, command=command)


def test_the_log_is_the_same_bytes_when_it_is_made_from_the_files(tmp_path: Path) -> None:
    """The recording, its times and its alarms give every line and the order of the lines."""
    rules = tripwire("program:rm", "bell", "removes"), tripwire("calls>1", "log"), tripwire("failed", "log")
    case = Case(tmp_path, *rules)
    case.growing.append(init() + user() + read("a") + shell("b", "rm -rf /tmp/x"))
    until(lambda: len(case.judge.alarms) == 2)
    case.growing.append(asked(url="http://a.b", toolCallId="c"))
    case.growing.append(completed("shell", "b", {"failure": {"exitCode": 1}}, command="rm -rf /tmp/x"))
    until(lambda: len(case.judge.alarms) == 3)
    case.end(read("d"), result())
    hits = [line.partition("Z ")[2] for line in case.log if line.startswith("#") and "rule" in line]
    assert hits == [
        'rule "removes" hit by call 2: Ran terminal command rm -rf /tmp/x',
        'rule "calls>1" hit',
        'rule "failed" hit by call 2: Ran terminal command rm -rf /tmp/x',
    ]
    assert case.printed_again() == case.log
    assert os.stat(tmp_path / "r.alarms").st_mode & 0o777 == 0o600


def test_a_session_without_a_hit_has_no_file_of_alarms(tmp_path: Path) -> None:
    """The log is that of a session without rules. If nobody could pause the agent, the hit is noted and
    nothing is paused.
    """
    case = Case(tmp_path, tripwire("program:rm", "bell"))
    assert case.end(init(), read("a"), result()) == []
    assert not (tmp_path / "r.alarms").exists()
    assert len(case.log) == 3
    (tmp_path / "other").mkdir()
    case = Case(tmp_path / "other", tripwire("program:rm", "pause"), can_act=False)
    assert case.end(init(), shell("a", "rm a"), result()) == []
    assert [line for line in case.log if "paused" in line] == []
    assert sum("hit by call 1" in line for line in case.log) == 1


def test_hits_of_a_rule_in_a_short_time_are_announced_together(tmp_path: Path) -> None:
    """The first is announced at once, the others at the end; each of them is in the log."""
    case = Case(tmp_path, tripwire("tool:read", "bell", "reads"), tripwire("calls>9", "note"))
    case.growing.append(init() + b"".join(read(f"c-{number}") for number in range(14)))
    until(lambda: len(case.judge.alarms) == 15)
    words = case.end(result())
    assert words == [
        'rule "reads" hit by call 1: Read file a.py',
        'rule "calls>9" hit',
        'rule "reads" hit by call 14: Read file a.py … and 12 more',
    ]
    assert sum('rule "reads"' in line for line in case.log) == 14


def test_pause_and_stop_act_at_every_hit(tmp_path: Path) -> None:
    """There is no cooldown for what protects the user's files."""
    case = Case(tmp_path, tripwire("program:rm", "pause", "p"), tripwire("program:rm", "stop", "s"))
    words = case.end(init(), shell("a", "rm a"), shell("b", "rm b"), result())
    assert case.acted == [(Action.PAUSE, "p"), (Action.STOP, "s")] * 2
    assert words[:2] == [
        'rule "p" paused the agent at call 1: Ran terminal command rm a',
        'rule "s" stopped the agent at call 1: Ran terminal command rm a',
    ]
    assert case.judge.stopped_by == "s"


def test_the_hits_of_a_rule_in_the_log_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last line of the rule says so."""
    monkeypatch.setattr(module, "MOST_LOGGED", 3)
    case = Case(tmp_path, tripwire("tool:read", "log", "reads"))
    case.end(init(), *(read(f"c-{number}") for number in range(9)), result())
    hits = [line for line in case.log if "rule" in line]
    assert len(hits) == 3
    assert hits[-1].endswith("(further hits of this rule are not noted)")
    assert case.printed_again() == case.log


def test_alarms_that_cannot_be_kept_are_a_fault(tmp_path: Path) -> None:
    """A file that is there already is never overwritten; the log is complete nevertheless."""
    (tmp_path / "r.alarms").write_text("mine")
    case = Case(tmp_path, tripwire("tool:read", "log"))
    case.end(init(), read("a"), result())
    assert [what for what, error in case.judge.faults.items() if error is not None] == [
        "the alarms are not kept"
    ]
    assert (tmp_path / "r.alarms").read_text() == "mine"
    assert sum("rule" in line for line in case.log) == 1


FAILURE = {"failure": {"command": "x", "exitCode": 1}}
REMOVE = "rm -rf /tmp/x"


def shell_call(call_id: str, command: str = REMOVE) -> bytes:
    """Return the start of a command."""
    return started("shell", call_id, command=command)


def ended(call_id: str, outcome: object = None, command: str = REMOVE) -> bytes:
    return completed("shell", call_id, outcome or {"success": {"exitCode": 0}}, command=command)


def test_what_hits_a_rule() -> None:
    """A call hits it when it starts or ends, and time when a duration reaches it."""
    # Once, at its start, with its words, also if its end arrives with it. An unknown value hits none, and
    # neither does what happened before the rules watched.
    watched = Watched(tripwire("program:rm", "bell", "removes"))
    assert watched.hits(init(), shell_call("a", "ls")) == []
    [hit] = watched.hits(shell_call("b"))
    assert (hit.tripwire.name, hit.call, hit.words) == ("removes", 2, "Ran terminal command rm -rf /tmp/x")
    assert hit.offset == watched.feed.offset
    watched = Watched(tripwire("program:rm", "bell"))
    assert calls_of(watched.hits(init(), shell_call("a"))) == [1]
    assert watched.hits(after_ms=60_000) == []
    assert watched.hits(ended("a")) == []
    assert calls_of(watched.hits(shell_call("b"), ended("b"), shell_call("c"))) == [2, 3]
    assert watched.hits(ended("c"), result(), is_over=True) == []
    watched = Watched(tripwire("failed", "bell"))
    lines = [init(), shell_call("a"), ended("a"), shell_call("b"), ended("b", FAILURE), result()]
    assert calls_of(watched.hits(*lines, is_over=True)) == [2]
    watched = Watched(tripwire("exit>0", "bell"), tripwire("-exit:0", "bell"))
    assert watched.hits(init(), shell_call("a")) == []
    assert len(watched.hits(ended("a", FAILURE))) == 2
    watched = Watched(tripwire("program:rm", "bell"), tripwire("failed>0", "bell"))
    watched.growing.append(b"".join((init(), shell_call("a"), ended("a", FAILURE), shell_call("b"))))
    while watched.feed.advance():
        pass
    watched.watch.skip()
    assert watched.hits(ended("b")) == []
    assert calls_of(watched.hits(shell_call("c"))) == [3]
    # A running call has not succeeded yet; one that never ends is unfinished when its run ends. Counts
    # are those of its time.
    for rule in ["tool:shell -succeeded", "tool:shell -outcome:succeeded", "duration<1h"]:
        with case_of(rule):
            watched = Watched(tripwire(rule, "bell"))
            assert watched.hits(init(), shell_call("a")) == []
            assert calls_of(watched.hits(ended("a", FAILURE), after_ms=1000)) == [1]
    watched = Watched(tripwire("unfinished", "bell"))
    assert watched.hits(init(), shell_call("a")) == []
    assert calls_of(watched.hits(result(), is_over=True)) == [1]
    watched = Watched(tripwire("program:rm failed>0", "bell"))
    assert watched.hits(init(), shell_call("a"), ended("a", command="ls")) == []
    assert calls_of(watched.hits(shell_call("b"), ended("b", FAILURE))) == [2]
    # When the duration of a running call, the run or a silence, which no call explains, reaches it; again
    # after it has ended. No time passes while the agent is paused.
    watched = Watched(tripwire("tool:shell duration>5m", "bell"))
    assert watched.hits(init(), shell_call("a")) == []
    assert watched.hits(after_ms=299_000) == []
    assert calls_of(watched.hits(after_ms=2_000)) == [1]
    assert watched.hits(after_ms=600_000) == []
    watched = Watched(tripwire("failed>1", "bell"))
    assert watched.hits(init(), shell_call("a"), ended("a", FAILURE)) == []
    [hit] = watched.hits(shell_call("b"), ended("b", FAILURE))
    assert (hit.call, hit.words) == (None, "")
    assert watched.hits(shell_call("c"), ended("c", FAILURE)) == []
    watched = Watched(tripwire("idle>5m", "bell"))
    assert watched.hits(init(), user()) == []
    assert watched.hits(after_ms=299_000) == []
    assert len(watched.hits(after_ms=2_000)) == 1
    assert watched.hits(after_ms=60_000) == []
    assert watched.hits(shell_call("a"), ended("a")) == []
    assert len(watched.hits(after_ms=301_000)) == 1
    watched = Watched(tripwire("idle>5m", "bell"))
    assert watched.hits(init(), shell_call("a")) == []
    assert watched.hits(after_ms=600_000) == []
    assert watched.hits(ended("a"), result()) == []
    assert watched.hits(after_ms=600_000) == []
    watched = Watched(tripwire("idle>5m", "bell"), tripwire("duration>5m", "bell"))
    assert watched.hits(init(), user()) == []
    paused = AgentFacts(pid=1, paused_by="x", is_stopped=True)
    later_ms = watched.now_ms + 3_600_000
    assert watched.watch.update(later_ms, paused) == []
    continued = AgentFacts(pid=1, continued_ms=later_ms)
    assert watched.watch.update(later_ms + 299_000, continued) == []
    assert len(watched.watch.update(later_ms + 301_000, continued)) == 1
