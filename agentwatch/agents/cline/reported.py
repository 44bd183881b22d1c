"""The state that Cline keeps in the description of each session, `sessions/ID/ID.json`. Observed in Cline
3.0.65: it is written whenever the state changes. The process that it names may be a daemon that works for
several terminals, so it is not that which shows the session."""

from __future__ import annotations

import os

from agentwatch.agents.description_files import json_object, stamp_of
from agentwatch.agents.session_folders import Claim, SessionFolders
from agentwatch.agents.state_report import State

_STATES = {"running": State.WORKING, "pending": State.ASKS, "idle": State.YOUR_TURN}


class ClineStates(SessionFolders):
    agent = "cline"

    def changed_ns(self, path: str) -> int:
        stamp = stamp_of(_description(path), self.uid)
        return 0 if stamp is None else stamp.changed_ns

    def claims(self, path: str) -> list[Claim]:
        name = _description(path)
        status = json_object(name).get("status")
        state = _STATES.get(status) if isinstance(status, str) else None
        about = "permission" if state is State.ASKS else ""
        return [Claim(state=state, about=about, source=f"file {name}")] if state else []


def _description(path: str) -> str:
    return os.path.join(path, f"{os.path.basename(path)}.json")
