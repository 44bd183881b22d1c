"""What the shipper costs while the engine is away, and how soon it has caught up afterwards."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from measure import cpu_seconds

from engines.figure import Figure, at_most, known
from engines.server import engine, resident_bytes
from tests.harness.processes import until
from tests.harness.trials.trial import Trial

_LINES_A_SECOND = 20
_LONG_SECONDS = 600.0
_STARTED_SECONDS = 5.0
"""After this time the shipper has started, and its attempts are 5 s apart."""
_CPU_SECONDS = 0.1
_CAUGHT_UP_SECONDS = 10.0


def away(*, is_quick: bool) -> list[Figure]:
    """Keep the engine away for a minute and a half, in which the recording grows by 2 MB."""
    return _measure(2 if is_quick else 90, 200)


def away_for_ten_minutes(*, is_quick: bool) -> list[Figure]:
    """Keep the engine away for ten minutes, at the 20 lines/s of a busy agent."""
    return _measure(2 if is_quick else _LONG_SECONDS, _LINES_A_SECOND)


def _measure(seconds: float, lines_a_second: float) -> list[Figure]:
    """Keep the engine away for some seconds, and compare the copies after its return."""
    with tempfile.TemporaryDirectory() as folder, engine() as server:
        server.kill()
        with Trial(Path(folder), lines_a_second, server.address) as trial:
            time.sleep(min(_STARTED_SECONDS, seconds))
            started = cpu_seconds(trial.shipper)
            time.sleep(seconds)
            cpu = cpu_seconds(trial.shipper) - started
            memory = resident_bytes(trial.shipper)
            backlog = trial.recording.size
            server.restart()
            began = time.monotonic()
            until(lambda: trial.acked() >= backlog, 60)
            caught_up = time.monotonic() - began
            outcome = trial.compare(server.port)
    name = f"engine away for {seconds:g} s"
    return [
        at_most(f"{name}: CPU of the shipper in 10 min", cpu / seconds * _LONG_SECONDS, _CPU_SECONDS, "s"),
        known(f"{name}: memory of the shipper", f"{memory / (1 << 20):.1f} MiB"),
        at_most(f"{name}: {backlog / 1e6:.1f} MB are stored after", caught_up, _CAUGHT_UP_SECONDS, "s"),
        Figure(f"{name}: copies", "identical", str(outcome), outcome.is_identical),
    ]
