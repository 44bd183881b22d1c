"""With the permissions that `engine init` prints, a server refuses any client what is beyond its role."""

import json
from asyncio import Runner
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.cli.engine.asking import engine
from tests.conftest import case
from tests.harness.engine.server import Server
from tests.remote.engine.security.team import MINE, THEIRS, connect, stored, team_server

pytestmark = pytest.mark.system

ADMINISTRATION = [
    "STREAM.INFO.AW",
    "STREAM.NAMES",
    "STREAM.PURGE.AW",
    "STREAM.DELETE.AW",
    "STREAM.UPDATE.AW",
    "STREAM.CREATE.NEW",
    "STREAM.MSG.GET.AW",
    "STREAM.MSG.DELETE.AW",
    "STREAM.SNAPSHOT.AW",
    "STREAM.DELETE.KV_AWCARD",
    "STREAM.PURGE.KV_AWCARD",
    "STREAM.MSG.GET.KV_AWCARD",
    "CONSUMER.NAMES.AW",
    "CONSUMER.LIST.AW",
    "CONSUMER.DELETE.AW.other",
    "CONSUMER.INFO.AW.other",
    "ACCOUNT.PURGE.$G",
    "INFO",
]
"""What only the administrator may ask JetStream for."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with team_server(tmp_path_factory.mktemp("team")) as server:
        yield server


OTHERS = [
    f"aw.v1.c.{THEIRS}",
    f"$KV.AWCARD.{THEIRS}",
    "aw.v1.c.evil",
    "aw.v1.c.new",
    "aw.v2.c.evil.x",
    f"$JS.API.DIRECT.GET.AW.aw.v1.c.{THEIRS}",
    f"$JS.API.DIRECT.GET.KV_AWCARD.$KV.AWCARD.{THEIRS}",
    "$JS.API.DIRECT.GET.AW",
    "$JS.API.CONSUMER.CREATE.AW.x.aw.v1.c.>",
    f"$JS.API.CONSUMER.CREATE.AW.x.aw.v1.c.{MINE}",
    "$JS.API.CONSUMER.CREATE.KV_AWCARD.x.$KV.AWCARD.>",
    "$JS.API.CONSUMER.MSG.NEXT.AW.x",
    "_INBOX.ci.1",
    "_INBOX.anna.1",
    *(f"$JS.API.{each}" for each in ADMINISTRATION),
]


def test_a_publisher_may_only_write_its_own_sessions(server: Server) -> None:
    """Another's session, card and tail, readers, and the administration are refused to a publisher."""
    with Runner() as runner:
        evil = runner.run(connect(server, "evil"))
        before = runner.run(stored(server))
        for subject in OTHERS:
            with case(subject):
                assert runner.run(evil.is_refused(subject, b"{}"))
                assert runner.run(stored(server)) == before
        runner.run(evil.client.close())
    # The same client stores bytes and a card of a session of its own, and asks for its tail.
    with Runner() as runner:
        evil = runner.run(connect(server, "evil"))
        assert "seq" in (runner.run(evil.ask(f"aw.v1.c.{MINE}", b"bytes", {"Aw-Offset": "0"})) or {})
        assert "seq" in (runner.run(evil.ask(f"$KV.AWCARD.{MINE}", b"{}")) or {})
        assert runner.run(evil.ask(f"$JS.API.DIRECT.GET.AW.aw.v1.c.{MINE}")) == b"bytes"
        assert evil.errors == []
        runner.run(evil.client.close())
    # A user may only subscribe to answers to itself, so that live bytes cannot be read without a reader.
    subjects = (
        *(">", "aw.>", f"aw.v1.c.{THEIRS}", "$KV.>", "$JS.>"),
        *("_INBOX.>", "_INBOX.ci.>", "_INBOX.*.1"),
    )

    async def errors_of(user: str, subject: str) -> list[str]:
        raw = await connect(server, user)
        await raw.client.subscribe(subject)
        errors = await raw.reported()
        await raw.client.close()
        return errors

    with Runner() as runner:
        for user, subject in product(("evil", "anna"), subjects):
            with case(f"{user}, {subject}"):
                [error] = runner.run(errors_of(user, subject))
                assert "permissions violation for subscription" in error


