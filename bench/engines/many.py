"""500 publishers at 20 lines/s that join their lines as the shipper does: what is kept, and what it costs."""

from __future__ import annotations

import time
from typing import NamedTuple

from measure import cpu_seconds, percentile

from engines.figure import Figure, at_most, known, milliseconds
from engines.server import engine, resident_bytes
from tests.harness.engine.server import Server
from tests.harness.trials.load import LINES_A_SECOND, Load, end_load, read_kept, start_load

_PROCESSES = 2
_CONNECT_SECONDS = 3.0
_ACK_MS = 600
_CORE_SHARE = 60
_MEBIBYTES = 150


class Usage(NamedTuple):
    """What the server has used while publishers were driven."""

    seconds: float
    cpu: float
    """CPU seconds in that time."""
    peak_bytes: int


def publishers(*, is_quick: bool) -> list[Figure]:
    """Drive the publishers from two processes, and read back all that was stored."""
    count, seconds = (20, 4.0) if is_quick else (500, 60.0)
    with engine() as server:
        load, usage = drive(server, count, seconds)
        kept = read_kept(server.port)
    due = round(count * seconds * LINES_A_SECOND)
    is_whole = load.lines == kept.lines == due and not (load.refused or kept.ahead)
    name = f"{count} publishers at {LINES_A_SECOND} lines/s for {seconds:g} s"
    return [
        Figure(f"{name}: kept", f"{due:,} lines", f"{kept.lines:,} lines, {load.refused} refused", is_whole),
        milliseconds(f"{name}: sent to ack, p99", percentile(load.sent_to_ack, 0.99), _ACK_MS),
        milliseconds(f"{name}: due to ack, p99", percentile(load.due_to_ack, 0.99), _ACK_MS),
        known(f"{name}: messages", f"{load.messages / seconds:,.0f}/s"),
        at_most(f"{name}: server", 100 * usage.cpu / usage.seconds, _CORE_SHARE, "% of a core"),
        at_most(f"{name}: server's memory", usage.peak_bytes / (1 << 20), _MEBIBYTES, "MiB"),
    ]


def drive(server: Server, count: int, seconds: float) -> tuple[Load, Usage]:
    """Drive publishers; return what they have seen, and what the server has used.

    Args:
        server: The server.
        count: The number of publishers.
        seconds: How long they publish, over 3 s. The server is watched from the third second on.
    """
    processes = start_load(server.port, count, _PROCESSES, seconds)
    time.sleep(_CONNECT_SECONDS)
    began, cpu, peak = time.monotonic(), cpu_seconds(server.pid), 0
    while time.monotonic() - began < seconds - _CONNECT_SECONDS:
        peak = max(peak, resident_bytes(server.pid))
        time.sleep(0.5)
    usage = Usage(time.monotonic() - began, cpu_seconds(server.pid) - cpu, peak)
    return end_load(processes), usage
