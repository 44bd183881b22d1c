"""The parts of a digest: the state of the turn, and an open call."""

from enum import Enum
from typing import NamedTuple

from agentwatch.events import ToolKind


class Turn(Enum):
    """Whether the agent works on a prompt, judged by the lines of the session alone."""

    NONE = "none"
    """No line says so: there was no prompt yet."""
    OPEN = "open"
    ENDED = "ended"


class LastTests(NamedTuple):
    """The newest verdict of tests among the lines that were read."""

    is_red: bool
    """Whether a test failed; otherwise all passed."""
    passed: int
    failed: int
    """How many tests failed or had an error. Both numbers are 0 if the tool does not count."""
    is_stale: bool = False
    """Whether a file changed after them."""

    @property
    def state(self) -> str:
        """The state by the words of the summary: `red`, `green`, `changed since`."""
        return "red" if self.is_red else "changed since" if self.is_stale else "green"


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
    asks: bool = False
    """Whether the call itself is a question to the user: it runs until the user answers."""