WRITES = [
    f"aw.v1.c.{THEIRS}",
    f"$KV.AWCARD.{THEIRS}",
    "aw.v1.c.anna.x",
    "$JS.API.CONSUMER.CREATE.AW",
    "$JS.API.CONSUMER.CREATE.AW.x",
    "$JS.API.CONSUMER.CREATE.AW.x.>",
    "$JS.API.CONSUMER.CREATE.OTHER.x.aw.v1.c.>",
    "$JS.API.CONSUMER.DURABLE.CREATE.AW.x",
    "$JS.API.DIRECT.GET.AW",
    "$JS.ACK.AW.x.1.1.1.1.0",
    "_INBOX.ci.1",
    *(f"$JS.API.{each}" for each in ADMINISTRATION),
]


def test_a_watcher_may_only_read(server: Server) -> None:
    """Bytes, cards, the administration, and readers of everything are refused to a watcher."""
    with Runner() as runner:
        anna = runner.run(connect(server, "anna"))
        before = runner.run(stored(server))
        for subject in WRITES:
            with case(subject):
                assert runner.run(anna.is_refused(subject, b"{}"))
                assert runner.run(stored(server)) == before
        runner.run(anna.client.close())
    # The filter in the request must be the one in the subject, which the permissions check (error 10131).
    with Runner() as runner:
        anna = runner.run(connect(server, "anna"))
        for wider in (">", "$KV.>", ""):
            answer = runner.run(
                anna.ask(
                    f"$JS.API.CONSUMER.CREATE.AW.x.aw.v1.c.{THEIRS}",
                    question("AW", name="x", filter_subject=wider),
                )
            )
            assert isinstance(answer, dict)
            assert answer["error"]["err_code"] == 10131
        runner.run(anna.client.close())


def question(stream: str, **config: object) -> bytes:
    """Return a request for a reader."""
    return json.dumps({"stream_name": stream, "config": {"ack_policy": "none", **config}}).encode()


def test_a_reader_cannot_deliver_into_a_session(server: Server) -> None:
    """A reader that sends what it reads to the subject of another's session stores nothing there.

    The server stores what such a reader delivers only while somebody subscribes to that subject, and then
    under the subject of the message that was read. So the session and the card of the other stay as they are.
    """
    session = f"evil.{'d' * 32}"
    with Runner() as runner:
        evil, anna = runner.run(connect(server, "evil")), runner.run(connect(server, "anna"))
        admin = runner.run(connect(server, "admin"))
        headers = {"Aw-Offset": "0"}
        assert runner.run(evil.ask(f"aw.v1.c.{session}", b"forged", headers)) is not None
        assert runner.run(evil.ask(f"$KV.AWCARD.{session}", b'{"v":1}', headers)) is not None
        for stream, source, target in (
            ("KV_AWCARD", f"$KV.AWCARD.{session}", f"aw.v1.c.{THEIRS}"),
            ("AW", f"aw.v1.c.{session}", f"$KV.AWCARD.{THEIRS}"),
        ):
            config = question(stream, name="push", filter_subject=source, deliver_subject=target)

            async def deliver(stream: str, source: str, target: str, config: bytes) -> list[str]:
                subscribed = await admin.client.subscribe(target)
                await admin.client.flush()
                created = await anna.ask(f"$JS.API.CONSUMER.CREATE.{stream}.push.{source}", config)
                assert isinstance(created, dict)
                assert "error" not in created, created
                received = [(await subscribed.next_msg(5)).subject]
                await subscribed.unsubscribe()
                return received

            assert runner.run(deliver(stream, source, target, config)) == [source]
            assert target not in runner.run(stored(server))
        for each in (evil, anna, admin):
            runner.run(each.client.close())


def test_logins_are_checked(server: Server, tmp_path: Path) -> None:
    """A wrong password, and no password, are refused by the server in one line, which does not repeat it."""
    refused = b"the engine refuses the login"
    for env, said in (
        ({}, b"the engine wants a login; set AGENTWATCH_NATS_USER and AGENTWATCH_NATS_PASSWORD"),
        ({"AGENTWATCH_NATS_USER": "anna", "AGENTWATCH_NATS_PASSWORD": "secret-of-evil"}, refused),
        ({"AGENTWATCH_NATS_TOKEN": "secret-token"}, refused),
    ):
        done = engine("check", server.address, AGENTWATCH_HOME=str(tmp_path), **env)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
        assert said in done.stderr
        assert b"secret" not in done.stderr
