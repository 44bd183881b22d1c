"""What a watcher reads, over all that can happen to its connection and to the server."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from agentwatch.base import clock
from agentwatch.remote.address import parse_engine
from agentwatch.remote.chunk import Chunk
from agentwatch.remote.engine import Login, RemoteError, SessionName, Trouble, new_session
from agentwatch.remote.nats.archive import NatsArchive, NatsCards, NatsPieces
from agentwatch.remote.nats.link import NatsSink
from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import Server
from tests.harness.processes import until
from tests.remote.nats.conftest import login_of

SESSION = new_session("ci")


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    with Proxy(server.port) as proxy:
        yield proxy


@pytest.fixture
def behind(proxy: Proxy) -> Iterator[NatsArchive]:
    """Yield a watcher's connection through the proxy."""
    archive = NatsArchive(Login(parse_engine(proxy.address)[0]))
    yield archive
    archive.close()


def store(sink: NatsSink, first: int, count: int, session: SessionName = SESSION) -> None:
    """Store pieces of four bytes each, of which `first` are stored already."""
    tail = sink.tail(session)
    after = 0 if tail is None else tail.sequence
    for number in range(first, first + count):
        after = sink.append(session, Chunk(4 * number, b"%03d\n" % number), after)


def read(pieces: NatsPieces, count: int) -> list[int]:
    """Return the offsets of so many pieces, over errors."""
    found: list[int] = []

    def is_read() -> bool:
        with suppress(RemoteError):
            if len(found) < count and (stored := pieces.next(1)) is not None:
                assert isinstance(stored.piece, Chunk)
                found.append(stored.piece.offset // 4)
        return len(found) >= count

    until(is_read, 30, f"{count} pieces", lambda: str(found))
    return found


def read_cards(cards: NatsCards, count: int) -> list[str]:
    """Return the publishers of so many cards, over errors."""
    found: list[str] = []

    def is_read() -> bool:
        with suppress(RemoteError):
            if len(found) < count:
                found.extend(card.session.publisher for card in cards.next(1))
        return len(found) >= count

    until(is_read, 30, f"{count} cards", lambda: str(found))
    return found


@pytest.mark.system
def test_pieces_that_are_stored_later_arrive(archive: NatsArchive, sink: NatsSink) -> None:
    """A reader goes on with what is stored while it reads, and then has some."""
    # The reader knows after the first call that there is no piece.
    pieces = archive.pieces(SESSION)
    assert not pieces.has_none
    assert pieces.next(0) is None
    assert pieces.has_none
    store(sink, 0, 3)
    assert read(pieces, 3) == [0, 1, 2]
    assert not pieces.has_none


@pytest.mark.system
def test_many_pieces_arrive_in_order(archive: NatsArchive, sink: NatsSink) -> None:
    """More pieces than are asked for at once arrive each once, and only the last is the newest."""
    store(sink, 0, 500)
    pieces = archive.pieces(SESSION)
    found = [pieces.next(5) for _ in range(500)]
    offsets = [each.piece.offset for each in found if each is not None and isinstance(each.piece, Chunk)]
    assert offsets == [4 * number for number in range(500)]
    assert [each is not None and each.is_newest for each in found] == [False] * 499 + [True]
    # After a restart the pieces come from the first one again.
    pieces = archive.pieces(SESSION)
    read(pieces, 3)
    pieces.restart()
    assert not pieces.has_none
    assert read(pieces, 100) == [*range(100)]


@pytest.mark.system
def test_readers_of_one_connection_do_not_mix(archive: NatsArchive, sink: NatsSink) -> None:
    """Each reader receives the pieces of its own session."""
    other = new_session("other")
    store(sink, 0, 5)
    store(sink, 5, 5, other)
    first, second, cards = archive.pieces(SESSION), archive.pieces(other), archive.cards()
    sink.put_card(other, b"{}")
    assert read(first, 3) == [0, 1, 2]
    assert read(second, 5) == [5, 6, 7, 8, 9]
    assert read_cards(cards, 1) == ["other"]
    assert read(first, 2) == [3, 4]


@pytest.mark.system
def test_a_connection_that_is_cut_is_made_again(behind: NatsArchive, sink: NatsSink, proxy: Proxy) -> None:
    """After each of 30 cuts the pieces and cards go on behind the last ones; an error is raised between."""
    pieces, cards = behind.pieces(SESSION), behind.cards()
    assert cards.next(0) == []
    errors = 0
    for number in range(30):
        store(sink, number, 1)
        sink.put_card(new_session(f"p{number}"), b"{}")
        assert read(pieces, 1) == [number]
        assert read_cards(cards, 1) == [f"p{number}"]
        proxy.cut()
        with pytest.raises(RemoteError) as caught:
            pieces.next(5)
        errors += caught.value.trouble is Trouble.AWAY
    assert errors == 30


@pytest.mark.system
def test_a_server_that_is_killed_and_restarted(server: Server, sink: NatsSink, archive: NatsArchive) -> None:
    """Readers go on after each of 3 kills; while the server is away the error says so."""
    pieces = archive.pieces(SESSION)
    publisher = sink
    for number in range(3):
        store(publisher, number, 1)
        assert read(pieces, 1) == [number]
        server.kill()
        for _ in range(2):
            with pytest.raises(RemoteError, match=r"connection|refused"):
                pieces.next(20)
        server.restart()
        publisher.close()
        publisher = NatsSink(login_of(server), "ci")
        until(lambda publisher=publisher: publisher.tail(SESSION))  # type: ignore[misc]
    store(publisher, 3, 1)
    publisher.close()
    assert read(pieces, 1) == [3]


@pytest.mark.system
def test_an_engine_without_streams_says_what_to_do(bare_server: Server) -> None:
    """A watcher of an engine that nobody has set up reads how to do it."""
    archive = NatsArchive(login_of(bare_server))
    with pytest.raises(RemoteError, match="agentwatch engine init") as caught:
        archive.pieces(SESSION).next(1)
    assert caught.value.trouble is Trouble.REFUSED
    with pytest.raises(RemoteError, match="agentwatch engine init"):
        archive.cards().next(1)
    archive.close()


@pytest.mark.system
def test_a_server_that_does_not_answer(
    server: Server, archive: NatsArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A suspended server is an error after a while, and is read again when it answers."""
    monkeypatch.setattr("agentwatch.remote.nats.connection.ANSWER_SECONDS", 0.3)
    pieces = archive.pieces(SESSION)
    server.suspend()
    try:
        with pytest.raises(RemoteError, match="does not answer"):
            pieces.next(0)
    finally:
        server.resume()
    assert read(pieces, 0) == []
    until(lambda: _has_none(pieces))


def _has_none(pieces: NatsPieces) -> bool:
    try:
        pieces.next(0.1)
    except RemoteError:
        return False
    return pieces.has_none


@pytest.mark.system
def test_an_engine_that_was_set_back(
    server: Server, sink: NatsSink, archive: NatsArchive, tmp_path: Path
) -> None:
    """After a restart from an older copy of the store, a reader that begins again has the older pieces.

    Cards are listed again by themselves, because the sequences are given again.
    """
    store(sink, 0, 2)
    sink.put_card(new_session("old"), b"{}")
    server.kill()
    shutil.copytree(server.store, tmp_path / "copy")
    server.restart()
    publisher = NatsSink(login_of(server), "ci")
    until(lambda: publisher.tail(SESSION))
    store(publisher, 2, 3)
    publisher.put_card(new_session("new"), b"{}")
    pieces, cards = archive.pieces(SESSION), archive.cards()
    assert read(pieces, 5) == [*range(5)]
    assert read_cards(cards, 2) == ["old", "new"]
    server.kill()
    shutil.rmtree(server.store)
    shutil.copytree(tmp_path / "copy", server.store)
    server.restart()
    publisher.close()
    publisher = NatsSink(login_of(server), "ci")
    until(lambda: publisher.tail(SESSION))
    store(publisher, 2, 1)
    assert read_cards(cards, 1) == ["old"]
    assert cards.is_complete
    pieces.restart()
    assert read(pieces, 3) == [0, 1, 2]
    publisher.close()


@pytest.mark.system
def test_closing_ends_a_reader_that_waits(server: Server) -> None:
    """A reader that waits raises an error when it is closed, and closing again does nothing."""
    archive = NatsArchive(login_of(server))
    cards = archive.cards()
    cards.next(0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cards.next, 60)
        until(waiting.running)
        archive.close()
        archive.close()
        until(waiting.done)  # long before it has waited for 60 s
    assert isinstance(waiting.exception(), RemoteError)
    with pytest.raises(RemoteError):
        cards.next(60)


@pytest.mark.slow
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
    # A list of one publisher has no cards of others.
    sink.put_card(new_session("ci"), b"{}")
    sink.put_card(new_session("cii"), b"{}")
    assert [card.session.publisher for card in archive.cards("ci").next(5)] == ["ci"]
    none = archive.cards("nobody")
    assert none.next(0) == []
    assert none.is_complete


@pytest.mark.slow
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
