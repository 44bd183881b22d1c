"""Finding a session by the beginning of its name."""

from __future__ import annotations

import pytest

from agentwatch.base.faults import Fault
from agentwatch.remote import engine_channel
from agentwatch.remote.engine import StoredCard
from agentwatch.remote.engine_channel import find_session
from tests.remote.fleet.made import MadeArchive, card, named


class Listed(MadeArchive):
    """An archive that has returned every card with its last batch."""

    def next(self, seconds: float) -> list[StoredCard]:
        """Return the next batch."""
        found = super().next(seconds)
        self.is_complete = not self.batches
        return found


def test_a_session_is_found_among_any_number_of_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A publisher with more cards than a list holds does not hide the sessions of others."""
    monkeypatch.setattr(engine_channel, "CARDS", 10)
    archive = Listed()
    flood = [StoredCard(named(number, "flood"), card(), 0.0) for number in range(100)]
    wanted = named(0xABCDEF << 104, "anna")
    archive.put(*flood[:50])
    archive.put(*flood[50:], StoredCard(wanted, card(), 0.0))
    assert find_session(archive, "abcdef") == wanted
    archive.put(*flood)
    with pytest.raises(Fault, match="no session begins with fedcba; the nearest of 10 sessions"):
        find_session(archive, "fedcba")
