"""Decodes the lines of a recording of any agent. Decoding is total: no input raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import Event, FormatDetected, Malformed, Oversize, Repair, RunStarted, Text, Unknown
from agentwatch.wire.agent import Agent, AgentDecoder, DeltaDecoder, LineRole
from agentwatch.wire.agents import detect
from agentwatch.wire.delta_frames import DeltaFrames
from agentwatch.wire.fields import Fields
from agentwatch.wire.json_line import Repaired, parse, parse_joined
from agentwatch.wire.oversize import salvage

if TYPE_CHECKING:
    from agentwatch.blocks import Block

MAX_UNDETECTED_LINES = 50
MAX_UNDETECTED_BYTES = 1 << 20
"""Lines before the agent is known are kept up to these limits, and decoded again when it is known."""
_SHOWN_BYTES = 400
_MAY_CHANGE_AGENT = (RunStarted, Unknown)
"""A decoder reads another agent's start line as one of these. Asking every agent about every line would cost
more than decoding it."""
_MAX_ROLE_BYTES = 1 << 20
"""A longer line is not parsed to find its role: it takes 1 ms per MiB, and only results are so long."""


class Decoder:
    """Decodes the lines of one recording, in order.

    The agent is detected at the first line that only one agent writes. Earlier lines are decoded as unknown,
    and kept: once the agent is known, `take_redecoded` returns their real events. A line with which another
    agent starts a run changes the agent.
    """

    def __init__(self) -> None:
        self._agent: Agent | None = None
        self._decoder: AgentDecoder | None = None
        self._deltas: DeltaDecoder | None = None
        self._frames = DeltaFrames()
        self._undetected: list[Fields] = []
        self._undetected_bytes = 0
        self._redecoded: list[list[Event]] = []
        self.is_detecting = True
        """Whether no agent is known yet, and lines are kept to be decoded again."""

    def decode(self, data: bytes) -> list[Event]:
        """Return the events of a line that is not blank."""
        try:
            value = parse(data)
        except ValueError:
            return [Malformed("not JSON", _beginning(data))]
        if not isinstance(value, dict):
            return [Malformed("not an object", _beginning(data))]
        events = self._events(value, len(data))
        text, deltas = events[0] if len(events) == 1 else None, self._deltas
        if isinstance(text, Text) and deltas is not None and deltas.streams(value):
            self._frames.learn(data, text.channel, text.text, text.at_ms)
        return events

    def burst(self, lines: list[bytes], start: int) -> tuple[list[Event], int] | None:
        """Return the events of consecutive deltas and the number of their lines.

        Args:
            lines: The lines, each with its line end.
            start: The index of the first delta.

        Returns:
            None if the lines must be decoded one by one.
        """
        if self._deltas is None:
            return None
        burst = self._frames.take(lines, start)
        events = None if burst is None else self._deltas.burst(burst)
        return None if burst is None or events is None else (events, len(burst.texts))

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        """Return the events of one line that raw line ends cut into pieces; None if the pieces are no
        object."""
        try:
            value = parse_joined(pieces)
        except ValueError:
            return None
        if not isinstance(value, dict):
            return None
        repaired = value if isinstance(value, Repaired) else Repaired(value, value)
        return self._events(repaired, sum(map(len, pieces)))

    def decode_oversize(self, head: bytes, tail: bytes, size: int) -> list[Event]:
        """Return the events of a line of `size` bytes, of which only the head and the tail were read."""
        fields = salvage(head, tail)
        if not fields:
            return [Malformed(f"not JSON, {size} bytes", _beginning(head))]
        return [Oversize(size), *self._events(fields, len(head) + len(tail))]

    def end(self) -> list[Event]:
        """Return the events that the end of the stream causes."""
        return [] if self._decoder is None else self._decoder.end()

    def take_redecoded(self) -> list[list[Event]]:
        """Return the real events of the lines before the agent was detected, in order; only once."""
        redecoded, self._redecoded = self._redecoded, []
        return redecoded

    def blocks(self, data: bytes) -> list[Block]:
        """Return the blocks of a line of a tool call."""
        try:
            value = parse_joined(data.split(b"\n"))
        except ValueError:
            value = None
        if not isinstance(value, dict) or self._agent is None:
            from agentwatch.blocks import ContentBlock

            return [ContentBlock(data.decode("utf-8", "replace"))]
        return list(self._agent.blocks(value))

    def role(self, data: bytes) -> LineRole:
        """Return the role of a line, whether or not it was decoded before."""
        if len(data) > _MAX_ROLE_BYTES:
            return LineRole.OTHER
        try:
            value = parse(data)
        except ValueError:
            return LineRole.OTHER
        if not isinstance(value, dict):
            return LineRole.OTHER
        agent = self._agent or detect(value)
        return LineRole.OTHER if agent is None else agent.role(value)

    def searchable_text_differs(self, data: bytes) -> bool:
        """Return whether the blocks of a line with these bytes may contain text that the bytes do not."""
        reworded = None if self._agent is None else self._agent.reworded
        return reworded is not None and reworded in data

    def _events(self, fields: Fields, size: int) -> list[Event]:
        if self._decoder is None:
            agent = detect(fields)
            if agent is None:
                self._keep(fields, size)
                return [Unknown(f"type {fields.get('type')}")]
            events = self._decoded_by(agent, fields)
        else:
            events = self._decoder.decode(fields)
            if events and type(events[-1]) in _MAY_CHANGE_AGENT and (other := self._other_agent(fields)):
                events = [*self._decoder.end(), *self._decoded_by(other, fields)]
        return [*events, Repair()] if isinstance(fields, Repaired) else events

    def _keep(self, fields: Fields, size: int) -> None:
        """Keep a line of no known agent, to decode it again; at the limit all are dropped."""
        if self.is_detecting:
            self._undetected.append(fields)
            self._undetected_bytes += size
            has_room = self._undetected_bytes < MAX_UNDETECTED_BYTES
            self.is_detecting = has_room and len(self._undetected) < MAX_UNDETECTED_LINES
            if not self.is_detecting:
                self._undetected.clear()

    def _other_agent(self, fields: Fields) -> Agent | None:
        """Return another agent that starts a run with a line; None if there is none."""
        if self._agent is None or self._agent.recognises(fields):
            return None
        other = detect(fields)
        return other if other is not None and other.role(fields) is LineRole.START else None

    def _decoded_by(self, agent: Agent, fields: Fields) -> list[Event]:
        """Decode with an agent's decoder from now on: the lines that were kept, then this one."""
        self._agent, self._decoder, self._frames = agent, agent.decoder(), DeltaFrames()
        self._deltas = self._decoder if isinstance(self._decoder, DeltaDecoder) else None
        kept, self._undetected = self._undetected, []
        self.is_detecting = False
        decoded = [self._decoder.decode(each) for each in (*kept, fields)]
        decoded[0] = [FormatDetected(agent.traits), *decoded[0]]
        self._redecoded = decoded[:-1]
        return decoded[-1]


def _beginning(data: bytes) -> str:
    return data[:_SHOWN_BYTES].decode("utf-8", "replace").strip()
