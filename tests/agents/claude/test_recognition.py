"""Lines of Claude Code are recognised, and may have any value in any field."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import pytest

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.registry import agent_named, detect
from agentwatch.api.check_agent import paths, replaced
from agentwatch.output.summary import summary
from agentwatch.session.actions import action
from agentwatch.session.events import FormatDetected
from tests.builders.captures import Captures
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
from tests.builders.formats.samples import of_a_format
from tests.builders.lines import session
from tests.conftest import case

BARE = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/x", "tools": []}
DETECTED: list[tuple[Json, str | None]] = [
    (init(), "claude-code"),
    ({**BARE, "uuid": "u"}, "claude-code"),
    ({**BARE, "permissionMode": "default", "apiKeySource": "none"}, "claude-code"),
    ({**BARE, "permissionMode": "default", "apiKeySource": "login"}, "cursor"),
    ({**BARE, "qwen_code_version": "0.15", "uuid": "u"}, "qwen"),
    ({**BARE, "permission_mode": "yolo", "uuid": "u"}, "qwen"),
    ({**BARE, "mcp_servers": []}, "amp"),
    ({**BARE, "session_id": "T-1"}, "amp"),
    ({**BARE, "session_id": "T-1", "agent_mode": "smart", "reasoning_effort": "high"}, "amp"),
    ({"type": "system", "subtype": "init", "session_id": "T-1", "cwd": "/x"}, "amp"),
    ({**BARE, "tools": None, "mcp_servers": []}, None),
    (BARE, "droid"),
    ({**BARE, "reasoning_effort": "high", "mcp_servers": []}, None),
    ({**init(), "sessionId": "s"}, "claude-code"),
    (line("system", "hook_started"), "claude-code"),
    ({"type": "system", "subtype": "hook_started"}, None),
    ({"type": "rate_limit_event"}, "claude-code"),
    ({"type": "rate_limit_event", "sessionId": "s"}, None),
    ({"type": "result", "total_cost_usd": 1}, "claude-code"),
    ({"type": "result", "num_turns": 1}, "claude-family"),
    ({"type": "result", "is_error": True, "error": "no login"}, "amp"),
    ({"type": "result", "is_error": True, "error": {"a": 1}}, None),
    ({"type": "result", "request_id": "r", "session_id": "s"}, "cursor"),
    ({"type": "assistant", "session_id": "T-1", "message": {}}, "amp"),
    ({"type": "assistant", "session_id": "T-1", "message": {}, "uuid": "u"}, None),
    ({"type": "assistant", "message": {"id": "m"}}, "claude-family"),
    ({"type": "assistant", "message": {"usage": {}}}, "claude-family"),
    ({"type": "assistant", "message": {"id": "m"}, "timestamp_ms": 5}, None),
    ({"type": "assistant", "message": {"content": [{"type": "tool_use"}]}}, "claude-family"),
    ({"type": "assistant", "message": {"id": "m"}, "sessionId": "s"}, "claude-transcript"),
    ({"type": "user", "message": {"content": []}, "parent_tool_use_id": None}, "claude-family"),
    ({"type": "stream_event", "event": {}}, "claude-family"),
    ({"type": "stream_event", "event": 5}, None),
    ({"type": "control_request", "request": {"subtype": "interrupt"}}, "claude-family"),
    ({"type": "control_response", "response": 5}, None),
    ({"type": 5}, None),
]


def test_a_line_shows_its_agent() -> None:
    """The keys at the top of a line decide. Inits and prompts start a run; lines with calls are calls."""
    for fields, name in DETECTED:
        with case(fields):
            for each in (fields, dict(reversed(fields.items()))):
                found = detect(each)
                assert (None if found is None else found.name) == name
    for fields, role in ROLES:
        with case(fields):
            assert Decoder(agent_named("claude-code")).role(written(fields)) is role


def test_a_cut_sample_is_not_another_agents(captures: Captures) -> None:
    """A stream without its first lines is its agent's, the family's or unknown, and never another's."""
    streams = [each for each in of_a_format(captures) if each[2] in ("claude-code", "qwen", "amp")]
    assert streams
    for title, data, name in streams:
        lines = data.splitlines(keepends=True)
        for first in range(min(len(lines), 12)):
            with case(f"{title}, {first}"):
                found = session(b"".join(lines[first:])).format
                assert found in (name, "claude-family", None)
                assert first or found == name


def test_the_family_becomes_its_agent() -> None:
    """A stream without its head is the family's until a line shows the agent, and its run continues. Only
    Qwen Code says success of an error. Another agent's run is read in its format.
    """
    head = (say("One", uuid=None), call("read_file", file_path="/a"), answer("x"), result("One"))
    assert session(written(*head)).format == "claude-family"
    ends: list[tuple[Any, str]] = [
        (init(), "claude-code"),
        ({"type": "system", "subtype": "init", "session_id": "s-1", "qwen_code_version": "1"}, "qwen"),
    ]
    for end, name in ends:
        found = session(written(*head, end, say("Two"), result("Two")))
        assert (found.format, len(found.runs), found.run.turns, found.text) == (name, 1, 2, "OneTwo")
        assert [(each.tool, each.kind) for each in found.calls] == [("read_file", "read")]
    assert (
        session(written(say("[API Error: 400]", uuid=None), result("[API Error: 400]"))).outcome == "failed"
    )
    decoder = Decoder(agent_named("claude-code"))
    qwens = {"type": "system", "subtype": "init", "session_id": "q", "qwen_code_version": "1"}
    seen = [event for each in (init(), qwens) for event in decoder.decode(written(each))]
    assert [event.format for event in seen if isinstance(event, FormatDetected)] == ["qwen"]


ROLES: list[tuple[Json, LineRole]] = [
    (init(), LineRole.START),
    (user("Go on."), LineRole.START),
    (user("Go on.", parent_tool_use_id="t"), LineRole.OTHER),
    (user("A summary.", isSynthetic=True), LineRole.OTHER),
    (call("Bash"), LineRole.CALL),
    (answer("x"), LineRole.CALL),
    (say("x"), LineRole.OTHER),
    (assistant(), LineRole.OTHER),
    (delta("x"), LineRole.OTHER),
    (result(), LineRole.OTHER),
    (line("system", "status"), LineRole.OTHER),
]


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


HOSTILE = "\x1b[2J\x9b31m\x07\r\u202eevil"
CONTROLS = frozenset("\x1b\x9b\x07\r\u202e")
NAMES = ("type", "subtype", "status", "behavior")
"""Fields whose values decide how a line is read."""


def hostile(value: Any, key: str = "") -> Any:
    """Return a value with hostile characters after each of its texts."""
    if isinstance(value, dict):
        return {name: hostile(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [hostile(inner, key) for inner in value]
    return value + HOSTILE if isinstance(value, str) and key not in NAMES else value


def test_what_is_printed_is_safe() -> None:
    """The summary and the actions of hostile lines do not contain the characters."""
    lines = [hostile(each) for each in LINES]
    read = session(written(*lines))
    assert CONTROLS.isdisjoint(b"".join(summary(read)).decode())
    assert all(CONTROLS.isdisjoint(action(call)) for call in read.calls)
    assert [call.tool.startswith("Bash\x1b") for call in read.calls][:2] == [False, True]
