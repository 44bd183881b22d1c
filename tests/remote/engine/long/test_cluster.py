"""Three servers, of which the leader is killed while a session is published and watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.trials.cluster import cluster
from tests.harness.trials.trial import Trial

_KILLS = 6
_BACK_SECONDS = 15.0
_LINES_A_SECOND = 200


@pytest.mark.long
def test_a_cluster_loses_nothing_when_its_leader_is_killed(tmp_path: Path) -> None:
    """After each kill -9 of the leader, pieces are acknowledged within 15 s, and the copies are identical."""
    with (
        cluster(tmp_path) as servers,
        Trial(tmp_path, _LINES_A_SECOND, servers.proxy.address) as trial,
    ):
        trial.watch()
        killed = set()
        for _ in range(_KILLS):
            killed.add(servers.kill_leader())
            trial.wait_acked(1, _BACK_SECONDS)
            servers.restart()
        outcome = trial.compare(servers.alive.port)
    assert outcome.is_identical, str(outcome)
    assert killed
