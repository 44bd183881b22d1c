"""A line of bytes → events, for a recording of any agent. Decoding is total: no input raises."""

from __future__ import annotations

from agentwatch.events import Event, Malformed, Part, Unknown
from agentwatch.wire.detect import Agent, AgentDecoder, detect
from agentwatch.wire.json_line import parse

_SHOWN_BYTES = 400


class Decoder:
    """Decodes the lines of one recording, in order."""

    def __init__(self) -> None:
        self._agent: Agent | None = None
        self._decoder: AgentDecoder | None = None

    def decode(self, data: bytes) -> list[Event] | None:
        """Return what a line says; None when it is blank."""
        try:
            fields = parse(data)
        except ValueError:
            if not data.strip():
                return None
            return [Malformed("not JSON", _beginning(data))]
        if not isinstance(fields, dict):
            return [Malformed("not an object", _beginning(data))]
        if self._decoder is None:
            self._agent = detect(fields)
            if self._agent is None:
                return [Unknown(f"type {fields.get('type')}")]
            self._decoder = self._agent.Decoder()
        return self._decoder.decode(fields)

    def parts(self, data: bytes) -> list[Part]:
        """Return what a line of a tool call carries for the detail of the call."""
        try:
            fields = parse(data)
        except ValueError:
            fields = None
        if not isinstance(fields, dict) or self._agent is None:
            return [Part("content", data.decode("utf-8", "replace"))]
        return list(self._agent.parts(fields))


def _beginning(data: bytes) -> str:
    return data[:_SHOWN_BYTES].decode("utf-8", "replace").strip()
