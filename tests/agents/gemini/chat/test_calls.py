"""The calls in Gemini's chat files."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.gemini.agent import CHAT as AGENT
from agentwatch.session.events import LineTime, Outcome
from tests.builders.formats.gemini_chat import (
    AT,
    CONTEXT,
    LATER,
    LATER_MS,
    ONE,
    START,
    answer,
    call,
    response,
    whole,
)
from tests.builders.formats.wrong_types import outcomes
from tests.conftest import case

DENIED = "[Operation Cancelled] Reason: User denied execution."
STOPPED = "[Operation Cancelled] Reason: User cancelled tool execution."


def test_the_outcome_of_a_call() -> None:
    """The agent's own status counts, unless its reason is the user's refusal."""
    cases: list[tuple[dict[str, Any], Outcome, str | None]] = [
        ({"status": "success", "result": response(output="x")}, Outcome.SUCCEEDED, None),
        ({"status": "success", "result": response(error="odd")}, Outcome.SUCCEEDED, None),
        ({"status": "error", "result": response(error="No file.")}, Outcome.FAILED, "No file."),
        ({"status": "error", "result": response(error={"message": "m"})}, Outcome.FAILED, "m"),
        ({"status": "error", "result": [1, {}], "resultDisplay": "No."}, Outcome.FAILED, "No."),
        ({"status": "error", "resultDisplay": ""}, Outcome.FAILED, None),
        ({"status": "error", "resultDisplay": {}}, Outcome.FAILED, None),
        ({"status": "cancelled", "result": response(error=DENIED)}, Outcome.REJECTED, DENIED),
        ({"status": "cancelled", "result": response(error=STOPPED)}, Outcome.CANCELLED, STOPPED),
        ({"status": "executing"}, Outcome.UNFINISHED, None),
        ({"status": "awaiting_approval"}, Outcome.UNFINISHED, None),
        ({"status": "odd"}, Outcome.RETURNED, "unknown status odd"),
        ({"status": []}, Outcome.RETURNED, "unknown status an array"),
    ]
    for fields, outcome, error in cases:
        with case((fields, outcome)):
            [found] = whole(ONE[0], answer("", "a1", call(**fields))).calls
            assert (found.outcome, found.error, found.exit_code) == (outcome, error, None)


def test_a_call_without_a_status_returned() -> None:
    """A call of which the line does not say how it ended has no invented outcome."""
    line = call()
    del line["status"]
    [found] = whole(answer("", "a1", line | {"resultDisplay": "x"})).calls
    assert (found.outcome, found.error) == (Outcome.RETURNED, "came back without a status")


def test_an_open_call_ends_with_a_later_copy() -> None:
    """Older versions wrote calls that had not ended."""
    lines = [answer("", "a1", call(status=status)) for status in ("scheduled", "executing", "success")]
    found = whole(ONE[0], *lines)
    assert outcomes(found) == {"c-1": "succeeded"}
    assert found.completed_without_started == found.never_completed == 0


def test_a_change_of_a_file_has_its_lines() -> None:
    """The agent shows the change as a diff, with the path relative to the folder of the session."""
    shown = {"fileDiff": "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y", "originalContent": "x"}
    line = call(name="replace", args={"file_path": "/home/dev/proj/a"}, resultDisplay=shown)
    [found] = whole(CONTEXT, answer("", "a1", line)).calls
    assert (found.target, found.path, found.lines_added) == ("a", "/home/dev/proj/a", 1)
    assert (found.phrase, found.ended_ms, found.started_ms) == ("Edited file", LATER_MS, None)


def test_a_to_do_list_is_the_plan() -> None:
    """The arguments of a call that succeeded are the plan."""
    todos = {"todos": [{"description": "a", "status": "pending"}]}
    assert len(whole(answer("", "a1", call(name="write_todos", args=todos))).plan) == 1
    assert whole(answer("", "a1", call(name="write_todos", args=todos, status="error"))).plan == ()


def test_the_time_of_a_line() -> None:
    """A line is as late as its latest call; a rewind has no time."""
    cases: list[tuple[dict[str, Any], int | None]] = [
        (START, 1795302517292),
        (answer("A", "a1"), 1795302517292),
        (answer("A", "a1", call(), call(timestamp=AT)), LATER_MS),
        ({"$set": {"lastUpdated": LATER}}, LATER_MS),
        ({"$rewindTo": "x"}, None),
    ]
    for line, at_ms in cases:
        with case(line):
            times = [
                event.at_ms
                for event in Decoder(AGENT).decode(json.dumps(line).encode())
                if type(event) is LineTime
            ]
            assert times == ([] if at_ms is None else [at_ms])
