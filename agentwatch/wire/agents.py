"""The known agents, and the detection of the agent that wrote a line."""

from __future__ import annotations

from agentwatch.wire.agent import Agent
from agentwatch.wire.cursor import AGENT as CURSOR
from agentwatch.wire.fields import Fields

AGENTS: tuple[Agent, ...] = (CURSOR,)


def detect(fields: Fields) -> Agent | None:
    """Return the only agent that can have written a line; None if several can have, or no known agent.

    Example:
        >>> detect({"type": "thinking", "subtype": "delta", "text": "Hm"}).name
        'cursor'
    """
    return next((agent for agent in AGENTS if agent.recognises(fields)), None)
