"""Lines of a transcript of Claude Code, as it writes them to disk."""

from typing import Any

from agentwatch.agents.claude.agent import TRANSCRIPT as AGENT
from agentwatch.session.events import Event
from agentwatch.session.session import Session
from tests.builders.agents.decoded import Line, events_of
from tests.builders.agents.decoded import session_of as decoded_session

AT = "2026-11-21T22:50:55.616Z"
AT_MS = 1795301455616


def line(kind: str, uuid: str | None = None, parent: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a line of the main agent."""
    common = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": AT}
    return {**common, "isSidechain": False, "cwd": "/w", "version": "2.1.330", **more}


def user(text: object, uuid: str | None = None, parent: str | None = None, **more: Any) -> dict[str, Any]:
    return line("user", uuid, parent, message={"role": "user", "content": text}, **more)


def answer(
    *blocks: dict[str, Any], uuid: str | None = None, parent: str | None = None, **more: Any
) -> dict[str, Any]:
    message = {"role": "assistant", "model": "opus", "content": list(blocks), **more.pop("message", {})}
    return line("assistant", uuid, parent, message=message, **more)


def said(text: str, **more: Any) -> dict[str, Any]:
    return answer({"type": "text", "text": text}, **more)


def ended(text: str = "Done.", **more: Any) -> dict[str, Any]:
    """Return a line with the last text of a turn."""
    return said(text, message={"stop_reason": "end_turn", **more.pop("message", {})}, **more)


def call(call_id: str, name: str = "Bash", given: object = None, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": given or {"command": "ls"}}
    return answer(block, **more)


def returned(call_id: str, content: object = "ok", **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if "is_error" in more:
        block["is_error"] = more.pop("is_error")
    return user([block], **more)


def decoded(*lines: Line) -> list[Event]:
    """Return the events of lines, without those about the run."""
    found = events_of(AGENT, *lines)
    return [event for event in found if type(event).__name__ not in ("RunStarted", "RunInfo")]


def session_of(*lines: Line) -> Session:
    return decoded_session(AGENT, *lines)
