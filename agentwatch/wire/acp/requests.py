"""Finds the request that a response answers. Client and agent number their requests independently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agentwatch.wire.fields import NO_FIELDS, Fields, mapping, text

_MOST_OPEN = 256
"""Requests that may be open at the same time, per direction. Captures have at most two."""
_MOST_CHARACTERS = 500
"""The length of an id, a mode or a model that is kept."""

PROMPT = "session/prompt"
PERMISSION = "session/request_permission"
INITIALIZE = "initialize"
NEW_SESSION = "session/new"
_BY_AGENT = (PERMISSION, "fs/", "terminal/", "elicitation/", "mcp/")
"""What an agent requests of its client. All other requests are the client's."""
_RESULTS = {
    PROMPT: ("stopReason", "messageId"),
    PERMISSION: ("outcome",),
    INITIALIZE: ("protocolVersion",),
    NEW_SESSION: ("sessionId",),
    "session/load": ("configOptions", "modes", "models"),
    "fs/read_text_file": ("content",),
    "terminal/create": ("terminalId",),
    "terminal/wait_for_exit": ("exitCode", "signal"),
    "terminal/output": ("output",),
}
"""The members by which the result of a method is known."""

_Key = tuple[type, str | float]


class Request(NamedTuple):
    """A request that has no response yet; each text is None if the request does not contain it."""

    method: str
    session: str | None = None
    order: int = 0
    """The number of requests before it."""
    call_id: str | None = None
    """The call that a permission is for."""
    subject: str = ""
    """The tool that a permission is for."""
    options: Mapping[str, str] = NO_FIELDS
    """The kinds of the options of a permission, by their ids."""
    value: str | None = None
    """The working directory, the mode, the model or the terminal that the request names."""


class Requests:
    """The open requests of both directions."""

    def __init__(self) -> None:
        self._client: dict[_Key, Request] = {}
        self._agent: dict[_Key, Request] = {}
        self._count = 0

    def add(self, fields: Fields, request: Request) -> None:
        """Keep a request until its response arrives. A notification has no id, and no response."""
        key = _key(fields.get("id"))
        if key is None:
            return
        self._count += 1
        asked = self._agent if request.method.startswith(_BY_AGENT) else self._client
        asked[key] = request._replace(order=self._count)
        if len(asked) > _MOST_OPEN:
            del asked[next(iter(asked))]

    def answered(self, fields: Fields) -> Request | None:
        """Return the request that a response answers, and forget it; None if the log does not contain it.

        If both directions have a request of this id, the members of the result decide. An error or an empty
        result has none: it answers the later request, because an agent that waits for its client does not end
        the turn.
        """
        key = _key(fields.get("id"))
        result = mapping(fields.get("result"))
        shape = next((method for method in _DECISIVE if method_fits(method, result)), None)
        found = [asked for asked in (self._client, self._agent) if key is not None and key in asked]
        if key is None or not found:
            return None if shape is None else Request(shape, text(result, "sessionId"))
        fitting = [asked for asked in found if method_fits(asked[key].method, result)]
        if not fitting and shape is not None:
            return Request(shape)
        return max(fitting or found, key=lambda asked: asked[key].order).pop(key)

    def has_prompt(self, after: Request) -> bool:
        """Return whether a later prompt of the same session has no response yet."""
        return any(
            each.method == PROMPT and each.session == after.session and each.order > after.order
            for each in self._client.values()
        )

    def clear(self) -> None:
        """Forget all requests: the process that would have answered them is gone."""
        self._client.clear()
        self._agent.clear()


_DECISIVE = (PROMPT, PERMISSION, INITIALIZE, NEW_SESSION)
"""The methods whose results are known without their request."""


def method_fits(method: str, result: Fields) -> bool:
    """Return whether an object may be the result of a method, judged by its members."""
    return any(key in result for key in _RESULTS.get(method, ()))


def short(value: str | None) -> str | None:
    """Return a text that is short enough to be kept; None for a longer one."""
    return value if value is not None and len(value) <= _MOST_CHARACTERS else None


def _key(value: object) -> _Key | None:
    if isinstance(value, str):
        return (str, value) if len(value) <= _MOST_CHARACTERS else None
    return (float, value) if isinstance(value, int | float) and not isinstance(value, bool) else None
