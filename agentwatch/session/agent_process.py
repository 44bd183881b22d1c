"""Facts about the process of an agent, which `sources` observes and `analysis` interprets."""

import signal
from typing import NamedTuple

from agentwatch.session.events import Outcome
from agentwatch.text.signs import SIGNS

LATE_EXIT_MS = 30_000
"""How long an agent may take to exit after its result, in milliseconds; some agents hang at that point."""


class AgentFacts(NamedTuple):
    """The facts about the process of a started agent; all None for an agent that agentwatch did not start."""

    pid: int | None = None
    """It is None once the process has ended."""
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


class Ending(NamedTuple):
    """How a session ended: by its result or by the exit code of its process, whichever is worse."""

    outcome: Outcome
    words: str
    """`failed`; or `exit 3 · result says ✓` if the exit code contradicts the result."""


def ending_of(result: Outcome, exit_code: int | None) -> Ending:
    if result is Outcome.SUCCEEDED and exit_code:
        return Ending(Outcome.FAILED, f"{exit_words(exit_code)}{_CONTRADICTION}")
    return Ending(result, str(result))


_CONTRADICTION = f" · result says {SIGNS[Outcome.SUCCEEDED]}"


def is_contradiction(words: str) -> bool:
    """Whether the words are those of an exit code that contradicts the result."""
    return words.endswith(_CONTRADICTION)


def exit_words(exit_code: int | None) -> str:
    """Return `exit 1`, or `exit 137 (SIGKILL)` for 128 + n; empty for 0 and for an unknown exit code."""
    if not exit_code:
        return ""
    try:
        return f"exit {exit_code} ({signal.Signals(exit_code - 128).name})"
    except ValueError:
        return f"exit {exit_code}"
