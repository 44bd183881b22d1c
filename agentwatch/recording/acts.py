"""What the user did to a session through agentwatch: `STEM.acts`, one JSON object per line.

`{"at_ms":…,"act":"continue","to":"ID","by":"command","door":"claude --resume","receipt":"sent"}`. Lines are
only appended. The acts on a session that agentwatch did not record are in `acts/AGENT-ID.acts` in the state
folder. An agent may write in these folders, so the files are read as foreign data.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from agentwatch.base.clock import now_ms
from agentwatch.base.files import state_folder
from agentwatch.recording.appender import append_own_line
from agentwatch.recording.store import (
    SessionFiles,
    is_foreign_id,
    natural,
    own_objects,
    private_folder,
    saved_recordings,
    version_at,
    writable,
)
from agentwatch.text.safe import SafeText, cut, safe_line

ACT_NAMES = ("continue", "queue", "interrupt", "stop", "allow", "deny")
RECEIPTS = ("sent", "held", "elsewhere", "refused", "expired", "unknown")
MOST_ACTS = 1000
_FOLDER = "acts"
_MOST_BYTES = 1 << 20
_MOST_TEXT = 200
"""Characters of each text. A line then has at most 4 KB, which the system appends as a whole."""
_WORDS_COLUMNS = 120
_TEXTS = ("act", "to", "by", "door", "receipt")
_MORE = ("why", "id")
_RECEIPT_WORDS = {"elsewhere": "answered there", "unknown": "unconfirmed"}
_RECEIPT_MS = 5000
"""The receipt of an act follows within this time."""
_WAIT_MS = 6000
_MOST_RUNS = 20


class Act(NamedTuple):
    """An act of the user. The texts of one that was read from a file are foreign."""

    at_ms: int
    """When it is appended, which gives its place in the action log."""
    act: str
    """`continue`, `queue`, `interrupt`, `stop`, `allow` or `deny`."""
    to: str
    """The id of the session."""
    by: str
    """Where the user acted: `command`, `list` or `session`; `agentwatch` if it has acted by itself."""
    door: str
    """What the agent's vendor built: `claude --resume`, `codex queue`, `SIGINT`, `hook`."""
    receipt: str
    """`sent`, `held` for the agent, `elsewhere` if answered there first, `refused`, `expired`, `unknown`."""
    why: str = ""
    """Why agentwatch has acted by itself; empty for an act of the user."""
    id: str = ""
    """Names an answer that has two lines: when the hook gives it to the agent, and its receipt."""


def acts_file(agent: str, session_id: str, recording: Path | None, environ: Mapping[str, str]) -> Path | None:
    """Return the file of acts, which may not exist; None if the id cannot be in a name."""
    if recording is not None:
        return SessionFiles(recording).acts
    is_name = is_foreign_id(session_id) and len(session_id) <= _MOST_TEXT
    return Path(state_folder(environ), _FOLDER, acts_name(agent, session_id)) if is_name else None


def acts_name(agent: str, session_id: str) -> str:
    """The file of the acts on a session that agentwatch did not record."""
    return f"{agent}-{session_id}.acts"


def acts_names() -> AbstractSet[str]:
    """Return the names that exist: looking for each takes 9 µs, and most sessions have none."""
    try:
        return frozenset(os.listdir(state_folder() / _FOLDER))
    except OSError:
        return frozenset()


def append_act(path: Path, act: Act) -> None:
    """Create the file if necessary. Raise `OSError` if it cannot be written, is a link or no regular file,
    has another name too, or belongs to another user."""
    if not path.parent.exists():
        private_folder(path.parent)
    texts = {name: writable(getattr(act, name), _MOST_TEXT) for name in (*_TEXTS, *_MORE)}
    line = {"at_ms": act.at_ms, **{name: text for name, text in texts.items() if text or name in _TEXTS}}
    append_own_line(os.fspath(path), orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))


class ActRecord(NamedTuple):
    """One act, and the files that have a line of it: that of the session, and that of its recording."""

    act: Act
    files: list[Path]

    def write(self, receipt: str, **changed: str) -> list[OSError]:
        """Append the act with a receipt, and with other fields `changed`; return why files have it not."""
        act, faults = self.act._replace(at_ms=now_ms(), receipt=receipt, **changed), list[OSError]()
        for path in self.files:
            try:
                append_act(path, act)
            except OSError as error:
                faults.append(OSError(error.errno, error.strerror or "unknown error", str(path)))
        return faults


