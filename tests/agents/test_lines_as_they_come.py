"""All kinds of bytes as lines: each is counted and reported, and the lines around it are unaffected."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.output.drift import report
from agentwatch.output.summary import summary
from agentwatch.recording.saved import open_saved
from agentwatch.session.blocks import OutputBlock
from agentwatch.session.counts import LineCounts
from agentwatch.session.events import Malformed, Outcome, Prompt
from agentwatch.session.session import Session
from tests.builders.lines import completed, delta, events, final, init, result, session, started, user
from tests.conftest import case

BAD = "\ufffd"
GOOD = (init(), user("Hi"), started("read", path="a"), completed("read", result={"success": {}}), final("ok"))


# --- line ends, byte order mark, encoding ----------------------------------------------------------------


def test_carriage_returns_before_line_ends_change_nothing() -> None:
    """A recording with CR LF has the same summary as with LF, byte for byte."""
    data = b"".join((*GOOD, result("ok")))
    expected = list(summary(session(data)))
    assert list(summary(session(data.replace(b"\n", b"\r\n")))) == expected
    assert list(summary(session(data.replace(b"\n", b"\r\n\r\n \r\n")))) == expected


def test_only_a_line_feed_ends_a_line() -> None:
    """Characters that other programs treat as line ends are part of the text."""
    for separator in ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"]:
        with case(separator):
            read = session(init(), final(f"a{separator}b"), result(f"a{separator}b"))
            assert read.text == f"a{separator}b"
            assert read.lines == LineCounts(events=3)


def test_a_byte_order_mark_on_the_first_line_is_repaired() -> None:
    """A BOM does not change the first line, which counts as repaired."""
    read = session(b"\xef\xbb\xbf" + init(), user("Hi"))
    assert read.run.model == "Auto"
    assert read.lines == LineCounts(events=2, repaired=1)


def test_invalid_utf8_is_repaired_and_counted() -> None:
    """Bytes that are not UTF-8 become U+FFFD; each such line counts once, as an event and as repaired."""
    read = session(init(), delta("a#b").replace(b"#", b"\xff"), delta("c#").replace(b"#", b"\xed\xa0\xbd"))
    assert read.text == f"a{BAD}bc{BAD * 3}"
    assert read.lines == LineCounts(events=3, repaired=2)


# --- what is not quite JSON ------------------------------------------------------------------------------


def test_a_value_that_orjson_rejects_leaves_the_line_an_event() -> None:
    """NaN, Infinity and numbers of 5,000 digits are unknown values, and the line around them is decoded."""
    for value in [b"NaN", b"Infinity", b"-Infinity", b"1" * 5000, b"-" + b"7" * 21]:
        with case(value):
            call = started("shell", at_ms=77, timeout=77).replace(b"77", value)
            outcome = completed("shell", result={"success": {"exitCode": 77}}, at_ms=2000).replace(
                b"77", value
            )
            lines = (init(), user("Hi"), call, outcome, result("", duration_ms=88).replace(b"88", value))
            read = session(*lines)
            [found] = read.calls
            assert (found.started_ms, found.ended_ms, found.limit_ms, found.exit_code) == (
                None,
                2000,
                None,
                None,
            )
            assert (found.outcome, read.outcome, read.run.duration_ms) == (
                Outcome.SUCCEEDED,
                Outcome.SUCCEEDED,
                None,
            )
            assert read.lines.total == read.lines.events == 5
            assert read.lines.repaired in (0, 3)
            assert b"".join(summary(read))


def test_nesting_without_end_harms_nothing(session_of: Callable[[bytes], Session]) -> None:
    """A line nested 1,000 or 1,000,000 deep is an event or malformed, and the lines around it are read."""
    cases: list[tuple[str, bytes, bytes]] = [
        ("arrays", b"[", b"]"),
        ("objects", b'{"a":', b"}"),
    ]
    for name, opening, closing in cases:
        for depth in [200, 1_000, 1_000_000]:
            with case((name, depth)):
                inner = b"0" if opening != b"[" else b""
                deep = opening * depth + inner + closing * depth
                nested = (
                    b'{"type":"user","session_id":"s-1","deep":%s}\n' % deep,
                    completed("shell", "deep", {"success": 77}).replace(b"77", deep),
                    deep + b"\n",
                    opening * depth + b"\n",
                )
                read = session_of(b"".join((*GOOD, *nested, result("ok"))))
                assert read.lines.total == 10
                assert read.run.text_matches_result
                assert read.calls[0].outcome is Outcome.SUCCEEDED
                assert b"".join(summary(read))


@pytest.mark.parametrize("depth", [300, 990])
def test_a_deeply_nested_value_is_shown(tmp_path: Path, depth: int) -> None:
    """The detail of a call and the drift report show a value nested 990 deep."""
    deep = b"[" * depth + b"]" * depth
    line = completed("shell", "deep", {"success": 77}, x=1).replace(b"77", b'{"stdout":"a","new":%s}' % deep)
    path = tmp_path / "deep.ndjson"
    path.write_bytes(init() + line + result(""))
    feed = Feed(open_saved(path))
    feed.advance()
    [call] = feed.session.calls
    assert call.ended is not None
    assert OutputBlock("stdout", "a") in feed.blocks(call.ended)
    assert any("field new in a success of tool shell" in row for row in report(open_saved(path)).lines())


def test_the_last_of_duplicate_keys_counts() -> None:
    """A line that has its type twice is of the second type."""
    line = b'{"type":"result","session_id":"s-1","type":"user","message":{"content":"Hi"}}'
    assert events(init(), line) == [Prompt("Hi")]


def test_json_that_is_not_an_object_is_malformed_and_harms_nothing() -> None:
    """Arrays, strings and numbers as lines are malformed, and each is kept as written."""
    for data in [b"[]", b"[1, {}]", b'"text"', b"7", b"-0.5e9", b"null", b"true", b"NaN"]:
        with case(data):
            read = session(data + b"\n", *GOOD, data + b"\n", result("ok"))
            assert read.lines == LineCounts(events=6, malformed=2)
            assert [odd.event for odd in read.lines.odd] == [Malformed("not an object", data.decode())] * 2
            assert read.run.text_matches_result


def test_lines_of_stderr_are_malformed_and_harm_nothing() -> None:
    """Text between the events is counted, kept and shown, and the events are unaffected."""
    cases: list[bytes] = [
        b"Error: ENOENT: no such file",
        b"    at Object.open (node:fs:1:2) {",
        b"  errno: -2,",
        b"}",
        b"{ code: 'ENOENT' }",
        b"Checking for updates\xe2\x80\xa6",
        b"\x1b[31mfailed\x1b[0m",
        b"\x00\x00\x00",
        b"data: {}",
        b"\xff\xfe{\x00}\x00",
    ]
    for data in cases:
        with case(data):
            lines = [piece for line in (*GOOD, result("ok")) for piece in (data + b"\n", line)]
            read = session(*lines, data)
            assert read.lines == LineCounts(events=6, malformed=7)
            assert read.run.text_matches_result
            assert [call.outcome for call in read.calls] == [Outcome.SUCCEEDED]


# --- long lines, last lines ------------------------------------------------------------------------------


def test_a_last_line_without_its_end_is_read() -> None:
    """The last line needs no line end; one that is cut short is malformed."""
    last = result("ok").rstrip()
    assert session(*GOOD, last).lines == LineCounts(events=6)
    read = session(*GOOD, last[:-1])
    assert read.lines == LineCounts(events=5, malformed=1)
    assert (read.outcome, read.text) == (Outcome.UNFINISHED, "ok")


def test_a_line_that_is_still_being_written_waits(tmp_path: Path) -> None:
    """While a recording grows, an incomplete line is neither applied nor counted as malformed."""
    path = tmp_path / "growing.ndjson"
    line = final("干潮 🌊")
    path.write_bytes(init())
    reader = open_saved(path, follow=True)
    feed = Feed(reader)
    feed.advance()
    with path.open("ab") as growing:
        for at in range(len(line)):
            assert feed.session.lines == LineCounts(events=1)
            growing.write(line[at : at + 1])
            growing.flush()
            feed.advance()
    assert feed.session.lines == LineCounts(events=2)
    assert (feed.session.text, feed.is_over) == ("干潮 🌊", False)
    os.close(reader.fd)


@pytest.mark.parametrize("odd", [b'{"type":"weather","text":"\xff"}\n', b'{"type":"weather","n":NaN}\n'])
def test_an_unknown_line_is_not_a_repaired_event(odd: bytes) -> None:
    """Only events count as repaired: a repaired line of unknown type counts as unknown alone."""
    assert session(init(), odd).lines == LineCounts(events=1, unknown=1)
