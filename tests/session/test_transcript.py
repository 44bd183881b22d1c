"""The transcript's notices stay within bounds."""

from __future__ import annotations

from agentwatch.session import Kind
from tests.builders.lines import event, init, session, user


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
