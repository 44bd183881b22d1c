"""Permissions and cancelled turns in the Agent Client Protocol."""

from __future__ import annotations

from agentwatch.session.actions import action
from agentwatch.session.call import Call
from agentwatch.session.transcript import Kind
from tests.builders.formats.acp import (
    SESSION,
    called,
    changed,
    chose,
    opening,
    permission,
    prompt,
    refused,
    request,
    response,
    stopped,
    update,
)
from tests.builders.lines import session
from tests.conftest import case

DIRECT = opening() + prompt()


def only(*lines: bytes) -> Call:
    """Return the only call of a turn."""
    [found] = session(DIRECT, *lines).calls
    return found


def test_a_call_may_begin_inside_a_permission() -> None:
    """The only line before the end of a call may be the request for permission."""
    ask = permission(kind="execute", title="make", status="pending")
    read = session(DIRECT, ask, is_over=False)
    assert [(call.target, call.outcome) for call in read.calls] == [("make", "running")]
    oldest = read.asked.oldest
    assert oldest is not None
    assert (oldest.words, oldest.call_id) == ("execute make", "c-1")
    read = session(DIRECT, ask, chose("yes"), changed(status="completed"), stopped())
    assert [call.outcome for call in read.calls] == ["succeeded"]
    assert read.completed_without_started == 0
    notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notes == ["asks: execute make", "execute allowed"]


def test_a_refusal_is_what_the_end_says() -> None:
    """A call that a person refused is rejected if it fails, or if it has no end of its own."""
    cases: list[tuple[str | None, str | None, str]] = [
        ("yes", "failed", "failed"),
        ("always", "completed", "succeeded"),
        ("no", "failed", "rejected"),
        ("no", "completed", "succeeded"),
        ("no", None, "rejected"),
        (None, "failed", "cancelled"),
        (None, None, "unfinished"),
        ("other", "failed", "failed"),
    ]
    for option, status, outcome in cases:
        with case((option, status)):
            end = changed(status=status) if status else b""
            read = session(DIRECT, permission(kind="edit"), chose(option), end, stopped())
            [call] = read.calls
            assert call.outcome == outcome
            assert call.has_result is (status is not None or option is None)
            assert len(read.asked) == 0


def test_a_cancelled_turn_cancels_its_calls() -> None:
    """A call that fails after the client's cancel is cancelled; one that says completed has completed."""
    cancel = request("session/cancel", sessionId=SESSION)
    start = called(kind="execute", status="in_progress", rawInput={"command": "sleep 9"})
    assert only(start, cancel, changed(status="failed"), stopped("cancelled")).outcome == "cancelled"
    done = only(start, cancel, changed(status="completed"), stopped("cancelled"))
    assert action(done) == "Ran terminal command sleep 9 (after the cancel)"
    assert only(start, changed(status="failed"), cancel).outcome == "failed"
    remark = "\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"
    for output, code, outcome in [
        (remark, None, "cancelled"),
        (remark, 0, "succeeded"),
        ("", None, "succeeded"),
    ]:
        with case((output, code)):
            stopped_call = changed(
                status="completed", rawOutput={"output": output, "metadata": {"exit": code}}
            )
            assert only(start, cancel, stopped_call, stopped("cancelled")).outcome == outcome
            assert only(start, stopped_call, stopped("end_turn")).outcome == "succeeded"


def test_cursor_asks_with_methods_of_its_own() -> None:
    """A question and a plan wait for the user until they are answered; the other methods report."""
    questions = [{"id": "q", "prompt": "Which one?"}, {"prompt": "Why?"}, 5]
    todos = [{"content": "A", "status": "pending"}]
    cases: list[tuple[bytes, str]] = [
        (request("cursor/ask_question", 7, toolCallId="c", questions=questions), "question Which one? Why?"),
        (request("cursor/ask_question", 7, toolCallId="c", title="Style"), "question Style"),
        (request("cursor/create_plan", 7, toolCallId="c", plan="# Plan\nDo", todos=todos), "plan # Plan"),
        (request("cursor/create_plan", 7, name="Migration"), "plan Migration"),
        (request("cursor/create_plan", 7), "plan"),
    ]
    for line, words in cases:
        with case(words):
            read = session(DIRECT, line, is_over=False)
            assert read.asked.oldest is not None
            assert (read.asked.oldest.words, read.lines.unknown) == (words, 0)
            for answer in (
                response(7, {"outcome": {"outcome": "accepted"}}),
                response(7, {"outcome": "skipped"}),
                refused(7, "no"),
            ):
                assert len(session(DIRECT, line, answer, is_over=False).asked) == 0


