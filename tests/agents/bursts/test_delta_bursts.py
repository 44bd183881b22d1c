"""A burst of deltas, decoded at once, gives the same session as its lines decoded one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents import Decoder
from agentwatch.feed.feed import Feed
from agentwatch.output.summary import summary
from agentwatch.recording.saved import open_saved
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.lines import (
    ANY_TEXT,
    PROPERTY,
    completed,
    delta,
    final,
    init,
    message,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
)
from tests.conftest import RECORDINGS, case


def at_once(lines: list[bytes], path: Path) -> Session:
    """Return the session of a recording with these lines, read from a file."""
    path.write_bytes(b"".join(lines))
    feed = Feed(open_saved(path))
    feed.advance()
    return feed.session


def facts_of(read: Session) -> list[object]:
    """Return everything known about a session, including the transcript with its times."""
    entries = [(entry.kind, entry.text, entry.started_ms, entry.ended_ms) for entry in read.transcript]
    return [json.loads(b"".join(summary(read))), entries, [odd.event for odd in read.lines.odd]]


def bursts(lines: list[bytes]) -> list[int]:
    """Return the number of lines of each burst that was decoded at once."""
    decoder, data, index, found = Decoder(), [line.rstrip(b"\n") for line in lines], 0, []
    while index < len(data):
        burst = decoder.burst(data, index)
        if burst is None:
            decoder.decode(data[index])
            index += 1
        else:
            found.append(burst[1])
            index += burst[1]
    return found


def deltas(count: int, at_ms: int = 1_760_000_000_000) -> list[bytes]:
    """Return `count` deltas, 20 ms apart."""
    return [delta(f"word {n} ", at_ms + 20 * n) for n in range(count)]


def test_deltas_are_read_at_once() -> None:
    """All deltas after the first of a kind are one burst, up to the first line of another kind."""
    call = [started("read", path="a"), completed("read", result={"success": {}})]
    assert bursts([init(), *deltas(5), *call, *deltas(4)]) == [4, 4]
    thoughts = [thought(f"hm {n}", 1_760_000_000_000 + n) for n in range(6)]
    assert bursts([init(), *thoughts, thought_through(), *thoughts[:2], *deltas(3)]) == [5, 2, 2]
    assert bursts([init(), *(final(f"part {n}") for n in range(5))]) == [4]


def test_a_time_before_the_text_makes_no_burst() -> None:
    """If the time comes before the text, deltas are decoded one by one."""
    fields = {"type": "thinking", "subtype": "delta", "timestamp_ms": 1_760_000_000_000, "text": "hm"}
    assert bursts([init(), *[json.dumps(fields).encode()] * 4]) == []


def test_spaced_json_is_read_at_once_too() -> None:
    """Blanks after colons and commas, which some writers put there, make no difference."""
    assert b'"text": "word' in deltas(1)[0]
    tight = [json.dumps(json.loads(line), separators=(",", ":")).encode() for line in deltas(5)]
    assert bursts([init(), *tight]) == bursts([init(), *deltas(5)]) == [4]


def test_an_odd_line_among_deltas(tmp_path: Path) -> None:
    """A cut or invalid line, a flush or half an emoji among deltas is decoded as if it were alone."""
    cases: list[bytes] = [
        delta("cut", 1_760_000_000_077)[:-30] + b"\n",
        delta("x", 1_760_000_000_077).replace(b'x"', b'x\\"'),
        delta("x", 1_760_000_000_077).replace(b'"x"', b'"x","y"'),
        delta("x", 1_760_000_000_077).replace(b'"x"', b'"\\ud83d"'),
        delta("x", 1_760_000_000_077).replace(b'"x"', b'"a\tb"'),
        delta("x", 1_760_000_000_077).replace(b'"x"', b'"\xff"'),
        delta("x", 1_760_000_000_077).replace(b"1760000000077", b"0760000000077"),
        delta("x", 1_760_000_000_077).replace(b"1760000000077", b"17600000000.7"),
        delta("x", 1_760_000_000_077).replace(b"1760000000077", b"17600x0000077"),
        delta("x", 1_760_000_000_077)[:-2] + b"]\n",
        delta("", 1_760_000_000_077),
        segment("x"),
        segment("word 0 word 1 word 2 "),
        final("word 0 word 1 word 2 "),
        final("x"),
        message("assistant", "x", timestamp_ms="1760000000077"),
        b"\n",
        b'{"type":"assistant"\n',
    ]
    for odd in cases:
        with case(odd):
            lines = [init(), *deltas(3), odd, *deltas(4, 1_760_000_001_000), result("…")]
            assert facts_of(at_once(lines, tmp_path / "r.ndjson")) == facts_of(session(*lines))


T = 1_760_000_000_077
HALF_THOUGHT = thought("a", T).replace(b'"a"', b'"\\ud83d"')
SEQUENCES = {
    "a backslash, then quotes": [
        delta("a", T).replace(b'"a"', b'"a\\"'),
        delta("b", T).replace(b'"b"', b'","b"'),
    ],
    "one quote for two": [delta("a", T).replace(b'"a"', b'"')],
    "a time that is no whole number, last": [
        delta("a", T).replace(b"1760000000077", b"17600000000.7"),
        started("read"),
    ],
    "a segment flushed, the next as well": [
        final("word 0 word 1 word 2 "),
        *deltas(4),
        final("word 0 word 1 word 2 word 3 "),
    ],
    "flushes where there were copies": [
        started("read"),
        final("a"),
        final("b"),
        started("read", "c-2"),
        *deltas(2),
        final("word 0 word 1 "),
        final("x"),
    ],
    "segments are no deltas": [started("read"), segment("a"), segment("a"), segment("a"), final("aaa")],
    "half an emoji in a thought": [thought("a", T), thought("b", T), HALF_THOUGHT, *deltas(3)],
    "half an emoji between thoughts": [thought("a", T), HALF_THOUGHT, thought("b", T), thought("c", T)],
}


def test_lines_that_depend_on_earlier_lines(tmp_path: Path) -> None:
    """A line whose meaning depends on earlier lines has the same meaning after a burst."""
    for name, sequence in SEQUENCES.items():
        with case(name):
            lines = [init(), *deltas(3), *sequence, *deltas(4, 1_760_000_001_000), result("…")]
            assert facts_of(at_once(lines, tmp_path / "r.ndjson")) == facts_of(session(*lines))


_LINES: st.SearchStrategy[Callable[[str, int], bytes]] = st.sampled_from(
    [
        delta,
        delta,
        delta,
        thought,
        thought,
        segment,
        lambda text, _at: final(text),
        lambda text, _at: final(text),
        lambda _text, at: thought_through(at),
        lambda text, at: started("read", path=text, at_ms=at),
        lambda text, at: delta(text, at)[:-9] + b"\n",
        lambda text, at: delta(text, at).replace(b'"text": "', b'"text": "\\u12'),
        lambda text, at: delta(text, at).replace(b'"text": "', b'"text": "\\ud83d'),
        lambda text, at: delta(text, at).replace(b'"}]', b'\\"}]'),
    ]
)
_TEXTS = st.sampled_from(["a", "b ", 'q"', "\\", "\n", "é", "🙂", "", "\ud83d", "\ude42"]) | ANY_TEXT


@pytest.mark.slow
@PROPERTY
@given(st.lists(st.tuples(_LINES, _TEXTS, st.integers(0, 10**13)), max_size=24), st.booleans())
def test_read_at_once_or_one_by_one(
    tmp_path_factory: pytest.TempPathFactory,
    made: list[tuple[Callable[[str, int], bytes], str, int]],
    tight: bool,
) -> None:
    """Any sequence of lines gives the same session in bursts and one by one, entry by entry."""
    lines = [init()]
    for make, text, at_ms in made:
        line = make(text, at_ms)
        lines += [line] * (1 + at_ms % 3)
    if tight:
        lines = [line.replace(b'": ', b'":').replace(b', "', b',"') for line in lines]
    lines.append(result("a"))
    path = tmp_path_factory.mktemp("bursts") / "r.ndjson"
    assert facts_of(at_once(lines, path)) == facts_of(session(*lines))


def test_recordings_read_at_once(captures: Captures) -> None:
    """Every recording gives the same session, whether its deltas are decoded in bursts or one by one."""
    bundled = RECORDINGS.glob("*.ndjson") if captures.is_own else ()
    for path in [*sorted(bundled), *captures.find("**/*.ndjson")]:
        if path.parent.name.startswith("pi-"):
            continue  # the format of its first line shows later; `session` does not read that line again
        with case(path):
            feed = Feed(open_saved(path))
            feed.advance()
            assert facts_of(feed.session) == facts_of(session(path.read_bytes()))
