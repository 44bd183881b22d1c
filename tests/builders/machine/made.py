"""Makes sessions of several agents, as the agents write them: a prompt, one call of a shell, and an answer.

A session with an open call ends after the call has begun, as it does while the command runs or is asked for.
"""

import hashlib
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

Line = dict[str, Any]
STEP_MS = 1000
"""The time between two lines."""
COMMAND = "pytest -q"


class Story(NamedTuple):
    """What a made session contains."""

    id: str
    cwd: str
    prompt: str
    began_ms: int
    is_open: bool = False
    """Whether the session ends while its call is open."""

    def at(self, step: int) -> str:
        """Return the time of a line, as ISO 8601."""
        moment = datetime.fromtimestamp((self.began_ms + step * STEP_MS) / 1000, UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"

    def at_ms(self, step: int) -> int:
        return self.began_ms + step * STEP_MS

    @property
    def ended_ms(self) -> int:
        """The time of the last line."""
        return self.at_ms(1 if self.is_open else 3)


def id_of(number: int) -> str:
    """Return the id of a made session: the same UUID for the same number."""
    return str(uuid.UUID(bytes=hashlib.md5(b"%d" % number, usedforsecurity=False).digest(), version=4))


def written(agent: str, story: Story) -> bytes:
    lines = LINES[agent](story)
    return b"".join(orjson.dumps(line) + b"\n" for line in lines)


def _claude(story: Story) -> list[Line]:
    def line(kind: str, step: int, message: Line, **more: Any) -> Line:
        common = {
            "parentUuid": f"u{step - 1}" if step else None,
            "isSidechain": False,
            "cwd": story.cwd,
            "sessionId": story.id,
            "version": "2.1.330",
            "gitBranch": "main",
            "type": kind,
            "uuid": f"u{step}",
            "timestamp": story.at(step),
        }
        return {**common, "message": message, **more}

    def answer(step: int, block: Line, reason: str) -> Line:
        usage = {"input_tokens": 1000, "output_tokens": 20, "cache_read_input_tokens": 400}
        message = {"id": f"m{step}", "role": "assistant", "model": "claude-opus-5-5", "content": [block]}
        return line("assistant", step, {**message, "stop_reason": reason, "usage": usage})

    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": COMMAND}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "3 passed", "is_error": False}
    lines = [
        line("user", 0, {"role": "user", "content": story.prompt}),
        answer(1, call, "tool_use"),
        line(
            "user",
            2,
            {"role": "user", "content": [result]},
            toolUseResult={"stdout": "3 passed", "stderr": "", "interrupted": False},
        ),
        answer(3, {"type": "text", "text": "All tests pass."}, "end_turn"),
        {"type": "system", "subtype": "turn_duration", "durationMs": 3000, "uuid": "u4", "parentUuid": "u3"}
        | {"sessionId": story.id, "timestamp": story.at(3), "isSidechain": False},
    ]
    return lines[:2] if story.is_open else lines


def _codex(story: Story) -> list[Line]:
    def line(kind: str, step: int, **payload: Any) -> Line:
        return {"timestamp": story.at(step), "type": kind, "payload": payload}

    meta = {"id": story.id, "timestamp": story.at(0), "cwd": story.cwd, "originator": "codex-tui"}
    arguments = orjson.dumps({"cmd": COMMAND}).decode()
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Passed."}]}
    begun = {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": "c1"}
    ended = {"type": "function_call_output", "call_id": "c1", "output": "Process exited with code 0"}
    lines = [
        line("session_meta", 0, **meta, cli_version="0.146.0", source="cli", model_provider="openai"),
        line("event_msg", 0, type="task_started", turn_id="t1", model_context_window=258400),
        line("turn_context", 0, cwd=story.cwd, model="gpt-5.2", approval_policy="on-request"),
        line("event_msg", 0, type="user_message", message=story.prompt, images=[]),
        line("response_item", 1, **begun),
        line("response_item", 2, **ended),
        line("response_item", 3, **said),
        line("event_msg", 3, type="task_complete", turn_id="t1", last_agent_message="Passed."),
    ]
    return lines[:5] if story.is_open else lines


def _gemini(story: Story) -> list[Line]:
    call = {"id": "c1", "name": "run_shell_command", "args": {"command": COMMAND}, "status": "success"}
    head = {"sessionId": story.id, "projectHash": "0" * 64, "startTime": story.at(0)}
    said = {"type": "gemini", "content": "Passed.", "model": "gemini-3-pro"}
    lines: list[Line] = [
        {**head, "lastUpdated": story.at(0), "kind": "main"},
        {"id": "g1", "timestamp": story.at(0), "type": "user", "content": [{"text": story.prompt}]},
        {"id": "g2", "timestamp": story.at(2), "type": "gemini", "content": "", "toolCalls": [call]},
        {"id": "g3", "timestamp": story.at(3), **said},
    ]
    return lines[:2] if story.is_open else lines


def _qwen(story: Story) -> list[Line]:
    def line(kind: str, step: int, *parts: Line) -> Line:
        common = {"uuid": f"u{step}", "parentUuid": f"u{step - 1}" if step else None, "version": "0.24.4"}
        role = "model" if kind == "assistant" else "user"
        return {
            **common,
            "sessionId": story.id,
            "timestamp": story.at(step),
            "type": kind,
            "cwd": story.cwd,
            "gitBranch": "main",
            "message": {"role": role, "parts": list(parts)},
        }

    name = {"id": "c1", "name": "run_shell_command"}
    lines = [
        line("user", 0, {"text": story.prompt}),
        line("assistant", 1, {"functionCall": {**name, "args": {"command": COMMAND}}}),
        line("tool_result", 2, {"functionResponse": {**name, "response": {"output": "3 passed"}}}),
        line("assistant", 3, {"text": "Passed."}),
    ]
    return lines[:2] if story.is_open else lines


def _pi(story: Story) -> list[Line]:
    def line(step: int, role: str, *content: Line, **more: Any) -> Line:
        message = {"role": role, "content": list(content), "timestamp": story.at_ms(step), **more}
        parent = f"p{step - 1}" if step else None
        common = {"type": "message", "id": f"p{step}", "parentId": parent, "timestamp": story.at(step)}
        return {**common, "message": message}

    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": COMMAND}}
    lines: list[Line] = [
        {"type": "session", "version": 3, "id": story.id, "timestamp": story.at(0), "cwd": story.cwd},
        line(0, "user", {"type": "text", "text": story.prompt}),
        line(1, "assistant", call, stopReason="toolUse", model="mock-model", provider="mock"),
        line(2, "toolResult", {"type": "text", "text": "3 passed"}, toolCallId="c1", toolName="bash"),
        line(3, "assistant", {"type": "text", "text": "Passed."}, stopReason="stop", model="mock-model"),
    ]
    return lines[:3] if story.is_open else lines


def _copilot(story: Story) -> list[Line]:
    def line(kind: str, step: int, **data: Any) -> Line:
        return {"type": kind, "data": data, "id": f"{kind}{step}", "timestamp": story.at(step)}

    arguments = {"command": COMMAND, "description": "Run the tests"}
    call = {"toolCallId": "c1", "name": "bash", "arguments": arguments, "type": "function"}
    context = {"cwd": story.cwd, "gitRoot": story.cwd, "branch": "main"}
    start = {"sessionId": story.id, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.102"}
    lines = [
        line("session.start", 0, **start, startTime=story.at(0), selectedModel="mock-model", context=context),
        line("user.message", 0, content=story.prompt),
        line("assistant.turn_start", 1, turnId="0"),
        line("assistant.message", 1, messageId="m1", model="mock-model", content="", toolRequests=[call]),
        line("tool.execution_start", 1, toolCallId="c1", toolName="bash", arguments=arguments),
        line("tool.execution_complete", 2, toolCallId="c1", success=True, result={"content": "3 passed"}),
        line("assistant.turn_end", 2, turnId="0"),
        line("assistant.message", 3, messageId="m2", model="mock-model", content="Passed.", toolRequests=[]),
        line("assistant.turn_end", 3, turnId="1"),
    ]
    return lines[:5] if story.is_open else lines


def _kimi(story: Story) -> list[Line]:
    def line(kind: str, step: int, **more: Any) -> Line:
        return {"type": kind, "agentId": "main", "time": story.at_ms(step), **more}

    def event(step: int, kind: str, **event: Any) -> Line:
        return line("context.append_loop_event", step, event={"type": kind, **event})

    call = {"toolCallId": "c1", "name": "Bash", "args": {"command": COMMAND}}
    lines = [
        {"type": "metadata", "protocol_version": "1.5", "created_at": story.at_ms(0)},
        line("profile.bind", 0, modelAlias="k3", environmentDisclosure={"cwd": story.cwd}),
        line("turn.prompt", 0, input=[{"type": "text", "text": story.prompt}], origin={"kind": "user"}),
        event(1, "tool.call", **call),
        event(2, "tool.result", toolCallId="c1", result={"output": "3 passed"}),
        event(3, "content.part", part={"type": "text", "text": "Passed."}),
        line("turn.ended", 3, reason="completed"),
    ]
    return lines[:4] if story.is_open else lines


def _vibe(story: Story) -> list[Line]:
    def line(op: str, **change: Any) -> Line:
        delta = [{"op": op, **change}]
        return {"payload": {"delta": delta}, "recovery_journal_record_version": 1, "type": "projection_delta"}

    def entry(key: str, step: int, kind: str, status: str = "completed", **more: Any) -> Line:
        times = {"createdAt": story.at_ms(min(step, 1)), "updatedAt": story.at_ms(step)}
        common = {"id": key, "sessionId": story.id, "type": kind, "generationStatus": status}
        return {**common, **times, **more}

    def says(key: str, step: int, role: str, words: str) -> Line:
        content = [{"text": words, "type": "text"}]
        return line("append_entry", entry=entry(key, step, "message", role=role, content=content))

    def envelope(step: int, status: str) -> Line:
        session = {"id": story.id, "updatedAt": story.at_ms(step)}
        return line("set_envelope", state={"latestTurn": {"id": "t1", "status": status}, "session": session})

    detail = {"toolName": "file_system.bash", "kind": "tool", "input": {"command": COMMAND}}
    runs = entry("e1", 1, "effect", "in_progress", detail=detail, state={"status": "running"})
    output = {"structured_content": {"returncode": 0, "stdout": "3 passed", "stderr": ""}}
    ended = entry("e1", 2, "effect", detail=detail, state={"status": "completed", "output": output})
    lines = [
        says("m1", 0, "user", story.prompt),
        envelope(0, "in_progress"),
        line("append_entry", entry=runs),
        line("replace_entry", id="e1", entry=ended),
        says("m2", 3, "assistant", "Passed."),
        envelope(3, "completed"),
    ]
    return lines[:3] if story.is_open else lines


def _cline(story: Story) -> list[Line]:
    def says(step: int, role: str, block: Line) -> Line:
        return {"id": f"m{step}", "role": role, "content": [block], "ts": story.at_ms(step)}

    call = {"type": "tool_use", "id": "c1", "name": "run_commands", "input": {"commands": [COMMAND]}}
    results = [{"query": COMMAND, "result": "3 passed", "success": True}]
    result = {"type": "tool_result", "tool_use_id": "c1", "name": "run_commands", "content": results}
    messages = [
        says(0, "user", {"type": "text", "text": story.prompt}),
        says(1, "assistant", call),
        says(2, "user", result),
        says(3, "assistant", {"type": "text", "text": "Passed."}),
    ]
    some = messages[:2] if story.is_open else messages
    return [{"version": 1, "agent": "lead", "sessionId": story.id, "messages": some}]


LINES: Mapping[str, Callable[[Story], list[Line]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "qwen": _qwen,
    "pi": _pi,
    "copilot": _copilot,
    "kimi": _kimi,
    "vibe": _vibe,
    "cline": _cline,
}
"""The lines of a session, by the agent's short name; of Cline, its document."""


def described(agent: str, story: Story) -> Mapping[str, Any]:
    """Return what describes a session beside its file, by the path from there: text, or else JSON."""
    match agent:
        case "gemini":
            return {"../.project_root": story.cwd}
        case "kimi":
            return {"../../state.json": {"cwd": story.cwd, "createdAt": story.began_ms}}
        case "vibe":
            meta = {"session_id": story.id, "environment": {"working_directory": story.cwd}}
            return {"../meta.json": meta, "../CURRENT": {}}
        case "cline":
            return {f"{story.id}.json": {"cwd": story.cwd, "started_at": story.at(0)}}
    return {}
