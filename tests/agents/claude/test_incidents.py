"""Hooks, background tasks, limits, retries and compactions are reported, and the rest is quiet."""

from __future__ import annotations

from typing import Any

from agentwatch.session.events import (
    Compaction,
    Limits,
    LimitWindow,
    Notice,
    Retry,
    Tokens,
    Unknown,
    Usage,
    UsageScope,
)
from tests.builders.claude_lines import Json, answer, call, events, line
from tests.conftest import case

TASK = line("system", "task_started", task_id="k", tool_use_id="t-1", description="make all")
ENDED = line("system", "task_notification", task_id="k", tool_use_id="t-1", status="completed", summary="x")


def system(subtype: Any, **fields: Any) -> Json:
    """Return a `system` line."""
    return line("system", subtype, **fields)


LINES: list[tuple[Json, list[Any]]] = [
    (system("thinking_tokens", estimated_tokens=5), []),
    (system("hook_started", hook_name="Stop"), []),
    (system("hook_response", hook_name="Stop", exit_code=0, outcome="success"), []),
    (system("hook_response", hook_name="Stop"), []),
    (
        system("hook_response", hook_name="Stop", exit_code=2, outcome="error", stderr=" no\n"),
        [Notice("hook Stop failed: exit 2: no")],
    ),
    (system("hook_response", hook_name="Stop", outcome="cancelled"), [Notice("hook Stop failed: cancelled")]),
    (
        system("hook_response", hook_name="Stop", exit_code=1, output="bad"),
        [Notice("hook Stop failed: exit 1: bad")],
    ),
    (system("status", status="requesting"), []),
    (system("status", status="compacting"), [Compaction(is_over=False)]),
    (system("status", status=None, compact_result="success"), []),
    (system("status", compact_result="failed"), [Notice("compaction failed: failed")]),
    (system("status", compact_result="failed", compact_error="full"), [Notice("compaction failed: full")]),
    (
        system("compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9, "post_tokens": 5}),
        [Compaction(True, "auto", 9, 5), Usage(Tokens(context_used=5), UsageScope.REQUEST)],
    ),
    (system("compact_boundary", compact_metadata={"pre_tokens": 9}), [Compaction(True, None, 9, None)]),
    (
        system(
            "api_retry", attempt=2, max_retries=10, retry_delay_ms=512.4, error_status=529, error="overloaded"
        ),
        [Retry("overloaded (529)", 2, 10, 512)],
    ),
    (
        system("api_retry", attempt=2, retry_delay_ms=500, error={"message": "full"}),
        [Retry("full", 2, None, 500)],
    ),
    (system("api_retry", retry_delay_ms=-1.0), [Retry("", None, None, None)]),
    (system("informational", content="Update soon."), [Notice("Update soon.")]),
    (system("notification", message="Update soon."), [Notice("Update soon.")]),
    (system("notification", text="Update soon."), [Notice("Update soon.")]),
    (system("notification"), []),
    (system("weather"), [Unknown("type system/weather")]),
    (line("system"), [Unknown("type system/None")]),
    (line("weather"), [Unknown("type weather")]),
    (line("tool_progress", tool_use_id="t-1", elapsed_time_seconds=3), []),
    (line("keep_alive"), []),
    (line("auth_status", isAuthenticating=True), []),
    (line("auth_status", error="expired"), [Notice("authentication failed: expired", is_error=True)]),
    (line("rate_limit_event", rate_limit_info={"status": "allowed", "utilization": 0.5}), []),
    (
        line(
            "rate_limit_event",
            rate_limit_info={"status": "allowed_warning", "rateLimitType": "five_hour", "utilization": 0.91},
        ),
        [
            Limits((LimitWindow("5h", 91.0),), is_refused=False),
            Notice("rate limit five hour allowed warning 91% used"),
        ],
    ),
    (
        line("rate_limit_event", rate_limit_info={"status": "rejected", "utilization": True}),
        [Limits((), is_refused=True), Notice("rate limit rejected", is_error=True)],
    ),
    (line("rate_limit_event", rate_limit_info={"requests_remaining": 0}), [Notice("rate limit")]),
]


def test_a_line_reports_its_incident() -> None:
    """Each kind of line has its own event, or none."""
    for fields, expected in LINES:
        with case(fields):
            assert events(fields) == expected


def test_the_end_of_a_background_task_is_reported() -> None:
    """A task that ends after its call is reported once, by whichever line says so first."""
    background = (call("Bash", command="make"), TASK, answer("x", result={"backgroundTaskId": "k"}))
    assert events(*background, ENDED)[-1] == Notice("background task completed: make all")
    patch = system("task_updated", task_id="k", patch={"status": "failed", "end_time": 5})
    assert events(*background, patch, ENDED)[-1] == Notice("background task failed: make all", is_error=True)
    running = system("task_updated", task_id="k", patch={"status": "running"})
    assert not [event for event in events(*background, running) if isinstance(event, Notice)]
    unnamed = system("task_started", task_id="k")
    assert events(unnamed, ENDED) == [Notice("background task completed: x")]


def test_a_task_of_an_open_call_is_not_reported() -> None:
    """The end of a task whose call is open is the end of the call."""
    found = events(call("Task", description="Look"), TASK, ENDED, answer("x"))
    assert not [event for event in found if isinstance(event, Notice)]
    assert events(ENDED) == []


def test_open_tasks_are_bounded() -> None:
    """Of more than 256 tasks the oldest are forgotten."""
    many = [system("task_started", task_id=f"k-{n}", description="x") for n in range(260)]
    ends = [system("task_notification", task_id=f"k-{n}", status="stopped") for n in (0, 259)]
    assert events(*many, *ends) == [Notice("background task stopped: x")]
