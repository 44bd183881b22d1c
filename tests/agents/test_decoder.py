"""Decoding is total: no bytes raise, and every line that is not blank becomes an event."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents import Decoder
from agentwatch.agents.registry import detect
from agentwatch.analysis.block_text import block_text
from agentwatch.session.counts import LineCounts
from agentwatch.session.events import Channel, Event, FormatDetected, Malformed, Prompt, Repair, Text, Unknown
from tests.builders.captures import Captures
from tests.builders.formats.samples import samples
from tests.builders.lines import (
    ANY_JSON,
    CURSOR_SHAPED,
    PROPERTY,
    answered,
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
    user,
)
from tests.conftest import case


def prompt_line(text: bytes) -> bytes:
    """Return a user line with these raw bytes as its text."""
    head = b'{"type":"user","session_id":"s-1","message":{"role":"user","content":[{"type":"text","text":"'
    return head + text + b'"}]}}\n'


@pytest.mark.parametrize("blank", [b"", b"\r", b"  \t", b" \r"])
def test_a_blank_line_is_not_counted(blank: bytes) -> None:
    """A line of white space is not counted."""
    assert session(blank + b"\n").lines == LineCounts()
    assert session(init(), blank + b"\n", result()).lines.total == 2


def test_a_byte_order_mark_is_ignored() -> None:
    """A BOM before the first line is ignored, and the line counts as repaired."""
    assert events(b"\xef\xbb\xbf" + init()) == [*events(init()), Repair()]


def test_a_carriage_return_before_the_line_end_is_white_space() -> None:
    """CR LF ends a line as LF does."""
    assert events(init(), user("Hi").replace(b"\n", b"\r\n")) == [Prompt("Hi")]


def test_invalid_utf8_is_shown_as_replacement_characters() -> None:
    """Bytes that are not UTF-8 become U+FFFD, and the line is still an event, repaired."""
    assert events(init(), prompt_line(b"a\xff\xc3(b")) == [Prompt("a\ufffd\ufffd(b"), Repair()]


def test_half_a_surrogate_pair_is_one_bad_character() -> None:
    """A lone surrogate becomes U+FFFD, a surrogate pair its character; nothing else is lost."""
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


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_json_extensions_of_python_are_read(value: str) -> None:
    """NaN and Infinity in a field are read as unknown; the line is still an event, repaired."""
    line = user("Hi").replace(b"{", f'{{"timestamp_ms":{value},'.encode(), 1)
    assert events(init(), line) == [Prompt("Hi"), Repair()]
    timed = delta("Hi").replace(b"1000", value.encode())
    assert events(init(), timed) == [Text(Channel.ANSWER, "Hi", None), Repair()]


def test_nesting_of_any_depth_is_a_line() -> None:
    """A deeply nested line is one event, decodable or not."""
    for head in [b"", b'{"type":"user","deep":', b'{"type":"tool_call","tool_call":']:
        for depth in [1_000, 100_000]:
            with case((head, depth)):
                tail = b"}" if head else b""
                for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
                    inner = b"1" if opening != b"[" else b""
                    read = session(init(), head + opening * depth + inner + closing * depth + tail + b"\n")
                    assert read.lines.total == 2


def test_nesting_inside_a_string_is_read_safely() -> None:
    """A tool call given as a deeply nested JSON string is a call without a tool."""
    read = session(init(), event("tool_call", "started", call_id="c", tool_call='{"a":' * 100_000))
    assert [call.phrase for call in read.calls] == ["Used tool"]


@pytest.mark.parametrize("digits", [25, 5_000])
def test_a_number_of_any_length_is_a_line(digits: int) -> None:
    """A number of 5,000 digits, which orjson and Python reject, makes one event and raises nothing."""
    huge = b"9" * digits
    for line in (delta("Hi").replace(b"1000", huge), b'{"type":"result","duration_ms":' + huge + b"}\n"):
        assert session(init(), line).lines == LineCounts(events=2, repaired=int(digits > 400))


def test_the_last_of_two_equal_keys_counts() -> None:
    """Of duplicate keys the last one counts, as in every common JSON reader."""
    line = user("first").replace(b"}\n", b',"message":{"content":"second"}}\n')
    assert events(init(), line) == [Prompt("second")]


def test_json_that_is_not_an_object_is_malformed() -> None:
    """A line with JSON that is not an object is malformed, and its text is kept."""
    for value in [b"[1, 2]", b'"text"', b"12", b"null", b"true", b"NaN"]:
        with case(value):
            assert events(init(), value) == [Malformed("not an object", value.decode())]


def test_a_line_that_is_not_json_is_malformed() -> None:
    """A line that is not JSON is malformed; its first 400 bytes are kept, undecodable ones replaced."""
    assert events(init(), b"warning: \xff\n") == [Malformed("not JSON", "warning: \ufffd")]
    [found] = events(init(), b"x" * 1_000_000)
    assert found == Malformed("not JSON", "x" * 400)


def test_a_type_that_is_not_a_string_is_unknown() -> None:
    """The type of a line may be any JSON value, even on the first line, which decides the agent."""
    cases: list[Any] = [[], ["user"], {}, {"a": 1}, 7, 1.5, True, None]
    for kind in cases:
        with case(kind):
            line = json.dumps({"type": kind, "session_id": "s-1", "subtype": kind}).encode()
            for lines in ((line,), (init(), line)):
                [found] = events(*lines)
                assert isinstance(found, Unknown)


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
@given(st.lists(CURSOR_SHAPED, min_size=1, max_size=3))
def test_no_value_of_a_known_field_raises(lines: list[dict[str, Any]]) -> None:
    """Cursor's keys with any values are decoded and applied, and each line counts once."""
    data = [json.dumps(fields).encode() + b"\n" for fields in lines]
    read = session(data[0], init(), started("read"), *data)
    assert read.lines.total == len(lines) + 3


