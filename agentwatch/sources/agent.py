"""An agent that agentwatch starts, as a source."""

from __future__ import annotations

import os
from contextlib import suppress

import orjson

from agentwatch.agent_facts import LATE_EXIT_MS, AgentFacts
from agentwatch.recording import LineReader, SessionFiles, now_ms
from agentwatch.sources.activity import Activity
from agentwatch.sources.process import AgentProcess
from agentwatch.sources.survivors import Survivor
from agentwatch.sources.written_files import WrittenFiles


class AgentSource:
    """A started agent, whose stdout is the recording."""

    ended_by = None
    outlasts_screen = False

    def __init__(
        self,
        reader: LineReader,
        agent: AgentProcess,
        files: SessionFiles | None = None,
        log_fd: int | None = None,
        process_fd: int | None = None,
    ) -> None:
        """Read by `reader` what `agent` writes.

        Args:
            reader: Reads the recording.
            agent: The started process.
            files: The names of the session's files; None if nothing is kept.
            log_fd: Where the action log is to be written; None for no log.
            process_fd: Where the process is described, see `describe_process`; None for nowhere.
        """
        self.reader = reader
        self.agent = agent
        self.written = WrittenFiles(reader, files, log_fd)
        self.wakeup = agent.wakeup
        self._process_fd = process_fd
        self._activity = Activity(agent.pid)
        self._facts_at_end: AgentFacts | None = None

    @property
    def is_live(self) -> bool:
        """Whether the agent runs and is followed."""
        return not self.agent.has_ended()

    @property
    def runs_agent(self) -> bool:
        """Whether the agent runs and is followed."""
        return self.is_live

    @property
    def agent_pid(self) -> int:
        """The agent's process id."""
        return self.agent.pid

    @property
    def agent_exit_code(self) -> int | None:
        """The agent's exit code, 128 + n if signal n ended it; None while it runs."""
        return self.agent.exit_code

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete; None while it is complete."""
        return self.agent.fault or self.written.fault

    @property
    def faults(self) -> dict[str, OSError | None]:
        """What can go wrong with the files that are written, in words, and why it did if it did."""
        return {
            "disk full, recording into reserved space": self.agent.room_fault,
            "the recording is incomplete": self.fault,
            **self.written.faults,
        }

    def new_faults(self) -> list[str]:
        """Return what went wrong since the last call, one sentence per fault."""
        return self.written.unreported(self.faults)

    def agent_facts(self) -> AgentFacts:
        """Return what is known about the process now; after its end always the same."""
        agent = self.agent
        if agent.exit_code is None:
            return AgentFacts(agent.pid, agent.started_ms, uses_cpu=self._activity.uses_cpu())
        if self._facts_at_end is None:
            last = agent.stderr.last_lines(1)
            self._facts_at_end = AgentFacts(
                started_ms=agent.started_ms, exit_code=agent.exit_code, stderr=last[0] if last else None
            )
        return self._facts_at_end

    def outlives(self, result_ms: int | None) -> bool:
        """Return whether the agent still runs, 30 s after its result arrived."""
        return self.is_live and result_ms is not None and now_ms() - result_ms > LATE_EXIT_MS

    def survivors(self) -> list[Survivor]:
        """Return the processes that the agent started and that outlived it."""
        return self.agent.survivors()

    def new_stderr(self) -> list[str]:
        """Return the whole lines that the agent wrote to its stderr since the last call."""
        return self.agent.stderr.new_lines()

    def last_stderr(self, count: int) -> list[str]:
        """Return the last lines of the agent's stderr that are not blank, at most `count`."""
        return self.agent.stderr.last_lines(count)

    def leave(self) -> None:
        """Stop following the agent: the recording, as far as we see it, ends here."""
        self.agent.leave()

    def stop(self) -> None:
        """Stop the agent and what it started."""
        self.agent.stop()

    def finish(self) -> None:
        """Wait until log and recording are written, close the times, and describe the process."""
        self.written.finish(is_over=not self.is_live)
        self.describe_process()

    def describe_process(self) -> None:
        """Write which process made the recording, as one JSON object."""
        if self._process_fd is None:
            return
        described = {
            "command": self.agent.argv,
            "cwd": os.getcwd(),
            "pid": self.agent.pid,
            "started_ms": self.agent.started_ms,
            "ended_ms": self.agent.ended_ms,
            "exit_code": self.agent.exit_code,
        }
        with suppress(OSError):
            os.ftruncate(self._process_fd, 0)
            os.write(self._process_fd, orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE))
