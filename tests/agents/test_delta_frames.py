"""Runs of deltas that are read at once give what reading them one by one gives."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents import Decoder, delta_frames
from agentwatch.agents.decoder import LineBatches
from agentwatch.agents.registry import agent_named
from agentwatch.output.summary import summary
from agentwatch.session.events import Channel, Malformed, Text
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.claude_lines import delta as claude_delta
from tests.builders.claude_lines import events, line, say, written
from tests.builders.claude_lines import init as claude_init
from tests.builders.claude_lines import result as claude_result
from tests.builders.lines import (
    ANY_TEXT,
    PROPERTY,
    completed,
    delta,
    feed_of,
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
from tests.harness.costs import takes_more

T = 1_760_000_000_077


def with_text(raw: bytes) -> bytes:
    """Return a delta with these raw bytes as its text."""
    return delta("x", T).replace(b'"x"', b'"' + raw + b'"')


def with_time(raw: bytes) -> bytes:
    """Return a delta with these raw bytes as its time."""
    return delta("x", T).replace(b"1760000000077", raw)


MALFORMED = {
    "a list over three texts": [with_text(b'a",["b'), with_text(b"c"), with_text(b'd"],"e')],
    "an object over two texts": [with_text(b'a",{"b":"c'), with_text(b'd"},"e')],
    "a quote too many, and an escape": [with_text(b'a","b'), with_text(b"c\\"), with_text(b"d")],
    "an escape that the next text ends": [with_text(b"\\u12"), with_text(b"34")],
    "a character that the next text ends": [with_text(b"\xe2"), with_text(b"\x82\xac")],
    "two times in one": [with_time(b"176000,900077"), with_time(b"1760000000077")],
    "a list over two times": [with_time(b"[760000000077"), with_time(b"176000000007]")],
    "no time": [with_time(b"             "), with_time(b"176000,900077")],
}


@pytest.mark.parametrize("valid", [0, 1, 2, 7])
def test_invalid_deltas_are_not_decoded_again_from_each_of_them(
    valid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However invalid deltas and valid ones alternate, each line is decoded a bounded number of times."""
    decoded = 0

    def counted(frame: Any, lines: list[bytes]) -> Any:
        nonlocal decoded
        decoded += len(lines)
        return decode_burst(frame, lines)

    decode_burst = delta_frames._decode_burst
    monkeypatch.setattr(delta_frames, "_decode_burst", counted)
    lines = [init(), *deltas(1), *[*deltas(valid), with_text(b"\t")] * (1600 // (valid + 1))]
    bursts(lines)
    assert decoded < 8 * len(lines)


def at_once(lines: list[bytes], path: Path) -> Session:
    """Return the session of a recording with these lines, read from a file."""
    path.write_bytes(b"".join(lines))
    feed = feed_of(path)
    return feed.session


def facts_of(read: Session) -> list[object]:
    """Return everything known about a session, including the transcript with its times."""
    entries = [(entry.kind, entry.text, entry.started_ms, entry.ended_ms) for entry in read.transcript]
    found = json.loads(b"".join(summary(read)))
    del found["duration_ms"]  # by the arrival of the lines, which only a saved recording has
    return [found, entries, [odd.event for odd in read.lines.odd]]


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
    """All deltas after the first of a kind are one burst, with or without blanks, up to another line; a time
    before the text makes none.
    """
    call = [started("read", path="a"), completed("read", result={"success": {}})]
    assert bursts([init(), *deltas(5), *call, *deltas(4)]) == [4, 4]
    thoughts = [thought(f"hm {n}", 1_760_000_000_000 + n) for n in range(6)]
    assert bursts([init(), *thoughts, thought_through(), *thoughts[:2], *deltas(3)]) == [5, 2, 2]
    assert bursts([init(), *(final(f"part {n}") for n in range(5))]) == [4]
    fields = {"type": "thinking", "subtype": "delta", "timestamp_ms": 1_760_000_000_000, "text": "hm"}
    assert bursts([init(), *[json.dumps(fields).encode()] * 4]) == []
    assert b'"text": "word' in deltas(1)[0]
    tight = [json.dumps(json.loads(line), separators=(",", ":")).encode() for line in deltas(5)]
    assert bursts([init(), *tight]) == bursts([init(), *deltas(5)]) == [4]
    lines = [init(), *deltas(1), *deltas(32), with_text(b"\t"), *deltas(32)]
    assert bursts(lines) == [32, 2, 4, 8, 16, 2]
    assert bursts([init(), *deltas(1), *deltas(20), with_text(b"\t"), *deltas(20)])[0] == 20


def test_lines_among_deltas_are_decoded_as_if_alone(tmp_path: Path) -> None:
    """Times and odd lines are read as they are written."""
    # A time in quotes is a string; digits that equal it are not the time. Lines that are valid only when
    # joined are malformed.
    for raw in [b"    760000000", b"-760000000077", b"0760000000077"]:
        with case(raw):
            quoted = [line.replace(b"176", b'"176').replace(b"}\n", b'"}\n') for line in deltas(3, T)]
            other = quoted[0].replace(b"1760000000077", raw)
            lines = [init(), *quoted, other, result("…")]
            assert facts_of(at_once(lines, tmp_path / "r.ndjson")) == facts_of(session(*lines))
    form = b'{"type":"thinking","subtype":"delta","timestamp_ms":%d,"text":"a","note":"b:%d,c"}\n'
    lines = [init(), *(form % (T, T + n) for n in range(4)), result("…")]
    assert facts_of(at_once(lines, tmp_path / "r.ndjson")) == facts_of(session(*lines))
    for name, odd in MALFORMED.items():
        with case(name):
            lines = [init(), *deltas(3), *odd, *deltas(4, T + 1000), result("…")]
            read = at_once(lines, tmp_path / "r.ndjson")
            assert facts_of(read) == facts_of(session(*lines))
            if b"\xe2" not in b"".join(lines):
                assert any(type(each.event) is Malformed for each in read.lines.odd)
    # A cut line, a flush or half an emoji among deltas, and a line that depends on earlier ones, are
    # decoded as if they were alone.
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
    for other_odd in cases:
        with case(other_odd):
            lines = [init(), *deltas(3), other_odd, *deltas(4, 1_760_000_001_000), result("…")]
            assert facts_of(at_once(lines, tmp_path / "r.ndjson")) == facts_of(session(*lines))
    for name, sequence in SEQUENCES.items():
        with case(name):
            lines = [init(), *deltas(3), *sequence, *deltas(4, 1_760_000_001_000), result("…")]
            assert facts_of(at_once(lines, tmp_path / "r.ndjson")) == facts_of(session(*lines))


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
            feed = feed_of(path)
            assert facts_of(feed.session) == facts_of(session(path.read_bytes()))


COUNT = line("system", "thinking_tokens", estimated_tokens=5, estimated_tokens_delta=5)


def batched(*lines: Any, first: bytes = b"") -> tuple[list[Any], int] | None:
    """Return the events of the batch that lines begin with, after an init line."""
    decoder = Decoder(agent_named("claude-code"))
    decoder.decode(written(claude_init()))
    data = [each if isinstance(each, bytes) else written(each) for each in lines]
    found = decoder.burst([first, *data] if first else data, 0)
    return found and found[:2]


class Lines:
    """A decoder that reads every line that contains an `x`, up to the first whose `x` is 0."""

    def may_batch(self, line: bytes) -> bool:
        """Return whether the line contains an `x`."""
        return b"x" in line

    def batch(self, lines: list[Any]) -> tuple[list[Any], int]:
        """Return no events."""
        return [], next((number for number, line in enumerate(lines) if line["x"] == 0), len(lines))


def test_deltas_are_joined() -> None:
    """Consecutive texts of a channel are one text, counts and arguments are skipped; a single, long or other
    line is decoded by itself.
    """
    found = batched(
        claude_delta("I ", "thinking"),
        COUNT,
        claude_delta("see", "thinking"),
        claude_delta("{", "partial_json"),
        claude_delta("Done"),
        claude_delta("."),
        claude_delta("not mine", parent_tool_use_id="t-1"),
        claude_result(),
    )
    assert found == ([Text(Channel.REASONING, "I see"), Text(Channel.ANSWER, "Done.")], 7)
    cases: list[list[Any]] = [
        [claude_delta("a")],
        [claude_delta("a"), claude_result()],
        [say('"content_block_delta"'), say('"content_block_delta"')],
        [line("system", "x", note={"thinking_tokens": 1}), COUNT],
        [line("stream_event", event={"type": {"content_block_delta": 1}}), COUNT],
        [line("stream_event", event="x", note={"thinking_tokens": 1}), COUNT],
        [claude_delta("a" * 5000), COUNT],
        [b'{"thinking_tokens" 5}\n', COUNT],
        [b'["thinking_tokens"]\n', COUNT],
        [b'{"thinking_tokens":5}', COUNT],
    ]
    for lines in cases:
        with case(lines):
            assert batched(*lines) is None
    batches = LineBatches(Lines())
    assert lengths(batches, b'{"x":[{}\n', b'{"x":1}]}\n') == [0]
    assert lengths(batches, b'{"x":1},{"x":2}\n', b'{"x":3}\n') == [0]


GOOD, BAD, ODD = b'{"x":1}\n', b'{"x":"' + b"}\n", b'{"x":0}\n'


def lengths(batches: LineBatches, *batch: bytes, times: int = 1) -> list[int]:
    """Return the numbers of lines that are read at once; 0 if the first must be decoded by itself."""
    return [found[1] if (found := batches.events_at([*batch], 0)) else 0 for _ in range(times)]


def test_an_odd_line_ends_a_batch() -> None:
    """The lines before it are parsed at once, and later batches become as long as before. Before a turn,
    each line is decoded by itself.
    """
    batches = LineBatches(Lines())
    assert lengths(batches, *[GOOD] * 100, BAD, *[GOOD] * 600) == [87]
    assert lengths(batches, *[GOOD] * 3000, times=4) == [174, 348, 696, 1024]
    assert lengths(batches, BAD, *[GOOD] * 600) == [0]
    batches = LineBatches(Lines())
    assert lengths(batches, *[GOOD] * 100, ODD, *[GOOD] * 600) == [100]
    assert lengths(batches, *[GOOD] * 3000, times=4) == [200, 400, 800, 1024]
    assert lengths(batches, ODD, *[GOOD] * 600) == [0]
    assert lengths(batches, *[GOOD] * 3000) == [2]
    assert lengths(batches, GOOD, ODD) == [1]
    for agent in ("claude-code", "claude-family"):
        decoder = Decoder(agent_named(agent))
        assert decoder.burst([written(claude_delta("a")), written(claude_delta("b"))], 0) is None
    assert [
        event.text for event in events(claude_delta("a"), claude_delta("b")) if isinstance(event, Text)
    ] == ["a", "b"]


@pytest.mark.costs
def test_odd_lines_cost_no_more_than_others() -> None:
    """A stream in which every second line is of another type takes less than 20 times as long as deltas."""

    def read(*pair: bytes) -> None:
        decoder, lines, index = Decoder(agent_named("claude-code")), [*pair] * 3000, 0
        decoder.decode(written(claude_init()))
        while index < len(lines):
            found = decoder.burst(lines, index)
            if found is None:
                decoder.decode(lines[index])
            index += 1 if found is None else found[1]

    count, odd = written(COUNT), written(line("system", "informational", note={"thinking_tokens": 1}))
    assert not takes_more(partial(read, count, odd), 20, partial(read, count, count), 0.1)


def test_a_file_of_deltas_has_the_text_of_its_lines(recording: Any, opened_session: Any) -> None:
    """A recording that is opened as a file has the text that its lines give one by one."""
    words = [f"{number} 🌊 " for number in range(3000)]
    path: Path = recording(
        written(claude_init(), *map(claude_delta, words), say("".join(words)), claude_result(words[-1]))
    )
    read = opened_session(path)
    assert read.text == "".join(words)
    assert (read.lines.total, read.lines.malformed, read.lines.unknown) == (3003, 0, 0)
