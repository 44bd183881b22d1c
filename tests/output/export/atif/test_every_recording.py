"""The trajectory of every recording is valid, and says what the session says."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from atif import Trajectory

from agentwatch.analysis.moments import EMPTY, Problem
from agentwatch.output.export.atif import EXPORTER
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices
from agentwatch.output.show import call_json
from agentwatch.session.events import Outcome
from agentwatch.session.transcript import Entry, Kind
from tests.builders.captures import Captures
from tests.builders.exports.opened import RAW, every_recording, opened
from tests.conftest import RECORDINGS, case
from tests.output.export.atif.trajectories import Json, asked, calls, steps, trajectories, wanted

PARTS = {
    "redacted": wanted(raw=False),
    "until": wanted(until="50%"),
    "part": wanted(begin="30%", until="80%"),
    "only": wanted(only="read"),
    "part only": wanted(begin="40%", only="failed"),
}


def words(texts: Any) -> str:
    """Return texts without blanks: a step separates two texts by a blank line."""
    return "".join("".join(texts).split())


@pytest.mark.system
@pytest.mark.slow
def test_a_trajectory_says_what_its_session_says(captures: Captures) -> None:
    """The models of ATIF accept it; its calls, texts, payloads and metrics are those of the session."""
    payloads = 0
    for path in every_recording(captures):
        with case(path), opened(path, RAW) as exported:
            data = b"".join(EXPORTER.write(exported, Choices()))
            check_valid(data, is_raw=True)
            found = orjson.loads(data)
            check_calls(found, exported)
            check_texts(found, exported)
            payloads += check_payloads(found, exported)
            check_metrics(found, path)
    assert payloads > 50


def check_valid(data: bytes, *, is_raw: bool) -> None:
    """Check that the models of ATIF accept a trajectory, and that it says whether it is redacted."""
    found = Trajectory.model_validate_json(data)
    assert found.steps
    assert data.endswith(b"}\n")
    assert (found.notes or "").startswith("not redacted") == is_raw


def check_parts(paths: list[Path]) -> int:
    """Check the trajectories of the parts of recordings, and return how many there are."""
    count = 0
    for path in paths:
        for name, part in PARTS.items():
            with case(f"{path}, {name}"), asked(path, part) as session:
                if isinstance(session, Problem):
                    assert session is EMPTY
                    continue
                check_valid(b"".join(EXPORTER.write(session, Choices())), is_raw=part.is_raw)
                count += 1
    return count


def test_the_trajectory_of_a_part_is_valid() -> None:
    """The models of ATIF accept the trajectory of each part of a bundled recording."""
    assert check_parts([RECORDINGS / "demo.ndjson"]) == len(PARTS)


@pytest.mark.system
def test_the_trajectory_of_each_part_of_each_recording_is_valid(captures: Captures) -> None:
    """The models of ATIF accept the trajectory of each part that a recording has."""
    paths = every_recording(captures)
    assert check_parts(paths) > 3 * len(paths)


def check_calls(trajectory: Json, exported: Exported) -> None:
    """Check that it has the calls of the session and no others: ids, tools, outcomes and times."""
    found, session = calls(trajectory), exported.session
    assert [call["extra"]["number"] for call in found] == [call.number for call in session.calls]
    for call, one in zip(session.calls, found, strict=True):
        assert one["tool_call_id"] == call.call_id
        assert one["function_name"] == (call.tool or "unknown")
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


def check_texts(trajectory: Json, exported: Exported) -> None:
    """Check that its messages and its reasoning are the texts of the session, each once and in order."""
    session = exported.session
    main = [entry for entry in session.transcript if entry.parent is None]
    by_kind = {kind: [entry.text for entry in main if entry.kind is kind] for kind in Kind}
    of_subagents = [entry for entry in session.transcript if _is_text_of_a_subagent(entry)]
    is_bare = session.run.is_bare and session.outcome is Outcome.SUCCEEDED
    results = [session.run.result or ""] if is_bare else []
    of_agent = [step for step in trajectory["steps"] if step["source"] == "agent"]
    assert words(step["message"] for step in of_agent) == words([*by_kind[Kind.ANSWER], *results])
    thoughts = (step.get("reasoning_content", "") for step in of_agent)
    assert words(thoughts) == words(by_kind[Kind.REASONING])
    prompts = [step["message"] for step in trajectory["steps"] if step["source"] == "user"]
    assert prompts == by_kind[Kind.PROMPT]
    below = sum(
        len(words(_texts(step))) for each in [*trajectories(trajectory)][1:] for step in each["steps"]
    )
    assert below == sum(len(words([entry.text])) for entry in of_subagents)


def check_payloads(trajectory: Json, exported: Exported) -> int:
    """Count the arguments that are objects and the results that are texts; check that they are unchanged."""
    count = 0
    for call, one in zip(exported.session.calls, calls(trajectory), strict=True):
        shown: Any = orjson.loads(call_json(exported.feed, call))
        is_own = isinstance(shown["arguments"], dict) and not _names(shown["arguments"], call.call_id)
        place = call.arguments_place or call.ended
        assert place is not None
        if is_own and call.call_id.encode() in exported.feed.line_at(place):
            assert one["arguments"] == shown["arguments"]
            count += 1
        if call.ended is not None and call.call_id.encode() in exported.feed.line_at(call.ended):
            if isinstance(shown["result"], str):
                assert one["result"]["content"] == shown["result"]
                count += 1
            elif isinstance(shown["result"], dict) and not _names(shown["result"], call.call_id):
                assert one["result"]["content"]
                count += 1
    return count


def check_metrics(trajectory: Json, path: Path) -> None:
    """Check that the steps have no more tokens than the session, unless the recording was made by hand."""
    if "synthetic" in path.name:
        return
    total = trajectory["final_metrics"]
    given = [step["metrics"] for step in steps(trajectory) if "metrics" in step]
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
        assert sum(each.get(name, 0) for each in given) <= total.get(f"total_{name}", 0)
    assert total.get("total_cached_tokens", 0) <= total.get("total_prompt_tokens", 0)
    assert total["total_steps"] == len(trajectory["steps"])


def _is_text_of_a_subagent(entry: Entry) -> bool:
    return entry.parent is not None and entry.kind is not Kind.CALL


def _texts(step: Any) -> list[str]:
    return [step["message"], step.get("reasoning_content", "")]


def _names(fields: Any, call_id: str) -> bool:
    return call_id in fields.values()
