"""A step has the tokens, the model and the time that the agent gives for it, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.builders import claude_lines as claude
from tests.builders.lines import completed, init, started, user
from tests.builders.on_disk import transcript
from tests.conftest import RECORDINGS
from tests.output.export.atif.trajectories import Json, of_lines, trajectory, wanted


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


def test_a_step_has_the_tokens_of_its_request(tmp_path: Path) -> None:
    """The counts that a line of a message has are those of its step; prompt tokens include cached ones."""
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


def test_counts_in_a_line_of_their_own_belong_to_no_step(tmp_path: Path) -> None:
    """They may be those of the step before or after the line, so that neither has tokens."""
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


def test_a_part_of_a_session_has_no_totals() -> None:
    """The counts of the session are not those of a part that begins later, or of some of its calls."""
    demo = RECORDINGS / "demo.ndjson"
    assert trajectory(demo)["final_metrics"]["total_prompt_tokens"] == 212410
    for part in (wanted(begin="#5"), wanted(only="read")):
        found = trajectory(demo, part)["final_metrics"]
        assert "total_prompt_tokens" not in found
        assert found["total_steps"]


def test_a_step_names_its_model_if_the_agent_had_another_at_the_end(tmp_path: Path) -> None:
    """The trajectory has the last model of the session, and a step of an earlier model has that one."""
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


def test_the_time_of_a_step_is_that_of_its_first_line(tmp_path: Path) -> None:
    """It is the agent's time, that of its line, or the arrival time; without any, a step has none."""
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
