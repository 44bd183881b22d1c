"""The stream and the bucket that an administrator makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.remote.engine import CARD_STREAM, STREAM, EngineError, Trouble, new_session
from agentwatch.remote.nats.administration import StreamLimits, make_streams
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
    """Return the configuration of a stream."""
    config: dict[str, object] = connection.ask(f"$JS.API.STREAM.INFO.{stream}")["config"]
    return config


def test_what_is_made(connection: Connection) -> None:
    """Both have the limits of the protocol, and nothing in them can be deleted or purged."""
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


def test_making_them_again_changes_nothing(connection: Connection, bare_server: Server) -> None:
    """A second call with the same limits leaves both as they are, with what is stored."""
    make_streams(connection)
    sink = NatsSink(login_of(bare_server), "ci")
    session = new_session("ci")
    sink.put_card(session, b"{}")
    assert make_streams(connection) == [(STREAM, "unchanged"), (CARD_STREAM, "unchanged")]
    sink.close()
    with Wire(bare_server.port) as wire:
        stored = wire.ask(f"$JS.API.DIRECT.GET.{CARD_STREAM}.{session.card_subject}")
    assert stored is not None
    assert stored.data == b"{}"


def test_other_limits_are_set(connection: Connection) -> None:
    """A later call changes what differs, and says so."""
    make_streams(connection)
    limits = StreamLimits(bytes=10_000_000, days=2, messages=50)
    assert make_streams(connection, limits) == [(STREAM, "changed"), (CARD_STREAM, "unchanged")]
    chunks = config_of(connection, STREAM)
    assert (chunks["max_bytes"], chunks["max_age"], chunks["max_msgs_per_subject"]) == (
        10_000_000,
        2 * DAY,
        50,
    )


def test_what_an_administrator_has_added_stays(connection: Connection) -> None:
    """A change of the limits keeps what is set beside them."""
    make_streams(connection)
    known = config_of(connection, STREAM)
    connection.ask(f"$JS.API.STREAM.UPDATE.{STREAM}", known | {"description": "ours"})
    make_streams(connection, StreamLimits(days=2))
    assert config_of(connection, STREAM)["description"] == "ours"


def test_not_even_an_administrator_purges(connection: Connection) -> None:
    """The server refuses to remove what is stored."""
    make_streams(connection)
    for verb, question in (("PURGE", None), ("MSG.DELETE", {"seq": 1})):
        for stream in (STREAM, CARD_STREAM):
            with case(f"{verb}, {stream}"):
                with pytest.raises(EngineError) as caught:
                    connection.ask(f"$JS.API.STREAM.{verb}.{stream}", question)
                assert caught.value.trouble is Trouble.REFUSED


def test_more_replicas_than_servers(connection: Connection) -> None:
    """What the server cannot do is an error of one line, with its reason."""
    with pytest.raises(EngineError, match="replicas") as caught:
        make_streams(connection, StreamLimits(replicas=3))
    assert "\n" not in str(caught.value)


def test_a_login_without_the_right(tmp_path: Path) -> None:
    """A publisher that tries to set up the engine is refused."""
    config = 'authorization { users = [ { user: "ci", permissions: { publish: { allow: ["aw.>"] } } } ] }\n'
    with nats_server(tmp_path, config + 'no_auth_user: "ci"') as server:
        connection = Connection(login_of(server), "_INBOX.ci")
        with pytest.raises(EngineError, match="does not allow") as caught:
            make_streams(connection)
        connection.close()
    assert caught.value.trouble is Trouble.REFUSED
