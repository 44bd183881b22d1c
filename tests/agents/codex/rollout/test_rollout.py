"""What a rollout says of its session: who wrote it, where, with which model, and how much it used."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents.agent import LineRole
from agentwatch.agents.codex.agent import recognises as is_stream
from agentwatch.agents.codex.agent import role as role_in_stream
from agentwatch.agents.codex.rollout_recognition import recognises, role, time_of
from agentwatch.session.events import Unknown
from tests.builders.codex.lines import (
    META,
    THREAD,
    Json,
    begun,
    completed,
    done,
    event,
    function,
    item,
    message,
    notes,
    output,
    read,
)
from tests.conftest import case

CONTEXT: Json = {"type": "turn_context", "payload": {"cwd": "/b/", "model": "m", "approval_policy": "never"}}


def test_the_first_meta_line_is_the_session() -> None:
    """A second one is that of the session from which the file was forked, or which it resumes."""
    second: Json = {"type": "session_meta", "payload": {"id": "t-2", "cwd": "/other", "cli_version": "0.1"}}
    found = read(META, second, CONTEXT)
    assert (len(found.runs), found.run.session_id, found.run.cwd) == (1, "t-1", "/b/")
    assert (found.run.model, found.run.permission_mode) == ("m", "never")
    (call,) = read(META, CONTEXT, function("view_image", {"path": "/b/x.png"})).calls
    assert call.target == "x.png"


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"parent_thread_id": "t-0"}, "subagent of session t-0"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "t-9"}}}}, "subagent of session t-9"),
        ({"forked_from_id": "t-0"}, "forked from session t-0"),
    ],
)
def test_a_session_names_its_origin(fields: Json, note: str) -> None:
    """The thread of a subagent, and a fork, are files of their own."""
    assert notes(read({"type": "session_meta", "payload": {"id": "t-1"} | fields})) == [note]


def test_settings_replace_only_what_they_carry() -> None:
    """Settings that change during the session are facts of the run; empty ones change nothing."""
    settings = event("thread_settings_applied", thread_settings={"model": "n"})
    found = read(META, CONTEXT, settings, {"type": "turn_context", "payload": {}})
    assert (found.run.model, found.run.cwd) == ("n", "/b/")


def test_tokens_are_those_of_the_run() -> None:
    """The total replaces earlier ones; the context is that of the newest request; no info says nothing."""
    last = {"input_tokens": 5, "total_tokens": 7}
    info = {"total_token_usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}}
    counts = info | {"last_token_usage": last, "model_context_window": 100}
    record: Json = {
        "type": "token_usage_record",
        "payload": {"thread_token_usage": {"input_tokens": 12}, "usage": {"total_tokens": 8}},
    }
    start = event("task_started", model_context_window=50)
    assert read(META, start).run.tokens.context_size == 50
    found = read(META, start, event("token_count", info=counts), event("token_count", info=None))
    assert found.run.tokens == (9, 4, 2, None, 7, 100)
    assert read(META, start, event("token_count", info=counts), record).run.tokens == (12, 4, 2, None, 8, 100)


def test_an_event_beside_the_turn_is_a_notice() -> None:
    """Errors, warnings, reviews and messages between agents are noted."""
    cases: list[tuple[Json, str]] = [
        (event("error", message='{"detail": "no"}'), "no"),
        (event("stream_error", message="Reconnecting... 2/5 (lost)"), "retry 2 of 5: lost"),
        (event("stream_error"), "stream error"),
        (event("warning", message="low"), "low"),
        (event("deprecation_notice", summary="old"), "old"),
        (event("undo_completed", success=False), "undo completed"),
        (event("model_reroute", from_model="a", to_model="b"), "model changed: a → b"),
        (event("exited_review_mode"), "review ended"),
        (item("agent_message", author="a", recipient="b", content=[{"text": "hi"}]), "a → b: hi"),
        (
            event(
                "guardian_assessment", id="g", status="denied", rationale="risky", action={"type": "command"}
            ),
            "command denied: risky",
        ),
    ]
    for line, note in cases:
        with case(line):
            assert notes(read(META, line)) == [note]


def test_a_second_model_answers_by_itself() -> None:
    """What it has to decide is no question to the user."""
    found = read(META, event("guardian_assessment", id="g", status="in_progress", action={"command": "ls"}))
    assert (found.asked.count, notes(found)) == (0, [])


def test_what_reports_nothing_is_understood() -> None:
    """Lines of the context and of the lifecycle are no content, and are not unknown."""
    cases: list[Json] = [
        event("thread_name_updated"),
        event("task_started"),
        event("token_count"),
        item("ghost_snapshot"),
        item("compaction", encrypted_content="x"),
        item("agent_message"),
        completed("HookPrompt"),
        completed("SubAgentActivity"),
        {"type": "world_state", "payload": {}},
        {"type": "inter_agent_communication_metadata", "payload": {}},
        message("developer", "x"),
    ]
    for line in cases:
        with case(line):
            found = read(META, line)
            assert (found.lines.unknown, len(found.transcript), len(found.calls)) == (0, 0, 0)


def test_what_is_not_known_is_counted() -> None:
    """Unknown types of lines, items and events are named, and invent nothing."""
    cases: list[tuple[Json, str]] = [
        ({"type": "weather", "payload": {}}, "type weather"),
        (item("teleport"), "item teleport"),
        ({"type": "response_item", "payload": {"type": 7}}, "item 7"),
        (event("teleported"), "event teleported"),
        ({"type": "event_msg", "payload": {}}, "event None"),
        (completed("Teleport"), "item Teleport"),
    ]
    for line, what in cases:
        with case(line):
            found = read(META, line)
            assert [odd.event for odd in found.lines.odd] == [Unknown(what)]
            assert len(found.calls) == 0


def test_the_time_of_a_line_is_its_timestamp() -> None:
    """A time in ISO format is read, in any zone; anything else is no time."""
    cases: list[tuple[Any, int | None]] = [
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01T01:00:01+01:00", 1000),
        ("2199-12-31T23:59:59Z", 7258118399000),
        ("9999-12-31T23:59:59.999999Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ("1970-01-01T00:00:01.5Z" * 9, None),
        (1500, None),
        (None, None),
    ]
    for written, at_ms in cases:
        with case(written):
            assert time_of({"timestamp": written}) == at_ms


def test_the_role_of_a_line_of_a_rollout() -> None:
    """Only the meta line starts a session; calls are found without the lines before them."""
    cases: list[tuple[Json, LineRole]] = [
        (META, LineRole.START),
        (function("x"), LineRole.CALL),
        (output("x"), LineRole.CALL),
        (completed("CommandExecution"), LineRole.CALL),
        (completed("AgentMessage"), LineRole.OTHER),
        (event("exec_command_end"), LineRole.CALL),
        (event("token_count"), LineRole.OTHER),
        ({"type": "event_msg", "payload": {"type": 7}}, LineRole.OTHER),
        ({"type": "event_msg", "payload": 7}, LineRole.OTHER),
        ({"type": "event_msg", "payload": {"type": "item_completed"}}, LineRole.OTHER),
    ]
    for line, expected in cases:
        with case(line):
            assert role(line) is expected
            assert recognises(line) is isinstance(line["payload"], dict)


def test_the_role_of_a_line_of_the_stream() -> None:
    """Only the thread's line starts a run; items are calls, except texts."""
    cases: list[tuple[Json, LineRole]] = [
        (THREAD, LineRole.START),
        (begun("command_execution"), LineRole.CALL),
        (done("agent_message"), LineRole.OTHER),
        ({"type": "item.completed"}, LineRole.OTHER),
        ({"type": "turn.started"}, LineRole.OTHER),
    ]
    for line, expected in cases:
        with case(line):
            assert role_in_stream(line) is expected
            assert is_stream(line)
            assert not is_stream({"type": "error", "message": "x"})
            assert not is_stream({"type": 7})
            assert not recognises(line)
