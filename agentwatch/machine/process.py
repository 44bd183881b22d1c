"""What is known about the process of a session."""

from enum import Enum
from typing import NamedTuple

from agentwatch.machine.standing import State


class Life(Enum):
    """Whether the process of a session runs."""

    LIVE = "live"
    DEAD = "dead"
    UNKNOWN = "unknown"
    """Another host or container, or several sessions of which one may belong to the process."""


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


class Said(NamedTuple):
    """What an agent, or a hook in it, says about one of its sessions."""

    agent: str
    session_id: str
    life: Life
    """Whether the process that is named runs. A hook names none, so it is unknown."""
    pid: int | None = None
    began: str = ""
    """The start of the process as the agent has recorded it; empty if it does not."""
    state: State | None = None
    """None if the agent says only that the session is open."""
    since_ms: int | None = None
    about: str = ""
    """What the agent waits for: `permission`, `question`, `dialog`; empty if it does not say."""
    name: str = ""
    is_users_name: bool = False
    cwd: str | None = None
    tmux: str = ""
    """The pane of tmux: `main:@0.%0`."""
    is_one_liner: bool = False
    """Whether another program has started the session for one prompt (`-p`, `exec`)."""
    began_ms: int | None = None

    @property
    def claim(self) -> Life | None:
        """What is claimed about the session's process; None if nothing is.

        A session whose recorded process has ended may run in another by now. The log of a hook remains when
        the agent is killed.
        """
        is_claim = self.life is Life.LIVE or (self.life is Life.UNKNOWN and self.pid is not None)
        return self.life if is_claim else None
