"""What a publisher stores, and how the engine's answers are understood."""

from __future__ import annotations

import pytest

from agentwatch.engine.chunk import Chunk, Ended
from agentwatch.engine.engine import EngineError, TailPiece, Trouble
from agentwatch.engine.names import new_session
from agentwatch.engine.nats.archive import NatsArchive
from agentwatch.engine.nats.sink import NatsSink

SESSION = new_session("ci")
DIGEST = "0" * 64


def test_a_session_without_pieces_has_no_tail(sink: NatsSink) -> None:
    """The engine is known to have no piece: it has answered 404."""
    assert sink.tail(SESSION) is None


def test_the_tail_is_what_was_stored_last(sink: NatsSink) -> None:
    """After each piece the tail is its end and its sequence; after the end of the recording it says so."""
    first = sink.append(SESSION, Chunk(0, b"one\n", ((0, 1),)), 0)
    assert sink.tail(SESSION) == TailPiece(4, first)
    second = sink.append(SESSION, Chunk(4, b"two\n"), first)
    assert sink.tail(SESSION) == TailPiece(8, second)
    third = sink.append(SESSION, Ended(8, 0, DIGEST), second)
    assert sink.tail(SESSION) == TailPiece(8, third, has_ended=True)


def test_a_piece_behind_another_tail_is_not_stored(sink: NatsSink) -> None:
    """A publisher that does not know the newest piece has to ask for the tail."""
    sink.append(SESSION, Chunk(0, b"one\n"), 0)
    with pytest.raises(EngineError, match="newest piece") as caught:
        sink.append(SESSION, Chunk(0, b"one\n"), 0)
    assert caught.value.trouble is Trouble.AWAY


def test_pieces_and_cards_arrive(sink: NatsSink, archive: NatsArchive) -> None:
    """A watcher receives the pieces of a session in their order, and its card."""
    first = sink.append(SESSION, Chunk(0, b"one\n", ((0, 1),), ((0, 2),)), 0)
    sink.append(SESSION, Chunk(4, b"two\n"), first)
    sink.put_card(SESSION, b'{"v":1}')
    pieces = archive.pieces(SESSION)
    assert [pieces.next(5), pieces.next(5)] == [
        (Chunk(0, b"one\n", ((0, 1),), ((0, 2),)), False),
        (Chunk(4, b"two\n"), True),
    ]
    cards = archive.cards()
    (card,) = cards.next(5)
    assert (card.session, card.data) == (SESSION, b'{"v":1}')
    assert 0 <= card.age < 5
    assert cards.is_complete
