"""The transcript stays within bounds, packed unchanged; questions are open until they are answered."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.catalog.digest.digest import Digest, Turn
from agentwatch.session import storage
from agentwatch.session import transcript as transcript_module
from agentwatch.session.call import Calls, Place
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
from agentwatch.session.transcript import Kind, Transcript
from tests.builders.lines import PROPERTY, event, init, session, started, user

KINDS = st.sampled_from([Kind.PROMPT, Kind.ANSWER, Kind.REASONING, Kind.NOTICE])
TEXTS = st.text("ab\n é🙂\ud83d", max_size=20)


def test_the_entry_of_a_call_takes_few_bytes() -> None:
    """20,000 entries of calls take less than 60 bytes each; each of them refers to its call."""
    tracemalloc.start()
    transcript = Transcript(Calls())
    for number in range(1, 20_001):
        transcript.add_call(number)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 60 * 20_000
    read = session(init(), started("read", "c-1"), started("read", "c-2"), user("Hi"))
    assert [entry.call.call_id for entry in read.transcript if entry.call] == ["c-1", "c-2"]
    assert [entry.kind for entry in read.transcript[-2:]] == [Kind.CALL, Kind.PROMPT]


@pytest.mark.system
def test_an_ended_text_takes_few_bytes() -> None:
    """40,000 ended thoughts take less than 200 bytes each, and keep their kind, times and text."""
    tracemalloc.start()
    transcript = Transcript(Calls())
    for number in range(40_000):
        thought = transcript.add_text(Channel.REASONING, f"Thought {number} é🙂 " * 5, number)
        assert thought is not None
        transcript.end_text(Channel.REASONING, number + 7)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 200 * 40_000
    for number in (0, 1, 20_000, 35_000, 39_999):
        entry = transcript[number]
        assert (entry.number, entry.kind, entry.is_open) == (number, Kind.REASONING, False)
        assert (entry.started_ms, entry.ended_ms, entry.text) == (
            number,
            number + 7,
            f"Thought {number} é🙂 " * 5,
        )


@PROPERTY
@given(
    st.lists(st.tuples(KINDS, TEXTS, st.none() | st.integers(-(1 << 70), 1 << 70)), min_size=1, max_size=9),
    st.integers(0, 3),
)
def test_a_packed_entry_is_the_same(made: list[tuple[Kind, str, int | None]], most_ended: int) -> None:
    """Each entry keeps its kind, times and text, whether it is packed or not; parts of long texts as well."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(transcript_module, "_MOST_ENDED", most_ended)
        patched.setattr(storage, "_MOST_WHOLE", 4)
        patched.setattr(storage, "_CHUNK", 3)
        transcript = Transcript(Calls())
        for kind, text, at_ms in made:
            transcript.add(kind, text, at_ms=at_ms)
        for entry, (kind, text, at_ms) in zip(transcript, made, strict=True):
            assert (entry.kind, entry.text, entry.started_ms, entry.ended_ms) == (kind, text, at_ms, at_ms)
            assert (len(entry.content), entry.content.part(2, 5)) == (len(text), text[2:5])
        assert [entry.number for entry in transcript[:]] == list(range(len(made)))
        assert not any(entry.is_open for entry in transcript[:-1])


