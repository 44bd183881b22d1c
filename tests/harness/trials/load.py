"""Drives many publishers: each line is due at its time, and lines are joined as the shipper joins them.

A publisher sends a line at once if it has sent nothing for 250 ms; else the lines of 250 ms travel together,
and one message is on its way at a time. As a process (`PORT PREFIX COUNT SECONDS`) it prints what it has seen
as a line of JSON.
"""

import asyncio
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.harness.trials.growing import LINE_BYTES, line_of
from tests.harness.trials.plain_client import Message, PlainClient, Refused

LINES_A_SECOND = 20
_JOIN_SECONDS = 0.25
_BATCH = 1000
"""Messages that are asked for at once: a server disconnects a reader that has over 64 MB before it."""
_READ_SECONDS = 120
_ROOT = Path(__file__).resolve().parents[3]


class Load(NamedTuple):
    """What publishers have seen."""

    lines: int
    messages: int
    refused: int
    """Messages without an acknowledgement."""
    sent_to_ack: list[float]
    """For each message, the seconds until it was acknowledged."""
    due_to_ack: list[float]
    """For each line, the seconds until its message was acknowledged."""


class Kept(NamedTuple):
    """What a server has of the sessions of publishers."""

    lines: int
    messages: int
    ahead: int
    """Messages that do not begin where the one before of their session ends."""


def start_load(port: int, publishers: int, processes: int, seconds: float) -> list[subprocess.Popen[bytes]]:
    """Start processes that drive publishers together."""
    share = publishers // processes
    return [
        subprocess.Popen(
            [sys.executable, "-m", __name__, str(port), f"p{number}", str(share), str(seconds)],
            stdout=subprocess.PIPE,
            cwd=_ROOT,
        )
        for number in range(processes)
    ]


def end_load(processes: list[subprocess.Popen[bytes]]) -> Load:
    """Wait for the processes, and return what they have seen together."""
    whole = Load(0, 0, 0, [], [])
    for process in processes:
        output, _ = process.communicate()
        assert process.returncode == 0
        part = Load(*json.loads(output))
        whole = Load(*(mine + theirs for mine, theirs in zip(whole, part, strict=True)))  # type: ignore[operator]
    return whole


async def drive(port: int, prefix: str, publishers: int, seconds: float) -> Load:
    """Drive publishers for some seconds, and return what they have seen."""
    clients = [await PlainClient.connect(port) for _ in range(publishers)]
    start = time.monotonic() + 1.0
    loads = await asyncio.gather(
        *(
            _publish(client, f"aw.v1.c.{prefix}.{number:032x}", start, seconds)
            for number, client in enumerate(clients)
        )
    )
    for client in clients:
        client.close()
    return Load(
        sum(each.lines for each in loads),
        sum(each.messages for each in loads),
        sum(each.refused for each in loads),
        [round(value, 5) for each in loads for value in each.sent_to_ack],
        [round(value, 5) for each in loads for value in each.due_to_ack],
    )


def read_kept(port: int) -> Kept:
    """Return what a server has of all sessions, read in the order in which it has stored them."""
    return asyncio.run(_read_kept(port))


async def _publish(client: PlainClient, subject: str, start: float, seconds: float) -> Load:
    start += random.random() / LINES_A_SECOND
    count = round(seconds * LINES_A_SECOND)
    refused = messages = sent = offset = sequence = 0
    sent_to_ack: list[float] = []
    due_to_ack: list[float] = []
    earliest = 0.0
    while sent < count:
        await asyncio.sleep(max(start + sent / LINES_A_SECOND, earliest) - time.monotonic())
        now = time.monotonic()
        due = min(max(int((now - start) * LINES_A_SECOND) + 1, sent + 1), count)
        data = b"".join(map(line_of, range(sent, due)))
        head = f"Aw-Offset: {offset}\r\nNats-Expected-Last-Subject-Sequence: {sequence}\r\n"
        times = ";".join(
            f"{offset + at * len(data) // (due - sent)} {time.time_ns() // 10**6}" for at in range(due - sent)
        )
        request = client.request(subject, data, f"{head}Aw-Seen: {times}\r\n".encode())
        try:
            answer = await asyncio.wait_for(request, 30)
            sequence = json.loads(answer.data)["seq"]
        except (Refused, TimeoutError, KeyError, ValueError):
            refused += 1
            break
        acked = time.monotonic()
        messages += 1
        earliest = now + _JOIN_SECONDS
        offset += len(data)
        sent_to_ack.append(acked - now)
        due_to_ack += [acked - start - number / LINES_A_SECOND for number in range(sent, due)]
        sent = due
    return Load(sent, messages, refused, sent_to_ack, due_to_ack)


async def _read_kept(port: int) -> Kept:
    client = await PlainClient.connect(port)
    ends: dict[str, int] = {}
    size = messages = ahead = 0
    expected = (await client.ask("STREAM.INFO.AW"))["state"]["messages"]
    is_done = asyncio.Event()

    def receive(message: Message) -> None:
        nonlocal size, messages, ahead
        offset = int(message.headers["Aw-Offset"])
        ahead += offset != ends.get(message.subject, 0)
        ends[message.subject] = offset + len(message.data)
        size += len(message.data)
        messages += 1
        if messages == expected:
            is_done.set()
        elif messages % _BATCH == 0:
            pull()

    def pull() -> None:
        client.send(f"$JS.API.CONSUMER.MSG.NEXT.AW.{name}", b"%d" % min(_BATCH, expected - messages), "kept")

    client.subscribe("kept", receive)
    config = {"deliver_policy": "all", "ack_policy": "none", "mem_storage": True}
    name = (await client.ask("CONSUMER.CREATE.AW", {"stream_name": "AW", "config": config}))["name"]
    pull()
    await asyncio.wait_for(is_done.wait(), _READ_SECONDS)
    client.close()
    return Kept(size // LINE_BYTES, messages, ahead)


def main() -> None:
    """Drive the publishers that the command line describes."""
    port, prefix, publishers, seconds = sys.argv[1:]
    print(json.dumps(asyncio.run(drive(int(port), prefix, int(publishers), float(seconds)))))


if __name__ == "__main__":
    main()
