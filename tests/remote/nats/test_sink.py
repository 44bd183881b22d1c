"""What a publisher stores, and how the engine's answers are understood."""

import hashlib
from collections.abc import Callable, Iterator

import pytest

from agentwatch.remote.address import parse_engine
from agentwatch.remote.chunk import Chunk, Ended, headers_of
from agentwatch.remote.engine import (
    CARD_STREAM,
    STREAM,
    Login,
    RemoteError,
    TailPiece,
    Trouble,
    new_session,
)
from agentwatch.remote.nats.connection import Connection
from agentwatch.remote.nats.link import NatsSink
from tests.conftest import case
from tests.harness.engine.foreign.impostor import Impostor
from tests.harness.engine.foreign.wire import Wire
from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import Server
from tests.harness.processes import until
from tests.remote.nats.conftest import login_of

pytestmark = pytest.mark.system

SESSION = new_session("ci")
DIGEST = "0" * 64


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    with Proxy(server.port) as proxy:
        yield proxy


def test_another_client_reads_what_was_stored(sink: NatsSink, server: Server) -> None:
    """Bytes, headers and card are on the wire as the protocol has them."""
    piece = Chunk(0, bytes(range(256)) * 4, ((0, 1), (7, 2)), ((0, 9),))
    after = sink.append(SESSION, piece, 0)
    sink.append(SESSION, Ended(1024, None, DIGEST), after)
    sink.put_card(SESSION, b'{"v":1}')
    with Wire(server.port) as wire:
        first = wire.ask(f"$JS.API.DIRECT.GET.{STREAM}", {"seq": 1})
        last = wire.ask(f"$JS.API.DIRECT.GET.{STREAM}.aw.v1.c.ci.{SESSION.id}")
        card = wire.ask(f"$JS.API.DIRECT.GET.{CARD_STREAM}.$KV.AWCARD.ci.{SESSION.id}")
    assert first is not None
    assert last is not None
    assert card is not None
    assert first.data == piece.payload
    assert first.headers.startswith(
        b"NATS/1.0\r\nAw-Offset: 0\r\nAw-Seen: 0 1;7 2\r\nAw-Gap: 0 9\r\nNats-Expected-Stream: AW\r\n"
    )
    assert last.data == b""
    assert b"\r\nAw-End: 1024 - " + DIGEST.encode() + b"\r\n" in last.headers
    assert card.data == b'{"v":1}'


def test_two_publishers_of_one_file(server: Server, sink: NatsSink) -> None:
    """Whoever comes second asks for the tail and goes on; each byte is stored once."""
    second = NatsSink(login_of(server), "ci")
    first = sink.append(SESSION, Chunk(0, b"one\n"), 0)
    with pytest.raises(RemoteError, match="newest piece"):
        second.append(SESSION, Chunk(0, b"one\n"), 0)
    tail = second.tail(SESSION)
    assert tail == TailPiece(4, first)
    assert second.append(SESSION, Chunk(4, b"two\n"), first) > first
    second.close()
    # A publisher that does not know the newest piece has to ask for the tail.
    other = new_session("ci")
    sink.append(other, Chunk(0, b"one\n"), 0)
    with pytest.raises(RemoteError, match="newest piece") as caught:
        sink.append(other, Chunk(0, b"one\n"), 0)
    assert caught.value.trouble is Trouble.AWAY
    # A message that is not a piece is not taken for the tail, nor for none.
    other = new_session("ci")
    with Wire(server.port) as wire:
        wire.publish(other.subject.encode(), b"x")
    with pytest.raises(RemoteError, match="something else") as caught:
        sink.tail(other)
    assert caught.value.trouble is Trouble.REFUSED


def test_a_tail_that_has_expired(sink: NatsSink, connected: Callable[[], Connection]) -> None:
    """When all pieces are too old and gone, there is no tail, and the next piece follows on none."""
    administrator = connected()
    sink.append(SESSION, Chunk(0, b"one\n"), 0)
    known = administrator.ask(f"$JS.API.STREAM.INFO.{STREAM}")["config"]
    administrator.ask(
        f"$JS.API.STREAM.UPDATE.{STREAM}", known | {"max_age": 10**8, "duplicate_window": 10**8}
    )
    until(lambda: sink.tail(SESSION) is None)
    assert sink.append(SESSION, Chunk(4, b"two\n"), 0) > 1


