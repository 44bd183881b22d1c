"""A step is one call of the model: its reasoning, its text, its calls and all their results."""

from pathlib import Path
from typing import Any

from atif import Trajectory

from tests.builders import claude_lines as claude
from tests.builders.lines import (
    DONE,
    completed,
    final,
    init,
    line,
    result,
    segment,
    started,
    thought,
    thought_through,
    user,
)
from tests.builders.on_disk import cursor_transcript as cursor
from tests.builders.on_disk import transcript
from tests.conftest import RECORDINGS
from tests.output.export.atif.trajectories import Json, calls, of_lines, trajectories, trajectory, wanted


def of_step(data: bytes, group: str) -> bytes:
    """Return the line of a call with the id of its model step."""
    return data.replace(b'"type"', f'"model_call_id":"{group}","type"'.encode(), 1)


def outline(found: Json) -> list[tuple[Any, ...]]:
    """Return the origin, the message and the tools of each step."""
    return [
        (
            step["source"],
            step["message"],
            *(f"{call['function_name']}{call['extra']['number']}" for call in step.get("tool_calls", ())),
        )
        for step in found["steps"]
    ]


def test_a_step_has_the_results_of_its_calls(tmp_path: Path) -> None:
    """Cursor's own file has no results: the next message ends a call, and may have the same arguments. The
    results of parallel calls are in the observation of their step, also those that come late.
    """
    first, _ = calls(of_lines(tmp_path, claude.written(cursor.user("Go"), cursor.called(), cursor.called())))
    assert first["arguments"] == {"command": "ls"}
    assert "content" not in first["result"]
    found = of_lines(
        tmp_path,
        init(),
        user(),
        thought("Two files."),
        thought_through(),
        segment("I read both."),
        of_step(started("read", "c-1", path="a"), "m-1"),
        of_step(started("read", "c-2", path="b"), "m-1"),
        of_step(completed("read", "c-2", DONE), "m-1"),
        of_step(started("shell", "c-3", command="make"), "m-2"),
        of_step(completed("shell", "c-3", DONE), "m-2"),
        of_step(completed("read", "c-1", DONE), "m-1"),
        final("Done."),
        result("Done."),
    )
    assert outline(found) == [
        ("user", "Do it."),
        ("agent", "I read both.", "read1", "read2"),
        ("agent", "", "shell3"),
        ("agent", "Done."),
    ]
    assert found["steps"][1]["reasoning_content"] == "Two files."
    results = found["steps"][1]["observation"]["results"]
    assert [each["source_call_id"] for each in results] == ["c-1", "c-2"]
    # Where the agent names no model steps, a call after a result belongs to the next one. A message may have
    # a text after its first call.
    found = of_lines(
        tmp_path,
        init(),
        started("read", "c-1"),
        started("read", "c-2"),
        completed("read", "c-1", DONE),
        started("read", "c-3"),
        completed("read", "c-2", DONE),
        completed("read", "c-3", DONE),
        result(),
    )
    assert outline(found) == [("agent", "", "read1", "read2"), ("agent", "", "read3")]
    found = of_lines(
        tmp_path,
        claude.written(
            claude.init(),
            claude.say("First."),
            claude.call("Bash", "t-1", command="ls"),
            claude.say("And then."),
            claude.call("Bash", "t-2", command="pwd"),
            claude.answer("a.txt", "t-1"),
            claude.answer("/src", "t-2"),
            claude.say("Done.", message_id="msg_2"),
            claude.result("Done."),
        ),
    )
    assert outline(found) == [("agent", "First.\n\nAnd then.", "Bash1", "Bash2"), ("agent", "Done.")]
    assert [call["result"]["content"] for call in calls(found)] == ["a.txt", "/src"]
    # A call whose start is not in the recording has the arguments of its end.
    found = of_lines(
        tmp_path, init(), user(), completed("read", "c-9", {"success": {"content": "x"}}, path="a.py")
    )
    [call] = calls(found)
    assert (call["tool_call_id"], call["arguments"]) == ("c-9", {"path": "a.py"})
    assert call["result"]["content"] == '{"success":{"content":"x"}}'
    # The model reasons before it answers, also after a call. Its outcome is with the call; the others of its
    # step have their results.
    found = of_lines(
        tmp_path,
        init(),
        *(thought("One."), thought_through(), segment("Answer one.")),
        *(thought("Two."), thought_through(), segment("Answer two.")),
        *(started("read"), completed("read", result=DONE)),
        *(segment("Answer three."), thought("Four."), thought_through(), final("Answer four.")),
        result(),
    )
    assert [step.get("reasoning_content") for step in found["steps"]] == ["One.", "Two.", None, "Four."]
    assert outline(found)[1:] == [
        ("agent", "Answer two.", "read1"),
        ("agent", "Answer three."),
        ("agent", "Answer four."),
    ]
    found = of_lines(
        tmp_path,
        init(),
        started("read", "c-1"),
        started("read", "c-2"),
        completed("read", "c-2", DONE),
        result(),
    )
    first, second = calls(found)
    assert (first["result"], first["extra"]["outcome"]) == (None, "unfinished")
    assert second["result"]["extra"]["outcome"] == "succeeded"
    alone = of_lines(tmp_path, init(), started("read"), result())
    assert "observation" not in alone["steps"][0]
    # The same id of another session is another call; each result names its own. A notice that comes between
    # the calls of a step follows the step; a failed result is one too. A recording with only a result line
    # has its text as the agent's only message.
    found = of_lines(
        tmp_path,
        init(),
        started("read", "c-1", path="a"),
        started("read", "c-1", path="b").replace(b'"s-1"', b'"s-2"'),
        completed("read", "c-1", {"success": {"content": "A"}}),
        completed("read", "c-1", {"success": {"content": "B"}}).replace(b'"s-1"', b'"s-2"'),
    )
    assert [call["tool_call_id"] for call in calls(found)] == ["c-1", "c-1#2"]
    contents = [call["result"]["content"] for call in calls(found)]
    assert contents == ['{"success":{"content":"A"}}', '{"success":{"content":"B"}}']
    found = of_lines(
        tmp_path,
        init(),
        of_step(started("read", "c-1"), "m-1"),
        line({"type": "connection", "subtype": "reconnecting", "session_id": "s-1"}),
        of_step(started("read", "c-2"), "m-1"),
        of_step(completed("read", "c-1", DONE), "m-1"),
        of_step(completed("read", "c-2", DONE), "m-1"),
        result("out of credit", subtype="error", is_error=True),
    )
    begun, *notices, last = outline(found)
    assert begun == ("agent", "", "read1", "read2")
    assert [notice[0] for notice in notices] == ["system"]
    assert last == ("system", "out of credit")
    assert outline(of_lines(tmp_path, result("All done."))) == [("agent", "All done.")]


