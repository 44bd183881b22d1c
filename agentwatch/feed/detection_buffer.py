"""The first lines of a recording, held back until the agent that wrote them is known."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.events import Unknown
from agentwatch.feed.line_joiner import DecodedLine
from agentwatch.wire import Decoder


class DetectionBuffer:
    """Holds lines back while the decoder does not know the agent.

    Several agents may begin with the same lines, before the first line that identifies the agent. Once the
    agent is known, the held lines are released with the events that its decoder reads from them. If the agent
    is still unknown after 50 lines or 1 MiB, or at the end of the stream, they are released as unknown.
    """

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._held: list[DecodedLine] = []

    @property
    def is_active(self) -> bool:
        """Whether lines are being held, or may still have to be."""
        return self._decoder.is_detecting or bool(self._held)

    @property
    def held_lines(self) -> int:
        """The number of physical lines that are held."""
        return sum(line.physical_lines for line in self._held)

    @property
    def end(self) -> int:
        """The offset in the recording after the last held line, in bytes; 0 if no line is held."""
        return self._held[-1].place.offset + self._held[-1].place.length + 1 if self._held else 0

    def release(self, lines: Iterator[DecodedLine]) -> Iterator[DecodedLine]:
        """Yield the lines that can be applied now, in order.

        A line is held if its agent is unknown, or if a line before it is held.
        """
        for line in lines:
            if self._decoder.is_detecting and (self._held or _is_undetected(line)):
                self._held.append(line)
                continue
            yield from self.rest()
            yield line
            if not self._decoder.is_detecting:
                break
        yield from lines

    def rest(self) -> list[DecodedLine]:
        """Return the held lines, with their real events if the agent is known."""
        held, self._held = self._held, []
        redecoded = iter(self._decoder.take_redecoded())
        for number, line in enumerate(held):
            events = next(redecoded, None) if _is_undetected(line) else None
            if events is not None:
                kept = [event for event in line.events if type(event) is not Unknown]
                held[number] = line._replace(events=[*events, *kept])
        return held


def _is_undetected(line: DecodedLine) -> bool:
    return any(type(event) is Unknown for event in line.events)
