"""Lines of Claude Code's `stream-json`, as objects and as bytes."""

import json
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.registry import agent_named

Json = dict[str, Any]
CWD = "/home/ada/tidepool"


def line(kind: str, subtype: str | None = None, **fields: Any) -> Json:
    named = {"type": kind} if subtype is None else {"type": kind, "subtype": subtype}
    return {**named, "session_id": "s-1", "uuid": "u-1", **fields}


def init(**fields: Any) -> Json:
    facts = {"cwd": CWD, "model": "claude-sonnet-5", "tools": ["Bash"], "claude_code_version": "2.1.330"}
    return line("system", "init", **{**facts, **fields})


def assistant(*blocks: Json, **fields: Any) -> Json:
    message = {"id": fields.pop("message_id", "msg_1"), "role": "assistant", "content": [*blocks]}
    if "model" in fields:
        message["model"] = fields.pop("model")
    if "usage" in fields:
        message["usage"] = fields.pop("usage")
    return line("assistant", message=message, **{"parent_tool_use_id": None, **fields})


def say(words: str, **fields: Any) -> Json:
    return assistant({"type": "text", "text": words}, **fields)


def call(name: str, call_id: str = "t-1", /, **arguments: Any) -> Json:
    """Return the line that starts a call of the main agent."""
    return assistant({"type": "tool_use", "id": call_id, "name": name, "input": arguments})


def answer(content: Any, call_id: str = "t-1", *, is_error: bool | None = None, **fields: Any) -> Json:
    """Return the line that ends a call; `result` is its structured result."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if is_error is not None:
        block["is_error"] = is_error
    if "result" in fields:
        fields["tool_use_result"] = fields.pop("result")
    message = {"role": "user", "content": [block]}
    return line("user", message=message, **{"parent_tool_use_id": None, **fields})


def user(words: str, **fields: Any) -> Json:
    return line("user", message={"role": "user", "content": words}, **{"parent_tool_use_id": None, **fields})


def delta(words: str, kind: str = "text", **fields: Any) -> Json:
    body = {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: words}}
    return line("stream_event", event=body, **{"parent_tool_use_id": None, **fields})


def result(words: str = "", subtype: str = "success", **fields: Any) -> Json:
    return line("result", subtype, **{"is_error": False, "result": words, "num_turns": 1, **fields})


def written(*lines: Json) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


def events(*lines: Json, agent: str = "claude-code") -> list[Any]:
    decoder = Decoder(agent_named(agent))
    return [event for each in lines for event in decoder.decode(written(each))]


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
"""A line of each type, with every field that is read."""