def request(message_id: str, *, cached: int, output: int) -> Json:
    """Return the fields of a message with the tokens of its request."""
    usage = {"input_tokens": 100, "cache_read_input_tokens": cached, "output_tokens": output}
    return {"message": {"id": message_id, "usage": usage}}


def written(*lines: Json) -> bytes:
    """Return the lines of a transcript, each an hour after the one before."""
    timed = ({**each, "timestamp": f"2026-11-21T{hour:02}:00:00.000Z"} for hour, each in enumerate(lines))
    return claude.written(*timed)


def metrics(found: Json) -> list[Any]:
    """Return the metrics of the agent's steps."""
    return [step.get("metrics") for step in found["steps"] if step["source"] == "agent"]


def test_tokens_belong_to_the_step_of_their_request(tmp_path: Path) -> None:
    """The counts that a line of a message has are those of its step; prompt tokens include cached ones. They
    may be those of the step before or after the line, so that neither has tokens.
    """
    found = of_lines(
        tmp_path,
        written(
            transcript.user("Go."),
            transcript.said("I look.", **request("msg-1", cached=50, output=7)),
            transcript.call("t-1", **request("msg-1", cached=50, output=9)),
            transcript.returned("t-1"),
            transcript.ended("Done.", **request("msg-2", cached=150, output=3)),
        ),
    )
    first, second = metrics(found)
    assert first == {"prompt_tokens": 150, "completion_tokens": 9, "cached_tokens": 50}
    assert second == {"prompt_tokens": 250, "completion_tokens": 3, "cached_tokens": 150}
    assert found["final_metrics"]["total_prompt_tokens"] == 400
    assert found["final_metrics"]["total_cached_tokens"] == 200
    nothing = transcript.answer({"type": "thinking", "thinking": ""}, **request("msg-2", cached=0, output=1))
    found = of_lines(
        tmp_path,
        written(
            transcript.user("Go."),
            transcript.call("t-1", **request("msg-1", cached=50, output=7)),
            transcript.returned("t-1"),
            nothing,
            transcript.ended("Done.", **request("msg-2", cached=0, output=1)),
        ),
    )
    assert metrics(found) == [None, None]
    assert found["final_metrics"]["total_completion_tokens"] == 8
    # The trajectory has the last model of the session, and a step of an earlier model has that one.
    found = of_lines(
        tmp_path,
        init(model="small"),
        *(user(), started("read", "c-1"), completed("read", "c-1", {"success": {}})),
        init(model="large"),
        *(user(), started("read", "c-2"), completed("read", "c-2", {"success": {}})),
    )
    assert found["agent"]["model_name"] == "large"
    models = [step.get("model_name") for step in found["steps"] if step["source"] == "agent"]
    assert models == ["small", None]
    # It is the agent's time, that of its line, or the arrival time; without any, a step has none.
    found = of_lines(tmp_path, written(transcript.user("Go."), transcript.ended("Done.")))
    assert [step["timestamp"] for step in found["steps"]] == [
        "2026-11-21T00:00:00.000Z",
        "2026-11-21T01:00:00.000Z",
    ]
    lines = init(), user(), started("read"), completed("read", result={"success": {}})
    assert [step.get("timestamp") for step in of_lines(tmp_path, *lines)["steps"]] == [None, None]
    arrived = len(lines[0])
    (tmp_path / "session.times").write_text(f"0 1000\n{arrived} 2000\n{arrived + len(lines[1])} 3000\n")
    times = [step.get("timestamp") for step in of_lines(tmp_path, *lines)["steps"]]
    assert times == ["1970-01-01T00:00:02.000Z", "1970-01-01T00:00:03.000Z"]
    # The counts of the session are not those of a part that begins later, or of some of its calls.
    demo = RECORDINGS / "demo.ndjson"
    assert trajectory(demo)["final_metrics"]["total_prompt_tokens"] == 212410
    for part in (wanted(begin="#5"), wanted(only="read")):
        found = trajectory(demo, part)["final_metrics"]
        assert "total_prompt_tokens" not in found
        assert found["total_steps"]


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
    # Its call has no result, so that the id of the trajectory is with the call.
    found = of_lines(
        tmp_path, claude.written(claude.init(), task("t-1"), below("t-1", "Still here."), claude.result())
    )
    [step] = found["steps"]
    [inner] = found["subagent_trajectories"]
    assert "observation" not in step
    assert step["tool_calls"][0]["extra"]["subagent"] == inner["trajectory_id"]
    # Its trajectory is embedded, and no result refers to it.
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
