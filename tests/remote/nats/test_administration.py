"""The stream and the bucket that an administrator makes."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.base.credentials import Credentials
from agentwatch.remote.address import parse_engine
from agentwatch.remote.chunk import Chunk
from agentwatch.remote.engine import (
    CARD_STREAM,
    STREAM,
    Login,
    RemoteError,
    SessionName,
    Trouble,
    new_session,
)
from agentwatch.remote.nats.administration import (
    Permissions,
    StreamLimits,
    inbox_of,
    make_streams,
    of_publisher,
    of_watcher,
    user_block,
)
from agentwatch.remote.nats.archive import NatsArchive
from agentwatch.remote.nats.connection import Connection
from agentwatch.remote.nats.link import NatsSink
from tests.conftest import case
from tests.harness.engine.foreign.wire import Wire
from tests.harness.engine.server import Server, nats_server
from tests.remote.nats.conftest import login_of

pytestmark = pytest.mark.system

DAY = 86400 * 10**9


@pytest.fixture
def connection(bare_server: Server) -> Iterator[Connection]:
    """Yield the connection of an administrator to a server without streams."""
    connection = Connection(login_of(bare_server), "_INBOX.admin")
    yield connection
    connection.close()


def config_of(connection: Connection, stream: str) -> dict[str, object]:
    config: dict[str, object] = connection.ask(f"$JS.API.STREAM.INFO.{stream}")["config"]
    return config


def test_what_is_made(connection: Connection, bare_server: Server) -> None:
    """Both have the limits of the protocol, and nothing in them can be deleted or purged."""
    # What the server cannot do is an error of one line, with its reason.
    with pytest.raises(RemoteError, match="replicas") as caught:
        make_streams(connection, StreamLimits(replicas=3))
    assert "\n" not in str(caught.value)
    assert make_streams(connection) == [(STREAM, "made"), (CARD_STREAM, "made")]
    chunks, cards = config_of(connection, STREAM), config_of(connection, CARD_STREAM)
    assert chunks == chunks | {
        "subjects": ["aw.v1.c.*.*"],
        "storage": "file",
        "discard": "new",
        "discard_new_per_subject": True,
        "max_msgs_per_subject": 200_000,
        "max_msg_size": 300_000,
        "max_age": 7 * DAY,
        "num_replicas": 1,
        "allow_direct": True,
        "deny_delete": True,
        "deny_purge": True,
    }
    assert cards == cards | {
        "subjects": ["$KV.AWCARD.>"],
        "discard": "new",
        "max_msgs_per_subject": 1,
        "max_msg_size": 4096,
        "max_age": 30 * DAY,
        "allow_direct": True,
        "deny_delete": True,
        "deny_purge": True,
    }
    assert not cards.get("allow_rollup_hdrs")
    # A second call with the same limits leaves both as they are, with what is stored.
    sink = NatsSink(login_of(bare_server), "ci")
    session = new_session("ci")
    sink.put_card(session, b"{}")
    assert make_streams(connection) == [(STREAM, "unchanged"), (CARD_STREAM, "unchanged")]
    sink.close()
    with Wire(bare_server.port) as wire:
        stored = wire.ask(f"$JS.API.DIRECT.GET.{CARD_STREAM}.{session.card_subject}")
    assert stored is not None
    assert stored.data == b"{}"
    # The server refuses to remove what is stored.
    for verb, question in (("PURGE", None), ("MSG.DELETE", {"seq": 1})):
        for stream in (STREAM, CARD_STREAM):
            with case(f"{verb}, {stream}"):
                with pytest.raises(RemoteError) as caught:
                    connection.ask(f"$JS.API.STREAM.{verb}.{stream}", question)
                assert caught.value.trouble is Trouble.REFUSED
    # A later call changes what differs, and says so.
    limits = StreamLimits(bytes=10_000_000, days=2, messages=50)
    assert make_streams(connection, limits) == [(STREAM, "changed"), (CARD_STREAM, "unchanged")]
    chunks = config_of(connection, STREAM)
    assert (chunks["max_bytes"], chunks["max_age"], chunks["max_msgs_per_subject"]) == (
        10_000_000,
        2 * DAY,
        50,
    )
    # A change of the limits keeps what is set beside them.
    known = config_of(connection, STREAM)
    connection.ask(f"$JS.API.STREAM.UPDATE.{STREAM}", known | {"description": "ours"})
    make_streams(connection, StreamLimits(days=2))
    assert config_of(connection, STREAM)["description"] == "ours"


def test_a_login_without_the_right(tmp_path: Path) -> None:
    """A publisher that tries to set up the engine is refused."""
    config = 'authorization { users = [ { user: "ci", permissions: { publish: { allow: ["aw.>"] } } } ] }\n'
    with nats_server(tmp_path, config + 'no_auth_user: "ci"') as server:
        connection = Connection(login_of(server), "_INBOX.ci")
        with pytest.raises(RemoteError, match="does not allow") as caught:
            make_streams(connection)
        connection.close()
    assert caught.value.trouble is Trouble.REFUSED
    # A name with dots or wildcards is no part of a subject. A quote in a name does not end the string of the
    # configuration.
    for user, inbox in (
        ("ann", "_INBOX.ann"),
        ("", "_INBOX.watcher"),
        ("a.b", "_INBOX.watcher"),
        (">", "_INBOX.watcher"),
        ("*", "_INBOX.watcher"),
    ):
        with case(user):
            assert inbox_of(user) == inbox
    assert user_block('a"\\', Permissions((), ()), PASSWORD).startswith('{ user: "a\\"\\\\",')


MINE = SessionName("ci", "1" * 32)
OTHER = SessionName("other", "2" * 32)


ADMINISTRATOR = "admin"
PASSWORD = "pass-word"
WITHOUT_RULES = f'{{ user: "{ADMINISTRATOR}", password: "{PASSWORD}" }}'


def authorization(**users: Permissions) -> str:
    """Return the text of a configuration with these users, and an administrator who may do everything."""
    blocks = [user_block(name, permissions, f'"{PASSWORD}"') for name, permissions in users.items()]
    return f"authorization {{ users = [ {', '.join([WITHOUT_RULES, *blocks])} ] }}"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Server]:
    """Yield a server with two publishers and two watchers, and a session of each publisher."""
    users = {name: of_publisher(name) for name in ("ci", "other")}
    users |= {name: of_watcher(name) for name in ("ann", "bob")}
    with nats_server(tmp_path, authorization(**users)) as server:
        connection = Connection(login_as(server, ADMINISTRATOR), inbox_of(ADMINISTRATOR))
        make_streams(connection)
        connection.close()
        for session in (MINE, OTHER):
            sink = NatsSink(login_as(server, session.publisher), session.publisher)
            sink.append(session, Chunk(0, b"one\n"), 0)
            sink.put_card(session, b"{}")
            sink.close()
        yield server


@pytest.fixture
def publisher(guarded: Server) -> Iterator[NatsSink]:
    sink = NatsSink(login_as(guarded, "ci"), "ci")
    yield sink
    sink.close()


@pytest.fixture
def watcher(guarded: Server) -> Iterator[NatsArchive]:
    archive = NatsArchive(login_as(guarded, "ann"))
    yield archive
    archive.close()


def login_as(server: Server, user: str) -> Login:
    """Return the login of a user with the password that is printed."""
    return Login(parse_engine(server.address)[0], Credentials(user=user, password=PASSWORD))


def wire_of(server: Server, user: str) -> Wire:
    """Return a bare connection of a user."""
    return Wire(server.port, user=user, **{"pass": PASSWORD})


def test_a_publisher_ships(publisher: NatsSink) -> None:
    """The permissions of a publisher are enough for its own sessions."""
    tail = publisher.tail(MINE)
    assert tail is not None
    assert publisher.append(MINE, Chunk(4, b"two\n"), tail.sequence) > tail.sequence
    publisher.put_card(MINE, b"{}")
    assert publisher.tail(new_session("ci")) is None
    # Bytes, card and tail of another publisher are refused at once, with a reason, and the rest goes on.
    refused: dict[str, Callable[[], object]] = {
        "bytes": lambda: publisher.append(OTHER, Chunk(4, b"two\n"), 0),
        "card": lambda: publisher.put_card(OTHER, b"{}"),
        "tail": lambda: publisher.tail(OTHER),
    }
    for name, call in refused.items():
        with case(name):
            with pytest.raises(RemoteError, match="does not allow") as caught:
                call()
            assert caught.value.trouble is Trouble.REFUSED
            assert publisher.tail(MINE) is not None


def test_a_watcher_watches(watcher: NatsArchive) -> None:
    """The permissions of a watcher are enough for the cards and the sessions of all publishers."""
    cards = watcher.cards()
    found = set()
    while not cards.is_complete:
        found |= {card.session for card in cards.next(5)}
    assert found == {MINE, OTHER}
    assert watcher.cards("other").next(5)[0].session == OTHER
    for session in found:
        stored = watcher.pieces(session).next(5)
        assert stored is not None
        assert stored.piece == Chunk(0, b"one\n")


REFUSED = [
    f"{OTHER.subject}",
    f"{OTHER.card_subject}",
    "aw.v1.c.ci",
    "aw.v1.x",
    ">",
    "$SYS.REQ.USER.INFO.x",
    f"$JS.API.DIRECT.GET.{STREAM}.{OTHER.subject}",
    f"$JS.API.DIRECT.GET.{STREAM}",
    f"$JS.API.DIRECT.GET.{CARD_STREAM}.{OTHER.card_subject}",
    "$JS.API.INFO",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.LIST",
    *(
        f"$JS.API.STREAM.{verb}.{stream}"
        for verb in ("CREATE", "UPDATE", "INFO", "PURGE", "DELETE", "SNAPSHOT", "MSG.GET", "MSG.DELETE")
        for stream in (STREAM, CARD_STREAM, "MORE")
    ),
    f"$JS.API.CONSUMER.CREATE.{STREAM}",
    f"$JS.API.CONSUMER.DURABLE.CREATE.{STREAM}.x",
    f"$JS.API.CONSUMER.LIST.{STREAM}",
    f"$JS.API.CONSUMER.INFO.{STREAM}.x",
    f"$JS.API.CONSUMER.DELETE.{STREAM}.x",
    "$JS.API.ACCOUNT.PURGE.A",
    "$JS.API.SERVER.REMOVE",
    "$JS.API.META.LEADER.STEPDOWN",
]


def test_what_neither_role_may_send(guarded: Server) -> None:
    """What is not needed is refused by the server: for a publisher, and for a watcher."""
    for subject in REFUSED:
        for user in ("ci", "ann"):
            with case(f"{subject}, {user}"), wire_of(guarded, user) as wire:
                wire.publish(subject.encode(), b"", reply=f"_INBOX.{user}.x".encode())
                assert [error.lower()[:23] for error in wire.errors] == ["'permissions violation "[:23]]
    # A publisher may neither create a reader nor use one.
    for subject in (
        f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.x",
        f"$JS.API.CONSUMER.CREATE.{STREAM}.x.{MINE.subject}",
    ):
        with case(subject), wire_of(guarded, "ci") as wire:
            wire.publish(subject.encode(), b"{}")
            assert len(wire.errors) == 1
    # A watcher writes neither bytes nor cards, and answers nobody's request.
    for subject in (MINE.subject, MINE.card_subject, "aw.v1.c.ann.x", "_INBOX.ann.x", "_INBOX.ci.x"):
        with case(subject), wire_of(guarded, "ann") as wire:
            wire.publish(subject.encode(), b"x")
            assert len(wire.errors) == 1
    # The answers of others, and live messages past the readers, cannot be subscribed to.
    for subject in (
        ">",
        "_INBOX.>",
        "_INBOX.bob.>",
        "_INBOX.other.>",
        "aw.v1.c.>",
        "aw.v1.c.ci.>",
        "$KV.>",
        "$JS.>",
        "$SYS.>",
    ):
        for user in ("ci", "ann"):
            with case(f"{subject}, {user}"), wire_of(guarded, user) as wire:
                wire.subscribe(subject)
                assert len(wire.errors) == 1
    # A filter in the request that differs from the one in the subject is an error of the server: 10131.
    for wider in (">", "aw.>", "aw.v1.c.other.*", None):
        with case(wider):
            config = {"name": "x", "ack_policy": "none", "inactive_threshold": 10**9}
            question = json.dumps(
                {"stream_name": STREAM, "config": config | ({"filter_subject": wider} if wider else {})}
            )
            subject = f"$JS.API.CONSUMER.CREATE.{STREAM}.x.{MINE.subject}"
            with wire_of(guarded, "ann") as wire:
                wire.subscribe("_INBOX.ann.x")
                wire.send(f"PUB {subject} _INBOX.ann.x {len(question)}".encode(), question.encode())
                answer = wire.receive()
                assert answer is not None
                assert b'"err_code":10131' in answer.data
    # A publisher whose token is not the one of its login is refused at the first request.
    sink = NatsSink(login_as(guarded, "ci"), "other")
    for _ in range(2):
        with pytest.raises(RemoteError, match="does not allow") as caught:
            sink.tail(MINE)
        assert caught.value.trouble is Trouble.REFUSED
    sink.close()


def test_a_watcher_of_one_publisher(tmp_path: Path) -> None:
    """With a narrower permission, the other publishers are refused and the one is read."""
    allowed = Permissions(
        (
            f"$JS.API.CONSUMER.CREATE.{STREAM}.*.aw.v1.c.ci.>",
            f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.>",
            f"$JS.API.CONSUMER.CREATE.{CARD_STREAM}.*.$KV.AWCARD.ci.>",
            f"$JS.API.CONSUMER.MSG.NEXT.{CARD_STREAM}.>",
        ),
        ("_INBOX.ann.>",),
    )
    with nats_server(tmp_path, authorization(ann=allowed, ci=of_publisher("ci"))) as server:
        connection = Connection(login_as(server, ADMINISTRATOR), inbox_of(ADMINISTRATOR))
        make_streams(connection)
        connection.close()
        archive = NatsArchive(login_as(server, "ann"))
        cards, pieces = archive.cards("ci"), archive.pieces(MINE)
        for reader in (archive.cards(), archive.pieces(OTHER)):
            with pytest.raises(RemoteError, match="does not allow") as caught:
                reader.next(1)
            assert caught.value.trouble is Trouble.REFUSED
        assert cards.next(0) == []
        assert pieces.next(0) is None
        assert cards.is_complete
        archive.close()
