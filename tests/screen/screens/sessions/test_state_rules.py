"""A session of the list that changes its state runs the commands of `[[sessions.on]]`, once a change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentwatch.agents.reported import State
from agentwatch.base.config import SessionRule
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import Ground
from agentwatch.output.commands import Commands
from agentwatch.rules.alarms.events import EVENTS, Event
from agentwatch.screen.screens.sessions.rings import Rings
from agentwatch.screen.screens.sessions.state_rules import StateRules
from tests.builders.home.home_app import NOW_MS, row
from tests.conftest import case

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
    """Return the session in a state that its agent reports."""
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
        with case([each.standing.state for each in rows]):
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
        with case([(each.standing.state, each.standing.since_ms) for each in rows]):
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
    away = replace(asking, host="b", address="nats://b/1")
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
