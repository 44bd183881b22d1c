"""Live sessions of the list are judged by rules, and their changes of state run commands, once a change."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.base.config import Config, OnSetting, SessionRule
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Ground
from agentwatch.output.commands import Commands
from agentwatch.rules.alarms.events import EVENTS, Event
from agentwatch.rules.alarms.tripwire import tripwire
from agentwatch.screen.screens.sessions.rings import Rings, RuleHit
from agentwatch.screen.screens.sessions.rules import MOST_SESSIONS, SessionAlarms, StateRules
from tests.builders.home.home_app import NOW_MS, row
from tests.builders.lines import completed, init, result, started
from tests.builders.machine.app import HomeStage, at_home, descriptors
from tests.conftest import case
from tests.harness.processes import until

REMOVE = "rm -rf /tmp/x"
FAILURE = {"failure": {"command": "x", "exitCode": 1}}


def shell(call_id: str, command: str = REMOVE) -> bytes:
    """Return the start of a command."""
    return started("shell", call_id, command=command)


def ended(call_id: str, outcome: object = None) -> bytes:
    return completed("shell", call_id, outcome or {"success": {"exitCode": 0}}, command=REMOVE)


class Home:
    """Sessions in files, and the rules that watch them."""

    def __init__(self, folder: Path, *rules: str) -> None:
        self.folder = folder
        self.rows: dict[tuple[str, str], Row] = {}
        self.hits: list[RuleHit] = []
        self.alarms = SessionAlarms([tripwire(rule, "bell") for rule in rules], self.hits.extend)

    def path(self, name: str = "one") -> Path:
        return self.folder / f"{name}.ndjson"

    def append(self, *lines: bytes, name: str = "one") -> None:
        with self.path(name).open("ab") as file:
            file.write(b"".join(lines))

    def put(self, name: str = "one", state: State = State.WORKING, **fields: Any) -> None:
        each = row(name, state, **{"path": self.path(name), "is_own": True, **fields})
        self.rows[each.key] = each

    def step(self) -> list[str]:
        """Judge until nothing is left to read; return the sessions and calls that have hit a rule."""
        self.hits.clear()
        while self.alarms.step(self.rows):
            pass
        return [f"{hit.key[1]} {hit.announcement.alarm.call}" for hit in self.hits]


@contextmanager
def listed(folder: Path) -> Iterator[Home]:
    """List one session that works, that removed files before."""
    folder.mkdir(exist_ok=True)
    made = Home(folder, "program:rm")
    made.append(init(), shell("a"), ended("a"), shell("b"))
    made.put()
    yield made
    made.alarms.close()


def test_a_call_after_the_list_was_opened_hits_a_rule(tmp_path: Path) -> None:
    """Calls hit a rule that begin after the list was opened, once each, to the end of the session."""
    # A call is judged when its line is whole, and once.
    with listed(tmp_path / "0") as watched:
        assert watched.step() == []
        line = shell("c")
        watched.append(line[:20])
        assert watched.step() == []
        watched.append(line[20:])
        assert watched.step() == ["one 1"]
        assert watched.step() == []
    # Neither a call that has ended before hits a rule, nor one whose end comes later.
    with listed(tmp_path / "1") as watched:
        assert watched.step() == []
        watched.append(ended("b"))
        assert watched.step() == []
    # A last line without its end is old: some agents write the line end before the next line.
    with listed(tmp_path / "2") as watched:
        watched.append(shell("c").rstrip(b"\n"))
        assert watched.step() == []
        watched.append(b"\n")
        assert watched.step() == []
        watched.append(shell("d"))
        assert watched.step() == ["one 1"]
    # The first hit of a rule is announced at once, the others of the next 10 s together.
    with listed(tmp_path / "3") as watched:
        watched.step()
        watched.append(*map(shell, "cdefg"))
        assert watched.step() == ["one 1"]
    # The last lines of a session that has ended are judged; then its file is closed.
    with listed(tmp_path / "4") as watched:
        watched.step()
        watched.append(shell("c"), ended("c"), result())
        watched.put(state=State.SUCCEEDED)
        assert watched.step() == ["one 1"]
        assert not any(name.endswith("one.ndjson") for name in descriptors())


def test_a_rule_counts_from_the_opening_of_the_list(tmp_path: Path) -> None:
    """Neither earlier failures nor earlier time count; the working directory is that of the head."""
    # The head of the file says what it is.
    watched = Home(tmp_path, "outside:cwd")
    watched.append(init("/watched/ada/app"), shell("a"))
    watched.put()
    watched.step()
    watched.append(started("write", "b", path="/watched/ada/app/x"), started("write", "c", path="/etc/x"))
    assert watched.step() == ["one 2"]
    watched.alarms.close()
    # Failures of before do not count.
    watched = Home(tmp_path, "failed>1", "idle>1ms")
    watched.append(init(), *(line for name in "abc" for line in (shell(name), ended(name, FAILURE))))
    watched.put()
    assert watched.step() == []
    watched.append(shell("d"), ended("d", FAILURE), shell("e"))
    assert watched.step() == []
    watched.append(ended("e", FAILURE), shell("f"))
    assert watched.step() == ["one None"]
    watched.alarms.close()
    # When the run began is not read.
    for rule, is_hit in (("elapsed>1ms", True), ("elapsed>1h", False)):
        with case(rule):
            watched = Home(tmp_path, rule)
            watched.append(init(), shell("a"))
            watched.put()
            hits = until(watched.step, what="the hit") if is_hit else watched.step()
            assert hits == ["one None"] * is_hit
            watched.alarms.close()


def test_a_changed_file_is_joined_again(tmp_path: Path) -> None:
    """What a truncated or replaced file contains is old; what comes then is judged."""
    data = init() + shell("x") + ended("x") + shell("y")
    for change in ("truncated", "replaced"):
        with case(change), listed(tmp_path / change) as watched:
            watched.step()
            if change == "replaced":
                other = watched.path("other")
                other.write_bytes(data * 3)
                other.replace(watched.path())
            else:
                watched.path().write_bytes(data[:-200])
            assert watched.step() == []
            assert watched.step() == []
            watched.append(b"\n", shell("z"))
            assert watched.step() == ["one 1"]


def test_a_file_is_joined_again_when_it_is_another_one(tmp_path: Path) -> None:
    """A file that was rewritten, or that is gone for a while, is joined again; a pipe is not opened."""
    # The size of a rewritten file that is longer does not show that it was rewritten.
    with listed(tmp_path / "0") as watched:
        watched.step()
        watched.path().write_bytes(init() + b"".join(map(shell, "klmnopqrst")))
        assert watched.step() == []
        assert watched.step() == []
        watched.append(shell("z"))
        assert watched.step() == ["one 1"]
    # A file that is gone is read again when it is there again.
    with listed(tmp_path / "1") as watched:
        watched.step()
        watched.put("none")
        assert watched.step() == []
        watched.append(init(), name="none")
        watched.step()
        watched.append(shell("a"), name="none")
        assert watched.step() == ["none 1"]
    # A pipe is not opened: that would wait for ever.
    with listed(tmp_path / "2") as watched:
        os.mkfifo(watched.path("pipe"))
        watched.put("pipe")
        assert watched.step() == []


def test_at_most_20_sessions_are_judged(tmp_path: Path) -> None:
    """They are the most recently active ones, and each has one open file."""
    watched = Home(tmp_path, "program:rm")
    before = len(descriptors())
    for number in range(MOST_SESSIONS + 5):
        watched.append(init(), name=f"s{number}")
        watched.put(f"s{number}", seen_ms=1_000 + number)
    watched.step()
    assert len(descriptors()) - before == MOST_SESSIONS
    for number in range(MOST_SESSIONS + 5):
        watched.append(shell("a"), name=f"s{number}")
    assert sorted(watched.step()) == sorted(f"s{number} 1" for number in range(5, MOST_SESSIONS + 5))
    watched.alarms.close()
    assert len(descriptors()) == before


def test_other_sessions_are_not_opened(tmp_path: Path) -> None:
    """Neither those that have ended, nor those of other machines, nor those in stores."""
    others: tuple[dict[str, Any], ...] = (
        {"state": State.SUCCEEDED},
        {"state": State.UNKNOWN},
        {"host": "b"},
        {"address": "ssh://b/1"},
        {"path": Path("/x.db/ses_1")},
        {"can_open": False},
    )
    for number, fields in enumerate(others):
        with case(fields), listed(tmp_path / str(number)) as watched:
            watched.put(**fields)
            watched.step()
            assert not any(name.endswith("one.ndjson") for name in descriptors())


def test_hostile_lines_do_not_end_the_judging(tmp_path: Path) -> None:
    """Neither in the head of the file nor behind it."""
    hostile_lines = (
        b"\xff\xfe\n",
        b"[" * 5000 + b"\n",
        b"{}\n",
        b"\0" * 70_000 + b"\n",
        b'{"type":"tool_call"}\n',
        b'{"type":[],"session_id":{},"tool_call":7,"subtype":"started"}\n',
        b'{"a":"\\ud800"}\n',
    )
    for number, hostile in enumerate(hostile_lines):
        with case(hostile[:60]), listed(tmp_path / str(number)) as watched:
            watched.append(hostile, init(), name="odd")
            watched.put("odd")
            watched.step()
            watched.append(hostile, hostile, shell("a"), name="odd")
            assert watched.step() == ["odd 1"]


MARK = "▲ removes"


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the terminal be one that shows notifications."""
    monkeypatch.setenv("TERM_PROGRAM", "iTerm.app")
    monkeypatch.delenv("TMUX", raising=False)


