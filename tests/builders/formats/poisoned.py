"""Recordings of any format with hostile text in their strings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.builders.payloads import PAYLOADS

MIXED = "".join(text for name, text in sorted(PAYLOADS.items()) if len(text) < 40)[:4000]
"""Many short payloads in one text."""


def poisoned(value: Any, text: str, keep: frozenset[str], key: str = "") -> Any:
    """Return a JSON value with a text in place of each string except those under the kept keys."""
    if isinstance(value, dict):
        return {name: poisoned(inner, text, keep, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(inner, text, keep, key) for inner in value]
    if isinstance(value, str) and key not in keep:
        return f"{value[:3]}{text}"
    return value


MARKS = frozenset(
    (
        *("type", "subtype", "method", "jsonrpc", "sessionUpdate", "status", "kind", "role", "outcome"),
        *(
            "stopReason",
            "reason",
            "timestamp",
            "version",
            "tool",
            "toolName",
            "name",
            "sessionId",
            "session_id",
        ),
        *("uuid", "parentUuid", "id", "call_id", "callId", "toolCallId", "tool_use_id", "item_id"),
    )
)
"""Fields that decide how a line is read."""


def lines_of(data: bytes, text: str, keep: frozenset[str]) -> Iterator[bytes]:
    """Yield the lines of a recording with a text in their strings."""
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        yield json.dumps(poisoned(value, text, keep)).encode()
