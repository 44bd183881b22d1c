"""A connection over which the pieces of one session arrive: of an engine, or of a host reached by ssh."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from agentwatch.remote.card import Card
from agentwatch.remote.copies import LocalCopy
from agentwatch.remote.engine import EngineError, Pieces


class ReplacedError(EngineError):
    """The recording is another one than that of which there is a copy."""


class NotKeptError(EngineError):
    """The engine does not keep the bytes that the copy needs next any more, and has later ones."""


class SeenCard(NamedTuple):
    """What is known about a session elsewhere."""

    card: Card
    age: float
    """The time since it was reported, in seconds."""


class Channel(Protocol):
    """A connection for one session. One thread uses it."""

    @property
    def pieces(self) -> Pieces:
        """The pieces of the session."""

    @property
    def sequence(self) -> int:
        """The sequence of the piece returned last, from which reading can continue; 0 if there are none."""

    def card(self) -> SeenCard | None:
        """Return what is known about the session; None if nothing is. Raise `EngineError` if the engine or
        the host does not answer."""

    def close(self) -> None:
        """Close the connection. It never raises."""


Connect = Callable[[LocalCopy], Channel]
"""Connects for the bytes that a copy does not have.

It raises `Fault` if it cannot be used at all, and `EngineError` if it cannot be reached now."""
