"""Rows of a list of sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentwatch.agents.reported import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import Ground, Standing

NOW_MS = 1_795_000_000_000
"""2026-11-18T11:06:40Z."""
_STANDING = ("state", "ground", "since_ms", "now", "now_since_ms")


def row(state: State = State.SUCCEEDED, ground: Ground = Ground.SAID, **more: Any) -> Row:
    """Return a row of Claude Code; other fields of the row and of its standing are given by name."""
    standing = {name: more.pop(name) for name in _STANDING if name in more}
    number = more.pop("number", 0)
    fields = {
        "agent": "claude",
        "id": f"{number:08x}-7a95-4b1e-9d2c-0123456789ab",
        "path": Path(f"/home/u/.claude/projects/-src/{number}.jsonl"),
        "seen_ms": NOW_MS - 1000,
        **more,
    }
    key = fields.pop("key", (fields["agent"], fields["id"]))
    return Row(key=key, standing=Standing(state, ground, **standing), **fields)
