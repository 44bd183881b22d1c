"""The digest of a session: what a list shows of it, and what its state is judged by."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind


class Turn(Enum):
    """Whether the agent works on a prompt, judged by the lines of the session alone."""

    NONE = "none"
    """No line says so: there was no prompt yet."""
    OPEN = "open"
    ENDED = "ended"


class OpenCall(NamedTuple):
    """A call that has started and not ended."""

    call_id: str
    tool: str
    kind: ToolKind
    target: str
    """What it acts on, in one line: a command, a path; empty if unknown."""
    started_ms: int | None
    agent: str | None = None
    """The call_id of the call whose subagent made it; None for the main agent."""
    limit_ms: int | None = None


@dataclass(slots=True)
class Digest:
    """What is known about a session. Texts are foreign and bounded; None and empty mean unknown."""

    format: str = ""
    agent: str = ""
    """The agent's short name: `claude`."""
    session_id: str = ""
    is_whole: bool = False
    """Whether every line of the session was applied; otherwise the counts cover only the last lines."""
    title: str = ""
    is_users_title: bool = False
    first_prompt: str = ""
    last_prompt: str = ""
    last_text: str = ""
    """The end of the last answer."""
    model: str = ""
    cwd: str = ""
    branch: str = ""
    permission_mode: str = ""
    began_ms: int | None = None
    seen_ms: int | None = None
    """The time of the last line, by its own timestamp or else its arrival."""
    turn: Turn = Turn.NONE
    turn_ms: int | None = None
    """When the turn began, or ended."""
    outcome: Outcome | None = None
    """The outcome of the last turn that ended."""
    reason: str = ""
    """Why it failed."""
    calls: int = 0
    failed: int = 0
    """How many calls failed or were rejected."""
    open_calls: dict[str, OpenCall] = field(default_factory=dict)
    """By call_id, the oldest first; at most 32."""
    asked: str = ""
    """The question that the agent has logged and nobody has answered: `shell npm ci`."""
    asked_ms: int | None = None
    retry: str = ""
    """The retry that the agent waits for: `retry 4 of 10: overloaded`."""
    is_compacting: bool = False
    context_used: int | None = None
    context_size: int | None = None
    lines_added: int = 0
    lines_removed: int = 0
    todo: tuple[int, int] | None = None
    """The number of to-do entries that are completed, and of all."""
    doing: str = ""
    """The to-do entry that is in progress."""
    usual_pause_ms: int | None = None
    """90 % of the pauses between two lines of a turn are shorter; None before there are ten."""
    is_one_liner: bool = False
    """Whether another program has started the session for one prompt, by its own lines."""