@pytest.fixture
def session(tmp_path: Path) -> Row:
    path = tmp_path / "one.ndjson"
    path.write_bytes(init() + started("shell", "old", command=REMOVE))
    return row("one", State.WORKING, path=path, is_own=True, now="pytest -q")


def with_rule(action: str) -> Config:
    return Config(on=(OnSetting("program:rm", action, "removes"),))


async def hit(stage: HomeStage, session: Row) -> str:
    """Let a session hit the rule once the list has its file open; return what the terminal got."""
    alarms = stage.app._watching._alarms
    assert alarms is not None
    await stage.until(lambda: session.key in alarms._joined, "the session that is judged")
    assert any(name.endswith(str(session.path)) for name in descriptors())
    stage.written_since()
    with session.path.open("ab") as file:
        file.write(started("shell", "new", command=REMOVE))
    await stage.shows(MARK)
    return "".join(each for each in stage.written if "\x1b]0;" not in each)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "rings", "notes"),
    [
        ("bell", True, False),
        ("stop", True, True),
        pytest.param("note", False, True, marks=pytest.mark.system),
        pytest.param("log", False, False, marks=pytest.mark.system),
        pytest.param("pause", True, True, marks=pytest.mark.system),
    ],
)
async def test_each_action_in_the_list(session: Row, action: str, rings: bool, notes: bool) -> None:
    """The agent is not paused and not stopped; the user is alerted in both ways instead."""
    async with at_home([session], config=with_rule(action)) as stage:
        written = await hit(stage, session)
        assert written.startswith("\x07") == rings
        assert ('\x1b]9;agentwatch: rule "removes" in Title of one: Ran terminal' in written) == notes
        await stage.shows('rule "removes" in Title of one')
        shown = "".join(stage.text.split())
        assert ("hasnotstarted" in shown) == (action in ("pause", "stop"))


