"""One by one: how many pieces a second an engine acknowledges; and how fast it hands out a history."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from contextlib import closing

from measure import MILLISECONDS, percentile

from agentwatch.base.config import Machines
from agentwatch.remote.card import Card, encode
from agentwatch.remote.chunk import CHUNK_BYTES, Chunk, Ended
from agentwatch.remote.copying import open_copy
from agentwatch.remote.engine import SessionName, Sink, new_session
from agentwatch.remote.login import open_archive, open_sink
from engines.figure import Figure, at_least, at_most, known
from engines.server import engine, login
from tests.harness.processes import until
from tests.harness.trials.growing import LINE_BYTES, line_of

_LINES_A_SECOND = 500
_CHUNKS_A_SECOND = 150
_HISTORY_SECONDS = 1.0
_HISTORY_BYTES = 64 << 20
_ROUNDS = 3


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
    """Read an ended session of 64 MiB: its pieces alone, and as a local copy with the same digest."""
    size = _HISTORY_BYTES // (16 if is_quick else 1)
    with engine() as server:
        session = _store_history(server.address, size)
        read = min(_read(server.address, session, size) for _ in range(_ROUNDS))
        copied = min(_copy(f"{server.address}/{session}", size) for _ in range(_ROUNDS))
    name = f"history of {size >> 20} MiB"
    return [
        at_most(f"{name}, read", read, _HISTORY_SECONDS, "s"),
        at_most(f"{name}, as a local copy", copied, _HISTORY_SECONDS, "s"),
    ]


def _store_history(address: str, size: int) -> SessionName:
    """Store an ended session of chunks of 64 KiB, and return its name."""
    session, sequence = new_session("bench"), 0
    data = (line_of(0) * (CHUNK_BYTES // LINE_BYTES + 1))[-CHUNK_BYTES + 1 :] + b"\n"
    sink = open_sink(login(address), "bench")
    digest = hashlib.sha256()
    for offset in range(0, size, CHUNK_BYTES):
        sequence = sink.append(session, Chunk(offset, data), sequence)
        digest.update(data)
    sink.append(session, Ended(size, 0, digest.hexdigest()), sequence)
    sink.put_card(session, encode(Card(bytes=size, shipped=size, exit=0)))
    sink.close()
    return session


def _read(address: str, session: SessionName, size: int) -> float:
    """Read all pieces, and return the seconds that it has taken."""
    archive = open_archive(login(address))
    began, read = time.monotonic(), 0
    pieces = archive.pieces(session)
    while read < size:
        stored = pieces.next(10)
        assert stored is not None
        assert isinstance(stored.piece, Chunk)
        read += len(stored.piece.payload)
    seconds = time.monotonic() - began
    archive.close()
    return seconds


def _copy(words: str, size: int) -> float:
    """Fill a new local copy, and return the seconds until it is complete."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        with closing(open_copy(words, Machines(), {**os.environ, "AGENTWATCH_HOME": folder})) as copying:
            until(lambda: not copying.is_filling())
            seconds = time.monotonic() - began
            assert copying.is_complete
            assert copying.path.stat().st_size == size
    return seconds


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
