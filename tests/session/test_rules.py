"""A session and a digest follow one set of rules: the same events leave both in the same state."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.catalog.digest import Digest, Turn
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Permission,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session

IDS = ("a", "b", "c")
EVENTS: tuple[Event, ...] = (
    RunStarted("claude"),
    TurnStarted(),
    Prompt("Go"),
    Prompt("Look", agent="a"),
    Text(Channel.ANSWER, "Hi"),
    Notice("no", is_error=True),
    Retry("overloaded", attempt=2, most_attempts=10),
    RunInfo(title="mine", is_users_title=True),
    RunInfo(title="its own"),
    TurnEnded(Outcome.SUCCEEDED),
    TurnEnded(Outcome.FAILED, result="broken"),
    TurnEnded(Outcome.FAILED, duration_ms=4),
    *(ToolStarted(each, None, "Bash", ToolKind.EXECUTE, "Run", "ls") for each in IDS),
    *(ToolEnded(each, None, "Bash", ToolKind.EXECUTE, Outcome.FAILED, "Ran") for each in IDS),
    *(Permission("Bash", None, call_id=each, target="ls") for each in IDS),
    Permission("Bash", "allowed", call_id="a"),
    Permission("Edit", None, is_automatic=True),
    Permission("Edit", None),
)


@given(st.lists(st.sampled_from(EVENTS), max_size=30))
def test_a_digest_is_in_the_state_of_the_session(events: list[Event]) -> None:
    """After any events, both have the same open calls, questions, retry, title and last outcome."""
    session, digest = Session(), Digest(is_whole=True)
    for number, event in enumerate(events):
        apply_line(session, [event], Place(number, 1, None))
        digest.apply([event])
    retry, oldest = session.retry, session.asked.oldest
    assert [*digest.open_calls] == [call.call_id for call in session.open_calls.values()]
    assert digest.asked == ("" if oldest is None else oldest.words)
    assert digest.retry == ("" if retry is None else "retry 2 of 10: overloaded")
    assert digest.course.last_error == session.last_error
    assert digest.course.awaits_prompt == (session.run.awaits_prompt and bool(session.runs))
    has_ended = session.run.turn_result is not None
    assert (digest.turn is Turn.ENDED) == has_ended
    assert not has_ended or digest.outcome is session.outcome
    if len(session.runs) == 1:  # a list keeps the user's title from run to run
        assert digest.title == (session.run.title or "")