def test_the_answers_to_questions_of_cursor_are_in_the_transcript() -> None:
    """They are the labels of what was chosen, or the reason why nothing was; unknown ids stay as they are."""
    options = [{"id": "a", "label": "Postgres"}, {"id": "b", "label": "MySQL"}, {"id": 5}, 5]
    other = [{"id": "a", "label": "Yes"}]
    questions = [{"id": "q", "prompt": "Which?", "options": options}, {"id": "r", "options": other}, {}]
    ask = request("cursor/ask_question", 7, questions=questions)
    plan = request("cursor/create_plan", 7, name="Migration")
    answers = [
        {"questionId": "q", "selectedOptionIds": ["b", "a", "c"]},
        {"questionId": "r", "selectedOptionIds": ["a"]},
        {"selectedOptionIds": "a"},
        5,
    ]
    cases: list[tuple[bytes, object, str]] = [
        (ask, {"outcome": {"outcome": "answered", "answers": answers}}, "answered: MySQL, Postgres, c, Yes"),
        (ask, {"outcome": {"outcome": "skipped", "reason": "later"}}, "skipped: later"),
        (ask, {"outcome": "skipped"}, "skipped"),
        (ask, {"outcome": {"outcome": "x" * 200}}, "x" * 100),
        (
            ask,
            {"outcome": {"outcome": "answered", "answers": answers[1:2] * 99}},
            f"answered: Yes{', Yes' * 63}",
        ),
        (plan, {"outcome": {"outcome": "rejected", "reason": "too long"}}, "rejected: too long"),
    ]
    for line, result, noted in cases:
        with case(noted):
            read = session(DIRECT, line, response(7, result), stopped())
            notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
            assert notes[-1].removeprefix("question ").removeprefix("plan ") == noted
    read = session(DIRECT, ask, refused(7, "no"), stopped())
    assert [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE][
        -1
    ] == "question not answered"


def test_an_elicitation_waits_for_the_user() -> None:
    """Its message is asked until the response, in both of its forms, has the action and what was entered."""
    ask = request("elicitation/create", 7, sessionId=SESSION, mode="form", message="Which branch?")
    read = session(DIRECT, ask, is_over=False)
    assert read.asked.oldest is not None
    assert read.asked.oldest.words == "question Which branch?"
    entered = {"branch": "main", "tags": ["a", "b"], "deep": True, "depth": 3, "odd": {}}
    words = "question accepted: main, a, b, true, 3, an object"
    cases: list[tuple[dict[str, object], str]] = [
        ({"action": "accept", "content": {}}, "question accepted"),
        ({"action": "accept", "content": entered}, words),
        ({"action": {"action": "accept", "content": entered}}, words),
        ({"action": "decline"}, "question declined"),
        ({"action": {"action": "cancel"}}, "question cancelled"),
        ({}, "question answered"),
    ]
    for result, noted in cases:
        with case(result):
            read = session(DIRECT, ask, response(7, result), stopped())
            notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
            assert notes == ["asks: question Which branch?", noted]


def test_a_session_may_report_that_it_waits_for_the_user() -> None:
    """In version 2, `requires_action` asks until the state changes, unless a request says what is asked."""
    waits, runs = (update("state_update", state=state) for state in ("requires_action", "running"))
    idle = update("state_update", state="idle", stopReason="end_turn")
    ask = permission(kind="execute", title="make")
    question = request("elicitation/create", 7, sessionId=SESSION, message="Why?")
    cases: dict[str, tuple[tuple[bytes, ...], list[str]]] = {
        "waits": ((waits, waits), ["your action"]),
        "runs again": ((waits, runs, runs), []),
        "has ended": ((waits, idle), []),
        "asks, then waits": ((ask, waits), ["execute make"]),
        "waits, then asks": ((waits, ask), ["execute make"]),
        "waits, then asks for input": ((waits, question), ["question Why?"]),
        "has another agent": ((waits, opening()), []),
    }
    for name, (lines, asked) in cases.items():
        with case(name):
            read = session(DIRECT, *lines, is_over=False)
            oldest = read.asked.oldest
            assert ([] if oldest is None else [oldest.words]) == asked
            assert len(read.asked) == len(asked)
    other = permission("c-1", 0, "other", kind="execute", title="make")
    assert len(session(DIRECT, other, waits, is_over=False).asked) == 2


def test_cursor_reports_with_methods_of_its_own() -> None:
    """To-do lists are merged or replaced, subagents are noted, and an unknown method is counted."""
    first = request("cursor/update_todos", todos=[{"content": "A", "status": "pending"}], merge=False)
    more = request("cursor/update_todos", todos=[{"content": "B", "status": "completed"}], merge=True)
    tasks = [request("cursor/task", description="Look"), request("cursor/task", durationMs=5)]
    rest = [request("cursor/generate_image"), request("cursor/list_available_models", 9)]
    read = session(DIRECT, first, more, *tasks, *rest, request("cursor/weather"), stopped())
    assert [entry.text for entry in read.plan] == ["A", "B"]
    notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notes[:2] == ["subagent: Look", "subagent ended: no description"]
    assert (read.lines.unknown, read.outcome) == (1, "succeeded")


def test_an_error_answers_a_permission() -> None:
    """A client that cannot ask answers with an error; one that only answers is understood too."""
    read = session(DIRECT, permission(kind="edit"), refused(0, "no"), is_over=False)
    assert len(read.asked) == 0
    notes = [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]
    assert notes == ["asks: edit", "edit not answered"]
    assert session(opening(), chose("yes", 9)).lines.unknown == 0
