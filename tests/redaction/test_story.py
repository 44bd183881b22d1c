"""A redacted recording tells the same story: the same calls, outcomes, times and checks."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
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
from tests.redaction.redacting import bytes_of, reader_of
from tests.sources.stores.test_zstd import Damaged, StandIn, frame

DISK = SHARED / "disk"
DATABASE = DISK / "opencode-db/own-1.18.33/opencode.db"
STORES = [
    *(DATABASE / name for name in ("ses_dffab4634ffe523C3nFZ25XU7L", "ses_dffa9fa12ffeEeBbv1p8Var6C9")),
    *(DATABASE / name for name in ("ses_dffa13782ffelHLUckf3PpCxdw", "ses_dffa10acfffeCKln6OxYBgiynF")),
    *sorted((DISK / "opencode-db").rglob("session/*/*.json")),
    *sorted((DISK / "gemini-chat/agent-sessions").glob("*.json")),
]
"""Sessions in a database, and in files that are no lines."""
FILES = [
    *sorted(RECORDINGS.glob("*.ndjson")),
    *sorted(SHARED.rglob("*.jsonl")),
    *sorted(SHARED.rglob("*.ndjson")),
]
MASK = re.compile(r"\[(?:secret:)?[a-z -]+ [0-9a-f]{4}\]|~|user-[0-9a-f]{4}")


Keep = Callable[[LineReader], LineReader]
"""Returns a reader that stays open until the test has ended."""


@pytest.fixture
def keep() -> Iterator[Keep]:
    """Close the kept readers after the test: each has a file of its own, and thousands are opened."""
    kept: list[LineReader] = []

    def keep(reader: LineReader) -> LineReader:
        kept.append(reader)
        return reader

    yield keep
    for reader in kept:
        os.close(reader.fd)


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


@pytest.mark.skipif(not SHARED.exists(), reason="the captures are not here")
@pytest.mark.parametrize("path", FILES + STORES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_redacted_recording_tells_the_same_story(path: Path, tmp_path: Path, keep: Keep) -> None:
    """Every recording has the same lines, calls, outcomes, times and checks after its redaction.

    A session in a store becomes a recording of lines, whose format is detected.
    """
    reader = keep(saved_source(path).reader)
    copy = redacted(reader)
    keep(copy.reader)
    assert len(copy.before) == len(copy.after) > 0
    assert_same(facts(reader), facts(copy.reader))
    written = tmp_path / "redacted.ndjson"
    written.write_bytes(bytes_of(copy))
    opened = facts(keep(saved_source(written).reader))
    assert opened["format"] == facts(copy.reader)["format"]
    assert opened["calls"] == facts(copy.reader)["calls"]


@pytest.mark.parametrize(("name", "data", "format_name"), OF_A_FORMAT, ids=[each[0] for each in OF_A_FORMAT])
def test_a_format_that_is_named_tells_the_same_story(
    name: str, data: bytes, format_name: str, keep: Keep
) -> None:
    """The samples of every format do too, if the format is given."""
    reader = keep(reader_of(data))
    assert_same(facts(reader, format_name), facts(keep(redacted(reader).reader), format_name))


def test_a_compressed_rollout_is_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: Keep
) -> None:
    """A rollout that Codex has compressed becomes a recording that is not compressed."""
    plain = (DISK / "codex-rollout/own-0.169").rglob("*.jsonl")
    data = min(plain).read_bytes()
    path = tmp_path / "rollout-2026-11-21T22-54-34-x.jsonl.zst"
    path.write_bytes(frame(data))
    module = ModuleType("compression.zstd")
    module.ZstdFile = StandIn  # type: ignore[attr-defined]
    module.ZstdError = Damaged  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "compression.zstd", module)
    reader = keep(saved_source(path).reader)
    assert_same(facts(keep(reader_of(data))), facts(keep(redacted(reader).reader)))
