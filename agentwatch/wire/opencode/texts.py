"""The texts of opencode's parts, which may be repeated as they grow."""

from __future__ import annotations

from agentwatch.events import Channel, Event, Text, TextEnded, TextRetracted
from agentwatch.wire.fields import Fields, mapping, number, text

_MOST_KNOWN = 64
"""The number of parts whose text is compared with a later one. A text grows while it is the newest."""


class Texts:
    """Turns parts with text into events. A part that repeats its id replaces its text."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        """The length and the hash of a text, by the id of its part."""
        self._open: tuple[Channel, str | None] | None = None
        """The channel and the agent of the last text, if it has not ended."""
        self._last: str | None = None
        """The id of the part with the last text of the main answer."""

    def add(self, part: Fields, channel: Channel, agent: str | None) -> list[Event]:
        """Return the events of a part with text."""
        part_id, words, time = text(part, "id") or "", text(part, "text") or "", mapping(part.get("time"))
        at_ms, until_ms = number(time, "start"), number(time, "end")
        length, digest = self._known.get(part_id, (0, 0)) if part_id else (0, 0)
        events: list[Event] = []
        is_grown = not length or (len(words) >= length and hash(words[:length]) == digest)
        is_answer = channel is Channel.ANSWER and agent is None
        if not is_grown:
            if not is_answer or self._last != part_id:
                return []  # only the last text of the answer can be replaced
            events.append(TextRetracted(length))
            self._open = None
            length = 0
        if words[length:]:
            if self._open != (channel, agent):
                events += self.close()
            elif not length:
                events.append(TextEnded(channel, agent=agent))
            events.append(Text(channel, words[length:], at_ms, until_ms, agent))
            self._open = channel, agent
            self._last = part_id if is_answer else self._last
            self._keep(part_id, words)
        if until_ms is not None and self._open == (channel, agent):
            events.append(TextEnded(channel, until_ms, agent))
            self._open = None
        return events

    def close(self) -> list[Event]:
        """Return the event that ends the open text, if there is one."""
        if self._open is None:
            return []
        channel, agent = self._open
        self._open = None
        return [TextEnded(channel, agent=agent)]

    def _keep(self, part_id: str, words: str) -> None:
        if part_id:
            self._known.pop(part_id, None)
            self._known[part_id] = len(words), hash(words)
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
