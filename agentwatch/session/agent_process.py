"""Facts about the process of an agent, which `sources` observes and `analysis` interprets."""

from typing import NamedTuple

LATE_EXIT_MS = 30_000
"""How long an agent may take to exit after its result, in milliseconds; some agents hang at that point."""


class AgentFacts(NamedTuple):
    """The facts about the process of a started agent; all None for an agent that agentwatch did not start."""

    pid: int | None = None
    """None once the process has ended."""
    started_ms: int | None = None
    exit_code: int | None = None
    """128 + n if signal n ended the process; None while it runs."""
    stderr: str | None = None
    """The last non-blank line of its stderr, once the process has ended."""
    uses_cpu: bool | None = None
    """Whether the agent's processes use CPU; None if unknown."""
    is_stopped: bool = False
    """Whether a signal has stopped the process (SIGSTOP); it continues only when somebody sends SIGCONT."""
    paused_by: str = ""
    """The rule that has paused the process; empty if none has."""
    continued_ms: int | None = None
    """When the process was resumed after a pause, in milliseconds since the epoch; None without a pause."""
    asks: str = ""
    """What the agent asks the user, where it says so outside the stream; empty if nothing is known."""
    asks_since_ms: int | None = None
    silence: str = ""
    """Why a pipe may stay silent until its end; empty if nothing is known of it."""


NO_FACTS = AgentFacts()
