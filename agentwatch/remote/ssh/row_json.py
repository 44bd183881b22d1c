"""A row of a list as it is sent from a host: a JSON object, and back.

What a host sends is foreign: a text has a length, a number a range, a state is one that is known. Another
version may send more or fewer keys. The process id and the terminal of a session are not sent: they would be
taken for those of this machine.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import orjson

from agentwatch.machine.digest import LastTests
from agentwatch.machine.row import Row
from agentwatch.machine.standing import UNKNOWN, Ground, Standing, State
from agentwatch.remote.ssh.address import SshAddress, is_session
from agentwatch.wire.found import Key

TEXTS = {
    "agent": 40,
    "model": 100,
    "title": 300,
    "prompts": 1000,
    "last_text": 500,
    "cwd": 400,
    "repo": 100,
    "branch": 200,
    "worktree": 100,
}
"""The most characters of each text."""
_NOW = 300
_NUMBERS = (
    *("calls", "failed", "context_used", "context_size", "lines_added", "lines_removed"),
    *("began_ms", "seen_ms"),
)
_COUNTS = ("open_calls", "size", "subagents", "working_subagents")
"""Numbers that are 0 if they are unknown."""
_FLAGS = ("can_open", "is_read", "is_one_liner", "is_archived", "is_own")
_LARGEST = 1 << 53
_MOST_ID = 200
_DEFAULTS = {each.name: each.default for each in fields(Row)}
_NO_PATH = Path()


def encode(row: Row) -> bytes:
    """Return a row of this machine as one line, without a line end."""
    values: dict[str, Any] = {"id": row.id[:_MOST_ID]}
    for name, most in TEXTS.items():
        values[name] = _text(getattr(row, name), most)
    for name in (*_NUMBERS, *_COUNTS, *_FLAGS):
        values[name] = getattr(row, name)
    standing = row.standing
    values |= {
        "store": row.key[0],
        "state": standing.state.value,
        "ground": standing.ground.value,
        "since_ms": standing.since_ms,
        "now": _text(standing.now, _NOW),
        "now_since_ms": standing.now_since_ms,
        "is_calling": standing.is_calling,
        "todo": row.todo,
        "tests": row.tests and tuple(row.tests),
        "parent": row.parent,
    }
    sent = {name: value for name, value in values.items() if value != _DEFAULTS.get(name, "")}
    try:
        return orjson.dumps(sent)
    except TypeError:  # a number that JSON cannot hold
        return orjson.dumps({name: value for name, value in sent.items() if isinstance(value, str | bool)})


def decode(given: dict[str, Any], host: SshAddress, ahead_ms: int = 0) -> Row | None:
    """Return the row in an object from a host; None if it names no session.

    Args:
        given: The object.
        host: The host.
        ahead_ms: How far the clock of the host is ahead of ours.
    """
    session_id, agent = given.get("id"), _text(given.get("agent"), TEXTS["agent"])
    if not isinstance(session_id, str) or not 0 < len(session_id) <= _MOST_ID:
        return None
    session_id = _text(session_id, _MOST_ID)
    store = _text(given.get("store"), TEXTS["agent"]) or agent
    can_open = is_session(session_id) and given.get("can_open") is not False
    values: dict[str, Any] = {name: _text(given.get(name), most) for name, most in TEXTS.items()}
    values |= {name: _number(given.get(name)) for name in _NUMBERS}
    values |= {name: _number(given.get(name)) or 0 for name in _COUNTS}
    values |= {name: given.get(name) is True for name in _FLAGS}
    for name in ("began_ms", "seen_ms"):
        values[name] = _moved(values[name], ahead_ms)
    values["can_open"], values["is_read"] = can_open, given.get("is_read") is not False
    return Row(
        **values,
        key=key(host, store, session_id),
        id=session_id,
        path=_NO_PATH,
        address=f"{host}/{session_id}" if can_open else "",
        host=host.host,
        standing=_standing(given, ahead_ms),
        todo=_pair(given.get("todo")),
        tests=_tests(given.get("tests")),
        parent=_parent(given.get("parent"), host),
    )


def key(host: SshAddress, agent: str, session_id: str) -> Key:
    """Return the key of a session on a host."""
    return str(host), f"{agent}/{session_id}"


def _standing(given: dict[str, Any], ahead_ms: int) -> Standing:
    try:
        state, ground = State(_text(given.get("state"), 40)), Ground(_text(given.get("ground"), 40))
    except ValueError:
        return UNKNOWN
    return Standing(
        state,
        ground,
        _moved(_number(given.get("since_ms")), ahead_ms),
        _text(given.get("now"), _NOW),
        _moved(_number(given.get("now_since_ms")), ahead_ms),
        given.get("is_calling") is True,
    )


def _text(value: object, most: int) -> str:
    return value[:most].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _LARGEST else None


def _moved(at_ms: int | None, ahead_ms: int) -> int | None:
    return None if at_ms is None else max(0, at_ms - ahead_ms)


def _pair(value: object) -> tuple[int, int] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    done, of = _number(value[0]), _number(value[1])
    return None if done is None or of is None else (done, of)


def _tests(value: object) -> LastTests | None:
    if not isinstance(value, list) or len(value) != len(LastTests._fields):
        return None
    is_red, passed, failed, is_stale = value
    passed, failed = _number(passed), _number(failed)
    if passed is None or failed is None:
        return None
    return LastTests(is_red is True, passed, failed, is_stale is True)


def _parent(value: object, host: SshAddress) -> Key | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    agent, session_id = _text(value[0], TEXTS["agent"]), _text(value[1], _MOST_ID)
    return key(host, agent, session_id) if agent and session_id else None
