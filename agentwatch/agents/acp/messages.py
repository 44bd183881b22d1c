"""The messages of a log: their content blocks, emoji that two lines split, and requests with responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from agentwatch.agents.fields import (
    NO_FIELDS,
    Fields,
    Repaired,
    decoded_size,
    items,
    mapping,
    number,
    text,
    whole_text,
)
from agentwatch.agents.tool import remember
from agentwatch.session.events import Channel, Event, Notice, Text, TextEnded
from agentwatch.text.amounts import byte_size

_MOST_HELD = 1 << 20
_MOST_WRITERS = 64


def prompt_text(content: object) -> str:
    """Return the text of a user's message: its texts and the names of what is attached to it."""
    blocks = content if isinstance(content, list) else [content]
    return "".join(map(_block_text, map(mapping, blocks)))


def chunk_text(update: Fields) -> str | None:
    content = mapping(update.get("content"))
    found = content.get("text")
    return found if isinstance(found, str) and content.get("type", "text") == "text" else None


def attachment(update: Fields) -> Notice:
    return Notice(f"the agent attached {_block_text(mapping(update.get('content')))}")


def _block_text(block: Fields) -> str:
    kind = text(block, "type")
    if kind in (None, "text"):
        return text(block, "text") or ""
    if kind == "resource_link":
        return f"@{text(block, 'name') or text(block, 'uri') or kind}"
    if kind == "resource":
        return f"@{text(mapping(block.get('resource')), 'uri') or kind}"
    data = block.get("data")
    size = byte_size(decoded_size(data)) if isinstance(data, str) else None
    words = (text(block, "mimeType") or kind, size)
    return f"[{' '.join(word for word in words if word)}]"


class Answers:
    """The texts of the main agent, per channel. A message ends when another message id begins."""

    def __init__(self) -> None:
        self._halves: dict[Channel, str] = {}
        self._messages: dict[Channel, str | None] = {}

    def add(self, channel: Channel, fields: Fields, update: Fields) -> list[Event]:
        """`fields` is the whole line; if it was repaired, it still has the halves of split emoji."""
        message = text(update, "messageId")
        known = self._messages.get(channel)
        ended = message is not None and known is not None and message != known
        lead = [*self._end_half(channel), TextEnded(channel)] if ended else []
        if message is not None:
            self._messages[channel] = message
        whole, half = _split(self._halves.pop(channel, "") + (chunk_text(with_halves(fields, update)) or ""))
        if half:
            self._halves[channel] = half
        return [*lead, Text(channel, whole)]

    def is_whole(self, channel: Channel) -> bool:
        return channel not in self._halves

    def has_message(self, channel: Channel, update: Fields) -> bool:
        message = text(update, "messageId")
        return message is not None and message == self._messages.get(channel)

    def end(self) -> list[Event]:
        """Return the halves of emoji that no line has completed, as U+FFFD."""
        return [event for channel in tuple(self._halves) for event in self._end_half(channel)]

    def _end_half(self, channel: Channel) -> list[Event]:
        half = self._halves.pop(channel, "")
        return [Text(channel, whole_text(half))] if half else []


class HeldTexts:
    """Held back until complete: several may write at once, and only the transcript's last text can grow."""

    def __init__(self) -> None:
        self._pieces: dict[str, tuple[Channel, str | None, list[str]]] = {}
        self._sizes: dict[str, int] = {}

    def add(self, parent_call: str, channel: Channel, update: Fields) -> list[Event]:
        """Return the text before, if the chunk begins another one. `update` has the halves of split emoji."""
        events: list[Event] = []
        message = text(update, "messageId")
        held = self._pieces.get(parent_call)
        if held is not None and (held[0] is not channel or (message is not None and held[1] != message)):
            events = self.end(parent_call)
        _, _, pieces = self._pieces.setdefault(parent_call, (channel, message, []))
        pieces.append(chunk_text(update) or "")
        self._sizes[parent_call] = self._sizes.get(parent_call, 0) + len(pieces[-1])
        if self._sizes[parent_call] > _MOST_HELD:
            events += self.end(parent_call)
        if len(self._pieces) > _MOST_WRITERS:
            events += self.end(next(iter(self._pieces)))
        return events

    def end(self, parent_call: str) -> list[Event]:
        held = self._pieces.pop(parent_call, None)
        self._sizes.pop(parent_call, None)
        if held is None:
            return []
        channel, _, pieces = held
        return [
            Text(channel, whole_text("".join(pieces)), parent_call=parent_call),
            TextEnded(channel, parent_call=parent_call),
        ]

    def end_all(self) -> list[Event]:
        return [event for parent_call in tuple(self._pieces) for event in self.end(parent_call)]


