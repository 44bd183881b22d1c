"""Publisher, server and connections are broken often, while a session is published and watched."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import nats_server
from tests.harness.trials.streams import prepare
from tests.harness.trials.trial import Trial

_LINES_A_SECOND = 2_000


@pytest.mark.long
@pytest.mark.parametrize(("what", "times"), [("publisher", 100), ("server", 30), ("connection", 100)])
def test_bytes_survive_every_kill(tmp_path: Path, what: str, times: int) -> None:
    """The engine and the local copy have the bytes of the recording, and no piece was stored out of order."""
    with nats_server(tmp_path) as server, Proxy(server.port) as proxy:
        prepare(server)
        with Trial(tmp_path, _LINES_A_SECOND, proxy.address) as trial:
            trial.watch()
            faults = {"publisher": trial.restart_shipper, "server": server.restart, "connection": proxy.cut}
            for _ in range(times):
                time.sleep(random.uniform(0.05, 0.6))  # not at the same moment of its work each time
                faults[what]()
            outcome = trial.compare(server.port)
    assert outcome.is_identical, str(outcome)