def test_notices_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first 1,000 kinds of unknown lines are named, and 10,000 malformed lines; each line is counted,
    also the later. `forget` keeps the last text or call; later texts are added, and all can be read.
    """
    odd = [event(f"odd-{number}") for number in range(1500)]
    read = session(init(), *odd, *odd, user("Hi"))
    assert read.lines.unknown == 3000
    notices = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notices == [f"unknown: type odd-{number}" for number in range(1000)]
    assert read.transcript[-1].text == "Hi"
    read = session(init(), b"x\n" * 10_300)
    notices = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notices[:10_000] == ["not an event (not JSON): x"] * 10_000
    assert notices[10_000:] == ["more lines that are not events are only counted"]
    assert read.lines.malformed == 10_300
    # Texts that follow dropped texts are packed.
    read = session(init(), user("Hi"), started("read", "c-1"), is_over=False)
    read.transcript.forget()
    assert [entry.call for entry in read.transcript] == [read.calls[0]]
    empty = Transcript(Calls())
    empty.forget()
    assert len(empty) == 0
    monkeypatch.setattr(transcript_module, "_MOST_ENDED", 2)
    transcript = Transcript(Calls())
    for number in range(9):
        transcript.add(Kind.PROMPT, f"early {number} " * 40)
    transcript.forget()
    for number in range(9):
        transcript.add(Kind.PROMPT, f"late {number} " * 40)
    expected = ["early 8 " * 40, *(f"late {number} " * 40 for number in range(9))]
    assert [entry.text for entry in transcript] == expected
    assert [entry.number for entry in transcript] == list(range(10))


ASKED = Permission("Bash", None, key="q", call_id="c", target="rm -rf build", at_ms=5)
STARTED = ToolStarted("c", None, "Bash", ToolKind.EXECUTE, "Ran", "rm")
ENDED = ToolEnded("c", None, "Bash", ToolKind.EXECUTE, Outcome.REJECTED, "Ran")


def session_of(*events: Event) -> Session:
    """Return a session after these events, one per line."""
    session = Session()
    for each in (RunStarted("other"), *events):
        apply_line(session, [each], Place(0, 1, 1000))
    return session


def notices(session: Session) -> list[str]:
    return [entry.text for entry in session.transcript if entry.kind is Kind.NOTICE]


def test_questions_retries_and_compactions() -> None:
    """A question names the tool and the target, and is in the transcript, unless the agent answers it by
    itself; at most 64 are kept. An answer meets it in the key, the call or the subject; the end of the call
    or the run closes it too. A retry is noted with its number and reason, a compaction with the sizes that
    are known. The last error is kept until the next run.
    """
    session = session_of(ASKED)
    question = session.questions.oldest
    assert question is not None
    assert (question.words, question.call_id, question.at_ms) == ("Bash rm -rf build", "c", 5)
    assert (len(session.questions), session.questions.count) == (1, 1)
    assert notices(session) == ["asks: Bash rm -rf build"]
    session = session_of(ASKED._replace(is_automatic=True))
    assert (len(session.questions), session.questions.count, notices(session)) == (0, 0, [])
    session = session_of(
        *(Permission("Bash", None, key=str(number), target=str(number)) for number in range(70))
    )
    oldest = session.questions.oldest
    assert len(session.questions) == 64
    assert oldest is not None
    assert oldest.words == "Bash 6"
    # An answer closes its question.
    answered = session_of(ASKED, Permission("Bash", "approved", key="q"))
    assert (len(answered.questions), answered.questions.count) == (0, 1)
    assert notices(answered)[-1] == "Bash approved"
    assert len(session_of(ASKED, Permission("Bash", "approved", key="other")).questions) == 1
    assert len(session_of(Permission("Edit", None), Permission("Edit", "rejected", "no")).questions) == 0
    assert session_of(ASKED, ASKED).questions.count == 1
    assert len(session_of(ASKED, STARTED, ENDED).questions) == 0
    assert len(session_of(ASKED, Permission("Edit", None, key="e", call_id="d"), ENDED).questions) == 1
    assert len(session_of(ASKED, TurnEnded(Outcome.CANCELLED)).questions) == 0
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
    Prompt("Look", parent_call="a"),
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
    for number, each in enumerate(events):
        apply_line(session, [each], Place(number, 1, None))
        digest.apply([each])
    retry, oldest = session.retry, session.questions.oldest
    assert [*digest.open_calls] == [call.call_id for call in session.open_calls.values()]
    assert digest.question == ("" if oldest is None else oldest.words)
    assert digest.retry == ("" if retry is None else "retry 2 of 10: overloaded")
    assert digest.course.last_error == session.last_error
    assert digest.course.awaits_prompt == (session.run.awaits_prompt and bool(session.runs))
    has_ended = session.run.turn_result is not None
    assert (digest.turn is Turn.ENDED) == has_ended
    assert not has_ended or digest.outcome is session.outcome
    if len(session.runs) == 1:  # a list keeps the user's title from run to run
        assert digest.title == (session.run.title or "")
