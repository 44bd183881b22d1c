"""What trials of publishing compare: they see what is missing, doubled or out of order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.engine.server import Server, nats_server
from tests.harness.trials.growing import line_of
from tests.harness.trials.load import drive, end_load, read_kept, start_load
from tests.harness.trials.plain_client import PlainClient, Refused
from tests.harness.trials.stored import read_stored
from tests.harness.trials.streams import prepare

pytestmark = pytest.mark.system
SUBJECT = f"aw.v1.c.ci.{7:032x}"


def store(server: Server, *pieces: tuple[int, bytes], subject: str = SUBJECT) -> None:
    """Store pieces: an offset and bytes."""

    async def send() -> None:
        client = await PlainClient.connect(server.port)
        for offset, data in pieces:
            answer = await client.request(subject, data, f"Aw-Offset: {offset}\r\n".encode())
            assert b'"seq"' in answer.data
        client.close()

    asyncio.run(send())


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Yield a server with the stream."""
    with nats_server(tmp_path) as running:
        prepare(running)
        yield running


def test_what_is_stored_is_read_by_the_reader_rule(server: Server) -> None:
    """A doubled piece is counted as passed, one that overlaps is taken from where it is new."""
    store(server, (0, b"abc"), (0, b"abc"), (2, b"cde"), (5, b"f"))
    stored = read_stored(server.port, SUBJECT)
    assert (stored.data, stored.messages, stored.passed, stored.ahead) == (b"abcdef", 4, 1, 0)


def test_a_piece_that_is_ahead_is_seen(server: Server) -> None:
    """Its bytes do not count, as those before it are missing."""
    store(server, (0, b"abc"), (4, b"ef"))
    stored = read_stored(server.port, SUBJECT)
    assert (stored.data, stored.ahead) == (b"abc", 1)


def test_another_session_does_not_count(server: Server) -> None:
    """Only the messages on the subject of a session are its pieces."""
    store(server, (0, b"abc"), subject=SUBJECT.replace("7", "8"))
    assert read_stored(server.port, SUBJECT).messages == 0


def test_publishers_lose_nothing_of_what_they_count(server: Server) -> None:
    """The lines that publishers have seen acknowledged are the lines on the server, in order."""
    load = asyncio.run(drive(server.port, "p", 3, 1))
    kept = read_kept(server.port)
    assert (load.lines, kept.lines, load.refused, kept.ahead) == (60, 60, 0, 0)
    assert kept.messages == load.messages < load.lines
    assert len(load.due_to_ack) == load.lines


def test_a_lost_message_of_a_publisher_is_seen(server: Server) -> None:
    """A piece that does not begin where the one before ends is ahead."""
    store(server, (0, line_of(0)), (2 * len(line_of(0)), line_of(2)))
    assert read_kept(server.port).ahead == 1


def test_processes_drive_publishers_together(server: Server) -> None:
    """What the processes have seen is added up."""
    load = end_load(start_load(server.port, 4, 2, 1))
    assert load.lines == read_kept(server.port).lines == 80


def test_a_refusal_of_the_server_is_an_error(server: Server) -> None:
    """A question about a stream that is not there raises."""

    async def ask() -> None:
        client = await PlainClient.connect(server.port)
        try:
            await client.ask("STREAM.INFO.OTHER")
        finally:
            client.close()

    with pytest.raises(Refused, match="stream not found"):
        asyncio.run(ask())
