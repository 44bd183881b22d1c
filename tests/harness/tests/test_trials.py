"""What trials of publishing compare: they see what is missing, doubled or out of order."""

import asyncio
from pathlib import Path

import pytest

from tests.harness.engine.server import Server, nats_server
from tests.harness.trials.growing import line_of
from tests.harness.trials.load import drive, end_load, read_kept, start_load
from tests.harness.trials.plain_client import PlainClient, Refused
from tests.harness.trials.stored import Stored, read_stored
from tests.harness.trials.streams import prepare

pytestmark = pytest.mark.system


def store(server: Server, subject: str, *pieces: tuple[int, bytes]) -> None:
    """Store pieces: an offset and bytes."""

    async def send() -> None:
        client = await PlainClient.connect(server.port)
        for offset, data in pieces:
            answer = await client.request(subject, data, f"Aw-Offset: {offset}\r\n".encode())
            assert b'"seq"' in answer.data
        client.close()

    asyncio.run(send())


def read(server: Server, number: int, *pieces: tuple[int, bytes]) -> Stored:
    """Store pieces as a session of their own, and return what is stored of it."""
    subject = f"aw.v1.c.ci.{number:032x}"
    store(server, subject, *pieces)
    return read_stored(server.port, subject)


def test_what_is_stored_is_read_by_the_reader_rule(tmp_path: Path) -> None:
    """A doubled piece is counted as passed, one that overlaps is taken from where it is new.

    The bytes of a piece that is ahead do not count, as those before it are missing. Only the messages on the
    subject of a session are its pieces. A question about a stream that is not there is an error.
    """
    with nats_server(tmp_path) as server:
        prepare(server)
        found = read(server, 7, (0, b"abc"), (0, b"abc"), (2, b"cde"), (5, b"f"))
        assert (found.data, found.messages, found.passed, found.ahead) == (b"abcdef", 4, 1, 0)
        found = read(server, 8, (0, b"abc"), (4, b"ef"))
        assert (found.data, found.messages, found.ahead) == (b"abc", 2, 1)
        assert read(server, 9).messages == 0

        async def ask() -> None:
            client = await PlainClient.connect(server.port)
            try:
                await client.ask("STREAM.INFO.OTHER")
            finally:
                client.close()

        with pytest.raises(Refused, match="stream not found"):
            asyncio.run(ask())


def test_publishers_lose_nothing_of_what_they_count(tmp_path: Path) -> None:
    """The lines that publishers have seen acknowledged are the lines on the server, in order.

    What several processes have seen is added up. A message that does not begin where the one before ends is
    ahead.
    """
    with nats_server(tmp_path) as server:
        prepare(server)
        load = asyncio.run(drive(server.port, "q", 3, 1))
        kept = read_kept(server.port)
        assert (load.lines, kept.lines, load.refused, kept.ahead) == (60, 60, 0, 0)
        assert kept.messages == load.messages < load.lines
        assert len(load.due_to_ack) == load.lines
        assert end_load(start_load(server.port, 4, 2, 1)).lines == 80
        assert read_kept(server.port).lines == 60 + 80
        read(server, 7, (0, line_of(0)), (2 * len(line_of(0)), line_of(2)))
        assert read_kept(server.port).ahead == 1
