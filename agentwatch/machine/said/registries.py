"""All that agents, and hooks in them, say about their sessions on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path

from agentwatch.faults import reading
from agentwatch.machine.process import Said
from agentwatch.machine.said.hook_logs import HookLogs
from agentwatch.machine.said.own_recordings import OwnRecordings
from agentwatch.recording import sessions_folder
from agentwatch.sources.proc import Proc
from agentwatch.wire.agents import programs
from agentwatch.wire.found import Key
from agentwatch.wire.program import imported
from agentwatch.wire.reported import Reporter
from agentwatch.wire.session_folders import SessionFolder, session_folders


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
        reports = [(program, program.reports) for program in programs() if program.reports]
        self._agents: dict[str, Reporter] = {}
        """What reads the reports of each agent, by its short name."""
        self._folders: list[Path] = []
        """The folder that is named if the files of an agent, of our recordings or of hooks cannot be read."""
        for program, each in reports:
            beside = _beside(folders, program.name, each.part, each.name)
            self._agents[program.name] = imported(each.reader)(beside, uid, proc)
            self._folders.append(beside[0])
        self._own = OwnRecordings(own / "sessions", uid)
        self._hooks = HookLogs(own / "hooks", uid)
        self._folders += [own / "sessions", own / "hooks"]
        self.problems: list[OSError] = []
        """Why something could not be read by the last `refresh`; what was said before holds."""
        self.said: dict[Key, Said] = {}

    @property
    def exact(self) -> frozenset[str]:
        """The agents that say of each session whether it is open."""
        return frozenset(name for name, each in self._agents.items() if each.is_exact)

    def refresh(self, now: float, keys: AbstractSet[Key] | None = None) -> bool:
        """Read what has changed, and return whether something new is said.

        Args:
            now: The time, in seconds since the epoch.
            keys: The sessions whose records are read; None for all, and for new ones. Locks and logs are few
                or have their own times.
        """
        agents: list[Reporter | OwnRecordings] = [*self._agents.values(), self._own]
        has_changed, self.problems = False, []
        refreshes: list[Callable[[float], bool]] = [
            *(partial(each.refresh, keys=keys) for each in self._agents.values()),
            self._own.refresh,
            self._hooks.refresh,
        ]
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
