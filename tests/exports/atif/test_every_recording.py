"""The trajectory of every recording is valid, and says what the session says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from atif import Trajectory

from agentwatch.analysis.moments import EMPTY, Problem
from agentwatch.events import Outcome
from agentwatch.exports.atif import EXPORTER
from agentwatch.exports.exporter import Choices
from agentwatch.outputs.shown.call import call_json
from agentwatch.session import Entry, Kind
from tests.builders.exports.opened import RAW, every_recording, name_of, opened
from tests.exports.atif.trajectories import (
    asked,
    calls,
    steps,
    trajectories,
    trajectory,
    wanted,
)

of_every_recording = pytest.mark.parametrize("path", every_recording(), ids=name_of)


def words(texts: Any) -> str:
    """Return texts without blanks: a step separates two texts by a blank line."""
    return "".join("".join(texts).split())


@of_every_recording
@pytest.mark.parametrize(
    "part",
    [
        wanted(),
        wanted(raw=False),
        wanted(until="50%"),
        wanted(begin="30%", until="80%"),
        wanted(only="read"),
        wanted(begin="40%", only="failed"),
    ],
    ids=["raw", "redacted", "until", "part", "only", "part-only"],
)
def test_a_trajectory_is_valid(path: Path, part: Any) -> None:
    """The models of ATIF accept the trajectory of a recording, and of each part that it has."""
    with asked(path, part) as session:
        if isinstance(session, Problem):
            assert session is EMPTY
            return
        data = b"".join(EXPORTER.write(session, Choices()))
    found = Trajectory.model_validate_json(data)
    assert found.steps
    assert data.endswith(b"}\n")
    assert (found.notes or "").startswith("not redacted") == part.is_raw


@of_every_recording
def test_a_trajectory_has_every_call_once(path: Path) -> None:
    """It has the calls of the session with their ids, tools, outcomes and times; none is invented."""
    found = calls(trajectory(path))
    with opened(path, RAW) as exported:
        session = exported.session
        assert [call["extra"]["number"] for call in found] == [call.number for call in session.calls]
        for call, one in zip(session.calls, found, strict=True):
            assert one["tool_call_id"] == call.call_id
            assert one["function_name"] == call.tool
            assert one["extra"].get("started_ms") == call.started_ms
            if call.ended is None:
                assert one["result"] is None
                assert one["extra"]["outcome"] == call.outcome
            else:
                result = one["result"]["extra"]
                assert result["outcome"] == call.outcome
                assert result.get("exit_code") == call.exit_code
                assert result.get("ended_ms") == call.ended_ms
                assert result.get("lines_added") == call.lines_added
                assert result.get("lines_removed") == call.lines_removed


@of_every_recording
def test_a_trajectory_has_every_text(path: Path) -> None:
    """Its messages and its reasoning are the texts of the session, each once and in order."""
    found = trajectory(path)
    with opened(path, RAW) as exported:
        main = [entry for entry in exported.session.transcript if entry.parent is None]
        by_kind = {kind: [entry.text for entry in main if entry.kind is kind] for kind in Kind}
        of_subagents = [entry for entry in exported.session.transcript if _is_text_of_a_subagent(entry)]
        is_bare = exported.session.run.is_bare and exported.session.outcome is Outcome.SUCCEEDED
        results = [exported.session.run.result or ""] if is_bare else []
    of_agent = [step for step in found["steps"] if step["source"] == "agent"]
    assert words(step["message"] for step in of_agent) == words([*by_kind[Kind.ANSWER], *results])
    thoughts = (step.get("reasoning_content", "") for step in of_agent)
    assert words(thoughts) == words(by_kind[Kind.REASONING])
    prompts = [step["message"] for step in found["steps"] if step["source"] == "user"]
    assert prompts == by_kind[Kind.PROMPT]
    below = sum(len(words(_texts(step))) for each in [*trajectories(found)][1:] for step in each["steps"])
    assert below == sum(len(words([entry.text])) for entry in of_subagents)


@of_every_recording
def test_the_payloads_of_a_call_are_those_of_its_lines(path: Path) -> None:
    """Arguments that the stream sends as an object are written unchanged, and so is a result that is text."""
    found = calls(trajectory(path))
    with opened(path, RAW) as exported:
        for call, one in zip(exported.session.calls, found, strict=True):
            shown: Any = orjson.loads(call_json(exported.feed, call))
            is_own = isinstance(shown["arguments"], dict) and not _names(shown["arguments"], call.call_id)
            place = call.arguments_place or call.ended
            assert place is not None
            if is_own and call.call_id.encode() in exported.feed.line_at(place):
                assert one["arguments"] == shown["arguments"]
            if call.ended is not None and call.call_id.encode() in exported.feed.line_at(call.ended):
                if isinstance(shown["result"], str):
                    assert one["result"]["content"] == shown["result"]
                elif isinstance(shown["result"], dict) and not _names(shown["result"], call.call_id):
                    assert one["result"]["content"]


def _is_text_of_a_subagent(entry: Entry) -> bool:
    return entry.parent is not None and entry.kind is not Kind.CALL


def _texts(step: Any) -> list[str]:
    return [step["message"], step.get("reasoning_content", "")]


def _names(fields: Any, call_id: str) -> bool:
    return call_id in fields.values()


@of_every_recording
def test_metrics_add_up(path: Path) -> None:
    """The steps have no more tokens than the session, unless the recording was made by hand."""
    found = trajectory(path)
    if "synthetic" in path.name:
        return
    total = found["final_metrics"]
    given = [step["metrics"] for step in steps(found) if "metrics" in step]
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
        assert sum(each.get(name, 0) for each in given) <= total.get(f"total_{name}", 0)
    assert total.get("total_cached_tokens", 0) <= total.get("total_prompt_tokens", 0)
    assert total["total_steps"] == len(found["steps"])
