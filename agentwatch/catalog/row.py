"""The row of a session in a list: its state and how that is known, its process, and what is shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.found import Key
from agentwatch.agents.reported import State

if TYPE_CHECKING:
    from agentwatch.catalog.digest import LastTests


class Ground(StrEnum):
    """How a state is known."""

    SAID = "said"
    """The agent reports it itself."""
    INFERRED = "inferred"
    """It follows from processes and from the last lines. It is shown with `?`, and never rings."""
    UNKNOWN = "unknown"


class Group(StrEnum):
    """The part of the list in which a session is shown, in the order of the list."""

    NEEDS_YOU = "needs you"
    FAILED = "failed"
    WORKING = "working"
    QUIET = "quiet"
    YOUR_TURN = "your turn"
    ENDED = "ended"


GROUPS = {
    State.ASKS: Group.NEEDS_YOU,
    State.TURN_FAILED: Group.FAILED,
    State.WORKING: Group.WORKING,
    State.QUIET: Group.QUIET,
    State.YOUR_TURN: Group.YOUR_TURN,
    State.SHELL: Group.YOUR_TURN,
}
"""The group of each state; every other state is `ENDED`."""
LIVE = frozenset(GROUPS)
"""The states of a session whose process runs."""


class Standing(NamedTuple):
    """The state of a session at one time."""

    state: State
    ground: Ground
    since_ms: int | None = None
    """The time at which the state began, in milliseconds since the epoch; None if unknown."""
    now: str = ""
    """What goes on: `pytest -q`, `thinking`, `rm -rf build`, the end of the last answer, or why it failed.
    It is foreign text."""
    now_since_ms: int | None = None
    """The time at which that began: the start of the open call, or of the model's request."""
    is_calling: bool = False
    """Whether a call is what goes on; otherwise the model works, or nothing does."""

    @property
    def group(self) -> Group:
        """The part of the list in which the session is shown."""
        return GROUPS.get(self.state, Group.ENDED)


UNKNOWN = Standing(State.UNKNOWN, Ground.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A session in a list, at one time. Its texts are foreign: they are made safe where they are shown.

    Unknown numbers and times are None, unknown texts are empty.
    """

    key: Key
    """It distinguishes the sessions of a machine."""
    agent: str
    """The short name of the agent; of a recording of our own, the agent that wrote it, or empty."""
    id: str
    """The session's id, which is an address."""
    path: Path
    """The address that opens it, for a session of this machine."""
    address: str = ""
    """The address that opens a session of another machine: `nats://team/ci.0f3a…`; empty for others."""
    can_open: bool = True
    standing: Standing
    title: str = ""
    """The user's name of the session, or else the agent's title, or else the last prompt."""
    is_read: bool = True
    """Whether its lines were read; the lines of hidden sessions are not read until they are wanted."""
    prompts: str = ""
    """The first and the last prompt, which a search looks through."""
    last_text: str = ""
    """The end of the last answer."""
    cwd: str = ""
    repo: str = ""
    """The name of the repository, or else of the folder."""
    branch: str = ""
    worktree: str = ""
    """The name of the worktree, if it is not the main one."""
    model: str = ""
    calls: int | None = None
    failed: int | None = None
    """How many calls failed or were rejected; None if it is unknown."""
    open_calls: int = 0
    """How many calls have not ended."""
    context_used: int | None = None
    context_size: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    todo: tuple[int, int] | None = None
    """The number of to-do entries that are completed, and of all."""
    tests: LastTests | None = None
    """The newest verdict of tests; None if it is unknown."""
    began_ms: int | None = None
    seen_ms: int | None = None
    """The time of the last line, by its own timestamp if it has one."""
    size: int = 0
    """The bytes on disk."""
    pid: int | None = None
    tmux: str = ""
    host: str = ""
    """The name of the other machine; empty for this one."""
    publisher: str = ""
    """Who publishes a session on an engine, unless that is the name of the machine: that name is a claim."""
    lost_ms: int | None = None
    """Since when another machine has not reported the session, although it ran; None while it does."""
    parent: Key | None = None
    """The session whose subagent this is."""
    subagents: int = 0
    """The number of subagents; their rows are folded."""
    working_subagents: int = 0
    is_one_liner: bool = False
    """Whether another program ran it for one prompt: such rows are folded per folder."""
    is_archived: bool = False
    is_own: bool = False
    """Whether it is a recording of our own."""
    rings: bool = True
    """Whether the terminal rings when it begins to need the user."""
    is_marked: bool = False
    """Whether it has begun to need the user, and was not looked at since."""
    alarm: str = ""
    """The rule of the settings that was hit last, and was not looked at since; empty without one."""

    @property
    def place(self) -> str:
        """The name of the other machine, after that of its publisher: `ci@build1`; empty for this one."""
        return f"{self.publisher}@{self.host}" if self.publisher else self.host

    @property
    def group(self) -> Group:
        """The part of the list in which it is shown. One of another machine that is silent may still run."""
        return Group.QUIET if self.lost_ms is not None else self.standing.group


def changed_rows(before: Mapping[Key, Row], rows: Mapping[Key, Row]) -> list[Row]:
    """Return the rows that are new, or another object than before: 0.1 ms for 5,000 rows.

    Mostly rows were replaced in their places, and new ones were appended. Otherwise each row is looked up,
    which takes four times as long.

    Args:
        before: All sessions as they were.
        rows: All sessions.
    """
    pairs = [pair for pair in zip(before.values(), rows.values(), strict=False) if pair[0] is not pair[1]]
    if len(rows) >= len(before) and all(old.key == new.key for old, new in pairs):
        return [*(new for _, new in pairs), *islice(rows.values(), len(before), None)]
    return [row for key, row in rows.items() if before.get(key) is not row]


class Process(NamedTuple):
    """A process of a known agent."""

    pid: int
    began: int
    """The time of its start in clock ticks since the system was started; 0 if unknown. An id is used again,
    but not with the same start."""
    agent: str
    began_ms: int | None = None
    """The time of its start, in milliseconds since the epoch."""
    cwd: str | None = None
    arguments: tuple[str, ...] = ()
    children: int = 0
    """The number of its child processes."""
    child_began_ms: int | None = None
    """The start of its youngest child process; None without one, or if it is unknown."""
    open_paths: tuple[str, ...] = ()
    """The files of sessions that it has open, where that is looked up."""
    opened_ms: int | None = None
    """When `open_paths` was read, in milliseconds since the epoch; None if it was not, or is not shown."""
    is_shared: bool = False
    """Whether it serves several sessions, such as the daemon of Codex."""
    viewers: int | None = None
    """The number of processes that may show the session, if a daemon runs it; None if it is not known."""
    is_idle: bool | None = None
    """Whether it has used nearly no CPU in the last seconds (at least 1.5, at most 5); None if unknown."""
