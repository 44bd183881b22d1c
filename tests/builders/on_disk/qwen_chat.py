"""Lines of a chat file of Qwen Code, as it writes them to disk."""

from typing import Any

from agentwatch.agents.qwen.agent import CHAT as AGENT
from agentwatch.session.events import Event
from agentwatch.session.session import Session
from tests.builders.agents.decoded import Line, events_of
from tests.builders.agents.decoded import session_of as decoded_session

AT = "2026-11-21T22:50:55.616Z"
AT_MS = 1795301455616


def line(
    kind: str, *parts: object, uuid: str | None = None, parent: str | None = None, **more: Any
) -> dict[str, Any]:
    common = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": AT}
    return {**common, "cwd": "/w", "version": "0.24.4", "message": {"parts": list(parts)}, **more}


def user(text: str, **more: Any) -> dict[str, Any]:
    return line("user", {"text": text}, **more)


def said(text: str, **more: Any) -> dict[str, Any]:
    """Return an answer without calls, which ends its turn."""
    return line("assistant", {"text": text}, model="qwen3", **more)


def call(call_id: str, name: str = "run_shell_command", **given: Any) -> dict[str, Any]:
    return line(
        "assistant", {"functionCall": {"id": call_id, "name": name, "args": given or {"command": "ls"}}}
    )


def returned(
    call_id: str, name: str = "run_shell_command", response: object = None, **about: Any
) -> dict[str, Any]:
    part = {"functionResponse": {"id": call_id, "name": name, "response": response or {"output": "ok"}}}
    return line("tool_result", part, toolCallResult={"callId": call_id, "status": "success", **about})


def system(subtype: object, payload: object = None, **more: Any) -> dict[str, Any]:
    return line("system", subtype=subtype, systemPayload=payload, **more)


def telemetry(name: str, **event: Any) -> dict[str, Any]:
    return system("ui_telemetry", {"uiEvent": {"event.name": f"qwen-code.{name}", **event}})


def decoded(*lines: Line) -> list[Event]:
    """Return the events of lines, without those about the run."""
    found = events_of(AGENT, *lines)
    return [event for event in found if type(event).__name__ not in ("RunStarted", "RunInfo")]


def session_of(*lines: Line) -> Session:
    return decoded_session(AGENT, *lines)
