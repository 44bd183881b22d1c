"""Reads the requests and the responses of calls among the parts of a message."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.agents.fields import Fields, items, mapping, number, text
from agentwatch.agents.tool import Tool
from agentwatch.session.events import Outcome
from agentwatch_goose.tools import tool_of


class Request(NamedTuple):
    """A call that the model requested."""

    call_id: str
    name: str
    tool: Tool
    arguments: Fields
    error: str | None
    """Why the request is not a call."""


class Response(NamedTuple):
    """How a call ended."""

    call_id: str
    outcome: Outcome
    error: str | None
    content: list[object]
    """Its parts."""
    exit_code: int | None = None
    """Of a command, which newer versions give in `structuredContent`."""


def request_in(part: Fields) -> Request:
    """Return the call in a part. The name is in `value`, in older versions in `Ok`."""
    call = mapping(part.get("toolCall"))
    value = mapping(call.get("value")) or mapping(call.get("Ok")) or call
    name, arguments = text(value, "name") or "unknown", mapping(value.get("arguments"))
    return Request(text(part, "id") or "", name, tool_of(name, arguments), arguments, _error(call))


def response_in(part: Fields) -> Response:
    """Return the result in a part: its content, and whether the tool says that it failed."""
    result = mapping(part.get("toolResult")) or mapping(part.get("tool_result"))
    found = next((result[key] for key in ("value", "Ok") if key in result), None)
    value = mapping(found)
    content = items(found) or items(value.get("content"))
    call_id, words = text(part, "id") or "", "\n".join(texts_in(content))
    code = number(mapping(value.get("structuredContent")), "exit_code")
    if (error := _error(result)) is not None:
        return Response(call_id, Outcome.FAILED, error or words or None, content, code)
    if value.get("isError") is True:
        return Response(call_id, Outcome.FAILED, words or None, content, code)
    if found is None:
        return Response(call_id, Outcome.RETURNED, "came back without a result", content)
    return Response(call_id, Outcome.SUCCEEDED, None, content, code)


def texts_in(content: list[object]) -> list[str]:
    """Return the texts among the parts of a result."""
    found = [text(mapping(part), "text") for part in content]
    return [words for words in found if words]


def _error(result: Fields) -> str | None:
    """Return why a call failed, empty if it does not say so; None if it did not fail."""
    if "Err" not in result and result.get("status") != "error":
        return None
    error = result.get("error", result.get("Err"))
    return error if isinstance(error, str) else text(mapping(error), "message") or ""
