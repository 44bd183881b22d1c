"""One by one: how many pieces a second an engine acknowledges; and how fast it hands out a history."""

from __future__ import annotations

import time

from measure import MILLISECONDS, percentile

from agentwatch.engine.chunk import Chunk
from agentwatch.engine.engine import Sink
from agentwatch.engine.limits import CHUNK_BYTES
from agentwatch.engine.names import new_session
from agentwatch.engine.opening import open_archive, open_sink
from engines.figure import Figure, at_least, at_most, known
from engines.server import engine, login
from tests.harness.trials.growing import LINE_BYTES, line_of

_LINES_A_SECOND = 500
_CHUNKS_A_SECOND = 150
_HISTORY_SECONDS = 1.0
_HISTORY_BYTES = 64 << 20


def one_by_one(*, is_quick: bool) -> list[Figure]:
    """Append lines, and chunks of 64 KiB, each after the acknowledgement of the one before."""
    figures = []
    with engine() as server:
        for name, size, least in (
            ("line", LINE_BYTES, _LINES_A_SECOND),
            ("64 KiB", CHUNK_BYTES, _CHUNKS_A_SECOND),
        ):
            sink = open_sink(login(server.address), "bench")
            data = line_of(0) * (size // LINE_BYTES) + b" " * (size % LINE_BYTES)
            times = append(sink, data, seconds=0.5 if is_quick else 5.0)
            sink.close()
            figures.append(at_least(f"one by one: {name}", len(times) / sum(times), least, "/s"))
            spread = " / ".join(f"{percentile(times, share) * MILLISECONDS:.2f}" for share in (0.5, 0.99))
            figures.append(known(f"one by one: {name}, p50 / p99", f"{spread} ms"))
    return figures


def history(*, is_quick: bool) -> list[Figure]:
    """Read a session of 64 MiB from its first piece to its newest."""
    size = _HISTORY_BYTES // (16 if is_quick else 1)
    with engine() as server:
        session = new_session("bench")
        sink = open_sink(login(server.address), "bench")
        sequence = 0
        for offset in range(0, size, CHUNK_BYTES):
            sequence = sink.append(session, Chunk(offset, b"." * (CHUNK_BYTES - 1) + b"\n"), sequence)
        sink.close()
        best = float("inf")
        for _ in range(3):
            archive = open_archive(login(server.address))
            began, read = time.monotonic(), 0
            pieces = archive.pieces(session)
            while read < size:
                stored = pieces.next(10)
                assert stored is not None
                assert isinstance(stored.piece, Chunk)
                read += len(stored.piece.payload)
            best = min(best, time.monotonic() - began)
            archive.close()
    return [at_most(f"history of {size >> 20} MiB", best, _HISTORY_SECONDS, "s")]


def append(sink: Sink, data: bytes, seconds: float) -> list[float]:
    """Append the same bytes one by one for some seconds, and return the time that each has taken."""
    session, sequence, offset = new_session("bench"), 0, 0
    times: list[float] = []
    until = time.monotonic() + seconds
    while (began := time.monotonic()) < until:
        sequence = sink.append(session, Chunk(offset, data), sequence)
        offset += len(data)
        times.append(time.monotonic() - began)
    return times
