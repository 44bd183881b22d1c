"""What every source of a session offers, whatever feeds it.

A source is a recording, what feeds the recording, and the files written beside it. The front ends ask
for a fact (is it live, does an agent of ours run) and never for the kind of source.
"""

from __future__ import annotations

from typing import Protocol

from agentwatch.agent_facts import NO_FACTS, AgentFacts
from agentwatch.recording import LineReader, Wakeup
from agentwatch.sources.survivors import Survivor
from agentwatch.sources.written_files import WrittenFiles


class Source(Protocol):
    """Where a session comes from: a saved file, a pipe, or an agent that agentwatch started."""

    reader: LineReader
    """Reads the recording from its beginning; the front end's feed uses it."""
    written: WrittenFiles
    """The files written meanwhile."""

    @property
    def wakeup(self) -> Wakeup | None:
        """Wakes those who wait for the recording to grow; None if its growth must be polled for."""

    @property
    def is_live(self) -> bool:
        """Whether an agent feeds the recording now, through agentwatch."""

    @property
    def outlasts_screen(self) -> bool:
        """Whether agentwatch must go on after the user quits the screen, since only it can record."""

    @property
    def ended_by(self) -> str | None:
        """How a followed file ended before its time: it was `truncated` or `replaced`."""

    @property
    def faults(self) -> dict[str, OSError | None]:
        """What can go wrong with the files that are written, in words, and why it did if it did."""

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete; None while it is complete."""

    def new_faults(self) -> list[str]:
        """Return what went wrong since the last call, one sentence per fault."""

    @property
    def runs_agent(self) -> bool:
        """Whether an agent that agentwatch started is running."""

    @property
    def agent_pid(self) -> int | None:
        """The process id of the agent that agentwatch started, even after its end; None without one."""

    @property
    def agent_exit_code(self) -> int | None:
        """The exit code of the agent that agentwatch started; None while it runs or without one."""

    def agent_facts(self) -> AgentFacts:
        """Return what is known about the agent's process; cheap enough for every frame."""

    def outlives(self, result_ms: int | None) -> bool:
        """Return whether our agent still runs, 30 s after its result.

        Args:
            result_ms: When the result arrived, in milliseconds since the epoch; None if unknown.
        """

    def survivors(self) -> list[Survivor]:
        """Return the processes that our agent started and that outlived it."""

    def new_stderr(self) -> list[str]:
        """Return the whole lines that our agent wrote to its stderr since the last call."""

    def last_stderr(self, count: int) -> list[str]:
        """Return the last lines of our agent's stderr that are not blank, at most `count`."""

    def leave(self) -> None:
        """Stop following our agent, or a file: the recording, as far as we see it, ends here."""

    def stop(self) -> None:
        """Stop our agent and what it started; stop reading a pipe."""

    def finish(self) -> None:
        """Wait until everything about an ended recording is written, and close its files."""


class WithoutAgent:
    """The answers of a source whose agent agentwatch did not start."""

    runs_agent = False
    agent_pid: int | None = None
    agent_exit_code: int | None = None

    def agent_facts(self) -> AgentFacts:
        """Return no facts."""
        return NO_FACTS

    def outlives(self, result_ms: int | None) -> bool:  # noqa: ARG002 - the protocol's
        """Return False: when the agent exits is not known."""
        return False

    def survivors(self) -> list[Survivor]:
        """Return none."""
        return []

    def new_stderr(self) -> list[str]:
        """Return none: the agent's stderr is not ours."""
        return []

    def last_stderr(self, count: int) -> list[str]:  # noqa: ARG002 - the protocol's
        """Return none: the agent's stderr is not ours."""
        return []

    def leave(self) -> None:
        """Do nothing."""
