"""Publisher, server and connection are broken again and again: the copies must have the same bytes.

The recording grows meanwhile, a real shipper publishes it, and a real local copy follows. Afterwards the
messages on the server are read once more, without the program.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from engines.figure import Figure
from engines.server import engine
from tests.harness.engine.proxy import Proxy
from tests.harness.trials.trial import Trial

_LINES_A_SECOND = 2_000
_FAULTS = {"publisher": 100, "server": 30, "connection": 100}
_QUICK_FAULTS = 2
_BETWEEN_SECONDS = (0.05, 0.6)
"""A shipper needs about 0.3 s to start: some are killed before they have sent anything."""
_DOWN_SECONDS = 0.3


def publisher_killed(*, is_quick: bool) -> list[Figure]:
    """Kill the shipper, and start another one."""
    with (
        tempfile.TemporaryDirectory() as folder,
        engine() as server,
        Trial(Path(folder), _LINES_A_SECOND, server.address) as trial,
    ):
        return [_broken("publisher", trial, trial.restart_shipper, server.port, is_quick=is_quick)]


def server_killed(*, is_quick: bool) -> list[Figure]:
    """Kill the server, and start it again with what it has stored."""
    with tempfile.TemporaryDirectory() as folder, engine() as server:

        def fault() -> None:
            server.kill()
            time.sleep(random.uniform(0, _DOWN_SECONDS))
            server.restart()

        with Trial(Path(folder), _LINES_A_SECOND, server.address) as trial:
            return [_broken("server", trial, fault, server.port, is_quick=is_quick)]


def connection_cut(*, is_quick: bool) -> list[Figure]:
    """Reset the connections of shipper and watcher."""
    with (
        tempfile.TemporaryDirectory() as folder,
        engine() as server,
        Proxy(server.port) as proxy,
        Trial(Path(folder), _LINES_A_SECOND, proxy.address) as trial,
    ):
        return [_broken("connection", trial, proxy.cut, server.port, is_quick=is_quick)]


def _broken(name: str, trial: Trial, fault: Callable[[], None], port: int, *, is_quick: bool) -> Figure:
    trial.watch()
    count = _QUICK_FAULTS if is_quick else _FAULTS[name]
    for _ in range(count):
        time.sleep(random.uniform(*_BETWEEN_SECONDS))
        fault()
    outcome = trial.compare(port)
    what = "cut" if name == "connection" else "killed"
    return Figure(f"{name} {what} {count} times", "identical, 0 ahead", str(outcome), outcome.is_identical)
