"""The events of Gemini's stream."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.gemini.agent import AGENT
from agentwatch.session.events import Outcome, PlanStatus, TextEnded, ToolKind
from tests.builders.formats.gemini import (
    AT,
    AT_MS,
    DONE,
    INIT,
    USER,
    delta,
    ended,
    failure,
    notice,
    one,
    use,
    whole,
)
from tests.builders.formats.wrong_types import outcomes, read
from tests.conftest import case

DENIED = "Tool execution denied by policy."


def test_a_run_has_its_session_model_prompt_text_and_tokens() -> None:
    """The init, the prompt, the deltas and the result make the run."""
    found = whole(delta("I'll "), delta("do it."), DONE)
    run = found.run
    assert (run.session_id, run.model, run.prompt, run.turns) == ("s-1", "gemini-2.5-flash", "Do it.", 1)
    assert (found.text, found.outcome, run.duration_ms) == ("I'll do it.", "succeeded", 671)
    assert (run.tokens.input, run.tokens.cached, run.tokens.output) == (29923, 21000, 224)
    assert run.usage is not None
    assert "models" not in run.usage
    assert run.text_matches_result is None


def test_texts_before_and_after_a_call_are_joined() -> None:
    """The deltas between two calls are one text."""
    found = whole(delta("A"), delta("B"), use("glob"), ended(), delta("C"), DONE)
    assert [str(entry.content) for entry in found.transcript if entry.kind == "answer"] == ["AB", "C"]
    assert found.text == "ABC"


def test_a_full_copy_of_the_deltas_is_not_doubled() -> None:
    """A message that is no delta and repeats the deltas before it ends them; any other is new text."""
    decoder = Decoder(AGENT)
    events = [decoder.decode(json.dumps(each).encode()) for each in (delta("A"), delta("B"))]
    assert len(events) == 2
    copy = delta("AB") | {"delta": False}
    assert type(decoder.decode(json.dumps(copy).encode())[0]) is TextEnded
    assert whole(delta("A"), copy, delta("C"), DONE).text == "AABC"
    assert whole(delta("A"), delta("A") | {"delta": False}, delta("A"), DONE).text == "AA"


def test_the_agents_word_stands_and_there_is_no_exit_code() -> None:
    """A command that exited with 3 is a success, as the agent says."""
    call = one(use("run_shell_command", command="exit 3\n"), ended(output="boom"))
    assert (call.outcome, call.exit_code, call.note) == (Outcome.SUCCEEDED, None, None)
    assert (call.kind, call.phrase, call.target) == (ToolKind.EXECUTE, "Ran terminal command", "exit 3")
    assert (call.started_ms, call.ended_ms) == (AT_MS, AT_MS)
    assert not AGENT.traits.has_exit_codes


def test_the_outcome_of_a_call() -> None:
    """A rule's refusal is a rejection; a limit of the system is a failure; nothing else is guessed."""
    cases: list[tuple[dict[str, Any], Outcome, str | None]] = [
        (failure("file_not_found"), Outcome.FAILED, "No."),
        (failure("permission_denied"), Outcome.FAILED, "No."),
        (failure("tool_not_registered"), Outcome.FAILED, "No."),
        (failure("policy_violation"), Outcome.REJECTED, "No."),
        (
            failure("x", "Tool execution denied by policy."),
            Outcome.REJECTED,
            "Tool execution denied by policy.",
        ),
        (failure("x", "[Operation Cancelled] Esc"), Outcome.CANCELLED, "[Operation Cancelled] Esc"),
        ({"status": "cancelled", "output": "Esc"}, Outcome.CANCELLED, "Esc"),
        ({"status": "error", "output": "No."}, Outcome.FAILED, "No."),
        ({"status": "error", "error": "No."}, Outcome.FAILED, "No."),
        ({"status": "error", "error": {"type": "unknown"}}, Outcome.FAILED, "unknown"),
        ({"status": "error"}, Outcome.FAILED, None),
        ({"status": None, "error": "No."}, Outcome.FAILED, "No."),
        ({"status": None}, Outcome.RETURNED, "came back without a status"),
        ({"status": "paused"}, Outcome.RETURNED, "unknown status paused"),
        ({"status": "success", "error": "No."}, Outcome.SUCCEEDED, None),
    ]
    for fields, outcome, error in cases:
        with case((fields, outcome)):
            call = one(use("read_file", path="a"), ended(**fields))
            assert (call.outcome, call.error) == (outcome, error)


def test_an_unknown_status_is_reported() -> None:
    """A status that this version does not know is counted as unknown."""
    assert whole(use("glob"), ended(status="paused")).lines.unknown == 1


def test_a_call_that_never_ended_is_unfinished() -> None:
    """The stream of an interrupted agent stops without a result."""
    found = whole(use("run_shell_command", command="sleep 9"))
    assert (found.outcome, outcomes(found), found.never_completed) == ("unfinished", {"c-1": "unfinished"}, 1)


def test_calls_of_a_batch_are_paired_by_their_ids() -> None:
    """All calls of a batch start before the first of them ends."""
    lines = [use("glob", "a"), use("read_file", "b"), ended("b"), ended("a", **failure("x"))]
    assert outcomes(whole(*lines)) == {"a": "failed", "b": "succeeded"}


