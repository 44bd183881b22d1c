"""Three servers replicate the stream, and its leader is killed several times while a session is published."""

from __future__ import annotations

import tempfile
from pathlib import Path

from engines.figure import Figure, at_most
from tests.harness.trials.cluster import NODES, Cluster, cluster
from tests.harness.trials.trial import Trial

_KILLS = 4
_LINES_A_SECOND = 200
_BACK_SECONDS = 15
_ACK_SECONDS = 60


def leader_killed(*, is_quick: bool) -> list[Figure]:
    """Kill the leader, wait until acknowledgements are back, and start it again."""
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster(Path(folder)) as servers,
        Trial(Path(folder), _LINES_A_SECOND, servers.proxy.address) as trial,
    ):
        trial.watch()
        back = [kill_once(servers, trial) for _ in range(1 if is_quick else _KILLS)]
        outcome = trial.compare(servers.alive.port)
    name = f"{NODES} servers, leader killed {len(back)} times"
    return [
        Figure(name, "identical, 0 ahead", str(outcome), outcome.is_identical),
        at_most(f"{name}: acknowledged again after", max(back), _BACK_SECONDS, "s"),
    ]


def kill_once(servers: Cluster, trial: Trial) -> float:
    """Kill the leader; return the seconds until the next acknowledgement, when it is alive again."""
    servers.kill_leader()
    seconds = trial.wait_acked(1, _ACK_SECONDS)
    servers.restart()
    return seconds
