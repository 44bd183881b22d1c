"""The work of a subagent is a trajectory of its own, to which the result of its call refers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from atif import Trajectory

from tests.builders import claude_lines as claude
from tests.output.export.atif.trajectories import Json, of_lines, trajectories, trajectory, wanted


def task(call_id: str, agent: str | None = None) -> Json:
    """Return the line that starts a subagent; `agent` is the call of the subagent that does."""
    block = {"type": "tool_use", "id": call_id, "name": "Task", "input": {"description": "Look"}}
    return claude.assistant(block, parent_tool_use_id=agent, message_id=f"of-{call_id}")


def below(call_id: str, words: str) -> Json:
    """Return the line of a text that the subagent of a call writes."""
    return claude.say(words, parent_tool_use_id=call_id, message_id=f"said-{call_id}")


def reference(call: Json) -> Any:
    """Return the id of the trajectory to which the result of a call refers."""
    return call["observation"]["results"][0].get("subagent_trajectory_ref")


def test_subagents_are_embedded_in_the_trajectory_of_their_caller(tmp_path: Path) -> None:
    """A subagent of a subagent is in the trajectory of the subagent; the models accept both."""
    found = of_lines(
        tmp_path,
        claude.written(
            claude.init(),
            claude.user("Go."),
            task("t-1"),
            below("t-1", "I ask another."),
            task("t-2", "t-1"),
            below("t-2", "Found it."),
            claude.answer("It is there.", "t-2", parent_tool_use_id="t-1"),
            claude.answer("There.", "t-1"),
            claude.say("Done.", message_id="msg_9"),
            claude.result("Done."),
        ),
    )
    [outer] = found["subagent_trajectories"]
    [inner] = outer["subagent_trajectories"]
    assert reference(found["steps"][1]) == [{"trajectory_id": outer["trajectory_id"]}]
    assert reference(outer["steps"][0]) == [{"trajectory_id": inner["trajectory_id"]}]
    assert [step["message"] for step in inner["steps"]] == ["Found it."]
    assert [step["message"] for step in found["steps"]] == ["Go.", "", "Done."]
    assert all("model_name" not in each["agent"] for each in (outer, inner))
    Trajectory.model_validate(found)


def test_a_subagent_that_never_ended_is_named_by_its_call(tmp_path: Path) -> None:
    """Its call has no result, so that the id of the trajectory is with the call."""
    found = of_lines(
        tmp_path, claude.written(claude.init(), task("t-1"), below("t-1", "Still here."), claude.result())
    )
    [step] = found["steps"]
    [inner] = found["subagent_trajectories"]
    assert "observation" not in step
    assert step["tool_calls"][0]["extra"]["subagent"] == inner["trajectory_id"]


def test_a_subagent_whose_call_is_not_exported_is_kept(tmp_path: Path) -> None:
    """Its trajectory is embedded, and no result refers to it."""
    found = of_lines(tmp_path, claude.written(claude.init(), below("t-0", "Alone."), claude.result()))
    [inner] = found["subagent_trajectories"]
    assert (inner["trajectory_id"], inner["steps"][0]["message"]) == ("subagents-of-unknown-calls", "Alone.")
    path = tmp_path / "session.ndjson"
    grep = {"type": "tool_use", "id": "g-1", "name": "Grep", "input": {"pattern": "nearest"}}
    lines = (
        task("t-1"),
        claude.assistant(grep, parent_tool_use_id="t-1"),
        claude.answer("3", "g-1", parent_tool_use_id="t-1"),
        claude.answer("There.", "t-1"),
    )
    path.write_bytes(claude.written(claude.init(), *lines, claude.result()))
    part = trajectory(path, wanted(only="grep"))
    assert [each.get("trajectory_id") for each in trajectories(part)] == [None, "subagent-of-call-1"]
    Trajectory.model_validate(part)


def test_deep_subagents_stay_valid(tmp_path: Path) -> None:
    """Of 300 subagents, each started by the one before, every text is kept in at most nine levels."""
    lines = [claude.init(), task("t-0")]
    for depth in range(300):
        lines += [below(f"t-{depth}", f"Level {depth}."), task(f"t-{depth + 1}", f"t-{depth}")]
    found = of_lines(tmp_path, claude.written(*lines, claude.result()))
    said = {step["message"] for each in trajectories(found) for step in each["steps"]}
    assert said >= {f"Level {depth}." for depth in range(300)}
    depth, level = 0, [found]
    while level := [inner for each in level for inner in each.get("subagent_trajectories", ())]:
        depth += 1
    assert depth == 8
    Trajectory.model_validate(found)
