"""Of a line over 16 MiB the two ends are read, in a bounded number of parses; nothing else is made up."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from agentwatch.agents import Decoder, decoder
from agentwatch.agents.json_line import parse
from agentwatch.session.events import Malformed, Outcome, Oversize, ToolEnded
from tests.builders.lines import completed, init
from tests.conftest import case


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

    monkeypatch.setattr(decoder, "parse", counted)
    decoder.salvage(b'{"type":"result","result":"' + b"x" * 60_000, tail)
    assert 2 <= parsed <= 41


def test_the_fields_after_a_large_text_are_read() -> None:
    """The members that follow the large text are read from the tail, those before it from the head."""
    head = b'{"type":"result","is_error":false,"result":"' + b"x" * 60_000
    tail = b'xxx","request_id":"r-1","usage":{"in":1,"out":2}}'
    assert decoder.salvage(head, tail) == {
        "type": "result",
        "is_error": False,
        "request_id": "r-1",
        "usage": {"in": 1, "out": 2},
    }


def ends(line: bytes, kept: int) -> tuple[bytes, bytes, int]:
    """Return the first and last `kept` bytes of a line as Cursor writes it, and its length."""
    data = json.dumps(json.loads(line), separators=(",", ":")).encode()
    return data[:kept], data[-kept:], len(data)


def test_an_oversize_line_invents_no_outcome() -> None:
    """An outcome that is not in the ends of a line stays unknown: the exit code may come after the output."""
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
            decoder = Decoder()
            decoder.decode(init())
            line = completed(tool, result=outcome)
            [size, ended] = decoder.decode_oversize(*ends(line, 250))[:2]
            assert isinstance(size, Oversize)
            assert isinstance(ended, ToolEnded)
            assert ended.outcome is expected


def test_an_oversize_line_says_why_its_outcome_is_unknown() -> None:
    """The reason of an unknown outcome is that the line is too large, and not that it has no result."""
    line = completed("read", result={"success": {"content": "y"}}, path="x" * 999)
    decoder = Decoder()
    decoder.decode(init())
    [_, ended] = decoder.decode_oversize(*ends(line, 250))
    assert isinstance(ended, ToolEnded)
    assert (ended.outcome, ended.error) == (Outcome.RETURNED, "its line is too large to be read")


def test_an_oversize_line_that_is_not_an_object_is_malformed() -> None:
    """An oversize line of noise, of an array or of a cut object without members is malformed."""
    for data in (b"x" * 500, b"[" * 500, b"{" * 500, b"[1,{}]" * 90):
        [found] = Decoder().decode_oversize(data[:200], data[-200:], len(data))
        assert isinstance(found, Malformed)
        assert found.reason == f"not JSON, {len(data)} bytes"


@pytest.mark.costs
def test_the_ends_of_a_line_are_read_in_linear_time() -> None:
    """A head and a tail of 64 KiB each take less than a second, however deep they are nested."""
    for unit in [b"[", b'{"a":', b'"\\', b',"a', b'["', b'{"a":[1,']:
        with case(unit):
            part = unit * (65_536 // len(unit))
            began = time.process_time()
            decoder.salvage(part, part)
            assert time.process_time() - began < 1
