"""Agents: their formats, whose lines become events, and their files, processes, hooks and reported states. An
agent is one folder and one line in `agentwatch.agents.registry`. No other folder depends on an agent."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentwatch.agents.agent import Agent, LineRole
    from agentwatch.agents.decoder import Decoder

__all__ = ["Agent", "Decoder", "LineRole"]


def __getattr__(name: str) -> object:
    """Import a name when it is used: `status` in a prompt does not need the decoder, which takes 12 ms."""
    if name == "Decoder":
        from agentwatch.agents.decoder import Decoder

        return Decoder
    if name in ("Agent", "LineRole"):
        from agentwatch.agents import agent

        return getattr(agent, name)
    raise AttributeError(name)
