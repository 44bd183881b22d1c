"""A row of a list as a host sends it, in JSON. The process id and the terminal are not sent: they would be
taken for those of this machine. Other versions may have other keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.base.json_fields import Field, values_in, values_of
from agentwatch.catalog.digest.digest import LastTests
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import UNKNOWN, Ground, SessionStatus
from agentwatch.remote.card import decoded_limits, encoded_limits
from agentwatch.remote.ssh.shared_connection import SshAddress, is_session
from agentwatch.session.limits import Reported

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
_LARGEST = 1 << 53
_MOST_ID = 200
_MOST_STATE = 40
_NO_PATH = Path()


def _number(name: str, empty: int | None = None) -> Field:
    return Field(name, int, _LARGEST, empty)


_FIELDS = (
    *(Field(name, str, most, "") for name, most in TEXTS.items()),
    *map(_number, ("calls", "failed", "rejected", "cancelled", "turns", "context_used", "context_size")),
    *map(_number, ("input_tokens", "cached_tokens", "output_tokens")),
    *map(_number, ("lines_added", "lines_removed", "began_ms", "seen_ms", "duration_ms", "exit_code")),
    *(_number(name, 0) for name in ("open_calls", "size", "subagents", "working_subagents")),
    *(Field(name, bool, empty=True) for name in ("can_open", "is_read")),
    *(Field(name, bool, empty=False) for name in ("is_one_liner", "is_archived", "is_own")),
)
"""The fields that a row has under the same names."""
_KEY = (Field("id", str, _MOST_ID, ""), Field("store", str, TEXTS["agent"], ""))
_STANDING = (
    Field("state", str, _MOST_STATE, ""),
    Field("ground", str, _MOST_STATE, ""),
    _number("since_ms"),
    Field("now", str, 300, ""),
    _number("now_since_ms"),
    Field("is_calling", bool, empty=False),
    _number("until_ms"),
)
_ALL = (*_KEY, *_FIELDS, *_STANDING)
_COUNT = _number("")


def encode(row: Row) -> bytes:
    """Return a row of this machine as one line, without a line end."""
    values = values_of(_ALL, row, store=row.key[0], **row.status._asdict())
    sent = {field.name: values[field.name] for field in _ALL if values[field.name] != field.empty}
    others = {"todo": _pair(row.todo), "tests": _tests(row.tests), "parent": _names(row.parent)}
    sent |= {"limits": encoded_limits(row.limits)} if row.limits else {}
    return orjson.dumps(sent | {name: list(value) for name, value in others.items() if value is not None})


def decode(given: dict[str, Any], host: SshAddress, ahead_ms: int = 0) -> Row | None:
    """Return the row in an object from a host whose clock is `ahead_ms` ahead; None without a session."""
    if not isinstance(given.get("id"), str) or not 0 < len(given["id"]) <= _MOST_ID:
        return None
    session_id, store = values_in(_KEY, given).values()
    values = values_in(_FIELDS, given)
    values["can_open"] = can_open = is_session(session_id) and values["can_open"]
    for name in ("began_ms", "seen_ms"):
        values[name] = _moved(values[name], ahead_ms)
    parent = _names(given.get("parent"))
    return Row(
        **values,
        key=key(host, store or values["agent"], session_id),
        id=session_id,
        path=_NO_PATH,
        address=f"{host}/{session_id}" if can_open else "",
        host=host.host,
        status=_status(values_in(_STANDING, given), ahead_ms),
        todo=_pair(given.get("todo")),
        tests=_tests(given.get("tests")),
        limits=_limits(given.get("limits"), ahead_ms),
        parent=parent and key(host, *parent),
    )


def key(host: SshAddress, agent: str, session_id: str) -> Key:
    """Return the key of a session on a host."""
    return str(host), f"{agent}/{session_id}"


def _status(values: dict[str, Any], ahead_ms: int) -> SessionStatus:
    try:
        state, ground = State(values.pop("state")), Ground(values.pop("ground"))
    except ValueError:
        return UNKNOWN
    for name in ("since_ms", "now_since_ms", *(("until_ms",) if state is State.ASKS else ())):
        values[name] = _moved(values[name], ahead_ms)
    return SessionStatus(state, ground, **values)


def _moved(at_ms: int | None, ahead_ms: int) -> int | None:
    return None if at_ms is None else max(0, at_ms - ahead_ms)


def _pair(value: object) -> tuple[int, int] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    done, of = map(_COUNT.bounded, value)
    return None if done is None or of is None else (done, of)


def _tests(value: object) -> LastTests | None:
    if not isinstance(value, list | tuple) or len(value) != len(LastTests._fields):
        return None
    is_red, passed, failed, is_stale = value
    counts = _pair((passed, failed))
    return counts and LastTests(is_red is True, *counts, is_stale is True)


def _limits(value: object, ahead_ms: int) -> tuple[Reported, ...]:
    """Return windows of usage limits. Their resets are the time of a server, not that of the host."""
    found = decoded_limits(value)
    return tuple(each._replace(said_ms=_moved(each.said_ms, ahead_ms)) for each in found)


def _names(value: object) -> tuple[str, str] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    session_id, store = (field.bounded(each) for field, each in zip(_KEY, reversed(value), strict=True))
    return (store, session_id) if store and session_id else None
