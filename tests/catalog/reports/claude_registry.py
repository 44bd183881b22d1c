"""A folder of records of Claude Code that name the process of the test, and its reader."""

import json
import os
from pathlib import Path
from typing import Any

from agentwatch.agents.claude.reported import ClaudeRecords
from agentwatch.agents.state_report import StateReport
from agentwatch.sources.proc import Proc

NOW = 1_795_301_700.0
RECORD = {
    "sessionId": "7e82",
    "cwd": "/home/dev/proj",
    "startedAt": 1795301454020,
    "kind": "interactive",
    "entrypoint": "cli",
    "tmux": "main:@0.%0",
    "name": "proj-a8",
    "nameSource": "derived",
    "status": "busy",
    "updatedAt": 1795301643059,
    "statusUpdatedAt": 1795301643059,
}
"""The fields of `claude-registry/1416.json`."""


class Registry:
    """A folder of records, and its reader."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reader = ClaudeRecords([folder, folder / "none"], os.geteuid(), Proc())

    def watch(self) -> None:
        """Let the reader watch the folder, as that of a list that stays open does."""
        for _ in range(4):
            self.reader.refresh(NOW)

    def write(self, pid: int | None = None, file: str = "", **fields: Any) -> None:
        """Write a record as Claude Code does: in place."""
        pid = os.getpid() if pid is None else pid
        stat = Proc().stat(pid)
        record = {"pid": pid, "procStart": str(stat.began if stat else 1), **RECORD, **fields}
        (self.folder / (file or f"{pid}.json")).write_text(json.dumps(record))

    def reported(self, now: float = NOW) -> dict[str, StateReport]:
        """Read the changes, and return what is said by the session's id."""
        self.reader.refresh(now)
        return {key[1]: reported for key, reported in self.reader.reported.items()}
