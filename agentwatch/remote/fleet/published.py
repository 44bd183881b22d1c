"""Which sessions of an engine are recordings of this machine: `STEM.ship` beside them names them."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.engine.names import parse_session
from agentwatch.recording import open_regular, read_object

_AGAIN_MS = 2_000
_ENDING = ".ship"
_RECORDING = ".ndjson"
_MOST_BYTES = 1 << 12
_MOST_AT_ONCE = 200
"""The number of files that are read at a time: 2,000 take 60 ms."""
_MOST_FILES = 20_000


class Published:
    """The names of the sessions that this machine publishes or has published."""

    def __init__(self, folder: Path) -> None:
        """Create the names; nothing is read yet.

        Args:
            folder: The folder of the recordings.
        """
        self._folder = folder
        self._names: dict[str, str] = {}
        """The name of the session of each stem: a recording has one for ever."""
        self._sessions = frozenset[str]()
        self._due_ms: int | None = None

    def sessions(self, now_ms: int) -> frozenset[str]:
        """Return the names `PUBLISHER.ID` of the sessions whose recordings are here.

        It is the same object as before if there are no others.

        Args:
            now_ms: The time, in milliseconds since the epoch.
        """
        if self._due_ms is None or not 0 <= self._due_ms - now_ms <= _AGAIN_MS:
            self._due_ms = now_ms + _AGAIN_MS
            self._read()
        return self._sessions

    def _read(self) -> None:
        try:
            names = set(os.listdir(self._folder))
        except OSError:
            names = set()
        stems = {
            name.removesuffix(_ENDING)
            for name in names
            if name.endswith(_ENDING) and name.removesuffix(_ENDING) + _RECORDING in names
        }
        known = {stem: self._names[stem] for stem in stems & self._names.keys()}
        room = min(_MOST_AT_ONCE, _MOST_FILES - len(known))
        for stem in sorted(stems - known.keys(), reverse=True)[:room]:  # the newest ones may still run
            if name := _session_in(self._folder / f"{stem}{_ENDING}"):
                known[stem] = name
        self._names = known
        sessions = frozenset(known.values())
        if sessions != self._sessions:
            self._sessions = sessions


def _session_in(path: Path) -> str:
    """Return the name of the session in a file; empty if it has none, as for a moment while it is written."""
    try:
        fd = open_regular(path)
    except OSError:
        return ""
    name = read_object(fd, _MOST_BYTES).get("session")
    session = parse_session(name) if isinstance(name, str) else None
    return "" if session is None else str(session)
