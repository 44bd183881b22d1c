"""The list of cards: the newest of each session, and how old each is."""

from __future__ import annotations

import pytest

from agentwatch.base import clock
from agentwatch.remote.engine import new_session
from agentwatch.remote.nats.archive import NatsArchive
from agentwatch.remote.nats.link import NatsSink
from tests.harness.processes import until

pytestmark = pytest.mark.slow

SESSION = new_session("ci")


def test_cards_are_the_newest_of_each_session(archive: NatsArchive, sink: NatsSink) -> None:
    """Of several cards of a session the last one is listed, and later ones arrive as they are written."""
    sessions = [new_session(f"p{number}") for number in range(3)]
    for content in (b"1", b"2"):
        for session in sessions:
            sink.put_card(session, content)
    cards = archive.cards()
    found = []
    while not cards.is_complete:
        found += cards.next(5)
    assert [(card.session, card.data) for card in found] == [(session, b"2") for session in sessions]
    sink.put_card(sessions[0], b"3")
    assert [card.data for card in cards.next(5)] == [b"3"]


def test_cards_of_one_publisher(archive: NatsArchive, sink: NatsSink) -> None:
    """A list of one publisher has no cards of others."""
    sink.put_card(new_session("ci"), b"{}")
    sink.put_card(new_session("cii"), b"{}")
    assert [card.session.publisher for card in archive.cards("ci").next(5)] == ["ci"]
    none = archive.cards("nobody")
    assert none.next(0) == []
    assert none.is_complete


def test_the_age_of_a_card(archive: NatsArchive, sink: NatsSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """An age is by the engine's clock: a clock of ours that is an hour ahead makes no card older."""
    sink.put_card(new_session("first"), b"{}")
    written_ns = clock.wall_ns()
    until(lambda: clock.wall_ns() > written_ns + 10**7, what="a time at least 10 ms after the first card")
    sink.put_card(new_session("second"), b"{}")
    monkeypatch.setattr(clock, "ahead_ns", 3600 * 10**9)
    cards = archive.cards()
    listed = [*cards.next(5)]

    def has_both() -> bool:
        if len(listed) < 2:
            listed.extend(cards.next(1))
        return len(listed) == 2

    until(has_both, what="both cards")
    first, second = listed
    assert 0 < second.age < first.age < 60
    monkeypatch.setattr(clock, "ahead_ns", 7200 * 10**9)
    for _ in range(2):
        sink.put_card(SESSION, b"{}")
        (card,) = cards.next(5)
        assert 0 <= card.age < 60
