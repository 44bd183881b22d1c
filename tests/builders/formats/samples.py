"""The samples of all formats, how they are read in memory, and hostile texts in their strings."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentwatch.agents import Agent, Decoder
from agentwatch.agents.registry import agent_named, known_agents
from agentwatch.feed.feed import LineJoiner
from agentwatch.session.call import Place
from agentwatch.session.events import FormatDetected
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from tests.builders import lines
from tests.builders.captures import Captures
from tests.builders.payloads import PAYLOADS
from tests.conftest import RECORDINGS

KNOWN = frozenset(agent.name for agent in known_agents())
FORMATS = {
    **{f"{kind}/{name}/": name for kind in ("agents", "disk") for name in KNOWN},
    "disk/copilot-events": "copilot",
    **{
        f"real/{name}-": name
        for name in ("codex", "copilot", "droid", "gemini", "opencode", "pi", "qwen", "kimi", "vibe", "cline")
    },
    "real/claude-": "claude-code",
    "real/droid-0.215.0/sessions/": "droid-session",
    "real/kimi-2.1.0/sessions/": "kimi-wire",
}
"""The format of the captures in each folder."""
OF_NO_FORMAT = ("meawoppl-sse-event-stream",)
"""Captures of other formats than that of their folder."""


def samples(captures: Captures) -> list[tuple[Path, str | None]]:
    """Return the captures that are lines of JSON, each with its format."""
    paths = captures.find(
        *("agents/*/**/*.jsonl", "disk/*/**/*.jsonl", "real/*/full.ndjson"),
        *("real/droid-*/*/**/*.jsonl", "real/kimi-*/*/**/*.jsonl"),
    )
    found = []
    for path in paths:
        folder = max((each for each in FORMATS if captures.name(path).startswith(each)), key=len, default="")
        if FORMATS.get(folder) in KNOWN:
            found.append((path, None if path.stem in OF_NO_FORMAT else FORMATS[folder]))
    return found


def of_a_format(captures: Captures) -> Iterator[tuple[str, bytes, str]]:
    """Yield the name, the bytes and the format of each capture that has one; ours include a bundled one."""
    for path, name in samples(captures):
        if name is not None:
            yield captures.name(path), path.read_bytes(), name
    if captures.is_own:
        yield "plain", (RECORDINGS / "plain.ndjson").read_bytes(), "cursor"


def named(name: str) -> Agent:
    agent = agent_named(name)
    assert agent is not None
    return agent


def read(data: bytes, name: str) -> Session:
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
