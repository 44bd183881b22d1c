"""The text of the message that Pi streams: its deltas, and the whole message that repeats them."""

from __future__ import annotations

from agentwatch.events import Channel, Event, Text, TextEnded, TextRetracted
from agentwatch.wire.segment_text import SegmentText

_MOST_BLOCKS = 64
"""A message has a few texts and thoughts. Of more, the oldest are not compared with the whole message."""


class _Streamed:
    """The deltas of one block."""

    __slots__ = ("channel", "length", "segment")

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.segment = SegmentText()
        self.length = 0

    def add(self, text: str) -> None:
        self.segment.add(text)
        self.length += len(text)

    def rest(self, whole: str) -> str | None:
        """Return what a text adds to the deltas; None if it does not begin with them."""
        return whole[self.length :] if self.segment.is_repeated_by(whole[: self.length]) else None


class MessageText:
    """The texts and thoughts of the present message, by their index in its content."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Streamed] = {}
        self._last: int | None = None
        """The block of the last delta."""

    def begin(self) -> list[Event]:
        """Begin a message, and end the last text of a message that was cut."""
        last = None if self._last is None else self._blocks.get(self._last)
        self._blocks.clear()
        self._last = None
        return [] if last is None else [TextEnded(last.channel)]

    def add(self, index: int, channel: Channel, text: str) -> list[Event]:
        """Return the events of a delta."""
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _Streamed(channel)
            if len(self._blocks) > _MOST_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
        before = None if self._last in (None, index) else self._blocks.get(self._last or 0)
        self._last = index
        block.add(text)
        delta = Text(block.channel, text)
        return [delta] if before is None else [TextEnded(before.channel), delta]

    def end_block(self, index: int, channel: Channel, whole: str) -> list[Event]:
        """Return what the whole text of a block adds to its deltas.

        A text that differs is left to the end of the message, which repeats it.
        """
        block = self._blocks.get(index)
        if block is None:
            return self.add(index, channel, whole) if whole else []
        is_last = index == self._last or block.channel is Channel.REASONING
        rest = block.rest(whole) if is_last else None
        if not rest:
            return []
        block.add(rest)
        return [Text(block.channel, rest)]

    def end(self, texts: list[tuple[int, Channel, str]]) -> list[Event]:
        """Return what the whole message adds to its deltas. Answers that differ from them are replaced.

        Args:
            texts: The texts of the message, each with its index and channel.
        """
        blocks = dict(self._blocks)
        first = next((index for index, channel, whole in texts if self._differs(index, channel, whole)), None)
        events = self.begin()
        if first is not None:
            streamed = (each.length for index, each in blocks.items() if _is_answer(each) and index >= first)
            if length := sum(streamed):
                events.append(TextRetracted(length))
        for index, channel, whole in texts:
            is_said = index in blocks if channel is Channel.REASONING else first is None or index < first
            if not is_said:
                events += [Text(channel, whole), TextEnded(channel)]
        return events

    def _differs(self, index: int, channel: Channel, whole: str) -> bool:
        block = self._blocks.get(index)
        return channel is Channel.ANSWER and (block is None or not block.segment.is_repeated_by(whole))


def _is_answer(block: _Streamed) -> bool:
    return block.channel is Channel.ANSWER
