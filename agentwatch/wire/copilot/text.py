"""Copilot's texts and thoughts: their deltas, and the whole message that repeats them."""

from __future__ import annotations

from agentwatch.events import Channel, Event, Text, TextEnded, TextRetracted
from agentwatch.wire.fields import Fields, number, text
from agentwatch.wire.segment_text import SegmentText

_MOST_AGENTS = 64
_MOST_IDS = 16
_MOST_ID = 1000
"""In characters. The ids in captures have 36."""


class Answers:
    """The texts of the main agent's messages. Those of subagents are only shown when they are whole."""

    def __init__(self) -> None:
        self._segment = SegmentText()
        self._message: str | None = None
        """The id of the message whose deltas these are; None without deltas."""
        self._length = 0

    def add(self, data: Fields, at_ms: int | None) -> list[Event]:
        """Return the events of a delta."""
        delta = text(data, "deltaContent")
        if delta is None:
            return []
        message = text(data, "messageId") or ""
        events = [] if message == self._message else self.end()
        self._message = message
        self._segment.add(delta)
        self._length += len(delta)
        return [*events, Text(Channel.ANSWER, delta, at_ms)]

    def whole(self, data: Fields, at_ms: int | None) -> list[Event]:
        """Return what a whole message adds to its deltas. One that differs from them replaces them.

        A long message may come in several chunks. The deltas of such a message stay.
        """
        content = text(data, "content")
        is_streamed = self._message == (text(data, "messageId") or "")
        is_chunk = (number(data, "chunkCount") or 0) > 1
        length, segment = self._length, self._segment
        if content is None or not is_streamed:
            said = [] if content is None else [Text(Channel.ANSWER, content, at_ms)]
            ended = [TextEnded(Channel.ANSWER, at_ms)] if said else []
            return [*self.end(), *said, *ended]
        if is_chunk or segment.is_repeated_by(content):
            return self.end()
        if segment.is_repeated_by(content[:length]):
            return [Text(Channel.ANSWER, content[length:], at_ms), *self.end()]
        retracted = [*self.end(), TextRetracted(length)]
        return [*retracted, Text(Channel.ANSWER, content, at_ms), TextEnded(Channel.ANSWER, at_ms)]

    def end(self) -> list[Event]:
        """End the deltas of a message."""
        events: list[Event] = [] if self._message is None else [TextEnded(Channel.ANSWER)]
        self._message = None
        self._segment = SegmentText()
        self._length = 0
        return events


class _Thoughts:
    """What one agent thinks."""

    __slots__ = ("ids", "is_known", "is_open", "segment")

    def __init__(self) -> None:
        self.is_known = False
        """Whether the thoughts before the next message are known."""
        self.is_open = False
        """Whether the last delta may still be continued."""
        self.ids: dict[str, None] = {}
        """The ids of the last known thoughts."""
        self.segment = SegmentText()
        """The thoughts that only the last message contained."""


class Thoughts:
    """The thoughts of each agent. Up to three lines contain each of them.

    They come as deltas, then within the message that follows (`reasoningText`), and at last by themselves
    (`assistant.reasoning`), even after the calls of that message. Older versions write the last one first.
    """

    def __init__(self) -> None:
        self._agents: dict[str, _Thoughts] = {}

    def add(self, data: Fields, agent: str | None, at_ms: int | None) -> list[Event]:
        """Return the events of a delta. Those of subagents are held back until they are whole."""
        delta = text(data, "deltaContent")
        if delta is None or agent is not None:
            return []
        thoughts = self._of(agent)
        thoughts.is_known = thoughts.is_open = True
        _remember(thoughts, data)
        return [Text(Channel.REASONING, delta, at_ms)]

    def whole(self, data: Fields, agent: str | None, at_ms: int | None) -> list[Event]:
        """Return the events of a whole thought, unless it is known."""
        thoughts = self._of(agent)
        words = text(data, "content")
        is_known = (text(data, "reasoningId") or "") in thoughts.ids
        if words is None or is_known or thoughts.segment.is_repeated_by(words):
            return _ended(thoughts)
        thoughts.is_known = True
        _remember(thoughts, data)
        return [*_ended(thoughts), *_said(words, agent, at_ms)]

    def message(self, data: Fields, agent: str | None, at_ms: int | None) -> list[Event]:
        """Return the thoughts in a message, unless they are known. What comes after it is a new thought."""
        thoughts = self._of(agent)
        words = None if thoughts.is_known else text(data, "reasoningText")
        thoughts.segment.clear()
        thoughts.is_known = False
        if words is None:
            return _ended(thoughts)
        thoughts.segment.add(words)
        return _said(words, agent, at_ms)

    def _of(self, agent: str | None) -> _Thoughts:
        key = (agent or "")[:_MOST_ID]
        thoughts = self._agents.get(key)
        if thoughts is None:
            thoughts = self._agents[key] = _Thoughts()
            if len(self._agents) > _MOST_AGENTS:
                del self._agents[next(iter(self._agents))]
        return thoughts


def _remember(thoughts: _Thoughts, data: Fields) -> None:
    thought = text(data, "reasoningId")
    if thought is not None and len(thought) <= _MOST_ID:
        thoughts.ids[thought] = None
        if len(thoughts.ids) > _MOST_IDS:
            del thoughts.ids[next(iter(thoughts.ids))]


def _said(words: str, agent: str | None, at_ms: int | None) -> list[Event]:
    return [
        Text(Channel.REASONING, words, at_ms, agent=agent),
        TextEnded(Channel.REASONING, at_ms, agent),
    ]


def _ended(thoughts: _Thoughts) -> list[Event]:
    events: list[Event] = [TextEnded(Channel.REASONING)] if thoughts.is_open else []
    thoughts.is_open = False
    return events
