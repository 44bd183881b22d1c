"""A redacted recording tells the same story: the same calls, outcomes, times and checks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agentwatch.feed import Feed
from agentwatch.outputs.summary import summary
from agentwatch.outputs.unknown_fields import report
from agentwatch.recording import LineReader
from agentwatch.redaction.recording import redacted
from agentwatch.sources.open import saved_source
from agentwatch.wire.agents import agent_named
from tests.builders.formats.samples import OF_A_FORMAT
from tests.conftest import RECORDINGS, SHARED
from tests.redaction.redacting import reader_of

STORES = [
    *sorted((SHARED / "disk").rglob("*.db")),
    *sorted((SHARED / "disk").rglob("*.json")),
    *sorted((SHARED / "disk").rglob("*.zst")),
]
FILES = [
    *sorted(RECORDINGS.glob("*.ndjson")),
    *sorted(SHARED.rglob("*.jsonl")),
    *sorted(SHARED.rglob("*.ndjson")),
]
MASK = re.compile(r"\[(?:secret:)?[a-z -]+ [0-9a-f]{4}\]|~|user-[0-9a-f]{4}")


def facts(reader: LineReader, name: str | None = None) -> Any:
    """Return the summary of a recording, and how many unknown fields of which name it has."""
    agent = None if name is None else agent_named(name)
    feed = Feed(LineReader(reader.fd, reader.growth, reader.times), agent)
    while not feed.is_over:
        feed.advance()
    unknown = report(LineReader(reader.fd, reader.growth, reader.times), agent)
    members = json.loads(b"".join(summary(feed.session)))
    members["unknown"] = [[what, found.count, found.line] for what, found in unknown.found.items()]
    members["times"] = [
        [call.started_ms, call.ended_ms, call.duration_ms, call.started and call.started.seen_ms]
        for call in feed.session.calls
    ]
    return members


def assert_same(before: Any, after: Any, where: str = "") -> None:
    """Check that two JSON values differ only in texts that have a mask."""
    if isinstance(before, dict):
        assert [*before] == [*after], where
        for key in before:
            assert_same(before[key], after[key], f"{where}.{key}")
    elif isinstance(before, list):
        assert len(before) == len(after), where
        for number, each in enumerate(before):
            assert_same(each, after[number], f"{where}[{number}]")
    elif isinstance(before, str) and before != after:
        assert isinstance(after, str), where
        assert MASK.search(after), where
    else:
        assert before == after, where


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_redacted_recording_tells_the_same_story(path: Path) -> None:
    """Every recording has the same lines, calls, outcomes, times and checks after its redaction."""
    reader = saved_source(path).reader
    copy = redacted(reader)
    assert len(copy.before) == len(copy.after)
    assert_same(facts(reader), facts(copy.reader))


@pytest.mark.parametrize(
    ("name", "data", "format_name"),
    [(n, d, f) for n, d, f in OF_A_FORMAT],
    ids=[n for n, _, _ in OF_A_FORMAT],
)
def test_a_format_that_is_named_tells_the_same_story(name: str, data: bytes, format_name: str) -> None:
    """The samples of every format do too, with the times that the agent has written."""
    reader = reader_of(data)
    assert_same(facts(reader, format_name), facts(redacted(reader).reader, format_name))
