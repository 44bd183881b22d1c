"""Reads the agent's queries for permission, and what they say about the call that they are for."""

from typing import NamedTuple

from agentwatch.events import Permission
from agentwatch.wire.cursor.text import time_of
from agentwatch.wire.cursor.tools import TOOLS
from agentwatch.wire.fields import Fields, mapping, text
from agentwatch.wire.tool import Tool, other_tool

_MAX_OPEN_CALLS = 64
_MAX_NAME = 1000
"""In characters. The ids in captures have at most 85."""
_MAX_TARGET = 10_000
"""In characters. A target is shown in at most 200 columns."""


class _Asked(NamedTuple):
    tool: str
    target: str


class Queries:
    """Keeps the target in the arguments of each query until its call completes.

    A query's `toolCallId` is the id of its call. The lines of a rejected web search may not contain the
    search term, which is in the query. The query may come before or after the line that starts the call. Both
    were seen in captures.
    """

    def __init__(self) -> None:
        self.asked: dict[str, _Asked] = {}
        """By the id of the call; at most 64."""

    def clear(self) -> None:
        """Forget all queries: another run may use their ids again."""
        self.asked.clear()

    def request(self, fields: Fields) -> Permission:
        """Read a request, and keep the target of its call."""
        subject = _subject(fields)
        query = mapping(fields.get("query"))
        inner = mapping(query.get(text(fields, "query_type") or ""))
        arguments = mapping(inner.get("args"))
        ids = (text(each, "toolCallId") for each in (arguments, inner, query))
        call_id = next(filter(None, ids), None)
        tool: Tool = TOOLS.get(subject) or other_tool(subject)
        target = tool.target(arguments)
        if target == subject and subject not in TOOLS:
            target = None  # without arguments, it is only the name of the tool
        if call_id is not None and target is not None and max(len(call_id), len(subject)) <= _MAX_NAME:
            self.asked[call_id] = _Asked(subject, target[:_MAX_TARGET])
            if len(self.asked) > _MAX_OPEN_CALLS:
                del self.asked[next(iter(self.asked))]
        return Permission(subject, answer=None, at_ms=time_of(fields), is_automatic=True)

    def target(self, call_id: str, tool: str) -> str | None:
        """Return the target of a call as its query described it; None without such a query."""
        asked = self.asked.get(call_id)
        return asked.target if asked is not None and asked.tool == tool else None

    def forget(self, call_id: str) -> None:
        """Forget the query of a call that completed."""
        self.asked.pop(call_id, None)


def response(fields: Fields) -> Permission:
    """Read a response to a query. `approved` or `rejected`, with its reason, may be inside `result`."""
    answer: str | None = None
    reason = None
    for key, value in mapping(fields.get("response")).items():
        body = mapping(value)
        body = mapping(body.get("result")) or body
        if key != "id" and body:
            answer = next(iter(body))
            reason = text(mapping(body[answer]), "reason")
    return Permission(_subject(fields), answer or "answered", reason, time_of(fields))


def _subject(fields: Fields) -> str:
    """Return the subject of a query: `webFetchRequestQuery` is about `webFetch`."""
    name = text(fields, "query_type") or "interaction"
    for ending in ("RequestQuery", "InteractionQuery", "Query"):
        name = name.removesuffix(ending)
    return name
