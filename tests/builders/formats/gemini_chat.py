"""Lines of Gemini's chat files."""

from typing import Any

from agentwatch.agents.gemini.agent import CHAT as AGENT
from agentwatch.session.session import Session
from tests.builders.agents.decoded import session_of

AT = "2026-11-21T23:08:37.292Z"
LATER = "2026-11-21T23:08:38.000Z"
LATER_MS = 1795302518000
START = {"sessionId": "s-1", "projectHash": "h", "startTime": AT, "lastUpdated": AT, "kind": "main"}
CONTEXT_TEXT = "<session_context>\n- **Workspace Directories:**\n  - /home/dev/proj\n</session_context>"
TOKENS = {"input": 1000, "output": 20, "cached": 400, "thoughts": 5, "tool": 0, "total": 1025}


def message(kind: str, text: Any, key: str = "m", **fields: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": AT, "type": kind, "content": text} | fields


def prompt(text: str, key: str) -> dict[str, Any]:
    """Return what the user asked."""
    return message("user", [{"text": text}], key)


def answer(text: str, key: str, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an answer, with its calls if it has any."""
    return message("gemini", text, key, **({"toolCalls": list(calls)} if calls else {}), **fields)


def call(call_id: str = "c-1", name: str = "glob", status: Any = "success", **fields: Any) -> dict[str, Any]:
    """Return a call of an answer."""
    own = {"id": call_id, "name": name, "args": {"pattern": "*"}, "status": status, "timestamp": LATER}
    return own | fields


def response(**fields: Any) -> list[dict[str, Any]]:
    return [{"functionResponse": {"id": "c-1", "name": "glob", "response": fields}}]


def replaced(*messages: dict[str, Any]) -> dict[str, Any]:
    """Return the line that replaces all messages."""
    return {"$set": {"messages": list(messages), "lastUpdated": AT}}


CONTEXT = message("user", [{"text": CONTEXT_TEXT}], "ctx")
ONE = [prompt("Ask.", "p1"), answer("A", "a1")]
TWO = [prompt("More.", "p2"), answer("B", "a2")]


def whole(*lines: dict[str, Any]) -> Session:
    """Return the session of these lines after the first line of a file."""
    return session_of(AGENT, START, *lines)


def facts(found: Session) -> tuple[str, int, str]:
    """Return the text, the number of turns and the outcome."""
    return found.text, found.run.turns, str(found.outcome)


def notes(found: Session) -> list[str]:
    """Return the notices."""
    return [str(entry.content) for entry in found.transcript if entry.kind == "notice"]


SHOWN = {"fileDiff": "@@ -1 +1 @@\n-x\n+y", "originalContent": "x", "newContent": "y"}
LINES = [
    *(START | {"directories": ["/home/dev"]}, replaced(CONTEXT), ONE[0], answer("A", "a1", tokens=TOKENS)),
    answer("A", "a1", call("a", "replace", resultDisplay=SHOWN), call("b", status="error"), tokens=TOKENS),
    message("user", response(output="x"), "r"),
    answer(
        "B",
        "a2",
        call("c", "run_shell_command", resultDisplay=[[{"text": "x"}]], result=response(output="x")),
    ),
    *(replaced(CONTEXT, ONE[0], answer("A", "a1"), answer("B", "a2")), {"$rewindTo": "a2"}),
    *(message("info", "hi", "i"), prompt("More.", "p2"), message("error", "x", "e")),
]
