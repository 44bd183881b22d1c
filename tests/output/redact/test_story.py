"""A redacted recording tells the same story: the same calls, outcomes, times and checks."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.agents.registry import agent_named
from agentwatch.feed.feed import Feed
from agentwatch.output.redact.recording import redacted
from agentwatch.output.summary import summary
from agentwatch.output.unknown_parts import report
from agentwatch.recording.lines import LineReader
from tests.builders.captures import OURS, Captures
from tests.builders.exports.opened import every_recording
from tests.builders.formats.samples import of_a_format
from tests.conftest import case
from tests.output.redact.redacting import bytes_of, reader_of
from tests.sources.stores.test_zstd import Damaged, StandIn, frame

MASK = re.compile(r"\[(?:secret:)?[a-z -]+ [0-9a-f]{4}\]|~|user-[0-9a-f]{4}")


Keep = Callable[[LineReader], LineReader]
"""Returns a reader that stays open for one case."""


@contextmanager
def keeping() -> Iterator[Keep]:
    """Return a function that keeps a reader open, and close the kept readers: each has a file of its own."""
    with ExitStack() as kept:

        def keep(reader: LineReader) -> LineReader:
            kept.callback(os.close, reader.fd)
            return reader

        yield keep


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


def sessions(captures: Captures) -> list[Path]:
    """Return the captures in files of lines, in databases, and in files that are not lines."""
    return [*every_recording(captures), *captures.find("disk/opencode-db/**/session/*/*.json")]


@pytest.mark.system
def test_a_redacted_recording_tells_the_same_story(captures: Captures, tmp_path: Path) -> None:
    """Every recording has the same lines, calls, outcomes, times and checks after its redaction.

    A session in a store becomes a recording of lines, whose format is detected.
    """
    for path in sessions(captures):
        with case(path), keeping() as keep:
            reader = keep(saved_source(path).reader)
            copy = redacted(reader)
            keep(copy.reader)
            assert len(copy.before) == len(copy.after) > 0
            after = facts(copy.reader)
            assert_same(facts(reader), after)
            written = tmp_path / "redacted.ndjson"
            written.write_bytes(bytes_of(copy))
            opened = facts(keep(saved_source(written).reader))
            assert opened["format"] == after["format"]
            assert opened["calls"] == after["calls"]


@pytest.mark.system
def test_a_format_that_is_named_tells_the_same_story(captures: Captures) -> None:
    """The samples of every format do too, if the format is given."""
    for name, data, format_name in of_a_format(captures):
        with case(name), keeping() as keep:
            reader = keep(reader_of(data))
            assert_same(facts(reader, format_name), facts(keep(redacted(reader).reader), format_name))


def test_a_compressed_rollout_is_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rollout that Codex has compressed becomes a recording that is not compressed."""
    data = OURS.find("disk/codex-rollout/own-0.169/*.jsonl")[0].read_bytes()
    path = tmp_path / "rollout-2026-11-21T22-54-34-x.jsonl.zst"
    path.write_bytes(frame(data))
    module = ModuleType("compression.zstd")
    module.ZstdFile = StandIn  # type: ignore[attr-defined]
    module.ZstdError = Damaged  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "compression.zstd", module)
    with keeping() as keep:
        reader = keep(saved_source(path).reader)
        assert_same(facts(keep(reader_of(data))), facts(keep(redacted(reader).reader)))
