"""The known agents, and which of them wrote a line."""

from __future__ import annotations

from agentwatch.wire.agent import Agent
from agentwatch.wire.cursor import AGENT as CURSOR
from agentwatch.wire.fields import Fields

AGENTS: tuple[Agent, ...] = (CURSOR,)


def detect(fields: Fields) -> Agent | None:
    """Return the agent that alone writes such a line, or None if several agents could have written it."""
    return next((agent for agent in AGENTS if agent.recognises(fields)), None)