def read_acts(path: Path | None) -> list[Act]:
    """The newest 1,000 acts of the last 1 MiB; none if there is no regular file of this user. Lines with
    fields of a wrong type are ignored. An answer of the hook has two lines with one id: the second, with the
    receipt, is returned, or after 6 s the first. A line with the id of an answer, but another act, session,
    door or time, is an act of its own: otherwise a forged line could hide an answer."""
    return _read(path)[0]


def _read(path: Path | None) -> tuple[list[Act], bool]:
    """Return also whether one more is held back for its receipt."""
    found = () if path is None else own_objects(path, _MOST_BYTES, newest=True)
    acts: dict[int, Act] = {}
    opened: dict[str, tuple[int, Act]] = {}
    """The first line with each id, and its number."""
    for number, act in enumerate(filter(None, map(_act, found))):
        if act.id:
            first, opening = opened.setdefault(act.id, (number, act))
            if act is not opening and _follows(act, opening) and acts.pop(first, None) is None:
                continue  # the receipt was read before
        acts[number] = act
    now = now_ms()
    held = [first for first, act in opened.values() if first in acts and 0 <= now - act.at_ms < _WAIT_MS]
    for first in held:
        del acts[first]
    return [*acts.values()][-MOST_ACTS:], bool(held)


def _follows(act: Act, opening: Act) -> bool:
    is_same = (act.act, act.to, act.door) == (opening.act, opening.to, opening.door)
    return is_same and 0 <= act.at_ms - opening.at_ms <= _RECEIPT_MS


def index_after(acts: Sequence[Act], last: Act | None) -> int:
    """The index of the first act after one that was read before; 0 if that was dropped, and for None."""
    return next((at for at in range(len(acts), 0, -1) if acts[at - 1] == last), 0)


class SessionActs:
    """The file is read again when it has changed, not at first. `own` is None without a recording."""

    def __init__(self, own: Path | None) -> None:
        self._own = own
        self._file: tuple[tuple[str, str], Path | None] = (("", ""), None)
        self._version: tuple[int, ...] | None = None
        self._has_more = False
        self._acts: Sequence[Act] = ()

    @classmethod
    def of_file(cls, path: Path | None) -> SessionActs:
        """A file is our recording if arrival times are beside it."""
        return cls(path if path is not None and os.path.lexists(SessionFiles(path).times) else None)

    def read(self, agent: str, session_id: str) -> Sequence[Act]:
        """The same object without new ones. `agent` and `session_id`, a foreign text, may be empty."""
        if self._own is None and not (agent and session_id):
            return ()
        if self._file[1] is None or self._file[0] != (agent, session_id):
            path = acts_file(agent, session_id, self._own, os.environ)
            self._file = (agent, session_id), path
        path = self._file[1]
        version = None if path is None else version_at(path)
        if version != self._version or self._has_more:
            acts, self._has_more = _read(path)
            self._version, self._acts = version, self._acts if acts == self._acts else acts
        return self._acts


def continues(acts: Sequence[Act], session_id: str, since_ms: int) -> bool:
    """Whether the recording with these acts is a run that continues a session, and began since then."""
    return any(each.act == "continue" and each.to == session_id and each.at_ms >= since_ms for each in acts)


def run_of(session_id: str, since_ms: int) -> Path | None:
    """Return the newest recording that continues a session since a time; None without one."""
    try:
        newest = saved_recordings()[:_MOST_RUNS]
    except OSError:
        return None
    found = (path for path in newest if continues(read_acts(SessionFiles(path).acts), session_id, since_ms))
    return next(found, None)


def act_words(act: Act) -> SafeText:
    """Return an act in one line of safe text.

    Example:
        >>> act_words(Act(0, "interrupt", "5b0c", "list", "SIGINT", "sent"))
        'acted: interrupt sent · SIGINT · list'
    """
    way = safe_line(f"{act.door} · {act.by}{f': {act.why}' if act.why else ''}")
    return cut(SafeText(f"acted: {safe_line(act.act)} {receipt_words(act)} · {way}"), _WORDS_COLUMNS)


def receipt_words(act: Act) -> str:
    """Return the receipt of an act: `sent`, `answered there`."""
    return _RECEIPT_WORDS.get(act.receipt, act.receipt)


def _act(value: Mapping[str, Any]) -> Act | None:
    at_ms, texts = natural(value.get("at_ms")), [value.get(name) for name in _TEXTS]
    if at_ms is None or not all(isinstance(each, str) for each in texts):
        return None
    act, to, by, door, receipt = (f"{each}"[:_MOST_TEXT] for each in texts)
    more = (each[:_MOST_TEXT] if isinstance(each := value.get(name), str) else "" for name in _MORE)
    return Act(at_ms, act, to, by, door, receipt if receipt in RECEIPTS else "unknown", *more)