@pytest.mark.system
@PROPERTY
@given(st.lists(CURSOR_SHAPED, min_size=1, max_size=2))
def test_the_detail_of_any_line_can_be_shown(lines: list[dict[str, Any]]) -> None:
    """The parts of a call's line can be read from any line, as pieces of text."""
    decoder = Decoder()
    decoder.decode(init())
    for fields in lines:
        for block in decoder.blocks(json.dumps(fields).encode()):
            assert isinstance(block_text(block), str)


# --- which agent -----------------------------------------------------------------------------------


def test_each_line_of_cursor_is_recognised() -> None:
    """A recording may begin anywhere: each kind of Cursor's lines is recognised as Cursor's."""
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


@pytest.mark.parametrize("known", ["cwd", "model", "permissionMode"])
def test_an_init_without_tools_is_cursors(known: str) -> None:
    """Cursor's init is recognised by having no list of tools, with any of its other fields missing."""
    agent = detect({"type": "system", "subtype": "init", "session_id": "s-1", known: "x"})
    assert agent is not None
    assert agent.name == "cursor"


def test_a_line_of_another_agent_is_not_recognised_as_cursors() -> None:
    """A line with another agent's fields, or with no agent's, is not recognised as Cursor's."""
    cases: list[dict[str, Any]] = [
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
    for fields in cases:
        with case(fields):
            assert (found := detect(fields)) is None or found.name != "cursor"


def test_claude_is_not_recognised_as_cursor(captures: Captures) -> None:
    """No line of a Claude Code recording is recognised as Cursor's."""
    streams = [path for path, name in samples(captures) if name == "claude-code"]
    assert streams
    for path in streams:
        with case(path):
            lines = [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
            found = [detect(fields) for fields in lines]
            assert [agent.name for agent in found if agent is not None and agent.name == "cursor"] == []


def test_lines_before_the_format_is_known_are_decoded_with_the_line_that_tells() -> None:
    """The events of each earlier line come first, one list a line."""
    lines = [segment("One."), init(), result("One.")]
    decoder = Decoder()
    groups = [group for line in lines for group in decoder.decode_all(line)]
    assert [text.text for group in groups for text in group if isinstance(text, Text)] == ["One."]


def test_lines_after_another_agents_start_are_decoded() -> None:
    """A start line that the agent does not write is unknown; the lines after it are the agent's."""
    prompt = {"type": "user", "message": {"role": "user", "content": "Go"}}
    hook = {"type": "system", "subtype": "informational", "content": "x"}
    rate = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}
    lines = [json.dumps(each).encode() for each in (prompt, hook, rate)]
    decoder = Decoder()
    groups = [group for line in lines for group in decoder.decode_all(line)][-3:]
    unknown = [any(isinstance(event, Unknown) for event in group) for group in groups]
    assert unknown == [True, False, False]
    assert [type(group[0]) for group in groups[1:2]] == [FormatDetected]
