"""Reads the trajectories that are written of recordings."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.moments import Asked, MomentSpec, Problem, parse
from agentwatch.output.export.atif import EXPORTER
from agentwatch.output.export.exported import Exported, Wanted, exported
from tests.builders.exports.opened import RAW, written

Json = dict[str, Any]


def wanted(begin: str | None = None, until: str | None = None, only: str = "", *, raw: bool = True) -> Wanted:
    """Return which part of a session is wanted, from the words of the command line."""
    return Wanted(Asked(_moment(begin), _moment(until)), only, raw)


def _moment(words: str | None) -> MomentSpec | None:
    if words is None:
        return None
    moment = parse(words)
    assert not isinstance(moment, Problem)
    return moment


@contextmanager
def asked(path: Path, part: Wanted) -> Iterator[Exported | Problem]:
    """Open a part of a recording for an export, if the recording has it."""
    reader = saved_source(path).reader
    session = exported(reader, path.name, part)
    yield session
    copies = set() if isinstance(session, Problem) else {session.timeline.fd}
    for fd in {reader.fd, *copies}:
        os.close(fd)


def trajectory(path: Path, part: Wanted = RAW) -> Json:
    found = json.loads(written(EXPORTER, path, part))
    assert isinstance(found, dict)
    return found


def of_lines(tmp_path: Path, *lines: bytes) -> Json:
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
