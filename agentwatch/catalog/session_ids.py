"""Finds a session of this machine by its id: one of any agent, or a recording of our own."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from agentwatch.agents import Decoder
from agentwatch.agents.registry import known_name, program_named
from agentwatch.agents.session_entry import LEAST_CHARACTERS, OWN, Reach
from agentwatch.base.faults import USAGE, Fault, reading
from agentwatch.recording.head_tail import first_lines
from agentwatch.recording.store import open_regular, saved_recordings
from agentwatch.session.events import FormatDetected, RunInfo, RunStarted

_MOST_NAMED = 3


T = TypeVar("T")


class Named(NamedTuple, Generic[T]):
    agent: str
    """It is empty if the id is a name of our own."""
    id: str
    what: T


def named(words: str, sessions: Iterable[Named[T]]) -> Named[T] | None:
    """Return the session with an id, or the only one whose id begins so, with at least 6 characters; None
    without one. Sessions of several agents may have one id: the name of the agent decides, `claude:5b0c6a1e`.
    If several are meant, a Fault names them."""
    agent, _, name = words.rpartition(":")
    if agent and program_named(agent) is None:
        agent, name = "", words
    exact: dict[str, Named[T]] = {}
    begun: dict[tuple[str, str], Named[T]] = {}
    for each in sessions:
        if agent in ("", each.agent) and each.id.startswith(name):
            begun.setdefault(each[:2], each)
            if each.id == name:
                exact.setdefault(each.agent, each)
    if "" in exact or len(exact) == 1:
        return exact.get("") or next(iter(exact.values()))
    if exact:
        addresses = ", ".join(f"{each}:{name}" for each in exact)
        raise Fault(f"several agents have a session {name}: {addresses}", USAGE)
    if len(name) < LEAST_CHARACTERS or not begun:
        return None
    first, *others = begun.values()
    if all(each.what == first.what for each in others):
        return first
    ids = Counter(each.id for each in begun.values())
    shown = [f"{each.agent}:{each.id}" if ids[each.id] > 1 else each.id for each in begun.values()]
    more = f" and {len(shown) - _MOST_NAMED} more" if len(shown) > _MOST_NAMED else ""
    raise Fault(f"several sessions begin with {name}: {', '.join(shown[:_MOST_NAMED])}{more}", USAGE)


class _Place(NamedTuple):
    path: Path
    can_open: bool = True
    """Whether more than its metadata can be read."""


class SessionIds:
    """They are read when the first one is looked up."""

    def __init__(self) -> None:
        self._known: list[Named[_Place]] | None = None

    def path_of(self, name: str) -> Path | None:
        """Return None without one. A recording of ours, the newest of several, comes before the agent's own
        file. Raise `Fault` if several sessions are meant, or the session cannot be opened."""
        if len(name) < LEAST_CHARACTERS or os.sep in name:
            return None
        found = named(name, self._all())
        if found is None:
            return None
        if not found.what.can_open:
            reason = f"of this session of {found.agent} only the metadata can be read"
            raise Fault(f"cannot open {found.id}: {reason}", USAGE)
        return found.what.path

    def beginning_with(self, words: str) -> list[str]:
        """Each once, recordings of our own first."""
        return list(dict.fromkeys(each.id for each in self._all() if each.id.startswith(words)))

    def _all(self) -> list[Named[_Place]]:
        if self._known is None:
            self._known = list(_known())
        return self._known


def _known() -> Iterator[Named[_Place]]:
    """Yield the stem of a recording and the id in it, and the ids of all other sessions."""
    try:
        recordings = saved_recordings()
    except OSError:  # that the file does not exist is the better reason
        recordings = []
    yield from (Named("", path.stem, _Place(path)) for path in recordings)
    for path in recordings:
        agent, own_id = _session_in(path)
        if own_id:
            yield Named(agent, own_id, _Place(path))
    yield from _found()


def _found() -> Iterator[Named[_Place]]:
    from agentwatch.catalog.places import Places

    batches = Places(os.environ, Path.home(), os.geteuid()).first()
    found = {each.key: each for batch in batches for each in batch}  # a later one of a key is the better one
    for each in found.values():
        if each.agent != OWN:
            yield Named(each.agent, each.id, _Place(each.path, each.reach is not Reach.LISTED))


def id_in(path: Path) -> str:
    """What the agent has given the first run of a recording; empty if its head has none."""
    return _session_in(path)[1]


def _session_in(path: Path) -> tuple[str, str]:
    """The agent, and the id of its first run; empty if its head has none."""
    agent = ""
    with suppress(OSError), open(open_regular(path), "rb", buffering=0) as file, reading(path):
        decoder = Decoder()  # lines before the agent is known get the events of its format
        decoded = chain.from_iterable(map(decoder.decode_all, first_lines(file.fileno())))
        for event in chain.from_iterable(decoded):
            if isinstance(event, FormatDetected):
                agent = event.agent or event.format
            elif isinstance(event, RunStarted | RunInfo):
                if isinstance(event, RunInfo) and event.agent_name:
                    agent = known_name(event.agent_name)
                if event.session_id:
                    return agent, event.session_id
    return "", ""
