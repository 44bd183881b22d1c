"""Cursor's text: which lines bring new text and which repeat what was said, and emoji cut in two."""

from __future__ import annotations

from agentwatch.events import Channel, Event, Text, TextEnded, Unknown
from agentwatch.wire.delta_frames import Burst
from agentwatch.wire.fields import Fields, items, mapping, number
from agentwatch.wire.json_line import Repaired, whole_text


class Answer:
    """The assistant's text, segment by segment; a segment ends at a call, a query, an init or a result."""

    def __init__(self) -> None:
        self._segment: list[str] = []
        self._has_deltas = False
        self._is_flushed = False
        self._half = ""

    def take(self, fields: Fields) -> list[Event]:
        """Tell new text from a repeated segment: the two look alike line by line.

        With a timestamp and without a model_call_id it is new. Otherwise it is a flush, if it
        repeats what the deltas of this segment already said, and the only copy if not. On 16 of 16
        real runs this gave the result's text; every simpler filter failed on at least 12.
        """
        source = fields.halves if isinstance(fields, Repaired) else fields
        said = message_text(source)
        if said is None:
            return [Unknown("assistant message without text")]
        at_ms = time_of(fields)
        if at_ms is not None and fields.get("model_call_id") is None:
            lead = self.end_segment() if self._is_flushed else []
            said, self._half = _joined(self._half, said)
            self._has_deltas = True
            self._segment.append(said)
            return [*lead, Text(Channel.ANSWER, said, at_ms)]
        said = whole_text(said)
        if self._has_deltas and "".join(self._segment) + whole_text(self._half) == said:
            lone, self._half = whole_text(self._half), ""
            self._segment.append(lone)
            self._is_flushed = True
            ended = TextEnded(Channel.ANSWER, at_ms)
            return [Text(Channel.ANSWER, lone, at_ms), ended] if lone else [ended]
        self._segment.append(said)
        return [Text(Channel.ANSWER, said, at_ms)]

    def take_burst(self, burst: Burst) -> list[Event] | None:
        """Return what lines without a model_call_id say together.

        None when one by one they could mean something else: the first ends a flushed segment or an
        emoji, and without times each may be a flush.
        """
        is_timed = burst.first_ms is not None
        if self._half or self._is_flushed or not burst.texts[0] or (self._has_deltas and not is_timed):
            return None
        self._has_deltas = is_timed
        said = "".join(burst.texts)
        self._segment.append(said)
        return [Text(Channel.ANSWER, said, burst.first_ms, burst.last_ms)]

    def end_segment(self) -> list[Event]:
        """Forget the segment; half an emoji whose other half never came is told as U+FFFD."""
        self._segment.clear()
        self._has_deltas = self._is_flushed = False
        if not self._half:
            return []
        lone, self._half = whole_text(self._half), ""
        return [Text(Channel.ANSWER, lone)]


class Thoughts:
    """The model's reasoning; its text stands at the top of the line."""

    def __init__(self) -> None:
        self._half = ""

    def take(self, fields: Fields) -> list[Event]:
        """Return a delta's text."""
        source = fields.halves if isinstance(fields, Repaired) else fields
        said = source.get("text")
        whole, self._half = _joined(self._half, said if isinstance(said, str) else "")
        return [Text(Channel.REASONING, whole, time_of(fields))]

    def take_burst(self, burst: Burst) -> list[Event] | None:
        """Return what deltas say together; None when the first ends an emoji."""
        if self._half or not burst.texts[0]:
            return None
        return [Text(Channel.REASONING, "".join(burst.texts), burst.first_ms, burst.last_ms)]

    def end_block(self) -> list[Event]:
        """Wait no longer for the other half of an emoji: it is told as U+FFFD."""
        if not self._half:
            return []
        lone, self._half = whole_text(self._half), ""
        return [Text(Channel.REASONING, lone)]


def message_text(fields: Fields) -> str | None:
    """Return the text of a message; None when it has none."""
    content = mapping(fields.get("message")).get("content")
    if isinstance(content, str):
        return content
    found = [mapping(part).get("text") for part in items(content)]
    texts = [piece for piece in found if isinstance(piece, str)]
    return "".join(texts) if texts else None


def time_of(fields: Fields) -> int | None:
    """Return when the agent says the line was written."""
    return number(fields, "timestamp_ms")


def _joined(half: str, said: str) -> tuple[str, str]:
    """Return a delta's text with the half before it, and the half that it ends in."""
    said = half + said
    if "\ud800" <= said[-1:] <= "\udbff":
        return whole_text(said[:-1]), said[-1]
    return whole_text(said), ""
