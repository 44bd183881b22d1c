"""A publisher that lies about its own session cannot disturb those who watch others."""

import pytest

from agentwatch.remote.chunk import Chunk
from agentwatch.remote.engine import SessionName, new_session
from agentwatch.remote.nats.archive import NatsArchive
from agentwatch.remote.nats.link import NatsSink
from tests.conftest import case
from tests.harness.engine.foreign.wire import Wire
from tests.harness.engine.server import Server

pytestmark = pytest.mark.system

SESSION = new_session("evil")
CARD = SESSION.card_subject.encode()
BLOCKS = [
    b"NATS/1.0",
    b"NATS/1.0\r\n",
    b"NATS/1.0 \xff\xfe\xfd\r\n\r\n",
    b"NATS/1.0 404 \xff\r\n\r\n",
    b"NATS/1.0 409 Consumer Deleted\r\n\r\n",
    b"NATS/1.0 100 Idle Heartbeat\r\n\r\n",
    b"NATS/1.0 503\r\n\r\n",
    b"NATS/1.0\r\n\xff: \xff\r\nAw-Offset\r\n: \r\n\r\n",
    b"NATS/1.0\r\nAw-Offset: -1\r\n\r\n",
    b"NATS/1.0\r\nAw-Offset: 9007199254740992\r\n\r\n",
    b"\x00\x01",
    b"NATS/1.0\r\n" + b"A: b\r\n" * 9000 + b"\r\n",
    b"\r\n\r\n",
]


def test_headers_of_any_bytes_are_passed_over(server: Server, archive: NatsArchive, sink: NatsSink) -> None:
    """A message with malformed headers is not a piece, and what comes after it is read."""
    for block in BLOCKS:
        session = new_session("evil")
        subject = session.subject.encode()
        with case(f"{block[:60]!r}"):
            with Wire(server.port) as wire:
                wire.publish(subject, b"", block)
                wire.publish(session.card_subject.encode(), b"", block[:4000])
                wire.publish(subject, b"one\n", b"NATS/1.0\r\nAw-Offset: 0\r\n\r\n")
            stored = archive.pieces(session).next(5)
            assert stored is not None
            assert stored.piece == Chunk(0, b"one\n")
            assert session in all_cards(archive)
            assert sink.tail(session) is not None


def all_cards(archive: NatsArchive) -> list[SessionName]:
    """Return the sessions of all cards."""
    cards, found = archive.cards(), []
    while not cards.is_complete:
        found += [card.session for card in cards.next(5)]
    return found


def test_a_name_that_is_no_text_is_passed_over(server: Server, archive: NatsArchive) -> None:
    """A card whose subject is no UTF-8, or names no session, is left out; the others arrive."""
    with Wire(server.port) as wire:
        for name in (b"\xff\xfe", b"evil.\xff", b"evil", b"evil.x", b"EVIL." + b"0" * 32, b"\x1b[31m.a"):
            wire.publish(b"$KV.AWCARD." + name, b"{}")
        wire.publish(CARD, b"{}")
    assert all_cards(archive) == [SESSION]


def test_a_publisher_cannot_remove_the_cards_of_others(
    server: Server, sink: NatsSink, archive: NatsArchive
) -> None:
    """A message that asks the bucket to keep nothing else is refused."""
    sink.put_card(new_session("ci"), b"{}")
    with Wire(server.port) as wire:
        wire.publish(CARD, b"{}", b"NATS/1.0\r\nNats-Rollup: all\r\n\r\n")
        wire.publish(CARD, b"{}", b"NATS/1.0\r\nNats-Rollup: sub\r\n\r\n")
    assert [card.session.publisher for card in archive.cards().next(5)] == ["ci"]


def test_a_removed_card_is_empty(server: Server, archive: NatsArchive) -> None:
    """A card that was deleted by a client of the bucket has no content."""
    with Wire(server.port) as wire:
        wire.publish(CARD, b"x", b"NATS/1.0\r\nKV-Operation: DEL\r\n\r\n")
    assert archive.cards().next(5)[0].data == b""
