"""A connection over which the pieces of one session arrive: of an engine, or of a host reached by ssh."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from agentwatch.engine.card import Card
from agentwatch.engine.engine import Pieces


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

    def card(self) -> SeenCard | None:
        """Return what is known about the session; None if nothing is.

        Raises:
            EngineError: The engine or the host does not answer.
        """

    def close(self) -> None:
        """Close the connection. It never raises."""


Connect = Callable[[int], Channel]
"""Connects for the bytes from an offset on.

Raises:
    Fault: It cannot be used at all.
    EngineError: It cannot be reached now.
"""
