"""What does the list of a fleet cost?

A real nats-server on loopback has as many cards. Measured are the time from the first step to all rows, the
memory of the process beside that before, the longest step, the time from a card that is written to its row,
and the CPU time of 10 s in which 1,000 cards a second change. Each number of cards has a process of its own.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engines.server import is_installed
from measure import HERE, command_line, head, row

sys.path.insert(0, str(HERE.parent))

from agentwatch.base.clock import now_ms
from agentwatch.remote.address import parse_engine
from agentwatch.remote.card import Card, encode
from agentwatch.remote.engine import Login, SessionName
from agentwatch.remote.lists import EngineFleet
from agentwatch.remote.nats.administration import make_streams
from agentwatch.remote.nats.connection import Connection
from agentwatch.remote.nats.link import NatsSink
from tests.harness.engine.server import ABSENT, nats_server

_CARDS = (10_000, 100_000)
_UPDATES = 40
_BURST_SECONDS = 10
_BURST_RATE = 1_000
_PUBLISHERS = 50
_AT_ONCE = 500
_TICK_SECONDS = 0.5
"""How often the screen steps its list while nothing is to be done."""
_YIELD_SECONDS = 0.001


def name_of(number: int) -> SessionName:
    """Return the name of a session."""
    return SessionName(f"ci-{number % _PUBLISHERS}", f"{number:032x}")


def card_of(number: int, calls: int = 5) -> bytes:
    """Return a card of the size of a real one, of a session of which one in ten runs."""
    at_ms = now_ms()
    return encode(
        Card(
            host=f"runner-{number % 200}",
            agent="claude",
            model="Opus 4.5",
            cwd=f"/home/runner/api-{number % 30}",
            repo=f"api-{number % 30}",
            branch="main",
            prompt=f"Triage issue {number} and say which test shows it",
            state="working" if number % 10 == 0 else "succeeded",
            ground="said",
            outcome="running" if number % 10 == 0 else "succeeded",
            since_ms=at_ms - 5_000,
            calls=calls,
            running=1,
            failed=0,
            bytes=123_456,
            shipped=123_456,
            started_ms=at_ms - 60_000,
            seen_ms=at_ms,
            last="pytest -q tests/api",
        )
    )


def write(address: str, numbers: range, calls: int = 5) -> None:
    """Write cards, several at a time; the server has them all when this returns."""
    connection = Connection(Login(parse_engine(address)[0]), "_INBOX.bench")
    for number in numbers:
        is_last = number == numbers[-1] or number % _AT_ONCE == 0
        if is_last:
            connection.request(name_of(number).card_subject, card_of(number, calls))
        else:
            connection.send(name_of(number).card_subject, card_of(number, calls), "_INBOX.none")
    connection.close()


def stepped(fleet: EngineFleet) -> float:
    """Step a list as the screen does, and return how long the step took, in seconds."""
    began = time.perf_counter()
    has_more = fleet.step(now_ms())
    took = time.perf_counter() - began
    time.sleep(_YIELD_SECONDS if has_more or not fleet.is_found else 0.02)
    return took


def measure(address: str, count: int) -> None:
    """Print the costs of a list of so many cards."""
    login = Login(parse_engine(address)[0])
    fleet = EngineFleet("bench", login)
    before = _memory()
    began, began_cpu, longest = time.perf_counter(), time.process_time(), 0.0
    while not fleet.is_found:
        longest = max(longest, stepped(fleet))
    took, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    row(f"{count:,} cards: listed", f"{took * 1000:.0f} ms", f"{cpu * 1000:.0f} ms of CPU")
    row("  rows, longest step", f"{len(fleet.rows):,}", f"{longest * 1000:.0f} ms")
    row("  memory", f"{(_memory() - before) / 1024:.0f} MiB", "beside that of the client")
    sink = NatsSink(login, "bench")
    delays = []
    for number in range(_UPDATES):
        session = SessionName("bench", f"{number:032x}")
        wrote = time.perf_counter()
        sink.put_card(session, card_of(number))
        key = (str(login.address), str(session))
        while key not in fleet.rows:
            fleet.step(now_ms())
            time.sleep(_YIELD_SECONDS)
        delays.append((time.perf_counter() - wrote) * 1000)
    sink.close()
    row("  card to row, p50, max", f"{statistics.median(delays):.0f} ms", f"{max(delays):.0f} ms")
    _burst(address, fleet, count)
    fleet.close()


def _burst(address: str, fleet: EngineFleet, count: int) -> None:
    words = [sys.executable, __file__, "--burst", address, str(min(count, 5_000))]
    writer = subprocess.Popen(words)
    began, cpu, mappings, longest, rows = time.perf_counter(), time.process_time(), 0, 0.0, fleet.rows
    while writer.poll() is None:
        step_began = time.perf_counter()
        has_more = fleet.step(now_ms())
        longest = max(longest, time.perf_counter() - step_began)
        mappings += fleet.rows is not rows
        rows = fleet.rows
        time.sleep(_YIELD_SECONDS if has_more else _TICK_SECONDS)
    took = time.perf_counter() - began
    share = (time.process_time() - cpu) / took
    row(f"  {_BURST_RATE:,} changes a second", f"{share:.0%} of a core", f"{mappings / took:.1f} mappings/s")
    row("  its longest step", f"{longest * 1000:.0f} ms", "")


def burst(address: str, count: int) -> None:
    """Write 1,000 cards a second for 10 s."""
    for second in range(_BURST_SECONDS):
        began = time.monotonic()
        numbers = [(second * _BURST_RATE + each) % count for each in range(_BURST_RATE)]
        write(address, range(numbers[0], numbers[0] + _BURST_RATE), 6 + second)
        time.sleep(max(0.0, began + 1 - time.monotonic()))


def _memory() -> int:
    """Return the largest memory of the process so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Measure lists of several sizes."""
    parser = command_line(__doc__)
    parser.add_argument("cards", type=int, nargs="*", help="numbers of cards (10000 100000)")
    given = parser.parse_args()
    if not is_installed():
        print(f"skipped: {ABSENT}")
        return
    head("a list of cards", "", "")
    for count in [100] if given.smoke else given.cards or _CARDS:
        with tempfile.TemporaryDirectory() as folder, nats_server(Path(folder)) as server:
            connection = Connection(Login(parse_engine(server.address)[0]), "_INBOX.bench")
            make_streams(connection)
            connection.close()
            write(server.address, range(count))
            words = [sys.executable, __file__, "--measure", server.address, str(count)]
            subprocess.run(words, check=True, env=os.environ)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--measure", address, count]:
            measure(address, int(count))
        case ["--burst", address, count]:
            burst(address, int(count))
        case _:
            main()
