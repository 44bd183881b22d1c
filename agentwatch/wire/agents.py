"""Which agent wrote a recording: decided at the first line that says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from agentwatch.events import Event, Part
from agentwatch.wire import cursor
from agentwatch.wire.delta_frames import Burst
from agentwatch.wire.fields import Fields


class AgentDecoder(Protocol):
    """What an agent's module decodes lines with."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return what one line says; total."""

    def streams(self, fields: Fields) -> bool:
        """Return whether many lines like this one come in a row, of which only text and time differ."""

    def burst(self, burst: Burst) -> list[Event] | None:
        """Return what such lines say together; None when they are to be read one by one."""

    def end(self) -> list[Event]:
        """Return what the end of the stream says."""


class Agent(Protocol):
    """What an agent's module offers."""

    FORMAT: str
    RETOLD: bytes
    """Stands in each line whose parts have words that its bytes do not hold."""

    def recognises(self, fields: Fields) -> bool:
        """Return whether a line can only be this agent's."""

    def Decoder(self) -> AgentDecoder:  # noqa: N802 - the module's class, called to make one
        """Return a decoder for a new recording."""

    def parts(self, fields: Fields) -> Iterator[Part]:
        """Yield what a line of a tool call carries for the detail of the call."""

    def drift(self, fields: Fields) -> Iterator[tuple[str, object]]:
        """Yield what a line holds that is not known: what it is, and a sample of it."""


_AGENTS: tuple[Agent, ...] = (cursor,)


def detect(fields: Fields) -> Agent | None:
    """Return the agent that alone writes such a line; None when it could be another's."""
    return next((agent for agent in _AGENTS if agent.recognises(fields)), None)
