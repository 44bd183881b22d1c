"""The row of a session of which only a file is known: its agent, its name, its size and its time."""

from __future__ import annotations

from pathlib import Path

from agentwatch.machine.row import Row
from agentwatch.machine.standing import UNKNOWN
from agentwatch.remote.ssh.address import SshAddress, is_session
from agentwatch.remote.ssh.row_json import key

_AGENTS = frozenset({"agentwatch", "claude", "codex", "gemini", "qwen", "pi", "cursor"})
"""The agents whose files the script lists."""
_MOST_DIGITS = 15
_UUID = 36
"""The characters of a UUID."""


def row_of_file(line: bytes, host: SshAddress) -> Row | None:
    """Return the row of a line of the list: agent, time in seconds, size and path; None for another line."""
    words = line.decode("ascii", "replace").split(" ")
    if len(words) != 4 or words[0] not in _AGENTS:
        return None
    agent, changed, size, path = words
    session_id = _id_of(agent, path.rpartition("/")[2].rpartition(".")[0])
    if not is_session(session_id) or not _is_number(changed) or not _is_number(size):
        return None
    is_own = agent == "agentwatch"
    return Row(
        key=key(host, agent, session_id),
        agent="" if is_own else agent,
        id=session_id,
        path=Path(),
        address=f"{host}/{session_id}",
        host=host.host,
        standing=UNKNOWN,
        title=session_id,
        is_read=False,
        seen_ms=int(changed) * 1000,
        size=int(size),
        is_own=is_own,
    )


def _id_of(agent: str, stem: str) -> str:
    """Return the id in the name of a file: `rollout-TIME-UUID` of Codex, `TIME_UUID` of Pi."""
    if agent == "codex":
        return stem[-_UUID:]
    return stem.partition("_")[2] or stem if agent == "pi" else stem


def _is_number(text: str) -> bool:
    return 0 < len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit()
