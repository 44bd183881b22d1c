"""A secret that is split over deltas is found, in the deltas of every agent and between other lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.redaction.planted import PASSWORDS, TOKENS, occurs, pieces
from tests.redaction.redacting import redacted_bytes

Line = Callable[[str, int, int], dict[str, Any]]
"""Returns the line of a delta: of its text, its block and its number."""


def _uuid(number: int) -> str:
    return f"0b9f1c2d-3e4f-4a5b-8c6d-{number:012x}"


def claude(text: str, block: int, number: int) -> dict[str, Any]:
    event = {"type": "content_block_delta", "index": block, "delta": {"type": "text_delta", "text": text}}
    return {"type": "stream_event", "event": event, "session_id": _uuid(1), "uuid": _uuid(number + 9)}


def claude_arguments(text: str, block: int, number: int) -> dict[str, Any]:
    part = {"type": "input_json_delta", "partial_json": text}
    event = {"type": "content_block_delta", "index": block, "delta": part}
    return {"type": "stream_event", "event": event, "session_id": _uuid(1), "uuid": _uuid(number + 9)}


def subagent(text: str, block: int, number: int) -> dict[str, Any]:
    return claude(text, 0, number) | {"parent_tool_use_id": f"toolu_{block}"}


def cursor(text: str, block: int, number: int) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    fields = {"session_id": f"s-{block}", "timestamp_ms": 1793610847107 + number}
    return {"type": "assistant", "message": {"role": "assistant", "content": content}, **fields}


def thinking(text: str, block: int, number: int) -> dict[str, Any]:
    fields = {"session_id": f"s-{block}", "timestamp_ms": 1793610847107 + number}
    return {"type": "thinking", "subtype": "delta", "text": text, **fields}


def gemini(text: str, block: int, number: int) -> dict[str, Any]:
    time = f"2026-11-21T23:08:{number % 60:02}.123Z"
    role = "assistant" if block == 0 else "user"
    return {"type": "message", "timestamp": time, "role": role, "content": text, "delta": True}


def acp(text: str, block: int, _number: int) -> dict[str, Any]:
    kind = "agent_message_chunk" if block == 0 else "agent_thought_chunk"
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}


def copilot(text: str, block: int, number: int) -> dict[str, Any]:
    data = {"messageId": f"m-{block}", "deltaContent": text}
    ids = {"id": _uuid(number + 1), "parentId": _uuid(number), "timestamp": "2026-11-21T23:08:11.123Z"}
    return {"type": "assistant.message_delta", "data": data, **ids}


def output(text: str, block: int, _number: int) -> dict[str, Any]:
    return {"type": "tool.execution_partial_result", "data": {"toolCallId": f"c{block}", "partialOutput": text}}


def goose(text: str, block: int, _number: int) -> dict[str, Any]:
    message = {"id": f"m{block}", "role": "assistant", "created": 1, "content": [{"type": "text", "text": text}]}
    return {"type": "message", "message": message}


def pi(text: str, block: int, _number: int) -> dict[str, Any]:
    return {"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "contentIndex": block, "delta": text}}


FORMS = [claude, claude_arguments, subagent, cursor, thinking, gemini, acp, copilot, output, goose, pi]


def dumped(row: dict[str, Any], *, is_ascii: bool = False) -> bytes:
    return json.dumps(row, ensure_ascii=is_ascii).encode() + b"\n"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    TOKENS,
    st.lists(st.integers(0, 200), min_size=1, max_size=30),
    st.lists(st.integers(0, 200), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_a_split_secret_is_masked(
    form: Line, secret: str, cuts: list[int], other_cuts: list[int], random: Any
) -> None:
    """A token that deltas split anywhere is masked, also between the deltas of another block."""
    text = f'I use "{secret}" here, and\nthen more.'
    blocks = [[(0, each) for each in pieces(text, cuts)], [(1, each) for each in pieces("x" * 200, other_cuts)]]
    rows = []
    while blocks[0] or blocks[1]:
        block, piece = random.choice([each for each in blocks if each]).pop(0)
        rows.append(form(piece, block, len(rows)))
    data = b"".join(map(dumped, rows))
    written, report = redacted_bytes(data)
    after = [json.loads(line) for line in written.splitlines()]
    assert len(after) == len(rows)
    joined = "".join(_text(row) for row in after if form("", 0, 0).keys() and _is_of(form, row, 0))
    assert joined.startswith('I use "[secret:')
    assert joined.endswith('" here, and\nthen more.')
    assert not occurs(secret, joined.encode())
    assert report.secrets.total() == 1


def _text(row: Any) -> str:
    """Return the longest string of a line that is a text."""
    found = ""
    for key, value in row.items() if isinstance(row, dict) else enumerate(row):
        if key in ("text", "partial_json", "deltaContent", "partialOutput", "delta", "content") and isinstance(value, str):
            found += value
        elif isinstance(value, dict | list):
            found += _text(value)
    return found


def _is_of(form: Line, row: Any, block: int) -> bool:
    """Return whether a line is one of a block."""
    return _without_text(form("", block, 0)) == _without_text(row)


def _without_text(row: Any) -> Any:
    if isinstance(row, dict):
        varying = ("text", "partial_json", "deltaContent", "partialOutput", "timestamp", "timestamp_ms", "uuid", "parentId")
        return {
            key: _without_text(value)
            for key, value in row.items()
            if key not in varying and not (key in ("delta", "content") and isinstance(value, str)) and not (key == "id" and len(str(value)) == 36)
        }
    return [*map(_without_text, row)] if isinstance(row, list) else row
