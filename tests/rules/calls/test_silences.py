"""The silence before a call is the time since the last activity, unless a call was running."""

from __future__ import annotations

from agentwatch.rules.calls.facts import Silences
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Event,
    Prompt,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolStarted,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.rules.calls.made import ends, run, starts


def applied(session: Session, *events: Event) -> None:
    """Apply events to a session."""
    for event in events:
        apply_line(session, [event], Place(0, 1, None))


def call(call_id: str, start: int, end: int | None) -> list[ToolStarted | ToolEnded]:
    """Return a call from one second to another one."""
    events: list[ToolStarted | ToolEnded] = [starts(call_id, target="ls", at_ms=1000 * start)]
    return events if end is None else [*events, ends(call_id, at_ms=1000 * end)]


def silences(session: Session) -> list[int | None]:
    """Return the silence before each call in seconds."""
    read = Silences(session)
    found = [read.before(each) for each in session.calls]
    return [None if each is None else each // 1000 for each in found]


def test_the_silence_begins_with_the_last_end() -> None:
    """The silence before the first call is unknown; a call within another one has none before it."""
    session = Session()
    applied(session, run(), *call("a", 0, 100), *call("b", 130, 140), *call("c", 140, 141))
    assert silences(session) == [None, 30, 0]
    session = Session()
    first, first_end = call("a", 0, 100)
    applied(session, run(), first, *call("b", 50, 60), first_end, *call("c", 110, 111))
    assert silences(session) == [None, 0, 10]


def test_a_running_call_explains_the_silence() -> None:
    """No silence is counted while a call runs; its end counts once it is there, also for a live session."""
    session = Session()
    read = Silences(session)
    applied(session, run(), *call("a", 0, None), *call("b", 500, 501))
    assert read.before(session.calls[1]) == 0
    applied(session, ends("a", at_ms=1_000_000), *call("c", 1010, 1011))
    assert read.before(session.calls[2]) == 10_000


def test_texts_are_activity() -> None:
    """The silence begins at the end of a text."""
    session = Session()
    applied(session, run(), *call("a", 0, 10), Text(Channel.ANSWER, "Yes.", at_ms=40_000))
    applied(session, TextEnded(Channel.ANSWER, at_ms=50_000), *call("b", 70, 71))
    assert silences(session) == [None, 20]


def test_after_a_prompt_the_silence_is_unknown() -> None:
    """A prompt has no time, and the user may have been away before it."""
    session = Session()
    applied(session, run(), *call("a", 0, 10), Prompt("Go on."), *call("b", 9000, 9001))
    assert silences(session) == [None, None]


def test_calls_without_times_have_unknown_silences() -> None:
    """Without the agent's clock nothing is known."""
    session = Session()
    applied(session, run(), starts("a"), ends("a"), starts("b", kind=ToolKind.READ))
    assert silences(session) == [None, None]
