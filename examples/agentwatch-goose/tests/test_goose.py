"""The events of Goose's stream, from its source and from lines that others have published."""

from __future__ import annotations

from typing import Any

import pytest
from agentwatch_goose.agent import AGENT
from lines import COMPLETE, ERROR, LINES, ended, message, use, whole, words

from agentwatch.agents import LineRole
from agentwatch.agents.registry import detect
from agentwatch.analysis.block_text import block_text
from agentwatch.api.check_agent import variants
from agentwatch.session.events import Outcome
from tests.builders.agents.decoded import outcomes, session_of
from tests.conftest import case


def test_a_session_of_published_lines() -> None:
    """The messages, the calls and the last line make the run."""
    found = session_of(AGENT, *LINES)
    run = found.run
    assert (run.prompt, run.model, found.text, found.outcome) == (
        *("Run the tests.", "claude", "I'll do it.Done.", "succeeded"),
    )
    assert (run.turns, run.session_id, run.cwd, run.result) == (1, None, None, None)
    assert run.tokens[:4] == (1234, 1000, 56, 0.25)
    assert outcomes(found) == {"c-1": "succeeded", "c-2": "failed"}
    assert [(call.phrase, call.target, call.error) for call in found.calls] == [
        ("Ran terminal command", "pytest -q", None),
        ("Read file", "a", "No file."),
    ]
    assert [str(entry.content) for entry in found.transcript if entry.kind == "reasoning"] == ["Hm."]


def test_the_outcome_of_a_call() -> None:
    """The status of the result and the tool's own word decide; nothing else is guessed."""
    cases: list[tuple[dict[str, Any], Outcome, str | None]] = [
        ({"status": "success", "value": {"content": [words("x")]}}, Outcome.SUCCEEDED, None),
        ({"status": "success", "value": [words("x")]}, Outcome.SUCCEEDED, None),
        ({"Ok": [words("x")]}, Outcome.SUCCEEDED, None),
        ({"status": "success", "value": {"isError": True}}, Outcome.FAILED, None),
        ({"status": "success", "value": {"isError": True, "content": [words("x")]}}, Outcome.FAILED, "x"),
        ({"status": "error", "error": "No."}, Outcome.FAILED, "No."),
        ({"status": "error", "error": {"message": "No."}}, Outcome.FAILED, "No."),
        ({"status": "error"}, Outcome.FAILED, None),
        ({"status": "error", "value": {"content": [words("x")]}}, Outcome.FAILED, "x"),
        ({"Err": "No."}, Outcome.FAILED, "No."),
        ({}, Outcome.RETURNED, "came back without a result"),
    ]
    for result, outcome, error in cases:
        with case((result, outcome)):
            done = {"type": "toolResponse", "id": "c-1", "toolResult": result}
            [call] = whole(message("assistant", use("shell")), message("user", done)).calls
            assert (call.outcome, call.error, call.exit_code) == (outcome, error, None)


def test_a_command_has_the_exit_code_of_its_structured_content() -> None:
    """Only a command has one, and it fails no call that the tool calls a success."""
    cases: list[tuple[str, bool, object, tuple[Outcome, int | None, str | None]]] = [
        ("shell", False, 0, (Outcome.SUCCEEDED, 0, None)),
        ("developer__shell", True, 3, (Outcome.FAILED, 3, "exit 3")),
        ("shell", True, 0, (Outcome.FAILED, 0, "x")),
        ("shell", True, [3], (Outcome.FAILED, None, "x")),
        ("tree", True, 3, (Outcome.FAILED, None, "x")),
    ]
    for name, is_error, code, expected in cases:
        with case((name, is_error, code)):
            structured = {"stdout": "", "stderr": "x", "exit_code": code}
            value = {"content": [words("x")], "structuredContent": structured, "isError": is_error}
            done = {"type": "toolResponse", "id": "c-1", "toolResult": {"status": "success", "value": value}}
            [call] = whole(message("assistant", use(name)), message("user", done)).calls
            assert (call.outcome, call.exit_code, call.error) == expected


def test_an_older_response_has_another_key() -> None:
    """Some versions wrote `tool_result`, and the request under `Ok` or without a status."""
    old = {"type": "toolResponse", "id": "c-1", "tool_result": {"Ok": []}}
    for call in ({"Ok": {"name": "shell"}}, {"name": "shell"}):
        request = {"type": "toolRequest", "id": "c-1", "toolCall": call}
        [found] = whole(message("assistant", request), message("user", old)).calls
        assert (found.tool, found.outcome) == ("shell", "succeeded")


def test_an_end_without_a_start_is_of_an_unknown_tool() -> None:
    """A response does not name its tool."""
    [call] = whole(message("user", ended())).calls
    assert (call.tool, call.outcome) == ("unknown", "succeeded")


def test_an_error_is_remembered_until_the_turn_ends() -> None:
    """An error is followed by the line that ends the turn, which does not repeat it."""
    found = whole(ERROR)
    assert (found.outcome, found.run.result, found.last_error) == ("failed", "No credit", "No credit")
    assert (whole(ERROR, is_over=False).outcome, whole(is_over=False).outcome) == ("failed", "unfinished")
    assert whole(ERROR, COMPLETE, LINES[0]).outcome == "succeeded"
    assert whole({"type": "error", "error": "x" * 5000}).run.result == "x" * 4095 + "…"
    assert whole({"type": "error"}).run.result == "error without a message"


def test_a_turn_may_follow_another() -> None:
    """A prompt, or an answer without one, after the end of a turn continues the run."""
    assert whole(COMPLETE, LINES[0]).run.turns == 2
    found = whole(COMPLETE, LINES[8])
    assert (found.run.turns, found.outcome, found.text) == (2, "succeeded", "Done.")


