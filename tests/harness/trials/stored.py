"""What a server has stored of a session, read without the program: the reader rule, made again by hand."""

import asyncio
import json
from base64 import b64decode
from typing import NamedTuple

from tests.harness.trials.plain_client import Message, PlainClient, Refused


class Stored(NamedTuple):
    """A session on a server."""

    data: bytes
    """The bytes of the recording, by the reader rule."""
    messages: int
    passed: int
    """Messages of which no byte was needed: they were sent twice."""
    ahead: int
    """Messages that begin behind the bytes before them."""
    end: str
    """The header `Aw-End`; empty if there is none."""


def read_stored(port: int, subject: str) -> Stored:
    """Return what a server has of a session, by the subject of its bytes."""
    return asyncio.run(_read(port, subject))


async def _read(port: int, subject: str) -> Stored:
    client = await PlainClient.connect(port)
    data = bytearray()
    messages = passed = ahead = sequence = 0
    end = ""
    try:
        while True:
            question = {"seq": sequence + 1, "next_by_subj": subject}
            try:
                found = (await client.ask("STREAM.MSG.GET.AW", question))["message"]
            except Refused as refused:
                if "10037" in str(refused):  # no message found
                    break
                raise
            sequence, payload = found["seq"], b64decode(found.get("data", ""))
            headers = Message("", "", b64decode(found.get("hdrs", "")), b"").headers
            messages += 1
            end = headers.get("Aw-End", end)
            if "Aw-Offset" not in headers:
                continue
            offset = int(headers["Aw-Offset"])
            if offset > len(data):
                ahead += 1
            elif offset + len(payload) <= len(data):
                passed += 1
            else:
                data += payload[len(data) - offset :]
    finally:
        client.close()
    return Stored(bytes(data), messages, passed, ahead, end)


class Group(NamedTuple):
    """The servers of a cluster that have a stream."""

    leader: str
    """The name of the one that leads; empty while there is none."""
    is_whole: bool
    """Whether all others have what the leader has."""


def group_of(port: int, stream: str = "AW") -> Group:
    """Return which servers have a stream, as the server on a loopback port knows it."""

    async def ask() -> Group:
        client = await PlainClient.connect(port)
        try:
            info = await asyncio.wait_for(client.request(f"$JS.API.STREAM.INFO.{stream}"), 3)
            found = json.loads(info.data).get("cluster", {}) if info.data else {}
            others = found.get("replicas", [])
            is_whole = bool(others) and all(each["current"] and not each.get("offline") for each in others)
            return Group(str(found.get("leader", "")), is_whole)
        except (TimeoutError, Refused):
            return Group("", is_whole=False)
        finally:
            client.close()

    return asyncio.run(ask())
