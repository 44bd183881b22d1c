"""The transcript's notices stay within bounds."""

from __future__ import annotations

import tracemalloc

from agentwatch.session import Kind
from agentwatch.session.call_store import Calls
from agentwatch.session.transcript import Transcript
from tests.builders.lines import event, init, session, started, user


def test_a_thousand_unknown_things_are_named() -> None:
    """The transcript names the first 1,000 kinds of unknown lines; each line is counted, also the later."""
    odd = [event(f"odd-{number}") for number in range(1500)]
    read = session(init(), *odd, *odd, user("Hi"))
    assert read.lines.unknown == 3000
    notices = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notices == [f"unknown: type odd-{number}" for number in range(1000)]
    assert read.transcript[-1].text == "Hi"


def test_malformed_lines_are_noted_10_000_times() -> None:
    """After 10,000 malformed lines one notice says that more follow; all are counted."""
    read = session(init(), b"x\n" * 10_300)
    notices = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notices[:10_000] == ["not an event (not JSON): x"] * 10_000
    assert notices[10_000:] == ["more lines that are not events are only counted"]
    assert read.lines.malformed == 10_300


def test_the_entry_of_a_call_takes_few_bytes() -> None:
    """20,000 entries of calls take less than 60 bytes each; each of them refers to its call."""
    tracemalloc.start()
    transcript = Transcript(Calls())
    for number in range(1, 20_001):
        transcript.add(Kind.CALL, about=number)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 60 * 20_000
    read = session(init(), started("read", "c-1"), started("read", "c-2"), user("Hi"))
    assert [entry.call.call_id for entry in read.transcript if entry.call] == ["c-1", "c-2"]
    assert [entry.kind for entry in read.transcript[-2:]] == [Kind.CALL, Kind.PROMPT]
