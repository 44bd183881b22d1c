"""The source that reads a saved recording, which is complete or still being written by another program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentwatch.recording.lines import LineReader, StreamGrowth
from agentwatch.recording.saved import SavedGrowth
from agentwatch.recording.store import SessionFiles, open_regular
from agentwatch.recording.write_lock import read_process
from agentwatch.session.agent_process import AgentFacts
from agentwatch.sources.source import WithoutAgent, WrittenFiles

if TYPE_CHECKING:
    from agentwatch.sources.agent_processes import Activity
    from agentwatch.sources.process import StderrFile


class FileSource(WithoutAgent):
    """If `run` has recorded it, the files beside it hold the facts about the agent's process and its stderr.
    `files` is None if nothing beside the recording is read, `log_fd` None for no log."""

    wakeup = None
    is_live = False
    outlasts_screen = False
    fault = None

    def __init__(
        self, reader: LineReader, files: SessionFiles | None = None, log_fd: int | None = None
    ) -> None:
        self.reader = reader
        self.path = None if files is None else files.recording
        self.written = WrittenFiles(reader, log_fd=log_fd)
        self.bookmarks_path = None if files is None else files.bookmarks
        self._files = files
        self._process = None if files is None else read_process(files.process)
        self._stderr: StderrFile | None = None
        self._activity: Activity | None = None
        if files is not None and self._process is not None:
            from agentwatch.sources.agent_processes import Activity

            self._stderr, self._activity = _stderr_file(files), Activity(self._process.pid)
        self._facts_at_end: AgentFacts | None = None
        reader.exit_code = lambda: self.agent_facts().exit_code
        self._has_left = False

    @property
    def ended_by(self) -> str | None:
        growth = self.reader.growth
        return growth.ended_by if isinstance(growth, SavedGrowth) else None

    def agent_facts(self) -> AgentFacts:
        """What `run` has written about the agent's process, or what is known about it elsewhere."""
        if self.elsewhere is not None and self.reader.growth.has_ended():
            return self.facts._replace(exit_code=self.elsewhere.exit_code)
        if self._files is None or self._process is None or self._activity is None:
            return self.facts
        if not self.reader.growth.has_ended():
            process = self._process
            return AgentFacts(process.pid, process.started_ms, uses_cpu=self._activity.uses_cpu())
        if self._facts_at_end is None:
            process = read_process(self._files.process) or self._process
            last = self.last_stderr(1)
            facts = AgentFacts(
                started_ms=process.started_ms, exit_code=process.exit_code, stderr=last[0] if last else None
            )
            if process.exit_code is None:  # its monitor may not have written it yet
                return facts
            self._facts_at_end = facts
        return self._facts_at_end

    def new_stderr(self) -> list[str]:
        return [] if self._stderr is None else self._stderr.new_lines()

    def last_stderr(self, count: int) -> list[str]:
        """While the recording is being written, the last lines are not known, and the list is empty."""
        is_over = self.reader.growth.has_ended() and not self._has_left
        return [] if self._stderr is None or not is_over else self._stderr.last_lines(count)

    def leave(self) -> None:
        """The file may grow forever, and its action log would never be complete."""
        growth = self.reader.growth
        if isinstance(growth, SavedGrowth | StreamGrowth) and not growth.has_ended():
            self._has_left = True
            growth.stop_following()

    def close(self) -> None:
        """Close the recording, and the agent's stderr beside it. Nothing may read the session any more."""
        self.leave()
        if self._stderr is not None:
            self._stderr.close()
        os.close(self.reader.fd)


def _stderr_file(files: SessionFiles) -> StderrFile | None:
    from agentwatch.sources.process import StderrFile

    try:
        return StderrFile(open_regular(files.stderr))
    except OSError:
        return None