def test_an_engine_without_streams_is_not_an_engine_without_pieces(
    bare_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody answers for a stream that does not exist or is not ready: that is an error, never `no piece`."""
    monkeypatch.setattr("agentwatch.remote.nats.connection.ANSWER_SECONDS", 0.3)
    sink = NatsSink(login_of(bare_server), "ci")
    calls: dict[str, Callable[[], object]] = {
        "tail": lambda: sink.tail(SESSION),
        "piece": lambda: sink.append(SESSION, Chunk(0, b""), 0),
        "card": lambda: sink.put_card(SESSION, b"{}"),
    }
    for name, call in calls.items():
        with case(name):
            with pytest.raises(RemoteError, match="agentwatch engine init") as caught:
                call()
            assert caught.value.trouble is Trouble.AWAY
    sink.close()


def test_another_stream_with_these_subjects_is_refused(bare_server: Server) -> None:
    """Where another program's stream takes the subjects, nothing is stored in it."""
    connection = Connection(login_of(bare_server), "_INBOX.admin")
    connection.ask("$JS.API.STREAM.CREATE.X", {"name": "X", "subjects": ["aw.>"], "storage": "memory"})
    connection.close()
    sink = NatsSink(login_of(bare_server), "ci")
    with pytest.raises(RemoteError, match="agentwatch engine init") as caught:
        sink.append(SESSION, Chunk(0, b"one\n"), 0)
    assert caught.value.trouble is Trouble.REFUSED
    sink.close()


def test_a_connection_that_is_lost_ends_a_call_at_once(server: Server, proxy: Proxy) -> None:
    """A call that waits for its answer, and a publisher that waits for lines, learn of it when it happens."""
    sink = NatsSink(Login(parse_engine(proxy.address)[0]), "ci")
    sink.wait(0)
    proxy.cut()
    with pytest.raises(RemoteError, match="connection to the engine was lost") as caught:
        sink.wait(30)
    assert caught.value.trouble is Trouble.AWAY
    for call in (lambda: sink.tail(SESSION), lambda: sink.append(SESSION, Chunk(0, b""), 0)):
        with pytest.raises(RemoteError, match="was lost"):  # without an answer it is another error
            call()
    sink.close()
    sink.close()
    with pytest.raises(RemoteError):
        sink.tail(SESSION)
    assert server.port


def test_what_is_sent_again_after_each_fault_is_stored_once(server: Server, proxy: Proxy) -> None:
    """Over 20 cuts and 3 kills of the server, a publisher that asks for the tail stores each byte once."""
    content = b"".join(b"line %d\n" % number for number in range(3000))
    end = after = sent = 0
    sink: NatsSink | None = None
    while end < len(content):
        try:
            if sink is None:
                sink = NatsSink(Login(parse_engine(proxy.address)[0]), "ci")
                tail = sink.tail(SESSION) or TailPiece(0, 0)
                end, after = tail.end, tail.sequence
            piece = Chunk(end, content[end : end + 300])
            if sent % 5 == 4 and proxy.cuts < 20:
                proxy.cut()
            if sent in {20, 40, 60}:
                server.restart()
            sent += 1
            after = sink.append(SESSION, piece, after)
            end = piece.end
        except RemoteError:
            if sink is not None:
                sink.close()
            sink = None
    assert sink is not None
    sink.close()
    assert proxy.cuts == 20
    with Wire(server.port) as wire:
        stored = []
        for sequence in range(1, after + 1):
            message = wire.ask(f"$JS.API.DIRECT.GET.{STREAM}", {"seq": sequence})
            assert message is not None
            stored.append(message.data)
    assert hashlib.sha256(b"".join(stored)).digest() == hashlib.sha256(content).digest()


def test_the_tail_is_what_was_stored_last(sink: NatsSink) -> None:
    """The engine is known to have no piece: it has answered 404. After each piece the tail is its end and its
    sequence; after the end of the recording it says so.
    """
    # The round trip is that of the last call.
    assert sink.round_trip == 0
    sink.tail(SESSION)
    assert 0 < sink.round_trip < 2
    assert sink.tail(SESSION) is None
    first = sink.append(SESSION, Chunk(0, b"one\n", ((0, 1),)), 0)
    assert sink.tail(SESSION) == TailPiece(4, first)
    second = sink.append(SESSION, Chunk(4, b"two\n"), first)
    assert sink.tail(SESSION) == TailPiece(8, second)
    third = sink.append(SESSION, Ended(8, 0, DIGEST), second)
    assert sink.tail(SESSION) == TailPiece(8, third, has_ended=True)


def test_headers_and_answers_have_limits() -> None:
    """Headers fit into a message; an answer that is none of JetStream's is an error of one safe line."""
    # The largest number of arrival times, with the largest numbers, fits the headers of a message.
    largest = (1 << 53) - 1
    headers = headers_of(Chunk(largest, b"", ((largest, 10**13 - 1),) * 512))
    assert sum(len(name) + len(value) + 4 for name, value in headers.items()) < 1 << 14
    info = {"version": "2.12.7", "max_payload": 1 << 20, "headers": True}
    for answer in ANSWERS:
        with Impostor(info, answer) as impostor:
            sink = NatsSink(Login(parse_engine(f"nats://127.0.0.1:{impostor.port}")[0]), "ci")
            for asked in ("piece", "tail"):
                with case(f"{asked}, {answer[:60]!r}"):
                    with pytest.raises(RemoteError) as caught:
                        sink.tail(SESSION) if asked == "tail" else sink.append(SESSION, Chunk(0, b"x"), 0)
                    assert str(caught.value).isprintable()
                    assert len(str(caught.value)) < 400
            sink.close()


ANSWERS = [
    b"",
    b"x",
    b"[]",
    b"{}",
    b'{"seq":"1"}',
    b'{"error":null}',
    b'{"error":[]}',
    b'{"error":{"err_code":"x","description":["y"]}}',
    b'{"error":{"err_code":99999,"description":"\\u001b[31m\\nred ' + b"x" * 10_000 + b'"}}',
]
