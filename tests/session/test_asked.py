"""Questions are open until they are answered, their call or the run ends; a digest follows the same rules."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.catalog.digest import Digest, Turn
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Channel,
    Compaction,
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
from agentwatch.session.transcript import Kind

ASKED = Permission("Bash", None, key="q", call_id="c", target="rm -rf build", at_ms=5)
STARTED = ToolStarted("c", None, "Bash", ToolKind.EXECUTE, "Ran", "rm")
ENDED = ToolEnded("c", None, "Bash", ToolKind.EXECUTE, Outcome.REJECTED, "Ran")


def session_of(*events: Event) -> Session:
    """Return a session after these events, one per line."""
    session = Session()
    for event in (RunStarted("other"), *events):
        apply_line(session, [event], Place(0, 1, 1000))
    return session


def notices(session: Session) -> list[str]:
    """Return the notices of the transcript."""
    return [entry.text for entry in session.transcript if entry.kind is Kind.NOTICE]


def test_questions_retries_and_compactions() -> None:
    """A question names the tool and the target, and is in the transcript, unless the agent answers it by
    itself; at most 64 are kept. An answer meets it in the key, the call or the subject; the end of the call
    or the run closes it too. A retry is noted with its number and reason, a compaction with the sizes that
    are known. The last error is kept until the next run.
    """
    session = session_of(ASKED)
    question = session.asked.oldest
    assert question is not None
    assert (question.words, question.call_id, question.at_ms) == ("Bash rm -rf build", "c", 5)
    assert (len(session.asked), session.asked.count) == (1, 1)
    assert notices(session) == ["asks: Bash rm -rf build"]
    session = session_of(ASKED._replace(is_automatic=True))
    assert (len(session.asked), session.asked.count, notices(session)) == (0, 0, [])
    session = session_of(
        *(Permission("Bash", None, key=str(number), target=str(number)) for number in range(70))
    )
    oldest = session.asked.oldest
    assert len(session.asked) == 64
    assert oldest is not None
    assert oldest.words == "Bash 6"
    # An answer closes its question.
    answered = session_of(ASKED, Permission("Bash", "approved", key="q"))
    assert (len(answered.asked), answered.asked.count) == (0, 1)
    assert notices(answered)[-1] == "Bash approved"
    assert len(session_of(ASKED, Permission("Bash", "approved", key="other")).asked) == 1
    assert len(session_of(Permission("Edit", None), Permission("Edit", "rejected", "no")).asked) == 0
    assert session_of(ASKED, ASKED).asked.count == 1
    assert len(session_of(ASKED, STARTED, ENDED).asked) == 0
    assert len(session_of(ASKED, Permission("Edit", None, key="e", call_id="d"), ENDED).asked) == 1
    assert len(session_of(ASKED, TurnEnded(Outcome.CANCELLED)).asked) == 0
    # A retry and a compaction last until they are over.
    retry = Retry("overloaded", 4, 10, 8000)
    other_session = session_of(retry)
    assert other_session.retry is not None
    assert other_session.retry[0] == retry
    assert notices(other_session) == ["retry 4 of 10: overloaded"]
    assert notices(session_of(Retry("", 2))) == ["retry 2"]
    assert session_of(retry, Text(Channel.ANSWER, "x")).retry is None
    assert session_of(retry, STARTED).retry is None
    assert session_of(retry, TurnEnded(Outcome.FAILED)).retry is None
    begun = Compaction(is_over=False)
    other_session = session_of(begun)
    assert other_session.compacting is not None
    over = session_of(begun, Compaction(is_over=True, tokens_before=150_000, tokens_after=9_000))
    assert over.compacting is None
    assert notices(over) == ["context compacted: 150,000 → 9,000 tokens"]
    assert notices(session_of(Compaction(is_over=True))) == ["context compacted"]
    other_session = session_of(Notice("too slow"), Notice("disk full", is_error=True), Notice("late"))
    assert other_session.last_error == "disk full"
    assert session_of(Notice("x", is_error=True), RunStarted("other")).last_error == ""


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
