"""The channel of a session on an engine, and finding the session by the beginning of its name."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import islice

from agentwatch.base.faults import USAGE, Fault
from agentwatch.remote.card import decode
from agentwatch.remote.channel import SeenCard
from agentwatch.remote.chunk import CARDS
from agentwatch.remote.copies import LocalCopy
from agentwatch.remote.engine import (
    Archive,
    EngineError,
    Login,
    SessionName,
    StoredCard,
    is_publisher,
    parse_session,
)
from agentwatch.remote.login import open_archive
from agentwatch.text.amounts import plural
from agentwatch.text.safe import safe_line

LEAST_CHARACTERS = 6
"""The least length of the beginning of a session's name that is taken for an address."""
_CARDS_SECONDS = 10.0
_STEP_SECONDS = 0.5
_MOST_NAMED = 3
_MOST_SHOWN = 80


class EngineChannel:
    """A connection to an engine, for one session."""

    def __init__(self, archive: Archive, session: SessionName, sequence: int = 0) -> None:
        """Read a session. `archive`, the engine, is closed with the channel. `sequence` is that of the first
        piece that is wanted; 0 for the first that the engine has."""
        self._archive = archive
        self._session = session
        self.pieces = archive.pieces(session, sequence)
        self.host = ""
        """The name of the machine, by the last card that was read; foreign text."""

    @property
    def sequence(self) -> int:
        """The sequence of the piece returned last; 0 for none."""
        return self.pieces.sequence

    def card(self) -> SeenCard | None:
        """Return the newest card of the session; None if it has none. Raise `EngineError` if the engine does
        not answer."""
        for stored in _stored_cards(self._archive, str(self._session)):
            if stored.session == self._session and (card := decode(stored.data)) is not None:
                self.host = card.host
                return SeenCard(card, stored.age)
        return None

    def exists(self, seconds: float) -> bool:
        """Return whether the engine has a card or a piece of the session. It waits at most `seconds` for a
        piece. Raise `EngineError` if the engine does not answer."""
        if self.card() is not None:
            return True
        found = self.pieces.next(seconds) is not None or not self.pieces.has_none
        self.pieces.restart()
        return found

    def close(self) -> None:
        """Close the connection."""
        self.pieces.close()
        self._archive.close()


def connected(login: Login, session: SessionName, copy: LocalCopy) -> EngineChannel:
    """Connect to an engine for the bytes of a session that a copy does not have. The piece that the copy has
    taken last is read again: an engine that was set back has another one there. Raise `Fault` if the extra is
    not installed, and `EngineError` if the engine cannot be reached, or refuses the login."""
    return EngineChannel(open_archive(login), session, copy.origin.sequence)


def find_session(archive: Archive, words: str) -> SessionName:
    """Return the session that words name, by the cards that the engine has. `words` are its name
    `PUBLISHER.ID`, the id, or at least the first 6 characters of either. Raise `Fault` if no session has this
    name, or several have, and `EngineError` if the engine does not answer."""
    whole = parse_session(words)
    publisher, dot, _ = words.partition(".")
    wanted = publisher if dot and is_publisher(publisher) else "*"
    wanted = str(whole or wanted)
    names: list[SessionName] = []
    for stored in _stored_cards(archive, wanted):
        if stored.session == whole:
            return stored.session
        if stored.data and (len(names) < CARDS or _begins(stored.session, words)):
            names.append(stored.session)  # of many others, some are named if none is found
    if whole is not None:
        return whole  # its card may be deleted, or not be written yet
    return session_named(words, names)


def session_named(words: str, names: Iterable[SessionName]) -> SessionName:
    """Return the one session whose name or id begins with words. `words` have at least 6 characters. Raise
    `Fault` if no session has this name, or several have; or the words are too short."""
    if len(words) < LEAST_CHARACTERS:
        raise Fault(
            f"{_shown(words)}: name at least the first {LEAST_CHARACTERS} characters of a session", USAGE
        )
    known = set(names)
    found = sorted(name for name in known if _begins(name, words))
    if len(found) == 1:
        return found[0]
    if found:
        raise Fault(f"several sessions begin with {_shown(words)}: {_listed(found)}", USAGE)
    near = sorted(known, key=lambda name: -max(_alike(f"{name}", words), _alike(name.id, words)))
    nearest = f"; the nearest of {plural(len(known), 'session')}: {_listed(near)}" if near else ""
    raise Fault(f"no session begins with {_shown(words)}{nearest}", USAGE)


def _stored_cards(archive: Archive, whose: str) -> Iterable[StoredCard]:
    """Yield the newest card of each session of a publisher, of all publishers, or of one session."""
    cards = archive.cards(whose)
    deadline = time.monotonic() + _CARDS_SECONDS
    try:
        while True:
            yield from cards.next(_STEP_SECONDS)
            if cards.is_complete:
                return
            if time.monotonic() > deadline:
                raise EngineError("the engine does not send all cards")
    finally:
        cards.close()


def _begins(name: SessionName, words: str) -> bool:
    return str(name).startswith(words) or name.id.startswith(words)


def _alike(name: str, words: str) -> int:
    """Return how many characters two texts have in common at their beginnings."""
    return next(
        (at for at, (one, other) in enumerate(zip(name, words, strict=False)) if one != other), len(words)
    )


def _listed(names: list[SessionName]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(str, islice(names, _MOST_NAMED))) + more


def _shown(words: str) -> str:
    return safe_line(words[:_MOST_SHOWN])
