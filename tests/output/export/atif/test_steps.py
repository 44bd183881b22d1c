"""A step is one call of the model: its reasoning, its text, its calls and all their results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from tests.output.export.atif.trajectories import Json, calls, of_lines


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


def test_an_equal_call_is_no_result(tmp_path: Path) -> None:
    """Cursor's own file has no results: the next message ends a call, and may have the same arguments."""
    first, _ = calls(of_lines(tmp_path, claude.written(cursor.user("Go"), cursor.called(), cursor.called())))
    assert first["arguments"] == {"command": "ls"}
    assert "content" not in first["result"]


def test_a_step_has_all_results_of_its_calls(tmp_path: Path) -> None:
    """The results of parallel calls are in the observation of their step, also those that come late."""
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


def test_calls_without_a_model_step_are_of_one_until_a_result(tmp_path: Path) -> None:
    """Where the agent names no model steps, a call after a result belongs to the next one."""
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


def test_a_text_between_two_calls_of_a_model_step_stays_in_it(tmp_path: Path) -> None:
    """A message may have a text after its first call."""
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


def test_reasoning_after_an_answer_begins_a_step(tmp_path: Path) -> None:
    """The model reasons before it answers, also after a call."""
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


def test_a_call_that_never_ended_has_no_result(tmp_path: Path) -> None:
    """Its outcome is with the call; the others of its step have their results."""
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


def test_an_end_without_a_start_is_a_call_of_its_own(tmp_path: Path) -> None:
    """A call whose start is not in the recording has the arguments of its end."""
    found = of_lines(
        tmp_path, init(), user(), completed("read", "c-9", {"success": {"content": "x"}}, path="a.py")
    )
    [call] = calls(found)
    assert (call["tool_call_id"], call["arguments"]) == ("c-9", {"path": "a.py"})
    assert call["result"]["content"] == '{"success":{"content":"x"}}'


def test_equal_ids_in_a_step_are_made_unique(tmp_path: Path) -> None:
    """The same id of another session is another call; each result names its own."""
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


def test_notices_are_steps_of_the_system(tmp_path: Path) -> None:
    """A notice that comes between the calls of a step follows the step; a failed result is one too."""
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
    first, *notices, last = outline(found)
    assert first == ("agent", "", "read1", "read2")
    assert [notice[0] for notice in notices] == ["system"]
    assert last == ("system", "out of credit")


def test_a_result_alone_is_the_answer(tmp_path: Path) -> None:
    """A recording with only a result line has its text as the agent's only message."""
    assert outline(of_lines(tmp_path, result("All done."))) == [("agent", "All done.")]
