"""Lines of the Agent Client Protocol, as client and agent write them."""

import json
from typing import Any

SESSION = "ses-1"
CWD = "/home/ada/app"


def line(fields: dict[str, Any]) -> bytes:
    """Return a line with these fields; fields that are None are left out. Half an emoji is escaped."""
    present = {key: value for key, value in fields.items() if value is not None}
    try:
        return json.dumps(present, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(present).encode() + b"\n"


def request(method: str, number: Any = None, **params: Any) -> bytes:
    """Return a request, or a notification if it has no number."""
    return line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def response(number: Any, result: Any) -> bytes:
    return line({"jsonrpc": "2.0", "id": number, "result": result})


def refused(number: Any, message: str, code: int = -32603, data: Any = None) -> bytes:
    """Return a response with an error."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return line({"jsonrpc": "2.0", "id": number, "error": error})


def opening(session: str = SESSION, cwd: str = CWD, /, **result: Any) -> bytes:
    """Return the lines that connect to an agent and create a session."""
    info = {"name": "tern", "version": "2.1"}
    return (
        request("initialize", 0, protocolVersion=1, clientCapabilities={})
        + response(0, {"protocolVersion": 1, "agentInfo": info})
        + request("session/new", 1, cwd=cwd, mcpServers=[])
        + response(1, {"sessionId": session, **result})
    )


def prompt(words: str = "Do it.", number: Any = 2, session: str = SESSION) -> bytes:
    """Return the client's prompt."""
    return request("session/prompt", number, sessionId=session, prompt=[{"type": "text", "text": words}])


def stopped(reason: str = "end_turn", number: Any = 2, **result: Any) -> bytes:
    return response(number, {"stopReason": reason, **result})


def update(kind: str, session: str = SESSION, /, **fields: Any) -> bytes:
    return request("session/update", sessionId=session, update={"sessionUpdate": kind, **fields})


def chunk(text: str, kind: str = "agent_message", session: str = SESSION, /, **fields: Any) -> bytes:
    return update(f"{kind}_chunk", session, content={"type": "text", "text": text}, **fields)


def called(call_id: str = "c-1", session: str = SESSION, /, **fields: Any) -> bytes:
    return update("tool_call", session, toolCallId=call_id, **fields)


def changed(call_id: str = "c-1", session: str = SESSION, /, **fields: Any) -> bytes:
    return update("tool_call_update", session, toolCallId=call_id, **fields)


def words(text: str) -> list[dict[str, Any]]:
    """Return a text as the content of a call."""
    return [{"type": "content", "content": {"type": "text", "text": text}}]


OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def permission(call_id: str = "c-1", number: Any = 0, session: str = SESSION, /, **fields: Any) -> bytes:
    """Return the agent's request for permission."""
    call = {"toolCallId": call_id, **fields}
    return request("session/request_permission", number, sessionId=session, options=OPTIONS, toolCall=call)


def chose(option: str | None, number: Any = 0) -> bytes:
    """Return the answer to a request for permission; None: the client cancelled it."""
    outcome = {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
    return response(number, {"outcome": outcome})
