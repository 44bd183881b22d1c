"""Cards, an archive whose answers a test sets, and a list of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from agentwatch.base.clock import now_ms as clock_ms
from agentwatch.remote.address import parse_engine
from agentwatch.remote.card import Card, encode
from agentwatch.remote.engine import Login, Pieces, RemoteError, SessionName, StoredCard
from agentwatch.remote.lists import EngineFleet
from tests.harness.processes import until

NOW_MS = 1_795_352_400_000
"""2026-11-22, 13:00 UTC."""
ADDRESS = "nats://team"
LOGIN = Login(parse_engine(ADDRESS)[0])


def named(number: int, publisher: str = "ci") -> SessionName:
    return SessionName(publisher, f"{number:032x}")


def key(number: int, publisher: str = "ci") -> tuple[str, str]:
    return ADDRESS, str(named(number, publisher))


def card(**values: Any) -> bytes:
    """Return the card of a session that works, unless `values` say other things."""
    known = {"host": "build1", "agent": "claude", "state": "working", "ground": "said", "outcome": "running"}
    return encode(Card(**{**known, **values}))


class MadeArchive:
    """An archive that returns what a test puts into it. It satisfies Archive and Cards."""

    def __init__(self) -> None:
        self.batches: list[list[StoredCard] | RemoteError] = []
        """What the next calls return or raise; without any, they wait and return nothing."""
        self.warning = ""
        self.is_complete = True
        self.hangs = False
        """Whether the next call never returns."""
        self.is_closed = False
        self.error: RemoteError | None = None
        """Is raised by every call."""
        self.calls = 0

    def put(self, *cards: StoredCard) -> None:
        """Let the next call return cards."""
        self.batches.append(list(cards))

    def next(self, seconds: float) -> list[StoredCard]:
        self.calls += 1
        while self.hangs:
            time.sleep(0.01)
        if self.error is not None:
            raise self.error
        if self.batches:
            found = self.batches.pop(0)
            if isinstance(found, RemoteError):
                raise found
            return found
        time.sleep(min(seconds, 0.005))
        return []

    def cards(self, whose: str = "*") -> MadeArchive:
        assert whose == "*"
        return self

    def pieces(self, session: SessionName, sequence: int = 0) -> Pieces:
        """Raise: a list reads no pieces."""
        raise AssertionError(session, sequence)

    def close(self) -> None:
        """Note that it was closed."""
        self.is_closed = True


def fleet_of(archive: MadeArchive, name: str = "team") -> EngineFleet:
    """Return the list of an archive."""
    return EngineFleet(name, LOGIN, lambda _login: archive)


def step_until(watched: Any, check: Callable[[], object], now_ms: int | None = None) -> None:
    """Step a list until `check` returns something true."""

    def is_reached() -> object:
        if not (found := check()):
            watched.step(clock_ms() if now_ms is None else now_ms)
        return found

    until(is_reached)


def threads_of_cards() -> list[str]:
    """Return the names of the threads that read cards."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("cards of")]
