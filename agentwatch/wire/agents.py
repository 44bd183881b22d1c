"""The known agents, and the detection of the agent that wrote a line."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentwatch.wire.agent import Agent
    from agentwatch.wire.fields import Fields

_WITHOUT_TIMES = frozenset(("cursor-transcript",))
"""The formats on disk whose lines have no times."""


FORMATS = {
    "cursor": "cursor:AGENT",
    "acp": "acp:AGENT",
    "codex": "codex:AGENT",
    "codex-rollout": "codex:ROLLOUT",
    "qwen-chat": "qwen:CHAT",
    "claude-transcript": "claude:TRANSCRIPT",
    "cursor-transcript": "cursor:TRANSCRIPT",
    "opencode": "opencode:AGENT",
    "copilot": "copilot:AGENT",
    "pi": "pi:AGENT",
    "pi-session": "pi:SESSION",
    "gemini-chat": "gemini:CHAT",
    "gemini": "gemini:AGENT",
    "amp": "amp:AGENT",
    "droid": "droid:AGENT",
    "qwen": "qwen:AGENT",
    "claude-code": "claude:AGENT",
    "goose": "goose:AGENT",
    "claude-family": "claude:FAMILY",
}
"""Where each built-in format is, by its name: the folder of its agent, and the constant in `agent.py`.

The order is that in which they are asked: the first that recognises a line wrote it.
"""


@cache
def known_agents() -> tuple[Agent, ...]:
    """Return the agents in the order of `FORMATS`.

    Cursor is asked before the other formats are imported, which takes 6 ms. No other agent recognises a line
    that Cursor recognises.
    """
    from importlib import import_module

    places = (place.split(":") for place in FORMATS.values())
    return tuple(getattr(import_module(f"agentwatch.wire.{folder}.agent"), name) for folder, name in places)


def detect(fields: Fields, *, is_first: bool = True, asks_plugins: bool = True) -> Agent | None:
    """Return the agent that wrote a line; None if several can have, or no known agent.

    Args:
        fields: The line.
        is_first: Whether no event came before it in the recording. After a line that was not an agent's, a
            line of a type that several agents have is not the agent's either.
        asks_plugins: Whether the formats of other packages are asked if no built-in one recognises the line.

    Example:
        >>> detect({"type": "thinking", "subtype": "delta", "text": "Hm"}).name
        'cursor'
        >>> detect({"type": "result", "session_id": "1"}, is_first=False)
    """
    from agentwatch.wire.cursor.agent import AGENT as CURSOR

    if CURSOR.recognises(fields):
        return CURSOR
    agents = known_agents()
    found = next((agent for agent in agents if agent.recognises(fields)), None)
    if found is None and is_first:
        may_have = [agent for agent in agents if agent.may_write is not None and agent.may_write(fields)]
        found = may_have[0] if len(may_have) == 1 else None
    if found is None and asks_plugins:
        from agentwatch.wire.plugins import plugin_agents  # reads the metadata of all packages

        found = next((agent for agent in plugin_agents() if agent.recognises(fields)), None)
    return found


def agent_named(name: str) -> Agent | None:
    """Return the agent whose format has this name; None if it is unknown, or if its plugin has failed."""
    found = next((agent for agent in known_agents() if agent.name == name), None)
    if found is None:
        from agentwatch.wire.plugins import plugin_agent

        found = plugin_agent(name)
    return found


def agent_on_disk(name: str) -> Agent | None:
    """Return the format in which an agent keeps its sessions on disk; None if it is unknown.

    The lines of such a format have the agent's own times, except those of Cursor's.

    Args:
        name: The short name of the agent.

    Example:
        >>> agent_on_disk("claude").name
        'claude-transcript'
    """
    return next(
        (
            agent
            for agent in known_agents()
            if (agent.agent or agent.name) == name
            and (agent.time_of is not None or agent.name in _WITHOUT_TIMES)
        ),
        None,
    )
