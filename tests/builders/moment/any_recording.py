"""Recordings for tests of earlier moments: generated sessions of several agents, and every real capture."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from agentwatch.feed import checkpoints as taken
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording import lines as read
from agentwatch.recording.lines import LineReader, Until
from tests.builders.captures import Captures
from tests.builders.claude_stories import story as claude_story
from tests.builders.codex.rollout import rollout
from tests.builders.codex.story import STORIES as CODEX_STORIES
from tests.builders.codex.stream import stream
from tests.builders.formats.samples import samples
from tests.builders.stories.acp import acp_story
from tests.builders.stories.lines import rendered
from tests.builders.stories.story import STORIES
from tests.conftest import RECORDINGS

_Drawn = TypeVar("_Drawn")
SESSIONS = int(os.environ.get("AGENTWATCH_EXAMPLES", "15"))
"""How many sessions are generated: `AGENTWATCH_EXAMPLES=150` for all that a release is tried with."""
MOMENTS = 50 if SESSIONS >= 150 else 6
"""How many moments of each session are tried."""
MOST_BYTES = 3_000_000


def real_recordings(captures: Captures) -> list[Path]:
    """Return every recording of a real session; ours with the bundled ones."""
    found = [path for path, _ in samples(captures)]
    if captures.is_own:
        return [*sorted(RECORDINGS.glob("*.ndjson")), *found]
    return [*captures.find("docs/*.ndjson", "cursor/*.ndjson"), *found]


def generated(count: int) -> Iterator[bytes]:
    """Yield this number of generated sessions: of Cursor, Claude Code, Codex and the protocol ACP."""
    stories = _drawn(STORIES, -(-count // 6) * 2)
    codex = _drawn(CODEX_STORIES, -(-count // 6) * 2)
    for number in range(count):
        match number % 6:
            case 0 | 3:
                yield rendered(stories[number // 3], is_partial=number % 6 == 3)[0]
            case 1:
                yield claude_story(number, is_partial=number % 12 == 1).data()
            case 2:
                yield stream(codex[number // 3])
            case 4:
                yield b"".join(acp_story(number).lines)
            case _:
                yield rollout(codex[number // 3], is_paginated=number % 12 == 5)


def dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a checkpoint at every 512 bytes, so that most moments are restored from one."""
    monkeypatch.setattr(taken, "_LEAST_BYTES", 512)
    monkeypatch.setattr(taken, "_STATE_SHARE", 0)
    monkeypatch.setattr(read, "_READ_BYTES", 2048)


def line_ends(data: bytes) -> list[int]:
    """Return the moments of a recording: the offsets after its line ends, in order."""
    return [offset + 1 for offset, byte in enumerate(data) if byte == 10]


def chosen(data: bytes, chance: Random, count: int = MOMENTS) -> list[int]:
    """Return random moments of a recording before its end, in the order in which they are tried.

    Half of them lie in random order, the others in steps to both sides of one of them.
    """
    ends = [end for end in line_ends(data) if end < len(data)]
    if not ends:
        return []
    jumps = [chance.choice(ends) for _ in range(count // 2)]
    first = chance.randrange(len(ends))
    steps = [*range(first, first + count // 4), *range(first + count // 4, first, -1)]
    return [*jumps, *(ends[step] for step in steps if step < len(ends))]


def fed_until(reader: LineReader, end: int) -> Feed:
    """Return a feed that was given only the first `end` bytes of a recording."""
    feed = Feed(LineReader(reader.fd, Until(end), reader.times))
    feed.takes_agent_times = True
    feed.advance()
    return feed


def with_history(reader: LineReader) -> tuple[Feed, History]:
    """Return a feed of a recording that has not read anything, and its history."""
    feed = Feed(reader)
    return feed, History(feed, reader)


def written(path: Path, data: bytes, times: Iterator[tuple[int, int]] | None = None) -> Path:
    """Write a recording, and the arrival times beside it if any are given; return its path."""
    path.write_bytes(data)
    if times is not None:
        path.with_suffix(".times").write_text("".join(f"{offset} {ms}\n" for offset, ms in times))
    return path


def _drawn(strategy: st.SearchStrategy[_Drawn], count: int) -> list[_Drawn]:
    """Return this number of values, the same ones each time."""
    found: list[_Drawn] = []

    @seed(14)
    @settings(max_examples=4 * count, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def draw(value: _Drawn) -> None:
        found.append(value)

    draw()
    return found[-count:]