@pytest.mark.system
async def test_a_silenced_session_shows_the_hit_and_does_not_ring(session: Row) -> None:
    """`r` silences its alarms as well."""
    async with at_home([session], config=with_rule("bell")) as stage:
        await stage.press("r")
        assert await hit(stage, session) == ""


@pytest.mark.system
async def test_commands_of_rules_run(session: Row, tmp_path: Path) -> None:
    """A hit and the end of the turn each run their command; the hit is shown, and nothing rings."""
    out = ("sh", "-c", 'cat >> "$1"', "sh", str(tmp_path / "out"))
    rule = OnSetting("program:rm", "run", "removes", out)
    broken = SessionRule("ended", "broken", ("/nowhere/x",))
    config = Config(on=(rule,), on_sessions=(SessionRule("ended", "end", out), broken))
    async with at_home([session], config=config) as stage:
        await stage.put(session := session._replace(title="New title"))
        assert await hit(stage, session) == ""
        await stage.shows('rule "removes" in New title')
        status = session.status._replace(state=State.YOUR_TURN, since_ms=now_ms() + 1, now="Done.")
        await stage.put(session._replace(status=status))
        await stage.shows('the command of rule "broken" failed')
        assert stage.app._commands is not None
        stage.app._commands.finish()
    found = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert {each["title"] for each in found} == {"New title"}
    assert sorted((each["event"], each["rule"], each["state"], each["session"]) for each in found) == [
        ("ended", "end", "your turn", session.id),
        ("rule", "removes", "working", session.id),
    ]


