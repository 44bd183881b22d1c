"""The state of a session in a list, and how it is known."""

from __future__ import annotations

from enum import Enum, StrEnum, auto
from typing import NamedTuple

from agentwatch.agents.state_report import State


class Ground(StrEnum):
    SAID = "said"
    """The agent reports it itself."""
    INFERRED = "inferred"
    """It follows from processes and from the last lines. It is shown with `?`, and never rings."""
    UNKNOWN = "unknown"


class Basis(Enum):
    """`evidence` has the words for each."""

    PROCESS = auto()
    """Whether its process runs, or that this is unknown."""
    REPORT = auto()
    """The agent, or a hook in it, reports the state."""
    QUESTION = auto()
    CALL = auto()
    """Its oldest open call, or the one that asks."""
    NO_CHILD = auto()
    CHILD = auto()
    """The process has a younger child, or is busy, or its children are unknown: a call may run."""
    UNWRITTEN = auto()
    """The last answer announces a call that is not written yet."""
    TURN = auto()
    STILL_OPEN = auto()
    """A child began after the last answer, so that the turn is open."""
    SUBAGENT = auto()
    """A subagent that works has written a later line."""
    SILENCE = auto()
    LIMIT = auto()
    NO_PROMPT = auto()
    NO_LINES = auto()
    """It has no line, or none that can be read."""
    NO_ENDS = auto()
    ONE_PROMPT = auto()
    """The command of its process answers one prompt, and ends."""
    LEFT_OVER = auto()
    """The process began after the last line."""
    EXIT = auto()
    TITLE = auto()
    """The title of its terminal."""
    """The exit code of its process contradicts its result."""
    NO_WINDOW = auto()
    """A daemon runs it, and no terminal shows it."""


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
    State.STARTING: Group.WORKING,
    State.WORKING: Group.WORKING,
    State.LIMITED: Group.QUIET,
    State.QUIET: Group.QUIET,
    State.YOUR_TURN: Group.YOUR_TURN,
    State.SHELL: Group.YOUR_TURN,
}
"""The group of each state; every other state is `ENDED`."""
LIVE = frozenset(GROUPS)
"""The states of a session whose process runs."""


class SessionStatus(NamedTuple):
    state: State
    ground: Ground
    since_ms: int | None = None
    now: str = ""
    """`pytest -q`, `thinking`, `rm -rf build`, the end of the last answer, or why it failed: foreign text."""
    now_since_ms: int | None = None
    """The start of the open call, or of the model's request."""
    is_calling: bool = False
    until_ms: int | None = None
    """When the state ends by itself, as the agent says: a limit is over, a question answers itself."""
    by: tuple[Basis, ...] = ()
    """The evidence that decided, besides whether the process runs; empty for another machine's report."""

    @property
    def group(self) -> Group:
        return GROUPS.get(self.state, Group.ENDED)


UNKNOWN = SessionStatus(State.UNKNOWN, Ground.UNKNOWN)


class Process(NamedTuple):
    pid: int
    began: int
    """Clock ticks since the system was started; 0 if unknown. An id is used again, but with another start."""
    agent: str
    began_ms: int | None = None
    cwd: str | None = None
    """Its working folder; of a daemon with a session that of the terminal that shows it, None if unknown."""
    arguments: tuple[str, ...] = ()
    children: int = 0
    child_began_ms: int | None = None
    """The start of its youngest child process; None without one, or if it is unknown."""
    open_paths: tuple[str, ...] = ()
    """The files of sessions, where that is looked up."""
    opened_ms: int | None = None
    """When `open_paths` was read; None if it was not, or is not shown."""
    is_shared: bool = False
    viewer: int | None = None
    """The process in whose terminal the session may be, if a daemon runs it; 0 for none, None if unknown."""
    is_idle: bool | None = None
    """Nearly no CPU in the last seconds: idle for at least 0.4 s, busy in at least 1.5; None if unknown."""
    is_calm: bool | None = None
    """Whether it has done too little to read the result of a command; None before 0.4 and after 1.5 s."""
    has_terminal: bool = False
    """Whether it has a terminal, so that somebody may use it; not known without /proc."""
    has_one_prompt: bool = False
    title: State | None = None
    """What the title of its pane of tmux says; None if it has none, or says nothing."""
    is_guess: bool = False
    """Whether the session is only one of the newest that the process may have written or may show."""
