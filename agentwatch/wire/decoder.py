"""A line of bytes → events, for a recording of any agent. Decoding is total: no input raises."""

from __future__ import annotations

from agentwatch.events import Event, Malformed, Oversize, Part, Repair, Text, Unknown
from agentwatch.wire.agents import Agent, AgentDecoder, detect
from agentwatch.wire.delta_frames import DeltaFrames
from agentwatch.wire.json_line import Repaired, parse, parse_joined
from agentwatch.wire.oversize import salvage

_SHOWN_BYTES = 400


class Decoder:
    """Decodes the lines of one recording, in order."""

    def __init__(self) -> None:
        self._agent: Agent | None = None
        self._decoder: AgentDecoder | None = None
        self._frames = DeltaFrames()

    def decode(self, data: bytes) -> list[Event]:
        """Return what a line says that is not blank."""
        try:
            value = parse(data)
        except ValueError:
            return [Malformed("not JSON", _beginning(data))]
        if not isinstance(value, dict):
            return [Malformed("not an object", _beginning(data))]
        events = self._events(value)
        if (
            len(events) == 1
            and isinstance(events[0], Text)
            and self._decoder is not None
            and self._decoder.streams(value)
        ):
            said = events[0]
            self._frames.learn(data, said.channel, said.text, said.at_ms)
        return events

    def burst(self, lines: list[bytes], start: int) -> tuple[list[Event], int] | None:
        """Return what the deltas from a line on say together, and how many they are.

        None when they are to be read line by line.
        """
        if self._decoder is None:
            return None
        burst = self._frames.take(lines, start)
        events = None if burst is None else self._decoder.burst(burst)
        return None if burst is None or events is None else (events, len(burst.texts))

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        """Return what physical lines say together; None when together they are no object either."""
        try:
            value = parse_joined(pieces)
        except ValueError:
            return None
        if not isinstance(value, dict):
            return None
        return self._events(value if isinstance(value, Repaired) else Repaired(value, value))

    def decode_oversize(self, head: bytes, tail: bytes, size: int) -> list[Event]:
        """Return what the two ends of a line of `size` bytes say."""
        fields = salvage(head, tail)
        if not fields:
            return [Malformed(f"not JSON, {size} bytes", _beginning(head))]
        return [Oversize(size), *self._events(fields)]

    def end(self) -> list[Event]:
        """Return what the end of the stream says."""
        return [] if self._decoder is None else self._decoder.end()

    def parts(self, data: bytes) -> list[Part]:
        """Return what a line of a tool call carries for the detail of the call."""
        try:
            value = parse_joined(data.split(b"\n"))
        except ValueError:
            value = None
        if not isinstance(value, dict) or self._agent is None:
            return [Part("content", data.decode("utf-8", "replace"))]
        return list(self._agent.parts(value))

    def is_retold(self, data: bytes) -> bool:
        """Return whether the parts of a line with this piece have words that its bytes do not hold."""
        return self._agent is not None and self._agent.RETOLD in data

    def _events(self, fields: dict[str, object]) -> list[Event]:
        if self._decoder is None:
            self._agent = detect(fields)
            if self._agent is None:
                return [Unknown(f"type {fields.get('type')}")]
            self._decoder = self._agent.Decoder()
        events = self._decoder.decode(fields)
        return [*events, Repair()] if isinstance(fields, Repaired) else events


def _beginning(data: bytes) -> str:
    return data[:_SHOWN_BYTES].decode("utf-8", "replace").strip()
