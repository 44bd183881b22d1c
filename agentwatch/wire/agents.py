"""The known agents, and the detection of the agent that wrote a line."""

from __future__ import annotations

from agentwatch.wire.agent import Agent
from agentwatch.wire.amp import AGENT as AMP
from agentwatch.wire.claude import AGENT as CLAUDE_CODE
from agentwatch.wire.claude_family import AGENT as CLAUDE_FAMILY
from agentwatch.wire.cursor import AGENT as CURSOR
from agentwatch.wire.fields import Fields
from agentwatch.wire.qwen import AGENT as QWEN

AGENTS: tuple[Agent, ...] = (AMP, CURSOR, QWEN, CLAUDE_CODE, CLAUDE_FAMILY)
"""The agents in the order in which they are asked: the first that recognises a line wrote it."""


def detect(fields: Fields, *, is_first: bool = True) -> Agent | None:
    """Return the agent that wrote a line; None if several can have, or no known agent.

    Args:
        fields: The line.
        is_first: Whether no event came before it in the recording. After a line that was not an agent's, a
            line of a type that several agents have is not the agent's either.

    Example:
        >>> detect({"type": "thinking", "subtype": "delta", "text": "Hm"}).name
        'cursor'
        >>> detect({"type": "result", "session_id": "1"}, is_first=False)
    """
    found = next((agent for agent in AGENTS if agent.recognises(fields)), None)
    if found is not None or not is_first:
        return found
    may_have = [agent for agent in AGENTS if agent.may_write is not None and agent.may_write(fields)]
    return may_have[0] if len(may_have) == 1 else None


def agent_named(name: str) -> Agent | None:
    """Return the agent whose format has this name; None if there is none."""
    return next((agent for agent in AGENTS if agent.name == name), None)
