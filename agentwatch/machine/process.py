"""What is known about the process of a session."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.wire.reported import Life, Said

__all__ = ["Life", "Process", "Said"]


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
