"""Any field of a line may be absent, or of any type: decoding it never raises."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import pytest

from agentwatch.agents import Decoder
from agentwatch.agents.registry import agent_named
from agentwatch.api.check_agent import paths, replaced
from tests.builders.claude_lines import (
    Json,
    answer,
    assistant,
    call,
    delta,
    init,
    line,
    result,
    say,
    user,
    written,
)
from tests.builders.lines import session
from tests.conftest import case

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**30, "", "x", "Exit code 1", [], {}, ["x"], [None, {}], {"a": {"b": []}}),
    *([{"type": "text", "text": 5}], [{"type": "tool_result"}], [{"type": "tool_use", "input": "{"}]),
)
ASK = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t-1"}
PATCH = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}]
TASK = {"id": "1", "subject": "x", "status": "pending"}
RESULTS: tuple[Json, ...] = (
    {"stdout": "a", "stderr": "b", "interrupted": False, "isImage": True, "exit_code": 0},
    {"filePath": "/a", "oldString": "", "newString": "b", "originalFile": "", "structuredPatch": PATCH},
    {"type": "text", "file": {"content": "a", "numLines": 1, "startLine": 2, "totalLines": 9}},
    {"type": "image", "file": {"base64": "AAAA", "type": "image/png", "originalSize": 3}},
    {"mode": "content", "content": "a", "numLines": 1, "filenames": ["x"]},
    {"results": [{"content": [{"title": "a", "url": "b"}]}, "words"]},
    {"newTodos": [{"content": "x", "status": "completed"}], "oldTodos": []},
    {"status": "completed", "content": [{"type": "text", "text": "21"}], "totalDurationMs": 5},
    {"task": TASK, "tasks": [TASK]},
)
LINES: tuple[Json, ...] = (
    init(permissionMode="default", apiKeySource="none"),
    user("Go on.", isReplay=True, isSynthetic=False, timestamp="2026-11-20T14:03:07.250Z"),
    say(
        "Hm", usage={"input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 3}, supersedes=["u-1"]
    ),
    assistant({"type": "thinking", "thinking": "Hm"}, {"type": "server_tool_use", "id": "t-2", "name": "w"}),
    delta("Hm"),
    line("stream_event", event={"type": "message_start", "message": {"id": "msg_1"}}),
    line("stream_event", event={"type": "message_delta", "usage": {"output_tokens": 3}}),
    call("Bash", command="ls", timeout=5, description="x"),
    call("MultiEdit", file_path="/a", edits=[{"old_string": "a", "new_string": "b", "replace_all": False}]),
    call("Write", file_path="/a", content="x"),
    call("TaskCreate", subject="x", status="pending", taskId="1"),
    call("TaskUpdate", subject="x", status="pending", taskId="1"),
    call("TaskList"),
    call("AskUserQuestion", questions=[{"question": "Which?"}]),
    call("TodoWrite", todos=[{"content": "x", "status": "completed"}]),
    answer([{"type": "text", "text": "x"}, {"type": "image", "source": {"media_type": "a/b", "data": "AA"}}]),
    answer("1\ta\n2\tb", is_error=False),
    answer("Exit code 1\nno", is_error=True, timestamp="2026-11-20T14:03:07.250Z"),
    *(answer("x", result=details) for details in RESULTS),
    line("system", "permission_denied", tool_use_id="t-1", tool_name="Bash", message="no"),
    line("system", "hook_response", hook_name="Stop", exit_code=2, outcome="error", stderr="x", output="y"),
    line("system", "task_started", task_id="k", tool_use_id="t-9", description="x"),
    line("system", "task_updated", task_id="k", patch={"status": "failed"}),
    line("system", "task_notification", task_id="k", status="completed", summary="x"),
    line("system", "status", status="compacting", compact_result="failed", compact_error="x"),
    line(
        "system", "compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 5, "post_tokens": 1}
    ),
    line("system", "api_retry", attempt=1, max_retries=2, retry_delay_ms=5.5, error_status=529, error="x"),
    line("system", "informational", content="x"),
    line("system", "model_refusal_fallback", retracted_message_uuids=["u-1"], message="x"),
    line(
        "rate_limit_event", rate_limit_info={"status": "rejected", "rateLimitType": "x", "utilization": 0.5}
    ),
    line("control_request", request_id="r", request=ASK),
    line("control_response", response={"request_id": "r", "response": {"behavior": "deny", "message": "no"}}),
    line("control_cancel_request", request_id="r"),
    line("auth_status", error="x"),
    result(
        "Done.",
        errors=["x"],
        terminal_reason="completed",
        total_cost_usd=0.5,
        usage={"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 3},
        modelUsage={"claude-sonnet-5": {"contextWindow": 200_000}},
        permission_denials=[{"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {}}],
    ),
)


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.system)])
def test_a_line_may_have_any_value_in_any_field(step: int) -> None:
    """A line with a value of another type in one field, then the other lines: all are decoded and shown."""
    before, after = written(*LINES[:8]).splitlines(), written(*LINES[-8:]).splitlines()
    changes = [(odd, path, value) for odd in LINES for path in paths(odd) for value in ODD]
    agents = ("claude-code", "qwen", "amp", "claude-family")
    for (odd, path, value), agent in islice(product(changes, agents), 0, None, step):
        with case(f"{path} is {value!r}, of {agent}"):
            data = written(replaced(odd, path, value))
            decoder = Decoder(agent_named(agent))
            for each in (*before, data, *after):
                assert isinstance(decoder.decode(each), list)
            decoder.blocks(data.rstrip(), "t-1")
            decoder.blocks(data.rstrip())
            decoder.role(data)
            decoder.end()


def test_a_session_with_odd_values_is_counted() -> None:
    """Lines with odd values in all fields but the type are counted: none is lost, and none is malformed."""
    for value in ODD:
        with case(value):
            odd = [dict.fromkeys(fields, value) | {"type": fields["type"]} for fields in LINES]
            found = session(written(init(), *odd))
            assert found.lines.total == len(LINES) + 1
            assert found.lines.malformed == 0
