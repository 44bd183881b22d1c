"""Opens recordings for an export, and reads the trajectories that are written of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentwatch.analysis.moments import Asked
from agentwatch.analysis.moments.words import Moment, Problem, parse
from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices, Exporter
from agentwatch.exports.exporters import exporter_named
from agentwatch.exports.opening import Wanted, exported
from agentwatch.sources.open import saved_source
from tests.conftest import RECORDINGS, SHARED

OF_NO_AGENT = ("meawoppl-sse-event-stream.jsonl",)
SESSIONS = sorted(
    path
    for folder in (RECORDINGS, SHARED)
    for path in folder.rglob("*.*json*")
    if path.suffix in (".jsonl", ".ndjson") and path.name not in OF_NO_AGENT
)
"""Every bundled and every shared recording of a known agent."""
Json = dict[str, Any]


def name_of(path: Path) -> str:
    """Return a name for a recording in a list of tests."""
    return f"{path.parent.name[:12]}/{path.stem[:40]}"


def wanted(begin: str | None = None, until: str | None = None, only: str = "", *, raw: bool = True) -> Wanted:
    """Return which part of a session is wanted, from the words of the command line."""
    return Wanted(Asked(_moment(begin), _moment(until)), only, raw)


def _moment(words: str | None) -> Moment | None:
    if words is None:
        return None
    moment = parse(words)
    assert not isinstance(moment, Problem)
    return moment


@contextmanager
def asked(path: Path, part: Wanted) -> Iterator[Exported | Problem]:
    """Open a part of a recording for an export, if the recording has it."""
    source = saved_source(path)
    yield exported(source.reader, path.name, part)
    os.close(source.reader.fd)


@contextmanager
def opened(path: Path, part: Wanted | None = None) -> Iterator[Exported]:
    """Open a recording for an export; by default all of it, unchanged."""
    with asked(path, part or wanted()) as found:
        assert isinstance(found, Exported), found
        yield found


def format_named(name: str) -> Exporter:
    """Return an export format."""
    exporter = exporter_named(name)
    assert isinstance(exporter, Exporter)
    return exporter


def written(path: Path, part: Wanted | None = None, name: str = "atif", **choices: Any) -> bytes:
    """Return the file that a format writes of a recording."""
    with opened(path, part) as session:
        return b"".join(format_named(name).write(session, Choices(**choices)))


def trajectory(path: Path, part: Wanted | None = None) -> Json:
    """Return the trajectory of a recording."""
    found = json.loads(written(path, part))
    assert isinstance(found, dict)
    return found


def of_lines(tmp_path: Path, *lines: bytes) -> Json:
    """Return the trajectory of a recording with these lines."""
    path = tmp_path / "session.ndjson"
    path.write_bytes(b"".join(lines))
    return trajectory(path)


def trajectories(found: Json) -> Iterator[Json]:
    """Yield a trajectory and those of its subagents."""
    yield found
    for inner in found.get("subagent_trajectories", ()):
        yield from trajectories(inner)


def steps(found: Json) -> Iterator[Json]:
    """Yield the steps of a trajectory and of those of its subagents."""
    for each in trajectories(found):
        yield from each["steps"]


def calls(found: Json) -> list[Json]:
    """Return all calls in the order of their numbers, each with its `result`, or None."""
    found_calls = []
    for step in steps(found):
        results = {each["source_call_id"]: each for each in step.get("observation", {}).get("results", ())}
        made = step.get("tool_calls", ())
        found_calls += [{**call, "result": results.pop(call["tool_call_id"], None)} for call in made]
        assert not results, "a result of no call of its step"
    return sorted(found_calls, key=lambda call: call["extra"]["number"])
