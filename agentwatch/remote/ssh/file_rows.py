"""The row of a session of which only a file is known: its agent, its name, its size and its time."""

from __future__ import annotations

from pathlib import Path

from agentwatch.machine.row import Row
from agentwatch.machine.standing import UNKNOWN
from agentwatch.remote.ssh.address import SshAddress, is_session
from agentwatch.remote.ssh.row_json import key
from agentwatch.wire.agents import program_named
from agentwatch.wire.found import OWN

_MOST_DIGITS = 15


def row_of_file(line: bytes, host: SshAddress) -> Row | None:
    """Return the row of a line of the list: agent, time in seconds, size and path; None for another line."""
    words = line.decode("ascii", "replace").split(" ")
    if len(words) != 4:
        return None
    agent, changed, size, path = words
    program = program_named(agent)
    is_own = agent == OWN
    if not is_own and (program is None or not any(each.over_ssh for each in program.sessions)):
        return None
    stem = path.rpartition("/")[2].rpartition(".")[0]
    session_id = stem if program is None else program.id_in(stem)
    if not is_session(session_id) or not _is_number(changed) or not _is_number(size):
        return None
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


def _is_number(text: str) -> bool:
    return 0 < len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit()
