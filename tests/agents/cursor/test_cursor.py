"""Cursor's lines become events, each type by its own fields; foreign lines are unknown."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.session.events import (
    Notice,
    Outcome,
    Permission,
    Prompt,
    RunStarted,
    Tokens,
    ToolStarted,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)
from tests.builders.lines import answered, asked, event, events, init, message, result, started, user
from tests.conftest import case


def test_an_init_starts_a_run() -> None:
    """The init contains session, model, cwd, permission mode and key source."""
    expected = RunStarted("cursor", "s-1", "Auto", "/home/ada/app", "default", "login")
    assert events(init()) == [expected]


def test_the_prompt_is_the_user_line() -> None:
    """A user line is a prompt, even if its content is a bare string."""
    assert events(init(), user("Do it.")) == [Prompt("Do it.")]
    assert events(init(), event("user", message={"content": "Do it."})) == [Prompt("Do it.")]


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_without_text_is_unknown(role: str) -> None:
    """A message without text is unknown, not an empty message."""
    for content in ([], [{"type": "image"}], None, 7):
        [found] = events(init(), event(role, message={"content": content}))
        assert isinstance(found, Unknown)


def test_a_request_is_a_permission_without_an_answer() -> None:
    """A query is a permission without an answer yet."""
    assert events(init(), asked("webFetch", 5)) == [Permission("webFetch", None, at_ms=5, is_automatic=True)]


@pytest.mark.parametrize(
    ("answer", "decision", "reason"),
    [
        ({"approved": {}}, "approved", None),
        ({"rejected": {"reason": "no"}}, "rejected", "no"),
        ({"result": {"rejected": {"reason": "no"}}}, "rejected", "no"),
        ({}, "answered", None),
    ],
)
def test_a_response_contains_the_answer(answer: dict[str, Any], decision: str, reason: str | None) -> None:
    """The answer is approved, or rejected with its reason, even if nested one level deeper."""
    expected = Permission("webFetch", decision, reason, at_ms=5)
    assert events(init(), answered(answer, "webFetch", 5)) == [expected]


def test_the_subject_of_a_question_is_without_its_suffix() -> None:
    """`askQuestionInteractionQuery` asks about `askQuestion`."""
    line = event("interaction_query", "request", query_type="askQuestionInteractionQuery")
    assert events(init(), line) == [Permission("askQuestion", None, is_automatic=True)]


def test_what_happens_to_the_connection_is_a_notice() -> None:
    """A lost connection, a retry and a background task become notices."""
    cases: list[tuple[bytes, str]] = [
        (
            event("connection", "reconnecting", attempt=2, timestamp_ms=5),
            "connection reconnecting, attempt 2",
        ),
        (event("connection", "reconnected", timestamp_ms=5), "connection reconnected"),
        (event("retry", "starting", attempt="1", timestamp_ms=5), "retry starting, attempt 1"),
        (event("retry", "resuming", attempt=1, timestamp_ms=5), "retry resuming, attempt 1"),
        (
            event("system", "task_notification", title="Index", status="completed", timestamp_ms=5),
            "background task Index · completed",
        ),
        (event("system", "background_shell_timeout", timestamp_ms=5), "background shell timed out"),
    ]
    for line, notice in cases:
        with case(line):
            assert events(init(), line) == [Notice(notice, 5)]


def test_is_error_decides_and_the_subtype_only_without_it() -> None:
    """A translated subtype does not fail a run; the subtype decides only without is_error."""
    cases: list[tuple[dict[str, Any], Outcome]] = [
        ({"subtype": "success", "is_error": False}, Outcome.SUCCEEDED),
        ({"subtype": "succès", "is_error": False}, Outcome.SUCCEEDED),
        ({"subtype": "success", "is_error": True}, Outcome.FAILED),
        ({"subtype": "error_during_execution", "is_error": True}, Outcome.FAILED),
        ({"subtype": "success", "is_error": None}, Outcome.SUCCEEDED),
        ({"subtype": "error", "is_error": None}, Outcome.FAILED),
        ({"subtype": None, "is_error": None}, Outcome.FAILED),
    ]
    for fields, outcome in cases:
        with case(fields):
            [ended] = events(init(), result("x", **fields))
            assert isinstance(ended, TurnEnded)
            assert ended.outcome is outcome


def test_a_result_has_the_fields_of_its_line() -> None:
    """Text, request, durations and usage are those of the line; missing fields are None.

    The tokens are those of the usage, by the names that all agents share.
    """
    usage = {"inputTokens": 5, "cacheReadTokens": "7", "outputTokens": 3, "cacheWriteTokens": 9, "note": "x"}
    counts = Usage(Tokens(input=21, cached=7, output=3), UsageScope.TURN)
    whole = TurnEnded(Outcome.SUCCEEDED, "x", "s-1", "r-1", 5234, 5200, usage)
    assert events(init(), result("x", usage=usage)) == [whole, counts]
    bare = event("result", "success", session_id=None)
    assert events(init(), bare) == [TurnEnded(Outcome.SUCCEEDED)]


def test_an_unknown_type_or_subtype_is_kept_as_unknown() -> None:
    """An unknown type or subtype becomes an unknown event with its name."""
    cases: list[tuple[bytes, str]] = [
        (event("budget_notice", "update"), "type budget_notice/update"),
        (event("weather"), "type weather"),
        (event("thinking", "paused"), "type thinking/paused"),
        (event("tool_call", "progress"), "type tool_call/progress"),
        (event("system", "rebooted"), "type system/rebooted"),
        (event("interaction_query", "withdrawn"), "type interaction_query/withdrawn"),
        (b'{"subtype": "init"}', "type None/init"),
        (b"{}", "type None"),
    ]
    for line, what in cases:
        with case(line):
            assert events(init(), line) == [Unknown(what)]


def test_an_unknown_tool_is_a_call_and_unknown() -> None:
    """An unknown tool is a call like any other, with an unknown event besides."""
    first, second = events(init(), started("teleport", place="home"))
    assert isinstance(first, ToolStarted)
    assert second == Unknown("tool teleport")


@pytest.mark.parametrize("tool", ["askQuestion", "await", "createPlan", "getMcpTools"])
def test_a_tool_known_by_name_is_not_unknown(tool: str) -> None:
    """A tool seen in real recordings is known, even if only its name is."""
    assert len(events(init(), started(tool))) == 1


def test_unknown_fields_do_not_change_the_event() -> None:
    """Additional fields do not change the event."""
    extra = message("user", "Hi", locale="en", nested={"a": [1]})
    assert events(init(), extra) == [Prompt("Hi")]
