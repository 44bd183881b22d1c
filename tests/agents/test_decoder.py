"""Lines as they come: any bytes, any JSON, any length."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents import Decoder, decoder
from agentwatch.agents.fields import parse
from agentwatch.agents.registry import detect
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.files import TouchedFiles
from agentwatch.analysis.time import TimeBreakdown
from agentwatch.feed.feed import Feed
from agentwatch.output.summary import summary
from agentwatch.output.unknown_parts import report
from agentwatch.recording.saved import open_saved
from agentwatch.session.blocks import OutputBlock
from agentwatch.session.counts import LineCounts
from agentwatch.session.events import (
    Channel,
    Event,
    FormatDetected,
    Malformed,
    Outcome,
    Oversize,
    Prompt,
    Repair,
    Text,
    ToolEnded,
    Unknown,
)
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.formats.samples import samples
from tests.builders.lines import (
    ANY_JSON,
    CURSOR_SHAPED,
    PROPERTY,
    answered,
    completed,
    delta,
    event,
    events,
    feed_of,
    final,
    init,
    result,
    segment,
    session,
    started,
    thought,
    user,
)
from tests.conftest import case


def prompt_line(text: bytes) -> bytes:
    """Return a user line with these raw bytes as its text."""
    head = b'{"type":"user","session_id":"s-1","message":{"role":"user","content":[{"type":"text","text":"'
    return head + text + b'"}]}}\n'


@PROPERTY
@given(st.lists(st.binary(max_size=80), max_size=4))
def test_no_bytes_raise(lines: list[bytes]) -> None:
    """Any bytes are decoded, before and after the agent is known."""
    decoder = Decoder()
    for data in (*lines, init(), *lines):
        for line in data.split(b"\n"):
            assert decoder.decode(line)


@PROPERTY
@given(ANY_JSON)
def test_no_json_value_raises(value: Any) -> None:
    """Any JSON value on a line is decoded, before and after the agent is known."""
    data = json.dumps(value).encode()
    decoder = Decoder()
    for line in (data, init(), data):
        assert decoder.decode(line)


@pytest.mark.system
@PROPERTY
@given(st.lists(CURSOR_SHAPED, min_size=1, max_size=4))
def test_any_value_of_a_known_field_is_read_and_shown(lines: list[dict[str, Any]]) -> None:
    """Cursor's keys with any values: each line counts once and has texts as blocks, and the time and the
    files of the session are known.
    """
    data = [json.dumps(fields).encode() + b"\n" for fields in lines]
    read = session(data[0], init(), started("read"), *data)
    assert read.lines.total == len(lines) + 3
    decoder = Decoder()
    decoder.decode(init())
    assert all(isinstance(block_text(block), str) for each in data for block in decoder.blocks(each.rstrip()))
    breakdown, files = TimeBreakdown(read), TouchedFiles(read)
    breakdown.update()
    files.update()
    found = breakdown.account()
    assert sum(found.parts.values()) == found.whole_ms
    assert len(files.by_name()) == len(files.newest_first())


# --- which agent -----------------------------------------------------------------------------------


def test_only_cursors_lines_are_recognised_as_cursors(captures: Captures) -> None:
    """No line of another agent is."""
    # A recording may begin anywhere. Cursor's init has no list of tools; a line with another agent's
    # fields is not Cursor's.
    cases: list[tuple[str, bytes]] = [
        ("init", init()),
        ("user", user()),
        ("thinking", thought("x")),
        ("delta", delta("x")),
        ("final", final("x")),
        ("tool_call", started("read")),
        ("query", answered({})),
        ("result", result("x")),
    ]
    for name, line in cases:
        with case(name):
            agent = detect(json.loads(line))
            assert agent is not None
            assert agent.name == "cursor"
    for known in ["cwd", "model", "permissionMode"]:
        with case(known):
            agent = detect({"type": "system", "subtype": "init", "session_id": "s-1", known: "x"})
            assert agent is not None
            assert agent.name == "cursor"
    further: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "session_id": "T-1", "cwd": "/work", "tools": []},
        {
            "type": "system",
            "subtype": "init",
            "apiKeySource": "none",
            "tools": [],
            "permissionMode": "default",
        },
        {"type": "user", "uuid": "u", "session_id": "s", "message": {"content": "x"}},
        {"type": "user", "parent_tool_use_id": None, "session_id": "s", "message": {"content": "x"}},
        {"type": "assistant", "session_id": "s", "message": {"id": "msg_1", "content": []}},
        {"type": "result", "session_id": "s", "num_turns": 3, "is_error": False},
        {"type": "step_start", "sessionID": "s"},
    ]
    for fields in further:
        with case(fields):
            assert (found := detect(fields)) is None or found.name != "cursor"
    # No line of a Claude Code recording is recognised as Cursor's.
    streams = [path for path, name in samples(captures) if name == "claude-code"]
    assert streams
    for path in streams:
        with case(path):
            lines = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
            other_found = [detect(other_fields) for other_fields in lines]
            assert [agent.name for agent in other_found if agent is not None and agent.name == "cursor"] == []


def test_lines_around_the_start_of_an_agent() -> None:
    """Lines before the format is known come first, one list a line; a start line that the agent does not
    write is unknown.
    """
    lines = [segment("One."), init(), result("One.")]
    decoder = Decoder()
    groups = [group for line in lines for group in decoder.decode_all(line)]
    assert [text.text for group in groups for text in group if isinstance(text, Text)] == ["One."]
    prompt = {"type": "user", "message": {"role": "user", "content": "Go"}}
    hook = {"type": "system", "subtype": "informational", "content": "x"}
    rate = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}
    lines = [json.dumps(each).encode() for each in (prompt, hook, rate)]
    decoder = Decoder()
    groups = [group for line in lines for group in decoder.decode_all(line)][-3:]
    unknown = [any(isinstance(event, Unknown) for event in group) for group in groups]
    assert unknown == [True, False, False]
    assert [type(group[0]) for group in groups[1:2]] == [FormatDetected]


BAD = "\ufffd"
GOOD = (init(), user("Hi"), started("read", path="a"), completed("read", result={"success": {}}), final("ok"))


# --- line ends, byte order mark, encoding ----------------------------------------------------------------


def test_bytes_around_lines_change_nothing() -> None:
    """Blanks, line ends, marks and bytes that are not text change no event."""
    # A blank line is not counted, a BOM and CR before LF are ignored, bytes that are not UTF-8 and lone
    # surrogates become U+FFFD.
    for blank in [b"", b"\r", b"  \t", b" \r"]:
        with case(blank):
            assert session(blank + b"\n").lines == LineCounts()
            assert session(init(), blank + b"\n", result()).lines.total == 2
    assert events(b"\xef\xbb\xbf" + init()) == [*events(init()), Repair()]
    assert events(init(), user("Hi").replace(b"\n", b"\r\n")) == [Prompt("Hi")]
    assert events(init(), prompt_line(b"a\xff\xc3(b")) == [Prompt("a\ufffd\ufffd(b"), Repair()]
    cases: list[tuple[bytes, str, list[Event]]] = [
        (rb"a\ud83d", "a\ufffd", [Repair()]),
        (rb"\ude00b", "\ufffdb", [Repair()]),
        (rb"\ud83d\ude00", "\U0001f600", []),
        (rb"\ude00\ud83d", "\ufffd\ufffd", [Repair()]),
        (rb"\ufeff\ud800", "\ufeff\ufffd", [Repair()]),
    ]
    for escaped, text, repairs in cases:
        with case((escaped, text)):
            assert events(init(), prompt_line(escaped)) == [Prompt(text), *repairs]
    # CR LF gives the summary of LF, and no other character ends a line. A BOM and bytes that are not
    # UTF-8 are repaired, and count once; a repaired line of unknown type counts as unknown alone.
    data = b"".join((*GOOD, result("ok")))
    expected = list(summary(session(data)))
    assert list(summary(session(data.replace(b"\n", b"\r\n")))) == expected
    assert list(summary(session(data.replace(b"\n", b"\r\n\r\n \r\n")))) == expected
    for separator in ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"]:
        with case(separator):
            read = session(init(), final(f"a{separator}b"), result(f"a{separator}b"))
            assert read.text == f"a{separator}b"
            assert read.lines == LineCounts(events=3)
    read = session(b"\xef\xbb\xbf" + init(), user("Hi"))
    assert read.run.model == "Auto"
    assert read.lines == LineCounts(events=2, repaired=1)
    read = session(init(), delta("a#b").replace(b"#", b"\xff"), delta("c#").replace(b"#", b"\xed\xa0\xbd"))
    assert read.text == f"a{BAD}bc{BAD * 3}"
    assert read.lines == LineCounts(events=3, repaired=2)
    line = b'{"type":"result","session_id":"s-1","type":"user","message":{"content":"Hi"}}'
    assert events(init(), line) == [Prompt("Hi")]
    for odd in [b'{"type":"weather","text":"\xff"}\n', b'{"type":"weather","n":NaN}\n']:
        with case(odd):
            assert session(init(), odd).lines == LineCounts(events=1, unknown=1)


# --- what is not quite JSON ------------------------------------------------------------------------------


def test_extensions_of_json_are_read() -> None:
    """Values that JSON lacks are unknown, and any depth of nesting is read."""
    # NaN, Infinity and 5,000 digits are unknown values of an event; of two equal keys the last counts. A
    # line may be nested to any depth, also in a string.
    for value in ["NaN", "Infinity", "-Infinity"]:
        with case(value):
            line = user("Hi").replace(b"{", f'{{"timestamp_ms":{value},'.encode(), 1)
            assert events(init(), line) == [Prompt("Hi"), Repair()]
            timed = delta("Hi").replace(b"1000", value.encode())
            assert events(init(), timed) == [Text(Channel.ANSWER, "Hi", None), Repair()]
    for digits in [25, 5_000]:
        with case(digits):
            huge = b"9" * digits
            for line in (
                delta("Hi").replace(b"1000", huge),
                b'{"type":"result","duration_ms":' + huge + b"}\n",
            ):
                assert session(init(), line).lines == LineCounts(events=2, repaired=int(digits > 400))
    line = user("first").replace(b"}\n", b',"message":{"content":"second"}}\n')
    assert events(init(), line) == [Prompt("second")]
    read = session(init(), event("tool_call", "started", call_id="c", tool_call='{"a":' * 100_000))
    assert [call.phrase for call in read.calls] == ["Used tool"]
    for head in [b"", b'{"type":"user","deep":', b'{"type":"tool_call","tool_call":']:
        for depth in [1_000, 100_000]:
            with case((head, depth)):
                tail = b"}" if head else b""
                for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
                    inner = b"1" if opening != b"[" else b""
                    read = session(init(), head + opening * depth + inner + closing * depth + tail + b"\n")
                    assert read.lines.total == 2
    # NaN, Infinity and numbers of 5,000 digits are unknown values, and the line around them is decoded.
    for other_value in [b"NaN", b"Infinity", b"-Infinity", b"1" * 5000, b"-" + b"7" * 21]:
        with case(other_value):
            call = started("shell", at_ms=77, timeout=77).replace(b"77", other_value)
            outcome = completed("shell", result={"success": {"exitCode": 77}}, at_ms=2000).replace(
                b"77", other_value
            )
            lines = (
                init(),
                user("Hi"),
                call,
                outcome,
                result("", duration_ms=88).replace(b"88", other_value),
            )
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
    feed = feed_of(path)
    [call] = feed.session.calls
    assert call.ended is not None
    assert OutputBlock("stdout", "a") in feed.blocks(call.ended)
    assert any("field new in a success of tool shell" in row for row in report(open_saved(path)).lines())


def test_a_line_that_is_no_object_harms_nothing() -> None:
    """It is malformed, kept and shown, and the lines around it are read."""
    # JSON that is not an object, and text that is no JSON, are malformed and kept; a type may be any JSON
    # value, also on the first line.
    for value in [b"[1, 2]", b'"text"', b"12", b"null", b"true", b"NaN"]:
        with case(value):
            assert events(init(), value) == [Malformed("not an object", value.decode())]
    assert events(init(), b"warning: \xff\n") == [Malformed("not JSON", "warning: \ufffd")]
    [found] = events(init(), b"x" * 1_000_000)
    assert found == Malformed("not JSON", "x" * 400)
    cases: list[Any] = [[], ["user"], {}, {"a": 1}, 7, 1.5, True, None]
    for kind in cases:
        with case(kind):
            line = json.dumps({"type": kind, "session_id": "s-1", "subtype": kind}).encode()
            for lines in ((line,), (init(), line)):
                [found] = events(*lines)
                assert isinstance(found, Unknown)
    # Arrays, numbers and text between the events are malformed, kept and shown. The last line needs no
    # line end.
    for data in [b"[]", b"[1, {}]", b'"text"', b"7", b"-0.5e9", b"null", b"true", b"NaN"]:
        with case(data):
            read = session(data + b"\n", *GOOD, data + b"\n", result("ok"))
            assert read.lines == LineCounts(events=6, malformed=2)
            assert [odd.event for odd in read.lines.odd] == [Malformed("not an object", data.decode())] * 2
            assert read.run.text_matches_result
    further: list[bytes] = [
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
    for data in further:
        with case(data):
            other_lines = [
                piece for other_line in (*GOOD, result("ok")) for piece in (data + b"\n", other_line)
            ]
            read = session(*other_lines, data)
            assert read.lines == LineCounts(events=6, malformed=7)
            assert read.run.text_matches_result
            assert [call.outcome for call in read.calls] == [Outcome.SUCCEEDED]
    last = result("ok").rstrip()
    assert session(*GOOD, last).lines == LineCounts(events=6)
    read = session(*GOOD, last[:-1])
    assert read.lines == LineCounts(events=5, malformed=1)
    assert (read.outcome, read.text) == (Outcome.UNFINISHED, "ok")


# --- long lines, last lines ------------------------------------------------------------------------------


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


def test_lines_over_16_mib_are_read_at_their_ends(session_of: Callable[[bytes], Session]) -> None:
    """A line up to 16 MiB is read whole; a longer result still ends its run, and longer noise is one odd
    line. The next line is read.
    """
    text = "x" * 12_000_000
    read = session_of(init() + final(text) + user("next"))
    assert len(read.text) == 12_000_000
    assert read.lines == LineCounts(events=3)
    assert read.run.prompt == "next"
    huge = json.dumps(json.loads(result("#")), separators=(",", ":")).replace("#", "x" * 30_000_000)
    read = session_of(init() + final("a") + huge.encode() + b"\n" + init(model="Next"))
    assert [run.outcome for run in read.runs] == [Outcome.SUCCEEDED, Outcome.UNFINISHED]
    assert read.runs[0].request_id == "r-1"
    assert read.lines == LineCounts(events=4, oversize=1)
    assert read.run.model == "Next"
    for begins in [b"", b'{"type":"user","text":"']:
        with case(begins):
            read = session_of(init() + begins + b"x" * 30_000_000 + b"\n" + user("next"))
            assert (read.lines.total, read.lines.events, read.run.prompt) == (3, 2, "next")
            [odd] = read.lines.odd
            assert odd.place.length == 30_000_000 + len(begins)


@pytest.mark.parametrize(
    "tail",
    [b',"a":1' * 10_000 + b"}", b',"a":' * 12_000 + b"1}", b',"a":[{"b":2}' * 5_000 + b"}"],
    ids=["members", "keys", "nested"],
)
def test_the_tail_is_not_parsed_at_each_of_its_members(tail: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tail of 64 KiB with thousands of members is parsed from 40 of them at most: 41 parses of a line."""
    parsed = 0

    def counted(data: bytes) -> Any:
        nonlocal parsed
        parsed += 1
        return parse(data)

    monkeypatch.setattr("agentwatch.agents.fields.parse", counted)
    decoder.salvage(b'{"type":"result","result":"' + b"x" * 60_000, tail)
    assert 2 <= parsed <= 41