@pytest.mark.system
async def test_the_mark_vanishes_when_the_session_is_opened(session: Row) -> None:
    """The user has looked at it then; the file that was judged is closed with the list."""
    async with at_home([session], config=with_rule("log")) as stage:
        await hit(stage, session)
        assert f"{MARK} · pytest -q" in stage.text
        await stage.open()
        await stage.back()
        await stage.until(lambda: MARK not in stage.text, "the row without its mark")
    assert not any(name.endswith(str(session.path)) for name in descriptors())


@pytest.mark.system
async def test_without_rules_no_file_is_opened(session: Row) -> None:
    """The list only watches."""
    async with at_home([session]) as stage:
        steps = stage.machine.steps
        await stage.until(lambda: stage.machine.steps > steps + 1, "two steps")
        assert not any(name.endswith(str(session.path)) for name in descriptors())


BEGAN_MS = NOW_MS - 60_000
LATER_MS = NOW_MS + 1_000
WORKING, ASKS, YOUR_TURN = State.WORKING, State.ASKS, State.YOUR_TURN


class Told(Commands):
    """Notes the events in place of running commands."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []

    def tell(self, command: tuple[str, ...], event: Event) -> None:
        """Note an event."""
        assert command == (event.event,)
        self.events.append(event)


def rules_of(commands: Told, *names: str) -> StateRules:
    """Return a rule for each event of these names, in a new list."""
    rules = [SessionRule(name, name, (name,)) for name in names]
    return StateRules(rules, commands, BEGAN_MS, Rings(by_default=True, began_ms=BEGAN_MS).is_silenced)


def told(*rows: Row) -> list[str]:
    """Return the events of a session that is listed with these rows, one after the other."""
    commands = Told()
    rules = rules_of(commands, *EVENTS)
    for each in rows:
        rules.update([each], (), ())
    return [each.event for each in commands.events]


def at(state: State, since_ms: int | None = LATER_MS, **fields: Any) -> Row:
    return row("one", state, since_ms=since_ms, **fields)


LIMITED = at(State.LIMITED, ground=Ground.INFERRED, until_ms=LATER_MS + 10)


def test_a_change_of_state_is_told_once() -> None:
    """An end counts after work, a failure is an end; a reset limit and what was not watched are none."""
    # An end counts after work, and a failure is an end too.
    cases: list[tuple[list[Row], list[str]]] = [
        ([at(WORKING), at(YOUR_TURN), at(YOUR_TURN), at(State.SUCCEEDED)], ["ended"]),
        ([at(WORKING), at(State.SHELL), at(YOUR_TURN)], ["ended"]),
        ([at(WORKING), at(YOUR_TURN), at(WORKING), at(YOUR_TURN)], ["ended", "ended"]),
        ([at(WORKING), at(State.TURN_FAILED), at(State.FAILED)], ["ended", "failed"]),
        ([at(State.QUIET), at(State.FAILED)], ["ended", "failed"]),
        ([at(WORKING), at(State.CANCELLED)], ["ended"]),
        ([at(WORKING), at(State.UNFINISHED, ground=Ground.INFERRED)], ["ended"]),
        ([at(ASKS), at(WORKING), at(YOUR_TURN)], ["ended"]),
        ([at(WORKING), at(YOUR_TURN, None)], ["ended"]),
        ([at(WORKING, host="b"), at(YOUR_TURN, BEGAN_MS - 1, host="b")], ["ended"]),  # of another clock
        ([at(WORKING), LIMITED, LIMITED, at(WORKING), at(YOUR_TURN)], ["limit", "ended"]),
    ]
    for rows, events in cases:
        with case([each.status.state for each in rows]):
            assert told(*rows) == events
    # The reset of a limit is not told as an end. A turn or a process that ends later is told.
    failed, endless = State.TURN_FAILED, at(State.LIMITED, ground=Ground.INFERRED)
    cases = [
        ([at(WORKING), LIMITED, at(failed)], ["limit"]),
        ([at(WORKING), LIMITED, at(failed, None)], ["limit"]),
        ([at(WORKING), LIMITED, at(failed), at(State.FAILED)], ["limit"]),
        ([at(WORKING), LIMITED, at(failed), at(WORKING), at(YOUR_TURN)], ["limit", "ended"]),
        ([at(WORKING), LIMITED, at(failed), LIMITED, at(failed)], ["limit", "limit"]),
        ([at(WORKING), LIMITED, at(State.QUIET), at(failed)], ["limit", "ended", "failed"]),
        ([at(WORKING), LIMITED, at(failed, LATER_MS + 20)], ["limit", "ended", "failed"]),
        ([at(WORKING), endless, at(failed)], ["limit", "ended", "failed"]),
        ([at(WORKING), LIMITED, at(State.FAILED)], ["limit", "ended", "failed"]),
    ]
    for rows, events in cases:
        with case([(each.status.state, each.status.since_ms) for each in rows]):
            assert told(*rows) == events
    # History, guesses, subagents, blinks and machines out of reach are not events.
    guess = at(YOUR_TURN, ground=Ground.INFERRED)
    unseen: list[tuple[str, list[Row]]] = [
        ("it had ended", [at(State.SUCCEEDED)]),
        ("it had ended, and is read later", [at(State.UNKNOWN), at(State.SUCCEEDED)]),
        ("the end is older than the list", [at(WORKING), at(YOUR_TURN, BEGAN_MS - 1)]),
        ("the end is inferred", [at(WORKING), guess]),
        ("a subagent", [at(WORKING, parent=("x", "y")), at(State.SUCCEEDED, parent=("x", "y"))]),
        ("no prompt yet", [at(State.STARTING), at(YOUR_TURN)]),
        ("idle for a moment in a question", [at(ASKS), at(YOUR_TURN)]),
        ("out of reach", [at(WORKING), at(State.FAILED, lost_ms=1)]),
    ]
    for why, each in unseen:
        with case(why):
            assert told(*each) == []
    # A session that vanishes is new when it returns: what happened meanwhile is not known.
    commands = Told()
    rules = rules_of(commands, "ended")
    rules.update([at(WORKING)], (), ())
    rules.update((), [at(WORKING).key], ())
    rules.update([at(YOUR_TURN)], (), ())
    assert commands.events == []


def test_a_question_is_told_with_its_words() -> None:
    """The event names the session, its agent, and what it asks; a silenced session tells nothing."""
    # The event names the session, its agent, and what it asks.
    commands = Told()
    rules = rules_of(commands, "needs-you")
    asking = at(ASKS, now="Bash rm -rf build", title="Clean up", agent="claude")
    rules.update([asking], (), [asking])
    [event] = commands.events
    assert (event.state, event.agent, event.session) == ("asks", "claude", asking.id)
    assert (event.title, event.words, event.call) == ("Clean up", "Bash rm -rf build", None)
    away = asking._replace(host="b", address="nats://b/1")
    rules.update([away], (), [away])
    assert commands.events[-1].session == "nats://b/1"
    # What happens while `r` silences it is not told later either.
    key = at(WORKING).key
    chosen = Rings(by_default=True, began_ms=BEGAN_MS)
    assert not chosen.toggle(key)
    commands, asking = Told(), at(ASKS)
    silenced = chosen.is_silenced
    rules = StateRules([SessionRule(name, name, (name,)) for name in EVENTS], commands, BEGAN_MS, silenced)
    for each in (at(WORKING), asking, at(WORKING), LIMITED, at(WORKING), at(State.FAILED)):
        rules.update([each], (), [asking] if each is asking else ())
    assert commands.events == []
    assert chosen.toggle(key)
    rules.update([at(State.FAILED)], (), ())
    assert commands.events == []
    rules.update([at(WORKING)], (), ())
    rules.update([at(YOUR_TURN)], (), ())
    assert [each.event for each in commands.events] == ["ended"]
