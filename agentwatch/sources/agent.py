"""The source whose agent is started by agentwatch."""

from __future__ import annotations

import threading
import time
from functools import partial

from agentwatch.base.clock import now_ms
from agentwatch.recording.acts import Act, ActRecord
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved_sessions import describe_process
from agentwatch.recording.store import SessionFiles
from agentwatch.session.agent_process import LATE_EXIT_MS, AgentFacts
from agentwatch.sources.agent_processes import Activity, Pausing, Survivor
from agentwatch.sources.control import Control
from agentwatch.sources.process import AgentProcess
from agentwatch.sources.source import Elsewhere, WrittenFiles

RECEIPT_SECONDS = 10.0
"""How long an agent may take to end after an interrupt."""
_POLL_SECONDS = 0.05


class AgentSource:
    """`files`, `log_fd` and `process_fd`, for `describe_process`, are None for what is not kept."""

    ended_by = None
    stream = ""
    elsewhere: Elsewhere | None = None
    outlasts_screen = is_filling = is_interrupted = False

    def __init__(
        self,
        reader: LineReader,
        agent: AgentProcess,
        files: SessionFiles | None = None,
        log_fd: int | None = None,
        process_fd: int | None = None,
    ) -> None:
        self.reader = reader
        self.agent = agent
        self.written = WrittenFiles(reader, files, log_fd)
        self.path = None if files is None else files.recording
        self.bookmarks_path = None if files is None else files.bookmarks
        self.wakeup = agent.wakeup
        self._process_fd = process_fd
        self._pausing = Pausing(agent.pid, lambda: agent.exit_code is None, agent.output.note_pause)
        self.pausing: Pausing | None = self._pausing
        self._activity = Activity(agent.pid)
        self._facts_at_end: AgentFacts | None = None
        reader.exit_code = lambda: agent.exit_code
        self._control: Control | None = None
        """Takes requests of the list of sessions; None if acting is off."""
        self._acts_fault: OSError | None = None

    @property
    def is_live(self) -> bool:
        return self.agent.is_followed

    @property
    def runs_agent(self) -> bool:
        return self.is_live

    @property
    def agent_pid(self) -> int:
        return self.agent.pid

    @property
    def agent_exit_code(self) -> int | None:
        """128 + n if signal n ended the agent; None while it runs."""
        return self.agent.exit_code

    @property
    def fault(self) -> OSError | None:
        return self.agent.fault or self.written.fault

    @property
    def faults(self) -> dict[str, OSError | None]:
        return {
            "disk full, recording into reserved space": self.agent.output.reserve_fault,
            "the recording is incomplete": self.fault,
            "the agent's stderr is incomplete": self.agent.output.stderr_fault,
            "what you do to the agent is not recorded, or not possible from the list": self._acts_fault,
            **self.written.faults,
        }

    def new_faults(self) -> list[str]:
        return self.written.unreported(self.faults)

    def agent_facts(self) -> AgentFacts:
        """After the end of the process the result no longer changes."""
        agent = self.agent
        if agent.exit_code is None or self.is_live:
            pausing = self._pausing
            return AgentFacts(
                agent.pid if agent.exit_code is None else None,
                agent.started_ms,
                uses_cpu=self._activity.uses_cpu(),
                is_stopped=self._activity.is_stopped(),
                paused_by=pausing.rule,
                continued_ms=pausing.continued_ms,
            )
        if self._facts_at_end is None:
            last = agent.stderr.last_lines(1)
            self._facts_at_end = AgentFacts(
                started_ms=agent.started_ms, exit_code=agent.exit_code, stderr=last[0] if last else None
            )
        return self._facts_at_end

    def outlives(self, result_ms: int | None) -> bool:
        """With a result, a process that the agent left behind is not followed any longer."""
        if result_ms is not None:
            self.agent.note_result()
        return self.is_live and result_ms is not None and now_ms() - result_ms > LATE_EXIT_MS

    def quiet_ms(self) -> int:
        return self.agent.quiet_ms()

    def survivors(self) -> list[Survivor]:
        return self.agent.survivors()

    def new_stderr(self) -> list[str]:
        return self.agent.stderr.new_lines()

    def last_stderr(self, count: int) -> list[str]:
        return self.agent.stderr.last_lines(count)

    def leave(self) -> None:
        """The agent keeps running; the recording counts as ended."""
        if self._control is not None:
            self._control.close()
        self.agent.leave()

    def stop(self) -> None:
        self.agent.stop()

    def listen(self) -> None:
        """Let the list ask for acts, if the session is kept; a socket that fails is a fault."""
        if self.path is not None:
            try:
                self._control = Control(self.path, lambda act: self.act(act, "list"))
            except OSError as error:
                self._acts_fault = error

    def act(self, act: str, by: str, why: str = "") -> str:
        """Record the act too, which the user wants. `by` is where the user acted, `list` or `session`;
        `agentwatch` if it acts by itself. Return why it was not done; empty if it was."""
        if act not in ("interrupt", "stop"):
            return "this run process does not know that"
        if not self.runs_agent or (act == "interrupt" and not self.agent.interrupt()):
            return "the agent has ended"
        if act == "interrupt":
            self._pausing.resume()  # a paused agent takes the signal only then
            self.is_interrupted = True
            self._note_act(act, by, "SIGINT", why=why)
            threading.Thread(target=self._await_end, args=(act, by), name="receipt", daemon=True).start()
        else:
            stop = partial(self.agent.stop, lambda number: self._note_act(act, by, number.name, why=why))
            threading.Thread(target=stop, name="stop", daemon=True).start()
        return ""

    def _await_end(self, act: str, by: str) -> None:
        """Record that it is unknown what an interrupt did, if the agent still runs 10 s later."""
        deadline = time.monotonic() + RECEIPT_SECONDS
        while self.agent.exit_code is None:
            if time.monotonic() > deadline:
                self._note_act(act, by, "SIGINT", "unknown")
                return
            time.sleep(_POLL_SECONDS)

    def _note_act(self, act: str, by: str, door: str, receipt: str = "sent", why: str = "") -> None:
        if (files := self.written.files) is not None:
            record = ActRecord(Act(0, act, files.recording.stem, by, door, "", why), [files.acts])
            self._acts_fault = next(iter(record.write(receipt)), self._acts_fault)

    def finish(self) -> None:
        """Wait until the recording has ended and its files are written, and describe the process."""
        if self._control is not None:
            self._control.close()
        self.written.finish()
        self.describe_process()

    def describe_process(self) -> None:
        agent, fd = self.agent, self._process_fd
        if fd is not None:
            describe_process(
                fd, agent.argv, agent.cwd, agent.pid, agent.started_ms, agent.ended_ms, agent.exit_code
            )
