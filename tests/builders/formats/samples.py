"""The samples of all formats, and how they are read in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentwatch.agents import Agent, Decoder
from agentwatch.agents.registry import agent_named, known_agents
from agentwatch.feed.line_joiner import LineJoiner
from agentwatch.session.call import Place
from agentwatch.session.events import FormatDetected
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from tests.builders import lines
from tests.builders.captures import Captures
from tests.conftest import RECORDINGS

KNOWN = frozenset(agent.name for agent in known_agents())
FORMATS = {
    **{f"{kind}/{name}/": name for kind in ("agents", "disk") for name in KNOWN},
    "disk/copilot-events": "copilot",
    **{f"real/{name}-": name for name in ("codex", "copilot", "droid", "gemini", "opencode", "pi", "qwen")},
    "real/claude-": "claude-code",
    "real/droid-0.215.0/sessions/": "droid-session",
}
"""The format of the captures in each folder."""
OF_NO_FORMAT = ("meawoppl-sse-event-stream",)
"""Captures of other formats than that of their folder."""


def samples(captures: Captures) -> list[tuple[Path, str | None]]:
    """Return the captures that are lines of JSON, each with its format."""
    paths = captures.find(
        "agents/*/**/*.jsonl", "disk/*/**/*.jsonl", "real/*/full.ndjson", "real/droid-*/*/**/*.jsonl"
    )
    found = []
    for path in paths:
        folder = max((each for each in FORMATS if captures.name(path).startswith(each)), key=len, default="")
        if FORMATS.get(folder) in KNOWN:
            found.append((path, None if path.stem in OF_NO_FORMAT else FORMATS[folder]))
    return found


_DROID: tuple[dict[str, Any], ...] = (
    {"type": "system", "subtype": "init", "cwd": "/a", "session_id": "s-1", "tools": ["Read"], "model": "m"},
    {"type": "message", "role": "user", "id": "m-1", "text": "Read it.", "timestamp": 1, "session_id": "s-1"},
    {"type": "reasoning", "id": "r-1", "text": "Hm.", "session_id": "s-1"},
    {
        "type": "tool_call",
        "id": "c-1",
        "messageId": "m-2",
        "toolId": "Execute",
        "toolName": "Execute",
        "parameters": {"command": "make"},
        "timestamp": 2,
        "session_id": "s-1",
    },
    {
        "type": "tool_result",
        "id": "c-1",
        "messageId": "m-3",
        "toolId": "Execute",
        "isError": True,
        "value": "failed",
        "timestamp": 3,
        "session_id": "s-1",
    },
    {"type": "error", "message": "no quota", "session_id": "s-1"},
    {
        "type": "completion",
        "finalText": "Done.",
        "numTurns": 1,
        "durationMs": 5,
        "usage": {"input_tokens": 3},
    },
)
"""Lines of formats without samples, as others have published them."""


def of_a_format(captures: Captures) -> Iterator[tuple[str, bytes, str]]:
    """Yield the name, the bytes and the format of each capture that has one; ours include made-up lines."""
    for path, name in samples(captures):
        if name is not None:
            yield captures.name(path), path.read_bytes(), name
    if captures.is_own:
        yield "plain", (RECORDINGS / "plain.ndjson").read_bytes(), "cursor"
        for name, rows in (("droid", _DROID),):
            if name in KNOWN:
                yield name, b"".join(lines.line(dict(row)) for row in rows), name


def named(name: str) -> Agent:
    """Return the agent of a format."""
    agent = agent_named(name)
    assert agent is not None
    return agent


def read(data: bytes, name: str) -> Session:
    """Return the session of a recording in a format."""
    agent = named(name)
    decoder, session = Decoder(agent), Session()
    detected = FormatDetected(agent.name, agent.traits, agent.agent)
    apply_line(session, [detected], Place(0, 0, None), 0)
    joiner = LineJoiner(decoder)
    for piece in lines.physical_lines(data):
        for found in joiner.take(piece):
            apply_line(session, *found)
    for found in joiner.rest():
        apply_line(session, *found)
    apply_line(session, decoder.end(), Place(0, 0, None), 0)
    close_session(session)
    return session


def strings(value: Any) -> Iterator[str]:
    """Yield every string and number in a JSON value, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value
        if value[:1] in "{[":  # arguments may be JSON in a string
            with suppress(ValueError):
                yield from strings(json.loads(value))
    elif value is not None:
        yield str(value)


def written(data: bytes) -> set[str]:
    """Return every string in the lines of a recording."""
    found: set[str] = set()
    for row in data.split(b"\n"):
        try:
            value = json.loads(row.decode("utf-8", "replace"))
        except ValueError:
            continue
        found |= {*strings(value)}
    return found
