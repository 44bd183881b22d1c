"""Which calls of an agent wait for permission, and what its sessions show."""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.wire.agents import program_named
from agentwatch.wire.found import OWN
from agentwatch.wire.program import CHANGES, NO_CALLS, Knowledge

_OWN = Knowledge(NO_CALLS, is_exact=True)
_OTHER = Knowledge()
_NEVER_ASKING = frozenset({"auto", "bypasspermissions", "dontask", "never", "yolo"})
"""Modes in which no call waits for permission: of Claude, Codex (`never`), Gemini and Qwen (`yolo`)."""
_CHANGING_FREELY = frozenset({"acceptedits", "autoedit"})
"""Modes in which changes of files need no permission: of Claude, Gemini and Qwen."""


def knowledge_of(agent: str) -> Knowledge:
    """Return what can be known about the sessions of an agent, by its short name."""
    if agent == OWN:
        return _OWN
    program = program_named(agent)
    return _OTHER if program is None else program.knowledge


def may_ask(known: Knowledge, mode: str, kind: ToolKind) -> bool:
    """Return whether a call may wait for permission without a line that says so.

    Args:
        known: What is known about the agent.
        mode: The permission mode of the session, in the agent's words; empty if unknown.
        kind: The kind of the call.
    """
    mode = mode.lower().replace("-", "").replace("_", "")
    if mode in _NEVER_ASKING or (mode in _CHANGING_FREELY and kind in CHANGES):
        return False
    return kind in known.asking
