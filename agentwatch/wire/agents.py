"""The known agents, and the detection of the agent that wrote a line."""

from __future__ import annotations

from functools import cache

from agentwatch.wire.agent import Agent
from agentwatch.wire.cursor import AGENT as CURSOR
from agentwatch.wire.fields import Fields

_WITHOUT_TIMES = frozenset(("cursor-transcript",))
"""The formats on disk whose lines have no times."""


@cache
def known_agents() -> tuple[Agent, ...]:
    """Return the agents in the order in which they are asked: the first that recognises a line wrote it.

    Cursor is asked before the other formats are imported, which takes 6 ms. No other agent recognises a line
    that Cursor recognises.
    """
    from agentwatch.wire.acp import AGENT as ACP
    from agentwatch.wire.amp import AGENT as AMP
    from agentwatch.wire.claude import AGENT as CLAUDE_CODE
    from agentwatch.wire.claude_family import AGENT as CLAUDE_FAMILY
    from agentwatch.wire.claude_transcript import AGENT as CLAUDE_TRANSCRIPT
    from agentwatch.wire.codex import AGENT as CODEX
    from agentwatch.wire.codex_rollout import AGENT as CODEX_ROLLOUT
    from agentwatch.wire.copilot import AGENT as COPILOT
    from agentwatch.wire.cursor_transcript import AGENT as CURSOR_TRANSCRIPT
    from agentwatch.wire.droid import AGENT as DROID
    from agentwatch.wire.gemini import AGENT as GEMINI
    from agentwatch.wire.gemini_chat import AGENT as GEMINI_CHAT
    from agentwatch.wire.goose import AGENT as GOOSE
    from agentwatch.wire.opencode import AGENT as OPENCODE
    from agentwatch.wire.pi import AGENT as PI
    from agentwatch.wire.pi import SESSION as PI_SESSION
    from agentwatch.wire.qwen import AGENT as QWEN
    from agentwatch.wire.qwen_chat import AGENT as QWEN_CHAT

    return (
        CURSOR,
        ACP,
        CODEX,
        CODEX_ROLLOUT,
        QWEN_CHAT,
        CLAUDE_TRANSCRIPT,
        CURSOR_TRANSCRIPT,
        OPENCODE,
        COPILOT,
        PI,
        PI_SESSION,
        GEMINI_CHAT,
        GEMINI,
        AMP,
        DROID,
        QWEN,
        CLAUDE_CODE,
        GOOSE,
        CLAUDE_FAMILY,
    )


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
