"""The reported state of a session: by its agent, or by a hook in the agent."""

from __future__ import annotations

from collections.abc import Container
from enum import Enum, StrEnum
from typing import NamedTuple, Protocol

from agentwatch.agents.session_entry import Key


class State(StrEnum):
    STARTING = "starting"
    """Its process runs, and nothing of the session is written yet."""
    WORKING = "working"
    ASKS = "asks"
    """The agent cannot continue without the user."""
    LIMITED = "limited"
    """The agent's usage limit refuses its requests."""
    QUIET = "quiet"
    """A turn is open, and nothing has happened for longer than is usual in this session."""
    YOUR_TURN = "your turn"
    """The last turn has ended, and the process still runs."""
    SHELL = "shell"
    """The same as `YOUR_TURN`, and a command of the agent still runs in the background."""
    TURN_FAILED = "turn failed"
    """The last turn ended in an error or was interrupted, and the process still runs."""
    SUCCEEDED = "succeeded"
    """The process has ended after a turn that ended well."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    """The process has ended after a turn that was interrupted."""
    UNFINISHED = "unfinished"
    """The process has ended in the middle of a turn."""
    UNKNOWN = "unknown"
    """It cannot be known whether the process still runs."""


class Life(Enum):
    LIVE = "live"
    DEAD = "dead"
    UNKNOWN = "unknown"
    """Another host or container, or several sessions of which one may belong to the process."""


class StateReport(NamedTuple):
    """The report of an agent, or of a hook in it, about one of its sessions."""

    agent: str
    session_id: str
    life: Life
    """Whether the process that is named runs. A hook names none, so it is unknown."""
    pid: int | None = None
    began: str = ""
    """The start of the process as the agent has recorded it; empty if it does not."""
    state: State | None = None
    """It is None if the agent says only that the session is open."""
    since_ms: int | None = None
    about: str = ""
    name: str = ""
    is_users_name: bool = False
    cwd: str | None = None
    tmux: str = ""
    """The pane of tmux: `main:@0.%0`."""
    is_one_liner: bool = False
    """Whether another program has started the session for one prompt (`-p`, `exec`)."""
    began_ms: int | None = None
    runs: str = ""
    has_one_prompt: bool | None = None
    """Whether that command answers one prompt, and ends; None if it is not known."""
    source: str = ""
    """Where the state is read: `file PATH`, `hook PATH`, `server SOCKET`; empty if only a process says it."""

    @property
    def is_by_server(self) -> bool:
        return self.source.startswith("server ")

    @property
    def claim(self) -> Life | None:
        """What is claimed about the session's process; None if nothing is. A session whose recorded process
        has ended may run in another by now. The log of a hook remains when the agent is killed."""
        is_claim = self.life is Life.LIVE or (self.life is Life.UNKNOWN and self.pid is not None)
        return self.life if is_claim else None


class Reporter(Protocol):
    """Reads the files in which an agent reports the state of its sessions. It is created with the folders of
    the files, the user whose files and processes count, and where the processes are read."""

    reported: dict[Key, StateReport]
    is_exact: bool
    """Whether every open session is reported, so that the others are not open."""

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:
        """Read what may have changed, and return whether there is a new report. `keys` are the sessions
        whose files are read again; None for all of them, and for new ones."""
