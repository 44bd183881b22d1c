"""Lines of Claude Code are recognised, and may have any value in any field."""

from __future__ import annotations

from typing import Any

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.registry import agent_named, detect
from agentwatch.session.events import FormatDetected
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
    """The keys of a line decide, and the family becomes its agent."""
    # The keys at the top of a line decide. Inits and prompts start a run; lines with calls are calls.
    for fields, name in DETECTED:
        with case(fields):
            for each in (fields, dict(reversed(fields.items()))):
                found = detect(each)
                assert (None if found is None else found.name) == name
    for fields, role in ROLES:
        with case(fields):
            assert Decoder(agent_named("claude-code")).role(written(fields)) is role
    # A stream without its head is the family's until a line shows the agent, and its run continues. Only
    # Qwen Code says success of an error. Another agent's run is read in its format.
    head = (say("One", uuid=None), call("read_file", file_path="/a"), answer("x"), result("One"))
    assert session(written(*head)).format == "claude-family"
    ends: list[tuple[Any, str]] = [
        (init(), "claude-code"),
        ({"type": "system", "subtype": "init", "session_id": "s-1", "qwen_code_version": "1"}, "qwen"),
    ]
    for end, name in ends:
        other_found = session(written(*head, end, say("Two"), result("Two")))
        assert (other_found.format, len(other_found.runs), other_found.run.turns, other_found.text) == (
            name,
            1,
            2,
            "OneTwo",
        )
        assert [(each.tool, each.kind) for each in other_found.calls] == [("read_file", "read")]
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
