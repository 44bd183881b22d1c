"""What is read of a line over 16 MiB costs a bounded number of parses."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.wire import oversize
from agentwatch.wire.json_line import parse


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

    monkeypatch.setattr(oversize, "parse", counted)
    oversize.salvage(b'{"type":"result","result":"' + b"x" * 60_000, tail)
    assert 2 <= parsed <= 41


def test_the_fields_after_a_large_text_are_read() -> None:
    """The members that follow the large text are read from the tail, those before it from the head."""
    head = b'{"type":"result","is_error":false,"result":"' + b"x" * 60_000
    tail = b'xxx","request_id":"r-1","usage":{"in":1,"out":2}}'
    assert oversize.salvage(head, tail) == {
        "type": "result",
        "is_error": False,
        "request_id": "r-1",
        "usage": {"in": 1, "out": 2},
    }
