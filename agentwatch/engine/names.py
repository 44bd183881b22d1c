"""The names of publishers and sessions on an engine, and the subjects of their bytes and cards.

A publisher's token is tied to its credential: the server lets it write below its own token only. A session's
id is made by the publisher's agentwatch from random bits; it is never the id that the agent has given.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

STREAM = "AW"
BUCKET = "AWCARD"
CARD_STREAM = f"KV_{BUCKET}"
_CHUNKS = "aw.v1.c"
_CARDS = f"$KV.{BUCKET}"
_PUBLISHER = re.compile(r"[a-z0-9-]{1,63}")
_SESSION = re.compile(r"[0-9a-f]{32}")
_MOST_CHARACTERS = 200


class SessionName(NamedTuple):
    """A session on an engine. Its text form, `PUBLISHER.ID`, is also the key of its card."""

    publisher: str
    """Matches `[a-z0-9-]{1,63}`."""
    id: str
    """32 hexadecimal digits."""

    def __str__(self) -> str:
        return f"{self.publisher}.{self.id}"

    @property
    def subject(self) -> str:
        """The subject of its bytes."""
        return f"{_CHUNKS}.{self}"

    @property
    def card_subject(self) -> str:
        """The subject of its card."""
        return f"{_CARDS}.{self}"


def new_session(publisher: str) -> SessionName:
    """Return the name of a new session.

    Args:
        publisher: The publisher's token.
    """
    return SessionName(publisher, os.urandom(16).hex())


def parse_session(text: str) -> SessionName | None:
    """Return the session that `PUBLISHER.ID` names; None if the text does not have this form."""
    publisher, _, session = text[:_MOST_CHARACTERS].partition(".")
    if not is_publisher(publisher) or _SESSION.fullmatch(session) is None:
        return None
    return SessionName(publisher, session)


def session_of_card(subject: str) -> SessionName | None:
    """Return the session that a card is about, by the card's subject; None if it is no subject of a card."""
    prefix = f"{_CARDS}."
    return parse_session(subject.removeprefix(prefix)) if subject.startswith(prefix) else None


def is_publisher(text: str) -> bool:
    """Return whether a text can be a publisher's token."""
    return _PUBLISHER.fullmatch(text) is not None


def publisher_of(text: str) -> str:
    """Return a publisher's token for any text, such as the name of a host; `unnamed` if it is empty."""
    token = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text[:63].lower())
    return token.strip("-") or "unnamed"


def chunks_of(publisher: str = "*") -> str:
    """Return the subject that covers the bytes of all sessions of a publisher, or of all publishers."""
    return f"{_CHUNKS}.{publisher}.*"


def cards_of(whose: str = "*") -> str:
    """Return the subject that covers the cards of a publisher, of all publishers, or of one session.

    Args:
        whose: The token of the publisher; `*` for all; or the name of the session.
    """
    return f"{_CARDS}.{whose}" if "." in whose else f"{_CARDS}.{whose}.*"
