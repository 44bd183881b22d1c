"""The engine is away for ten minutes while an agent works."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agentwatch.remote.publish.publication import is_running
from tests.harness.engine.server import nats_server
from tests.harness.processes import until
from tests.harness.trials.streams import prepare
from tests.harness.trials.trial import Trial

_AWAY_SECONDS = 600
_CAUGHT_UP_SECONDS = 10.0
_LINES_A_SECOND = 20


@pytest.mark.long
def test_ten_minutes_without_the_engine_are_made_up_for(tmp_path: Path) -> None:
    """A backlog of 2 MB is stored within 10 s after the engine is back, and the copies are identical."""
    with nats_server(tmp_path) as server:
        prepare(server)
        with Trial(tmp_path, _LINES_A_SECOND, server.address) as trial:
            trial.wait_acked(1, 20)
            server.kill()
            time.sleep(_AWAY_SECONDS)  # the time is what is tested
            backlog = trial.recording.size
            assert trial.acked() < backlog / 100
            assert is_running(trial.shipper)
            server.restart()
            until(lambda: trial.acked() >= backlog, _CAUGHT_UP_SECONDS)
            outcome = trial.compare(server.port)
    assert outcome.is_identical, str(outcome)
