"""Emoji whose surrogates arrive in separate deltas are joined; lone surrogates become U+FFFD."""

from __future__ import annotations

import pytest

from agentwatch.session.counts import LineCounts
from agentwatch.session.events import Channel, Repair, Text
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.lines import (
    asked,
    completed,
    delta,
    event,
    events,
    final,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
)
from tests.conftest import case

HIGH, LOW, EMOJI, BAD = "\ud83d", "\ude00", "\U0001f600", "\ufffd"


def escaped(line: bytes) -> bytes:
    """Return a line with its surrogates escaped, as an agent writes them."""
    text = line.decode(errors="surrogatepass")
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text).encode()


def session_of(*lines: bytes) -> Session:
    """Return the session of lines whose surrogates are escaped."""
    return session(init(), *map(escaped, lines))


def thoughts(read: Session) -> list[str]:
    """Return the blocks of reasoning."""
    return [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]


def test_halves_of_an_emoji_in_two_deltas_are_one() -> None:
    """An emoji split over two deltas is joined, in the answer and in the reasoning."""
    read = session_of(
        thought(f"t{HIGH}"),
        thought(f"{LOW}!"),
        thought_through(),
        delta(f"a{HIGH}"),
        delta(f"{LOW}b{HIGH}"),
        delta(LOW),
        final(f"a{EMOJI}b{EMOJI}"),
        result(f"a{EMOJI}b{EMOJI}"),
    )
    assert (read.text, thoughts(read)) == (f"a{EMOJI}b{EMOJI}", [f"t{EMOJI}!"])
    assert read.run.text_matches_result
    assert read.lines == LineCounts(events=9, repaired=5)


def test_other_lines_between_the_halves_do_not_part_them() -> None:
    """A delta without text, a thought or a notice between the surrogates does not prevent joining."""
    read = session_of(
        delta(f"a{HIGH}"), delta(""), thought("hm"), event("connection", "reconnected"), delta(LOW)
    )
    assert read.text == f"a{EMOJI}"


def test_halves_in_answer_and_reasoning_are_not_joined() -> None:
    """A surrogate in a thought and one in the answer are not joined."""
    read = session_of(thought(f"t{HIGH}"), delta(f"{LOW}a"), thought("u"), thought_through())
    assert read.text == f"{BAD}a"
    assert "".join(thoughts(read)) == f"t{BAD}u"


def test_a_lone_half_at_the_end_of_a_segment_is_a_bad_character() -> None:
    """A surrogate without its other half in the segment is one U+FFFD in its place."""
    cases: list[tuple[str, bytes]] = [
        ("call", started("read")),
        ("end of a call", completed("read")),
        ("query", asked()),
        ("result", result("")),
        ("init", init()),
        ("flush", segment(f"a{BAD}") + started("read")),
        ("halved flush", segment(f"a{HIGH}") + started("read")),
        ("final flush", final(f"a{HIGH}") + result(f"a{HIGH}")),
        ("empty", delta("") + started("read")),
    ]
    for name, closer in cases:
        with case(name):
            read = session_of(delta(f"a{HIGH}"), closer, escaped(delta(f"{LOW}b")))
            assert read.text == f"a{BAD}{BAD}b"


def test_a_lone_half_in_the_middle_is_a_bad_character_at_once() -> None:
    """A surrogate followed by other text in its delta becomes U+FFFD at once."""
    read = session_of(delta(f"a{HIGH}b"), delta(f"{LOW}c"), delta(f"{HIGH}{HIGH}"), delta(LOW))
    assert read.text == f"a{BAD}b{BAD}c{BAD}{EMOJI}"


@pytest.mark.parametrize(
    "lines", [(delta(f"a{HIGH}"),), (delta(f"a{HIGH}"), final(f"a{HIGH}"))], ids=["killed", "flushed"]
)
def test_a_lone_half_at_the_end_of_the_stream_is_a_bad_character(lines: tuple[bytes, ...]) -> None:
    """A stream that ends after a lone surrogate shows it as U+FFFD; nothing is dropped."""
    assert session_of(*lines).text == f"a{BAD}"


def test_a_lone_half_at_the_end_of_a_thought_is_a_bad_character() -> None:
    """A lone surrogate at the end of a block of reasoning is U+FFFD, and not part of the next block."""
    read = session_of(thought(f"a{HIGH}"), thought_through(), thought(f"{LOW}b"), thought_through())
    assert thoughts(read) == [f"a{BAD}", f"{BAD}b"]


def test_a_flush_of_halves_is_recognised() -> None:
    """A flush with the whole emoji repeats deltas with its surrogates, and adds no text."""
    read = session_of(
        delta(HIGH), delta(LOW), segment(EMOJI), started("read"), delta(f"x{HIGH}"), final(f"x{HIGH}")
    )
    assert read.text.startswith(f"{EMOJI}x")
    assert read.text.count("x") == 1


def test_a_repair_is_an_event_besides_the_others() -> None:
    """A repaired line gives its own event and a Repair event."""
    assert events(init(), escaped(delta(f"a{HIGH}"))) == [Text(Channel.ANSWER, "a", 1000), Repair()]


def test_half_a_thought_does_not_reach_the_next_run() -> None:
    """A lone surrogate at the end of an unclosed block belongs to that block, not to the next."""
    half = thought("a?").replace(b"?", b"\\ud83d")
    read = session(half, init(), thought("b"))
    blocks = [entry.text for entry in read.transcript if entry.kind is Kind.REASONING]
    assert blocks == ["a\ufffd", "b"]
