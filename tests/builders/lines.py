"""Minimal lines of Cursor's stream, and functions that read them in memory."""

import json
import os
import re
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from agentwatch.agents import Decoder
from agentwatch.feed.feed import Feed, LineJoiner
from agentwatch.recording.lines import Line
from agentwatch.recording.saved import open_saved
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Event, FormatDetected
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session

SESSION = "s-1"
CWD = "/home/ada/app"
_ESCAPED_LINE_END = re.compile(rb"(\\+)n")
DONE: dict[str, Any] = {"success": {}}
"""The smallest result of a call that succeeded."""


def line(fields: dict[str, Any]) -> bytes:
    """Return a line with these fields; fields that are None are left out."""
    present = {key: value for key, value in fields.items() if value is not None}
    return json.dumps(present, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"


def event(kind: str, subtype: str | None = None, **fields: Any) -> bytes:
    """Return a line with a type, a subtype and any other fields."""
    return line({"type": kind, "subtype": subtype, "session_id": SESSION} | fields)


def init(cwd: str = CWD, **fields: Any) -> bytes:
    own = {"apiKeySource": "login", "cwd": cwd, "model": "Auto", "permissionMode": "default"}
    return event("system", "init", **(own | fields))


def message(role: str, text: str, **fields: Any) -> bytes:
    content = [{"type": "text", "text": text}]
    return event(role, message={"role": role, "content": content}, **fields)


def user(text: str = "Do it.") -> bytes:
    return message("user", text)


def delta(text: str, at_ms: Any = 1000) -> bytes:
    """Return new text as partial mode sends it: with a time, without a model_call_id."""
    return message("assistant", text, timestamp_ms=at_ms)


def segment(text: str, at_ms: int = 1000) -> bytes:
    """Return a whole segment before a tool call: in partial mode a flush, otherwise the only copy."""
    return message("assistant", text, timestamp_ms=at_ms, model_call_id="m-1")


def final(text: str) -> bytes:
    """Return the last segment: in partial mode a flush, otherwise the only copy."""
    return message("assistant", text)


def thought(text: str, at_ms: int = 1000) -> bytes:
    """Return a piece of the model's reasoning."""
    return event("thinking", "delta", text=text, timestamp_ms=at_ms)


def thought_through(at_ms: int = 1000) -> bytes:
    """Return the end of a block of reasoning."""
    return event("thinking", "completed", timestamp_ms=at_ms)


def started(tool: str, call_id: str = "c-1", at_ms: Any = None, **args: Any) -> bytes:
    """Return the start of a call of `tool` (the wire's key without `ToolCall`)."""
    call = {f"{tool}ToolCall": {"args": args}}
    return event("tool_call", "started", call_id=call_id, tool_call=call, timestamp_ms=at_ms)


def completed(tool: str, call_id: str = "c-1", result: Any = None, at_ms: Any = None, **args: Any) -> bytes:
    """Return the end of a call; without `args` the line has none, which is common in rejections."""
    body = {"args": args, "result": result} if args else {"result": result}
    call = {f"{tool}ToolCall": body}
    return event("tool_call", "completed", call_id=call_id, tool_call=call, timestamp_ms=at_ms)


def asked(kind: str = "webFetch", at_ms: int = 1000, **args: Any) -> bytes:
    """Return the request of an interaction query; `toolCallId` among `args` names its call."""
    name = f"{kind}RequestQuery"
    query = {"id": 0, name: {"args": args} if args else {}}
    return event("interaction_query", "request", query_type=name, query=query, timestamp_ms=at_ms)


def answered(answer: dict[str, Any], kind: str = "webFetch", at_ms: int = 1000) -> bytes:
    """Return the agent's own response to an interaction query."""
    response = {"id": 0, f"{kind}RequestResponse": answer}
    name = f"{kind}RequestQuery"
    return event("interaction_query", "response", query_type=name, response=response, timestamp_ms=at_ms)


def result(text: str | None = "", **fields: Any) -> bytes:
    """Return the result of a run, successful unless the fields say otherwise."""
    own: dict[str, Any] = {
        "subtype": "success",
        "is_error": False,
        "duration_ms": 5234,
        "duration_api_ms": 5200,
    }
    return event("result", **(own | {"result": text, "request_id": "r-1"} | fields))


def raw(line: bytes, line_end: bytes = b"\n") -> bytes:
    """Return a line with its escaped line ends replaced by raw ones."""

    def end(found: re.Match[bytes]) -> bytes:
        return found[1][:-1] + line_end if len(found[1]) % 2 else found[0]

    return _ESCAPED_LINE_END.sub(end, line)


def non_blank(data: bytes) -> int:
    """Return the number of physical lines that are not blank."""
    return sum(1 for line in data.split(b"\n") if line.strip())


def events(*lines: bytes) -> list[Event]:
    """Return the events of the last non-blank line, decoded after the lines before it."""
    decoder = Decoder()
    found: list[Event] = []
    for data in lines:
        if data.strip():
            found = decoder.decode(data.removesuffix(b"\n"))
    return [event for event in found if not isinstance(event, FormatDetected)]


def physical_lines(data: bytes) -> list[Line]:
    """Return the lines of a recording as a reader returns them, blank lines included."""
    found, offset = [], 0
    for piece in data.split(b"\n"):
        found.append(Line(offset, piece, None))
        offset += len(piece) + 1
    return found


def session(*lines: bytes, seen_ms: int | None = None, is_over: bool = True) -> Session:
    """Return the session of these lines, with the stream ended after them or still open."""
    decoder, read = Decoder(), Session()
    joiner = LineJoiner(decoder)
    for piece in physical_lines(b"".join(lines)):
        for found in joiner.take(piece._replace(seen_ms=seen_ms)):
            apply_line(read, *found)
    if is_over:
        for found in joiner.rest():
            apply_line(read, *found)
        apply_line(read, decoder.end(), Place(0, 0, None), 0)
        close_session(read)
    return read


def feed_of(path: Path, *, follow: bool = False) -> Feed:
    """Return a feed that has read a recording."""
    feed = Feed(open_saved(path, follow))
    feed.advance()
    return feed


def call(*lines: bytes) -> Call:
    """Return the only call of a run."""
    [only] = session(init(), *lines).calls
    return only


PROPERTY = settings(max_examples=int(os.environ.get("AGENTWATCH_EXAMPLES", "80")))
"""The settings of property tests."""

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
"""Text of any code points, lone surrogates included."""

ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
"""Any JSON value, with the NaN and Infinity that Python also reads and writes."""


def _of(*usual: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(usual) | ANY_JSON


_BODY = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("path", "command", "url", "error", "reason", "stderr", "content"), _of("x\ny")),
        **dict.fromkeys(
            ("exitCode", "totalLines", "linesAdded", "linesRemoved", "timeout"), _of(0, "7", 1e30)
        ),
        **dict.fromkeys(("todos", "paths", "references", "readRange", "workspaceResults"), ANY_JSON),
        **dict.fromkeys(("subagentType", "model", "description", "markdown", "searchTerm"), _of("x")),
        **dict.fromkeys(("durationMs", "totalDiagnostics"), _of(7, "7", -1)),
        "toolCallId": _of("c-1"),
        "isError": _of(True),
    },
)
_VARIANTS = (
    *("success", "error", "failure", "rejected", "timeout", "noSpace", "partialResult", "isBackground"),
    *("sandboxPolicy", "later"),
)
_CALL = st.fixed_dictionaries(
    {},
    optional={
        "args": _BODY | ANY_JSON,
        "arguments": _BODY | ANY_JSON,
        "name": _of("lookup"),
        "case": _of("shellToolCall", "tool"),
        "value": ANY_JSON,
        "result": st.dictionaries(st.sampled_from(_VARIANTS), _BODY | ANY_JSON, max_size=2) | ANY_JSON,
    },
)
_KEYS = st.sampled_from(
    [
        *("readToolCall", "editToolCall", "shellToolCall", "mcpToolCall", "readLintsToolCall", "function"),
        *("grepToolCall", "updateTodosToolCall", "webSearchToolCall", "weatherToolCall", "ToolCall"),
        *("taskToolCall", "webFetchToolCall", "grep", "tool", "toolCallId"),
    ]
)
_QUERY = "webSearchRequestQuery"
_TYPES = ("tool_call", "assistant", "user", "system", "result", "thinking", "interaction_query", "retry")
_SUBTYPES = ("started", "completed", "init", "delta", "success", "request", "response", "task_notification")
CURSOR_SHAPED: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": _of(*_TYPES)},
    optional={
        "subtype": _of(*_SUBTYPES),
        "session_id": _of(SESSION),
        "call_id": _of("c-1"),
        "tool_call": st.dictionaries(_KEYS, _CALL | ANY_JSON, max_size=2) | ANY_JSON,
        "timestamp_ms": _of(1000, "1000", 1e300),
        "model_call_id": _of("m-1"),
        "message": st.fixed_dictionaries({"content": ANY_JSON}) | ANY_JSON,
        "apiKeySource": _of("login"),
        "query_type": _of(_QUERY),
        "query": st.fixed_dictionaries(
            {}, optional={_QUERY: st.fixed_dictionaries({}, optional={"args": _BODY | ANY_JSON})}
        )
        | ANY_JSON,
        **dict.fromkeys(("usage", "response", "is_error"), ANY_JSON),
        **dict.fromkeys(("duration_ms", "duration_api_ms", "attempt"), _of(1, 1e30)),
        **dict.fromkeys(
            ("cwd", "model", "permissionMode", "text", "result", "request_id", "title"), _of("a")
        ),
    },
)
"""Lines with Cursor's keys and arbitrary values."""
