"""The transcript's notices stay within bounds, and its ended texts are packed unchanged."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.session import storage
from agentwatch.session import transcript as transcript_module
from agentwatch.session.call_store import Calls
from agentwatch.session.events import Channel
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
