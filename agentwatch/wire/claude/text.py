"""The text and the reasoning of the main agent: deltas, and the full blocks that repeat them.

With `--include-partial-messages` each block comes as deltas, and then as a full block. Claude Code writes the
full block before the `content_block_stop` of its deltas, Qwen Code after it and with another message id. The
deltas of a subagent are not decoded: several subagents may write at once, and the full block follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from agentwatch.events import Channel, Event, Text, TextEnded, TextRetracted
from agentwatch.wire.fields import Fields, items, mapping, text
from agentwatch.wire.segment_text import SegmentText

_KEYS = (("text", Channel.ANSWER), ("thinking", Channel.REASONING))
_MOST_TIME = 40
"""In characters. A time in ISO form has 24."""
_FIRST_YEAR = 1970
_MOST_LINES = 256
"""The number of messages of a turn that can be retracted; a refusal retracts the last ones."""


class MainText:
    """Distinguishes new text from text that repeats deltas."""

    def __init__(self) -> None:
        self._segments = {channel: SegmentText() for channel in Channel}
        self._lengths = dict.fromkeys(Channel, 0)
        """The characters of the deltas that no full block has repeated yet."""
        self._written: dict[str, int] = {}
        """The length of the answer in each line of the turn, by the line's uuid; at most 256."""

    def add(self, channel: Channel, new: str) -> list[Event]:
        """Return new text that came as one or more deltas."""
        self._segments[channel].add(new)
        self._lengths[channel] += len(new)
        return [Text(channel, new)]

    def block(self, channel: Channel, full: str, at_ms: int | None, uuid: str | None) -> list[Event]:
        """Return the events of a full block: its text if no deltas came, otherwise the end of their text.

        An answer that differs from its deltas replaces them. Reasoning does not: its full block may be empty.
        """
        if channel is Channel.ANSWER:
            self._write(uuid, len(full))
        length = self._lengths[channel]
        if not length:
            return [Text(channel, full, at_ms), TextEnded(channel, at_ms)] if full else []
        is_same = channel is Channel.REASONING or self._segments[channel].is_repeated_by(full)
        self._forget(channel)
        if is_same:
            return [TextEnded(channel, at_ms)]
        lead = TextRetracted(length)
        return [lead, Text(channel, full, at_ms), TextEnded(channel, at_ms)] if full else [lead]

    def message_started(self) -> list[Event]:
        """Begin a message. The answer of one that was broken off is retracted: the agent repeats it."""
        length = self._lengths[Channel.ANSWER]
        for channel in Channel:
            self._forget(channel)
        return [TextRetracted(length)] if length else []

    def retract(self, uuids: object) -> list[Event]:
        """Return the retraction of the lines with these uuids, and of those after them."""
        named = {uuid for uuid in items(uuids) if isinstance(uuid, str)}
        lines = list(self._written)
        first = next((index for index, uuid in enumerate(lines) if uuid in named), len(lines))
        length = sum(self._written.pop(uuid) for uuid in lines[first:])
        return [TextRetracted(length)] if length else []

    def turn_ended(self) -> None:
        """Forget the texts of the turn: what follows does not repeat them."""
        self._written.clear()
        for channel in Channel:
            self._forget(channel)

    def _write(self, uuid: str | None, length: int) -> None:
        key = uuid or f"line {len(self._written)}"
        self._written[key[:100]] = self._written.get(key[:100], 0) + length
        if len(self._written) > _MOST_LINES:
            del self._written[next(iter(self._written))]

    def _forget(self, channel: Channel) -> None:
        self._segments[channel].clear()
        self._lengths[channel] = 0


def delta_text(delta: object) -> tuple[Channel, str] | None:
    """Return the channel and the new text of a delta; None for one of arguments or of a signature."""
    if type(delta) is not dict:
        return None
    for key, channel in _KEYS:
        found = delta.get(key)
        if type(found) is str and found:
            return channel, found
    return None


def texts_of(lines: list[Fields]) -> tuple[list[tuple[Channel, str]], int]:
    """Return the texts of the main agent in consecutive deltas, those of a channel joined.

    Returns:
        The texts, and the number of lines before the first that is no delta and no count of thinking tokens.
    """
    pieces: list[tuple[Channel, list[str]]] = []
    for count, fields in enumerate(lines):
        kind = fields.get("type")
        if kind == "stream_event":
            event = fields.get("event")
            if type(event) is not dict or event.get("type") != "content_block_delta":
                return _joined(pieces), count
            found = delta_text(event.get("delta"))
            if found is not None and fields.get("parent_tool_use_id") is None:
                channel, words = found
                if not pieces or pieces[-1][0] is not channel:
                    pieces.append((channel, []))
                pieces[-1][1].append(words)
        elif kind != "system" or fields.get("subtype") != "thinking_tokens":
            return _joined(pieces), count
    return _joined(pieces), len(lines)


def _joined(pieces: list[tuple[Channel, list[str]]]) -> list[tuple[Channel, str]]:
    return [(channel, "".join(found)) for channel, found in pieces]


def blocks_of(message: Fields) -> Iterator[Fields]:
    """Yield the blocks of a message; a message that is one string is one block of text."""
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from map(mapping, items(content))


def words_in(blocks: list[Fields]) -> str:
    """Return the texts of a user's line, without the results of calls."""
    return "\n".join(
        found for block in blocks if (found := text(block, "text")) and not ends_with(block, "tool_result")
    )


def ends_with(block: Fields, ending: str) -> bool:
    """Return whether the type of a block ends with a word: `server_tool_use` is a `tool_use` too."""
    kind = block.get("type")
    return isinstance(kind, str) and kind.endswith(ending)


def model_in(fields: Fields) -> str | None:
    """Return the model that wrote a message; None for `<synthetic>`: the agent wrote it itself."""
    model = text(mapping(fields.get("message")), "model")
    return None if model is None or model.startswith("<") else model


def line_ms(fields: Fields) -> int | None:
    """Return the time of a line, in milliseconds since the epoch; None without a `timestamp` in ISO form."""
    written = text(fields, "timestamp")
    if written is None or len(written) > _MOST_TIME:
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    if moment.tzinfo is None or moment.year < _FIRST_YEAR:
        return None
    return round(moment.timestamp() * 1000)
