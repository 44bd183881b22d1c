"""How long until a line is at the reader, and how long the agent's own write takes while it is published."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from bisect import bisect_left
from contextlib import suppress
from pathlib import Path

from measure import AGENTWATCH, MILLISECONDS, cpu_seconds, environment, percentile

from agentwatch.remote.chunk import Chunk
from agentwatch.remote.engine import new_session
from agentwatch.remote.login import open_archive, open_sink
from engines.figure import Figure, at_most, known, milliseconds
from engines.server import engine, login
from tests.harness.trials.growing import LINE_BYTES, line_of
from tests.harness.trials.trial import Trial

_LINES_A_SECOND = 20
_P50_MS, _P99_MS = 5, 100
_JOIN_MS = 250
"""The shipper lets the lines of this time travel together."""
_SINGLE_P50_MS, _SINGLE_P99_MS = 100, 200
"""The shipper looks at the file after a twentieth of the silence."""
_POLL_SECONDS = 0.0005
_RATIO = 1.5
"""What counts as the same time on a machine with other load."""
_AGENT = """
import array, os, sys, time
from tests.harness.trials.growing import line_of
seconds, rate, times = float(sys.argv[1]), 200, array.array("d")
start = time.monotonic()
for number in range(int(seconds * rate)):
    line = line_of(number)
    time.sleep(max(start + number / rate - time.monotonic(), 0))
    began = time.perf_counter()
    os.write(1, line)
    times.append(time.perf_counter() - began)
open(sys.argv[2], "wb").write(times.tobytes())
"""


def publish_to_reader(*, is_quick: bool) -> list[Figure]:
    """Append lines to an engine, 20 a second, and read them at once."""
    count = _LINES_A_SECOND * (1 if is_quick else 20)
    late: list[float] = []
    with engine() as server:
        session, sink = new_session("bench"), open_sink(login(server.address), "bench")
        archive = open_archive(login(server.address))
        pieces = archive.pieces(session)
        sent: list[float] = []

        def read() -> None:
            while len(late) < count:
                stored = pieces.next(5)
                if stored is None:
                    return
                late.append(time.monotonic() - sent[len(late)])

        reader = threading.Thread(target=read)
        reader.start()
        sequence, start = 0, time.monotonic() + 0.2
        for number in range(count):
            time.sleep(max(start + number / _LINES_A_SECOND - time.monotonic(), 0))
            sent.append(time.monotonic())
            sequence = sink.append(session, Chunk(number * LINE_BYTES, line_of(number)), sequence)
        reader.join()
        sink.close()
        archive.close()
    name = "publish to reader at 20 lines/s"
    return [
        milliseconds(f"{name}, p50", percentile(late, 0.5), _P50_MS),
        milliseconds(f"{name}, p99", percentile(late, 0.99), _P99_MS),
    ]


def file_to_copy(*, is_quick: bool) -> list[Figure]:
    """Write lines into a recording, 20 a second, and see them in the local copy of a watcher."""
    seconds = 2 if is_quick else 20
    seen: list[tuple[float, int]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        engine() as server,
        Trial(Path(folder), _LINES_A_SECOND, server.address) as trial,
    ):
        copying = trial.watch()
        copying.wait_until_read(10)
        until, cpu = time.monotonic() + seconds, cpu_seconds(trial.shipper)
        while time.monotonic() < until:
            size = copying.path.stat().st_size
            if not seen or size > seen[-1][1]:
                seen.append((time.monotonic(), size))
            time.sleep(_POLL_SECONDS)
        share = (cpu_seconds(trial.shipper) - cpu) / seconds
        written = [each for each in trial.recording.written if seen[0][1] < each[1] <= seen[-1][1]]
    sizes = [size for _, size in seen]
    late = [seen[bisect_left(sizes, size)][0] - at for at, size in written]
    name = "line in the recording to line in the copy"
    return [
        milliseconds(f"{name}, p50", percentile(late, 0.5), _JOIN_MS + _P50_MS),
        milliseconds(f"{name}, p99", percentile(late, 0.99), _JOIN_MS + _P99_MS),
        known(f"CPU of the shipper at {_LINES_A_SECOND} lines/s", f"{share:.1%}"),
    ]


def single_lines(*, is_quick: bool) -> list[Figure]:
    """Write single lines after silences of a second, and see them in the local copy; then nothing."""
    seconds = 3 if is_quick else 30
    with (
        tempfile.TemporaryDirectory() as folder,
        engine() as server,
        Trial(Path(folder), 1, server.address) as trial,
    ):
        copying = trial.watch()
        seen: dict[int, float] = {}
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            seen.setdefault(copying.path.stat().st_size, time.monotonic())
            time.sleep(_POLL_SECONDS)
        late = [seen[size] - at for at, size in trial.recording.written if size in seen][1:]
    with (
        tempfile.TemporaryDirectory() as folder,
        engine() as server,
        Trial(Path(folder), 0.001, server.address) as trial,
    ):
        trial.watch().wait_until_read(10)
        time.sleep(seconds / 10)
        cpu = cpu_seconds(trial.shipper)
        time.sleep(seconds)
        share = (cpu_seconds(trial.shipper) - cpu) / seconds
    name = "a line after a second of silence, to the copy"
    return [
        milliseconds(f"{name}, p50", percentile(late, 0.5), _SINGLE_P50_MS),
        milliseconds(f"{name}, p99", percentile(late, 0.99), _SINGLE_P99_MS),
        known("CPU of the shipper in silence", f"{share:.2%}"),
    ]


def agent_write(*, is_quick: bool) -> list[Figure]:
    """Time each write of an agent at 200 lines/s, without and with `--publish`, the engine there or not."""
    seconds, rounds = (1, 1) if is_quick else (6, 4)
    with engine() as server, socket.create_server(("127.0.0.1", 0)) as taken:
        away = f"nats://127.0.0.1:{taken.getsockname()[1]}"
        taken.close()
        ways = {
            "without --publish": (),
            "engine there": ("--publish", server.address),
            "engine away": ("--publish", away),
        }
        times: dict[str, list[list[float]]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, options in ways.items():
                times[name].append(_written(seconds, *options))
    figures = []
    for share, words in ((0.5, "p50"), (0.99, "p99")):
        least = {name: min(percentile(each, share) for each in found) for name, found in times.items()}
        bare = least.pop("without --publish")
        figures.append(
            known(f"an agent's write without --publish, {words}", f"{bare * MILLISECONDS * 1000:.1f} us")
        )
        for name, value in least.items():
            figures.append(at_most(f"the same with --publish, {name}, {words}", value / bare, _RATIO, "x"))
    return figures


def _end_shippers(folder: str) -> None:
    """End the shippers of recordings in a folder: they wait an hour for an engine that is away."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes()
            if b"agentwatch.remote.publish" in words and folder.encode() in words:
                os.kill(int(path.parent.name), signal.SIGTERM)


def _written(seconds: float, *options: str) -> list[float]:
    """Return the times of an agent's writes."""
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder, "times")
        agent = (sys.executable, "-c", _AGENT, str(seconds), str(times))
        subprocess.run(
            (*AGENTWATCH, "run", *options, "--publish-wait", "0", "--", *agent),
            env=environment(AGENTWATCH_HOME=folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        found = array("d")
        found.frombytes(times.read_bytes())
        _end_shippers(folder)
        return found.tolist()