def test_what_is_no_cost_is_unknown() -> None:
    """A cost is a number of dollars."""
    cases: list[object] = [None, True, "1", -1, 1e10]
    for cost in cases:
        with case(cost):
            assert whole(COMPLETE | {"cost_usd": cost}, is_over=False).run.tokens.cost_usd is None


def test_counts_may_be_absent() -> None:
    """A run that failed may end without counts."""
    found = session_of(AGENT, LINES[0], {"type": "complete", "total_tokens": None})
    assert (found.outcome, found.run.usage, found.run.tokens.input) == ("succeeded", None, None)


def test_hidden_text_is_no_prompt() -> None:
    """A text of the user that the user does not see was written by the agent."""
    hidden = message("user", words("summary"), metadata={"userVisible": False})
    assert whole(hidden).run.turns == 1


def test_progress_belongs_to_the_only_open_call() -> None:
    """What is printed is shown if it can be of one call alone."""
    note = {"type": "notification", "extension_id": "x", "message": "a"}
    started = message("assistant", use("shell"))
    assert whole(started, note, note, is_over=False).calls[0].output == "a\na\n"
    assert (
        whole(started, message("assistant", use("shell", "c-2")), note, is_over=False).calls[0].output is None
    )
    assert whole(note | {"message": None}).lines.unknown == 0


@pytest.mark.parametrize(
    "part",
    [
        {"type": "toolConfirmationRequest", "id": "c-1", "toolName": "shell", "arguments": {"command": "rm"}},
        {
            "type": "actionRequired",
            "data": {"actionType": "toolConfirmation", "id": "c-1", "toolName": "shell"},
        },
    ],
)
def test_a_question_is_asked(part: dict[str, Any]) -> None:
    """A permission that the agent asks for is a notice."""
    found = whole(message("assistant", part))
    notes = [str(entry.content) for entry in found.transcript if entry.kind == "notice"]
    assert notes[0].startswith("asks: shell")


def test_what_is_not_known_is_counted() -> None:
    """Unknown parts and types are counted."""
    cases: list[tuple[dict[str, Any], int]] = [
        ({"type": "image", "data": "x"}, 0),
        ({"type": "redactedThinking"}, 0),
        ({"type": "thinking"}, 0),
        ({"type": "text"}, 0),
        ({"type": "actionRequired", "data": {}}, 0),
        ({"type": "systemNotification", "notificationType": "thinkingMessage", "msg": "x"}, 0),
        ({"type": "systemNotification", "notificationType": "creditsExhausted", "msg": "x"}, 0),
        ({"type": "systemNotification"}, 0),
        ({"type": "weather"}, 1),
        ({"type": []}, 1),
    ]
    for part, unknown in cases:
        with case(part):
            assert whole(message("assistant", part)).lines.unknown == unknown


def test_other_lines() -> None:
    """A change of the model is one fact; unknown types are counted."""
    assert whole({"type": "model_change", "model": "m", "mode": "x"}).run.model == "m"
    assert whole({"type": "model_change"}).run.model is None
    assert whole({"type": "weather"}).lines.unknown == 1


def test_the_open_calls_that_are_kept_are_limited() -> None:
    """Of 1,001 open calls, the arguments of the oldest are forgotten, but not the call."""
    requests = [use("shell", f"c-{number}") for number in range(1001)]
    found = whole(message("assistant", *requests), message("user", ended("c-0")))
    assert (found.calls[0].tool, found.calls[0].outcome) == ("shell", "succeeded")


@pytest.mark.parametrize("each", [LINES[0], LINES[3], LINES[4], COMPLETE])
def test_each_line_is_recognised(each: dict[str, Any]) -> None:
    """Each type of line is recognised by its own keys."""
    found = detect(each, is_first=False)
    assert found is not None
    assert found.name == AGENT.name


@pytest.mark.parametrize(
    "other",
    [ERROR, {"type": "message", "id": "x", "message": {"role": "user", "created": 1}}, {"type": "complete"}],
)
def test_a_line_of_another_agent_is_not_recognised(other: dict[str, Any]) -> None:
    """A line that others may write as well is not Goose's."""
    assert not AGENT.recognises(other)


def test_each_line_has_a_role() -> None:
    """A prompt starts a run; a message with a request or a response is a call."""
    start, call, other = LineRole.START, LineRole.CALL, LineRole.OTHER
    roles = [start, other, other, call, other, call, call, call, other, other]
    assert [AGENT.role(each) for each in LINES] == roles


@pytest.mark.system
def test_any_field_may_have_any_type() -> None:
    """No value of any field is an error, and every line is counted."""
    for number, line in enumerate(LINES):
        for variant in variants(line):
            found = session_of(AGENT, *LINES[:number], variant, *LINES[number + 1 :])
            assert found.lines.total == found.lines.events + found.lines.unknown == len(LINES)
            assert all(isinstance(block_text(block), str) for block in AGENT.blocks(variant, "c-1"))


def test_a_stream_that_is_cut_invents_nothing() -> None:
    """A stream that ends after any line has a beginning of the text, and no call that had not ended."""
    whole = session_of(AGENT, *LINES)
    for number in range(1, len(LINES)):
        found = session_of(AGENT, *LINES[:number])
        assert found.lines.total == number
        assert whole.text.startswith(found.text)
        for call_id, outcome in outcomes(found).items():
            assert outcome in (outcomes(whole)[call_id], Outcome.UNFINISHED)


def test_the_ends_of_a_batch_may_come_in_any_order() -> None:
    """The order of the ends of a batch changes no outcome."""
    other = [*LINES[:6], LINES[7], LINES[6], *LINES[8:]]
    assert outcomes(session_of(AGENT, *other)) == outcomes(session_of(AGENT, *LINES))
