"""Finds a session of this machine by its id: one of any agent, or a recording of our own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents import Decoder
from agentwatch.agents.found import Reach
from agentwatch.base.faults import USAGE, Fault, reading
from agentwatch.recording.ends import first_lines
from agentwatch.recording.store import open_regular, saved_recordings
from agentwatch.session.events import Event, RunInfo, RunStarted

LEAST_CHARACTERS = 6
"""The least length of the beginning of a session's id that is taken for an address."""
_MOST_NAMED = 3


class Named(NamedTuple):
    """An id, and what it names."""

    id: str
    path: Path
    agent: str = ""
    """The agent whose session cannot be opened, because only its metadata can be read; empty for others."""


class SessionIds:
    """The ids of the sessions on this machine, which are read when the first one is looked up."""

    def __init__(self) -> None:
        self._known: list[Named] | None = None

    def path_of(self, name: str) -> Path | None:
        """Return the path of the session with an id or a stem, or that alone begins so; None without one.

        Recordings of our own come first: of a session that was recorded and that its agent has kept too, the
        recording is returned. If a session has several recordings, the newest is.

        Raises:
            Fault: Several ids begin so, or the session cannot be opened.
        """
        if len(name) < LEAST_CHARACTERS or os.sep in name:
            return None
        found: dict[str, Named] = {}
        for each in self._all():
            if each.id == name:
                return _opened(each)
            if each.id.startswith(name):
                found.setdefault(each.id, each)
        if len({each.path for each in found.values()}) > 1:
            named = ", ".join(islice(found, _MOST_NAMED))
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            raise Fault(f"several sessions begin with {name}: {named}{more}", USAGE)
        return _opened(next(iter(found.values()))) if found else None

    def beginning_with(self, words: str) -> list[str]:
        """Return the ids and stems that begin so, each once, recordings of our own first."""
        return list(dict.fromkeys(each.id for each in self._all() if each.id.startswith(words)))

    def _all(self) -> list[Named]:
        if self._known is None:
            self._known = list(_known())
        return self._known


def _opened(named: Named) -> Path:
    if named.agent:
        reason = f"of this session of {named.agent} only the metadata can be read"
        raise Fault(f"cannot open {named.id}: {reason}", USAGE)
    return named.path


def _known() -> Iterator[Named]:
    """Yield the ids of all sessions; both the stem of a recording and the id in it."""
    try:
        recordings = saved_recordings()
    except OSError:  # that the file does not exist is the better reason
        recordings = []
    yield from (Named(path.stem, path) for path in recordings)
    yield from (Named(own_id, path) for path in recordings if (own_id := id_in(path)))
    yield from _found()


def _found() -> Iterator[Named]:
    """Yield the ids of the sessions that agents keep themselves."""
    from agentwatch.catalog.places import Places

    for batch in Places(os.environ, Path.home(), os.geteuid()).first():
        for each in batch:
            if each.agent != "agentwatch":
                yield Named(each.id, each.path, each.agent if each.reach is Reach.LISTED else "")


def id_in(path: Path) -> str:
    """Return the id that the agent has given the first run of a recording; empty if its head has none."""
    try:
        fd = open_regular(path)
    except OSError:
        return ""
    try:
        with reading(path):
            for event in _events(first_lines(fd)):
                if isinstance(event, RunStarted | RunInfo) and event.session_id:
                    return event.session_id
    except OSError:
        return ""
    finally:
        os.close(fd)
    return ""


def _events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of lines, in order; lines before the agent is known get the events of its format."""
    decoder = Decoder()
    for line in lines:
        yield from chain.from_iterable(decoder.decode_all(line))
