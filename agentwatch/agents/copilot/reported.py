"""The locks of Copilot on its sessions: `session-state/ID/inuse.PID.lock` in its folder. Observed in Copilot
CLI 1.0.102."""

from __future__ import annotations

from agentwatch.agents.description_files import own_files
from agentwatch.agents.session_folders import Claim, SessionFolders

_MOST_DIGITS = 10


class CopilotLocks(SessionFolders):
    agent = "copilot"

    def claims(self, path: str) -> list[Claim]:
        found = own_files(path, self.uid, _is_lock)
        return [Claim(_pid(name), stamp.changed_ns // 10**6) for name, stamp in found]


def _is_lock(name: str) -> bool:
    return name.startswith("inuse.") and name.endswith(".lock") and _pid(name) > 0


def _pid(name: str) -> int:
    digits = name.removeprefix("inuse.").removesuffix(".lock")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS else 0