def ends(line: bytes, kept: int) -> tuple[bytes, bytes, int]:
    """Return the first and last `kept` bytes of a line as Cursor writes it, and its length."""
    data = json.dumps(json.loads(line), separators=(",", ":")).encode()
    return data[:kept], data[-kept:], len(data)


def test_an_oversize_line_invents_no_outcome() -> None:
    """Members around the large text are read. An outcome that is not in the ends stays unknown, because the
    line is too large; noise is malformed.
    """
    cases: list[tuple[str, Any, Outcome]] = [
        ("shell", {"success": {"stdout": "x" * 999, "exitCode": 1}}, Outcome.RETURNED),
        ("mcp", {"success": {"content": "x" * 999, "isError": True}}, Outcome.RETURNED),
        ("read", {"success": {"lines": [1, [2], {"a": []}], "content": "x" * 999}}, Outcome.SUCCEEDED),
        ("read", {"error": {"error": "gone", "more": "x" * 999}}, Outcome.FAILED),
        ("read", {"later": {"why": "x" * 999}}, Outcome.RETURNED),
        ("read", "x" * 999, Outcome.RETURNED),
    ]
    for tool, outcome, expected in cases:
        with case((tool, outcome)):
            reading = Decoder()
            reading.decode(init())
            line = completed(tool, result=outcome)
            [size, ended] = reading.decode_oversize(*ends(line, 250))[:2]
            assert isinstance(size, Oversize)
            assert isinstance(ended, ToolEnded)
            assert ended.outcome is expected
    line = completed("read", result={"success": {"content": "y"}}, path="x" * 999)
    reading = Decoder()
    reading.decode(init())
    [_, ended] = reading.decode_oversize(*ends(line, 250))
    assert isinstance(ended, ToolEnded)
    assert (ended.outcome, ended.error) == (Outcome.RETURNED, "its line is too large to be read")
    for data in (b"x" * 500, b"[" * 500, b"{" * 500, b"[1,{}]" * 90):
        [found] = Decoder().decode_oversize(data[:200], data[-200:], len(data))
        assert isinstance(found, Malformed)
        assert found.reason == f"not JSON, {len(data)} bytes"
    head = b'{"type":"result","is_error":false,"result":"' + b"x" * 60_000
    tail = b'xxx","request_id":"r-1","usage":{"in":1,"out":2}}'
    assert decoder.salvage(head, tail) == {
        "type": "result",
        "is_error": False,
        "request_id": "r-1",
        "usage": {"in": 1, "out": 2},
    }


@pytest.mark.costs
def test_the_ends_of_a_line_are_read_in_linear_time() -> None:
    """A head and a tail of 64 KiB each take less than a second, however deep they are nested."""
    for unit in [b"[", b'{"a":', b'"\\', b',"a', b'["', b'{"a":[1,']:
        with case(unit):
            part = unit * (65_536 // len(unit))
            began = time.process_time()
            decoder.salvage(part, part)
            assert time.process_time() - began < 1