def texts_in(content: object) -> Iterator[str]:
    for block in map(mapping, items(content)):
        inner = mapping(block.get("content")) if block.get("type") == "content" else block
        if found := text(inner, "text"):
            yield found


def count_of(fields: Fields, *keys: str) -> int | None:
    """Return the first of these fields that is a number and not negative."""
    found = (number(fields, key) for key in keys)
    return next((value for value in found if value is not None and value >= 0), None)


def _split(joined: str) -> tuple[str, str]:
    if "\ud800" <= joined[-1:] <= "\udbff":
        return whole_text(joined[:-1]), joined[-1]
    return whole_text(joined), ""


def with_halves(fields: Fields, update: Fields) -> Fields:
    """Return the update of a line, with the halves of split emoji if the line was repaired."""
    if not isinstance(fields, Repaired):
        return update
    return mapping(mapping(fields.halves.get("params")).get("update"))


# The request that a response answers. Client and agent number their requests independently.

_MOST_OPEN = 256
"""Requests that may be open at the same time, per direction. Captures have at most two."""
_MOST_CHARACTERS = 500

PROMPT = "session/prompt"
PERMISSION = "session/request_permission"
INITIALIZE = "initialize"
NEW_SESSION = "session/new"
QUESTION, NEW_PLAN = "cursor/ask_question", "cursor/create_plan"
"""The requests of Cursor's extension that wait for the user."""
ELICITATION = "elicitation/create"
"""The request for other input of the user: a form, or a page to visit."""
ASKING = (PERMISSION, QUESTION, NEW_PLAN, ELICITATION)
"""The requests of an agent that a user answers."""
_BY_AGENT = (PERMISSION, QUESTION, NEW_PLAN, "fs/", "terminal/", "elicitation/", "mcp/")
"""The requests of an agent to its client. All others are the client's."""
_RESULTS = {
    PROMPT: ("stopReason", "messageId"),
    PERMISSION: ("outcome",),
    QUESTION: ("outcome",),
    NEW_PLAN: ("outcome",),
    ELICITATION: ("action",),
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
    method: str
    session: str | None = None
    order: int = 0
    call_id: str | None = None
    subject: str = ""
    options: Mapping[str, str] = NO_FIELDS
    """The kinds of the options of a permission, or the labels of those of a question, by their ids."""
    value: str | None = None
    """The working directory, the mode, the model or the terminal that the request names."""


class Requests:
    def __init__(self) -> None:
        self._client: dict[_Key, Request] = {}
        self._agent: dict[_Key, Request] = {}
        self._count = 0

    def add(self, fields: Fields, request: Request) -> None:
        key = _key(fields.get("id"))
        if key is None:
            return
        self._count += 1
        asked = self._agent if request.method.startswith(_BY_AGENT) else self._client
        remember(asked, key, request._replace(order=self._count), _MOST_OPEN)

    def answered(self, fields: Fields) -> Request | None:
        """Return the request that a response answers, and forget it. If both directions have its id, the
        members of the result decide; an error or an empty result has none, and answers the later request:
        an agent that waits for its client does not end the turn."""
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

    def has_question(self, session: str | None) -> bool:
        return any(each.method in ASKING and each.session == session for each in self._agent.values())

    def has_prompt(self, after: Request) -> bool:
        return any(
            each.method == PROMPT and each.session == after.session and each.order > after.order
            for each in self._client.values()
        )

    def clear(self) -> None:
        """Forget all requests: the process that would have answered them has ended."""
        self._client.clear()
        self._agent.clear()


_DECISIVE = (PROMPT, PERMISSION, INITIALIZE, NEW_SESSION)
"""The methods whose results are known without their request."""


def method_fits(method: str, result: Fields) -> bool:
    """Return whether an object may be the result of a method, judged by its members."""
    return any(key in result for key in _RESULTS.get(method, ()))


def short(value: str | None) -> str | None:
    return value if value is not None and len(value) <= _MOST_CHARACTERS else None


def _key(value: object) -> _Key | None:
    if isinstance(value, str):
        return (str, value) if len(value) <= _MOST_CHARACTERS else None
    return (float, value) if isinstance(value, int | float) and not isinstance(value, bool) else None
