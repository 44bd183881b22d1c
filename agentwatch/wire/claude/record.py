"""One record of Claude Code about a session of its own: `sessions/PID.json` in its folder.

The format was observed in Claude Code 2.1.330. The program writes a record in place whenever its state
changes, and removes it when it exits.
"""

from typing import Any, NamedTuple

from agentwatch.wire.fields import in_words, number, text
from agentwatch.wire.found import Key
from agentwatch.wire.reported import Life, Said, State

AGENT = "claude"
_STATES = {"busy": State.WORKING, "idle": State.YOUR_TURN, "waiting": State.ASKS, "shell": State.SHELL}
_ABOUT = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}
_ONE_LINER = "sdk-cli"
"""The `entrypoint` of `claude -p`."""
_DAEMON = "daemon"
"""The `kind` of the process that starts sessions in the background, and has none itself."""


class Record(NamedTuple):
    """A record, whose process may have ended."""

    said: Said
    """What it says; its `life` is not known yet."""
    pid: int
    domain: str
    """The machine and the namespace of the process id: `linux:MACHINE:pid:[4026531836]`; empty in older
    versions."""
    updated_ms: int

    @property
    def key(self) -> Key:
        """The agent and the id of the session."""
        return AGENT, self.said.session_id


def record_of(fields: dict[str, Any], pid: int) -> Record | None:
    """Return a record; None if it is not that of a session.

    Args:
        fields: The JSON object.
        pid: The process, by the name of the file.
    """
    session_id = text(fields, "sessionId")
    if session_id is None or fields.get("kind") == _DAEMON:
        return None
    status, about, began = (text(fields, key) or "" for key in ("status", "waitingFor", "procStart"))
    updated_ms = number(fields, "updatedAt") or 0
    state = _STATES.get(status)
    said = Said(
        AGENT,
        in_words(session_id),
        Life.UNKNOWN,
        pid,
        in_words(began) or str(number(fields, "procStart") or ""),
        state,
        number(fields, "statusUpdatedAt") if state else None,
        _ABOUT.get(about, "") if state is State.ASKS else "",
        in_words(text(fields, "name") or ""),
        fields.get("nameSource") == "user",
        text(fields, "cwd"),
        in_words(text(fields, "tmux") or ""),
        fields.get("entrypoint") == _ONE_LINER,
        number(fields, "startedAt"),
    )
    return Record(said, pid, in_words(text(fields, "pidDomain") or ""), updated_ms)
