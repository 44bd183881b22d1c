"""What a server needs for 100,000 sessions, of which 5,000 are live: simulated on one machine.

Cards are listed by the program, in a process of its own. Messages come from the tests' small client, in the
name of many publishers.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator

from measure import cpu_seconds, percentile, run

from agentwatch.remote.card import Card, encode
from engines.figure import Figure, at_most, known
from engines.many import drive
from engines.server import engine, resident_bytes
from tests.harness.engine.server import Server
from tests.harness.trials.growing import LINE_BYTES, line_of
from tests.harness.trials.plain_client import Message, PlainClient

_SESSIONS = 100_000
_LIVE = 5_000
_LIVE_MESSAGES = 4 * _LIVE
"""A second: the shipper joins the lines of 250 ms."""
_LINES_A_MESSAGE = 5
_PUBLISHERS = 100
_WINDOW = 400
"""Messages on their way."""
_SECONDS = 20.0
_LIST_SECONDS = {10_000: 0.6, _SESSIONS: 3.5}
"""How long a list may take, by the number of its cards."""
_LIST = """
import json, sys, time
from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login
from agentwatch.remote.login import open_archive
began, count, first = time.monotonic(), 0, 0.0
cards = open_archive(Login(parse_engine(sys.argv[1])[0])).cards(sys.argv[2])
while not cards.is_complete:
    count += len(cards.next(10))
    first = first or time.monotonic() - began
