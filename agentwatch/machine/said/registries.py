"""All that agents, and hooks in them, say about their sessions on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentwatch.machine.found import Key
from agentwatch.machine.process import Said
from agentwatch.machine.processes.proc import Proc
from agentwatch.machine.said.claude import ClaudeRecords
from agentwatch.machine.said.codex_locks import CodexLocks
from agentwatch.machine.said.copilot_locks import CopilotLocks
from agentwatch.machine.said.hook_logs import HookLogs
from agentwatch.machine.said.own_recordings import OwnRecordings
from agentwatch.recording import sessions_folder
from agentwatch.sources.session_folders import SessionFolder, session_folders


class Registries:
    """Reads what has changed of the files in which agents describe their sessions."""

    def __init__(
        self, environ: Mapping[str, str], home: Path, uid: int | None = None, proc: Proc | None = None
    ) -> None:
        """Create it without a statement.

        Args:
            environ: The environment, whose variables move the folders of the agents.
            home: The home folder.
            uid: The user whose files and processes count; None for the own one.
            proc: Where the processes are read; None for /proc.
        """
        uid = os.geteuid() if uid is None else uid
        proc = proc or Proc()
        own_home = environ.get("AGENTWATCH_HOME")
        own = Path(own_home) if own_home else sessions_folder().parent
        folders = session_folders(environ, home)
        self._claude = ClaudeRecords(_beside(folders, "claude", "projects", "sessions"), uid, proc)
        self._codex = CodexLocks(_beside(folders, "codex", "sessions", "thread-writer-locks"), uid, proc)
        self._copilot = CopilotLocks(_beside(folders, "copilot", "session-state", "session-state"), uid, proc)
        self._own = OwnRecordings(own / "sessions", uid)
        self._hooks = HookLogs(own / "hooks", uid)
        self.said: dict[Key, Said] = {}

    @property
    def exact(self) -> frozenset[str]:
        """The agents that say of each session whether it is open."""
        return frozenset({"codex"}) if self._codex.is_exact else frozenset()

    def refresh(self, now: float) -> bool:
        """Read what has changed, and return whether something new is said.

        Args:
            now: The time, in seconds since the epoch.
        """
        agents = (self._claude, self._codex, self._copilot, self._own)
        changes = [each.refresh(now) for each in (*agents, self._hooks)]
        if not any(changes):
            return False
        said: dict[Key, Said] = {}
        for each in agents:
            said.update(each.said)
        for key, hook in self._hooks.said.items():
            known = said.get(key)
            if known is None:
                said[key] = hook
            elif known.state is None:
                said[key] = known._replace(state=hook.state, since_ms=hook.since_ms, about=hook.about)
        self.said = said
        return True


def _beside(folders: Iterable[SessionFolder], agent: str, part: str, name: str) -> list[Path]:
    """Return the folders of a name that lie beside a part of an agent's folder."""
    return [Path(each.path).with_name(name) for each in folders if (each.agent, each.part) == (agent, part)]
