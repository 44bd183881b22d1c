"""A session that was found on disk, before any of its lines is read."""

from enum import Enum
from pathlib import Path
from typing import NamedTuple

OWN = "agentwatch"
"""Stands for the agent of a recording of our own, which is known once it is read."""
LEAST_CHARACTERS = 6
"""The shortest beginning of a session's id that is taken for an address."""
Key = tuple[str, str]
"""The agent's short name and the session's id: what distinguishes the sessions of a machine."""


class Reach(Enum):
    """How far a session can be read."""

    LINES = "lines"
    """It is a file of lines, one JSON object each."""
    PARTS = "parts"
    """It is such a file, and other files have its beginning. Its end is in the file, all of it in a store."""
    STORE = "store"
    """It is opened through a store: a row of a database, a JSON document, a compressed file."""
    LISTED = "listed"
    """Only its metadata is known."""


class Metadata(NamedTuple):
    """What the files beside a session say about it; empty and None where they say nothing."""

    title: str = ""
    is_users_title: bool = False
    prompt: str = ""
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    began_ms: int | None = None
    changed_ms: int | None = None
    """The time of the last activity, if the metadata has it; otherwise the file's own time counts."""
    is_archived: bool = False
    exit_code: int | None = None
    """The exit code of the process that wrote it, if agentwatch started it and it has ended."""
    problem: str = ""
    """Why its lines cannot be read, which may contain foreign text."""


NO_METADATA = Metadata()


class SessionEntry(NamedTuple):
    agent: str
    """The short name of the agent: `claude`, `codex`; `agentwatch` for a recording of our own, whose agent is
    known once it is read."""
    id: str
    """The session's own id; for a recording of our own, its stem."""
    path: Path
    """The address of the session: the file, or the path of a session in a store."""
    size: int
    """The size in bytes; 0 for a row of a database."""
    changed_ns: int
    """The modification time of the file, in nanoseconds since the epoch."""
    inode: int = 0
    reach: Reach = Reach.LINES
    parent: str | None = None
    """The id of the session whose subagent this is; None for a session of its own."""
    metadata: Metadata = NO_METADATA

    @property
    def key(self) -> Key:
        return self.agent, self.id