took = time.monotonic() - began
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([count, first, took, time.process_time(), peak / 1024]))
"""


def cards(*, is_quick: bool) -> list[Figure]:
    """List the cards of 10,000 and of 100,000 sessions."""
    share = 100 if is_quick else 1
    return [figure for count, limit in _LIST_SECONDS.items() for figure in _cards(count // share, limit)]


def _cards(count: int, limit: float) -> list[Figure]:
    """Store cards, and list them; kill the server, and list them again."""
    data = encode(_card())
    with engine() as server:
        before = resident_bytes(server.pid)
        asyncio.run(
            _store(server.port, ((f"$KV.AWCARD.{_name(number)}", data, b"") for number in range(count)))
        )
        memory = resident_bytes(server.pid) - before
        found, first, took, cpu, peak = _listed(server, "*")
        few, _, took_few, _, _ = _listed(server, "p7")
        server.kill()
        began = time.monotonic()
        server.restart()
        restarted = time.monotonic() - began
        again = _listed(server, "*")[0]
    name = f"{count:,} cards of {len(data)} B"
    return [
        at_most(f"{name}: list", took, limit, "s"),
        Figure(
            f"{name}: listed, and again after kill -9",
            f"{count:,}, {count:,}",
            f"{found:,.0f}, {again:,.0f}",
            found == again == count,
        ),
        known(f"{name}: first ones", f"{first:.2f} s"),
        known(f"{name}: those of one publisher", f"{few:,.0f} in {took_few:.2f} s"),
        known(f"{name}: client", f"{cpu:.2f} s CPU, {peak:.0f} MiB"),
        known(f"{name}: server", f"+{memory / (1 << 20):.0f} MiB, restarted in {restarted:.2f} s"),
    ]


def message_rate(*, is_quick: bool) -> list[Figure]:
    """Store the joined lines of 5,000 live sessions as fast as one core of the server takes them."""
    seconds = 1.0 if is_quick else _SECONDS
    with engine() as server:
        _pin(server.pid, 0)
        _pin(0, -1)
        cpu, began = cpu_seconds(server.pid), time.monotonic()
        count = asyncio.run(_store_joined(server.port, began + seconds))
        span, cpu = time.monotonic() - began, cpu_seconds(server.pid) - cpu
        memory = resident_bytes(server.pid)
        _pin(0, None)
    cost = max(cpu, 0.01) / count
    name = f"{_LIVE:,} sessions over one connection, joined lines"
    share = f"{count / span:,.0f}/s with {100 * cpu / span:.0f} % of a core"
    return [
        known(f"{name}: stored", share),
        known(f"{name}: server", f"{cost * 1e6:.0f} us a message, {memory / (1 << 20):.0f} MiB"),
        known(f"{name}: cores for {_LIVE_MESSAGES:,} messages/s", f"{_LIVE_MESSAGES * cost:.2f}"),
    ]


def live_share(*, is_quick: bool) -> list[Figure]:
    """Drive a quarter of 5,000 live sessions, each over a connection of its own."""
    count, seconds = (20, 4.0) if is_quick else (_LIVE // 4, 30.0)
    with engine() as server:
        load, usage = drive(server, count, seconds)
    cost = usage.cpu / usage.seconds / (load.messages / seconds)
    name = f"{count:,} sessions over a connection each"
    late = (
        f"{1000 * percentile(load.sent_to_ack, 0.5):.1f} / {1000 * percentile(load.sent_to_ack, 0.99):.0f} ms"
    )
    return [
        Figure(f"{name}: refused", "0", f"{load.refused}", not load.refused),
        known(f"{name}: stored", f"{load.messages / seconds:,.0f}/s, ack p50 / p99 {late}"),
        known(f"{name}: server", f"{cost * 1e6:.0f} us a message, {usage.peak_bytes / (1 << 20):.0f} MiB"),
        known(f"{name}: cores for {_LIVE_MESSAGES:,} messages/s", f"{_LIVE_MESSAGES * cost:.2f}"),
    ]


def subjects(*, is_quick: bool) -> list[Figure]:
    """Store one message for each of 100,000 sessions."""
    count = _SESSIONS // (100 if is_quick else 1)
    data = line_of(0)
    with engine() as server:
        before = resident_bytes(server.pid)
        asyncio.run(
            _store(
                server.port,
                ((f"aw.v1.c.{_name(number)}", data, b"Aw-Offset: 0\r\n") for number in range(count)),
            )
        )
        memory = resident_bytes(server.pid) - before
        began = time.monotonic()
        server.restart()
        restarted = time.monotonic() - began
    return [
        known(f"{count:,} subjects: server", f"+{memory / (1 << 20):.0f} MiB, {restarted:.2f} s to restart")
    ]


async def _store(port: int, messages: Iterator[tuple[str, bytes, bytes]]) -> None:
    """Store messages, some hundred on their way at a time."""
    client = await PlainClient.connect(port)

    async def work() -> None:
        for subject, data, head in messages:
            _sequence(await client.request(subject, data, head))

    await asyncio.gather(*(work() for _ in range(_WINDOW)))
    client.close()


def _sequence(answer: Message) -> int:
    found = json.loads(answer.data)
    if "error" in found:
        raise SystemExit(f"the server refuses: {found['error']}")
    return int(found["seq"])


async def _store_joined(port: int, until: float) -> int:
    """Store messages of all live sessions in turn, with the headers of the shipper; return their number."""
    client = await PlainClient.connect(port)
    lines = b"".join(map(line_of, range(_LINES_A_MESSAGE)))

    async def work(first: int) -> int:
        sessions = range(first, _LIVE, _WINDOW)
        sequences = dict.fromkeys(sessions, 0)
        turn = 0
        while True:
            offset = turn * len(lines)
            seen = ";".join(f"{offset + at * LINE_BYTES} 1795375842528" for at in range(_LINES_A_MESSAGE))
            head = f"Aw-Offset: {offset}\r\nAw-Seen: {seen}\r\nNats-Expected-Stream: AW\r\n"
            for at, session in enumerate(sessions):
                if time.monotonic() > until:
                    return turn * len(sessions) + at
                expected = f"Nats-Expected-Last-Subject-Sequence: {sequences[session]}\r\n"
                answer = await client.request(
                    f"aw.v1.c.{_name(session)}", lines, f"{head}{expected}".encode()
                )
                sequences[session] = _sequence(answer)
            turn += 1

    counts = await asyncio.gather(*(work(first) for first in range(_WINDOW)))
    client.close()
    return sum(counts)


def _listed(server: Server, publisher: str) -> list[float]:
    """List cards in a process of its own; return their number, times, and what the process has used."""
    argv = (sys.executable, "-c", _LIST, server.address, publisher)
    found: list[float] = json.loads(run(argv, keep_output=True).stdout)
    return found


def _name(number: int) -> str:
    return f"p{number % _PUBLISHERS}.{number:032x}"


def _card() -> Card:
    return Card(
        host="build-7",
        agent="claude",
        model="Sonnet 5",
        cwd="/home/ada/src/tidepool",
        branch="main",
        prompt="Find out why the parser drops the last line, and write a test that fails without the repair.",
        state="working",
        ground="said",
        since_ms=1_795_375_842_528,
        outcome="running",
        calls=41,
        running=1,
        failed=2,
        bytes=2_345_678,
        shipped=2_345_678,
        started_ms=1_795_375_000_000,
        seen_ms=1_795_375_842_528,
        last="Ran terminal command pytest -q",
    )


def _pin(pid: int, core: int | None) -> None:
    """Let a process run on one core only, if the system can do that; None for all cores."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(range(os.cpu_count() or 1))
    os.sched_setaffinity(pid, cores if core is None else [cores[core]])