def test_an_end_without_a_start_has_the_tool_of_its_id() -> None:
    """The agent makes a call's id of the tool's name, which the line that ends the call lacks."""
    cases: list[tuple[str, str]] = [
        ("read_file__read_file_1795208170605_1", "read_file"),
        ("run_shell_command_1779363358754_1", "run_shell_command"),
        ("replace-1770507872133-32d31f85c46908", "replace"),
        ("a__b__a__b_1_2", "a__b"),
        ("tool_1", ""),
        ("_1_2", ""),
        ("", ""),
    ]
    for call_id, name in cases:
        with case(call_id):
            found = whole(ended(call_id))
            assert [call.tool for call in found.calls] == [name]
            assert found.completed_without_started == 1


def test_a_start_without_a_name_has_the_tool_of_its_id() -> None:
    """A line that was only partly read may lack the name."""
    line = use("x", "glob__glob_1_2", pattern="*")
    del line["tool_name"]
    assert one(line).tool == "glob"


def test_a_to_do_list_is_the_plan() -> None:
    """The arguments of a call that succeeded are the plan; those of one that failed are not."""
    todos = [{"description": "a", "status": "completed"}, {"description": "b", "status": "?"}, 1]
    found = whole(use("write_todos", todos=todos), ended())
    assert [entry.text for entry in found.plan] == ["a", "b", ""]
    assert [entry.status for entry in found.plan][:2] == [PlanStatus.COMPLETED, PlanStatus.PENDING]
    assert whole(use("write_todos", todos=todos), ended(status="error")).plan == ()
    assert whole(use("write_todos", todos="x"), ended()).plan == ()


def test_an_error_line_is_a_notice_and_the_best_known_reason() -> None:
    """Warnings and errors are distinguished; the last error is why a result without an error failed."""
    assert whole(notice("Bad key"), notice("careful", "warning")).last_error == "Bad key"
    assert whole(notice("Bad key", None)).last_error == "Bad key"
    assert whole(notice("")).last_error == "error without a message"
    found = whole(notice("empty response"), DONE | {"status": "error"})
    assert (found.outcome, found.run.result) == ("failed", "empty response")
    again = whole(notice("x"), DONE, USER, DONE | {"status": "error"})
    assert again.run.result is None


def test_the_outcome_of_a_run() -> None:
    """The status decides; the error is the result of a run that failed."""
    cases: list[tuple[dict[str, Any], str, str | None]] = [
        (
            {"status": "error", "error": {"type": "FatalTurnLimitedError", "message": "Too long"}},
            "failed",
            "Too long",
        ),
        ({"status": "error", "error": {"type": "FatalCancellationError", "message": "x"}}, "cancelled", "x"),
        ({"status": "error", "error": {"type": "E"}}, "failed", "E"),
        ({"status": "error", "error": "boom"}, "failed", "boom"),
        ({"status": "cancelled"}, "cancelled", None),
        ({"status": "odd"}, "failed", None),
        ({"error": "boom"}, "failed", "boom"),
        ({}, "succeeded", None),
    ]
    for fields, outcome, result in cases:
        with case((fields, outcome)):
            found = whole({"type": "result", "timestamp": AT} | fields)
            assert (found.outcome, found.run.result) == (outcome, result)


def test_the_message_of_an_api_error_is_cut() -> None:
    """The message of an API error can have 50,000 characters; 4,096 are kept."""
    found = whole(DONE | {"status": "error", "error": {"message": "x" * 50_000}})
    assert found.run.result == "x" * 4095 + "…"


def test_the_duration_of_a_failed_run_is_unknown_if_it_is_0() -> None:
    """The agent writes 0 for every run that failed."""
    assert whole(DONE | {"status": "error", "stats": {"duration_ms": 0}}).run.duration_ms is None
    assert whole(DONE | {"stats": {"duration_ms": 0}}).run.duration_ms == 0


def test_the_model_is_the_one_that_was_used() -> None:
    """If the init names a choice instead of a model, the model with the most tokens is it."""
    models = {"flash": {"total_tokens": 5}, "pro": {"total_tokens": 50}, "odd": 1, "": {}}
    assert read(AGENT, [INIT | {"model": "auto"}, DONE | {"stats": {"models": models}}]).run.model == "pro"
    assert read(AGENT, [INIT | {"model": "flash"}, DONE | {"stats": {"models": models}}]).run.model == "flash"


def test_each_init_starts_a_run() -> None:
    """Calls and errors of a run do not belong to the next."""
    found = read(AGENT, [INIT, USER, use("glob"), notice("x"), INIT, USER, ended(), DONE])
    assert len(found.runs) == 2
    assert [(call.run, call.tool, call.outcome) for call in found.calls] == [
        (1, "glob", "unfinished"),
        (2, "", "succeeded"),
    ]


def test_what_is_not_known_is_counted() -> None:
    """Unknown types, roles and contents are counted; a content of parts is read."""
    cases: list[tuple[dict[str, Any], int]] = [
        ({"type": "weather"}, 1),
        (USER | {"content": 1}, 1),
        (delta("x") | {"content": None}, 1),
        (delta("x") | {"role": "system"}, 1),
        (delta("x") | {"role": "model"}, 0),
        (delta("x") | {"content": [{"text": "x"}, {}]}, 0),
    ]
    for line, unknown in cases:
        with case(line):
            assert whole(line).lines.unknown == unknown


def test_the_open_calls_that_are_kept_are_limited() -> None:
    """Of 1,001 open calls, the arguments of the oldest are forgotten, but not the call."""
    lines = [use("write_todos", f"c-{number}", todos=[]) for number in range(1001)]
    found = whole(*lines, ended("c-0"), ended("c-1"))
    assert [found.calls[number].outcome for number in range(2)] == ["succeeded", "succeeded"]
    assert found.calls[0].tool == "write_todos"
