"""All that is known about agents: their formats, whose lines become events, their files and their processes.

An agent is one folder and one line in `agentwatch.agents.registry`. No other folder depends on an agent.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentwatch.agents.agent import Agent, LineRole
    from agentwatch.agents.decoder import Decoder

__all__ = ["Agent", "Decoder", "LineRole"]


def __getattr__(name: str) -> object:
    """Import what is asked for: a prompt that waits for `status` needs no decoder, which takes 12 ms."""
    if name == "Decoder":
        from agentwatch.agents.decoder import Decoder

        return Decoder
    if name in ("Agent", "LineRole"):
        from agentwatch.agents import agent

        return getattr(agent, name)
    raise AttributeError(name)
