"""All that agents, and hooks in them, say about their sessions on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path

from agentwatch.faults import reading
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
        claude = _beside(folders, "claude", "projects", "sessions")
        codex = _beside(folders, "codex", "sessions", "thread-writer-locks")
        copilot = _beside(folders, "copilot", "session-state", "session-state")
        self._claude = ClaudeRecords(claude, uid, proc)
        self._codex = CodexLocks(codex, uid, proc)
        self._copilot = CopilotLocks(copilot, uid, proc)
        self._own = OwnRecordings(own / "sessions", uid)
        self._hooks = HookLogs(own / "hooks", uid)
        self._folders = (claude[0], codex[0], copilot[0], own / "sessions", own / "hooks")
        """The folder that is named if the files of one of the five cannot be read."""
        self.problems: list[OSError] = []
        """Why something could not be read by the last `refresh`; what was said before holds."""
        self.said: dict[Key, Said] = {}

    @property
    def exact(self) -> frozenset[str]:
        """The agents that say of each session whether it is open."""
        return frozenset({"codex"}) if self._codex.is_exact else frozenset()

    def refresh(self, now: float, keys: AbstractSet[Key] | None = None) -> bool:
        """Read what has changed, and return whether something new is said.

        Args:
            now: The time, in seconds since the epoch.
            keys: The sessions whose records are read; None for all, and for new ones. Locks and logs are few
                or have their own times.
        """
        agents = (self._claude, self._codex, self._copilot, self._own)
        has_changed, self.problems = False, []
        refreshes: list[Callable[[float], bool]] = [partial(self._claude.refresh, keys=keys)]
        refreshes += [each.refresh for each in (*agents[1:], self._hooks)]
        for refresh, folder in zip(refreshes, self._folders, strict=True):
            try:
                with reading(folder):
                    has_changed = refresh(now) or has_changed
            except OSError as error:
                self.problems.append(error)
        if not has_changed:
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
