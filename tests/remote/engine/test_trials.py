"""Publisher, server and connections are broken often, while a session is published and watched."""

import random
import time
from pathlib import Path

import pytest

from agentwatch.remote.publish.publication import is_running
from tests.harness.engine.proxy import Proxy
from tests.harness.engine.server import nats_server
from tests.harness.processes import until
from tests.harness.trials.cluster import cluster
from tests.harness.trials.load import LINES_A_SECOND, end_load, read_kept, start_load
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


_AWAY_SECONDS = 600
_CAUGHT_UP_SECONDS = 10.0
_WHILE_AWAY = 20


@pytest.mark.long
def test_ten_minutes_without_the_engine_are_made_up_for(tmp_path: Path) -> None:
    """A backlog of 2 MB is stored within 10 s after the engine is back, and the copies are identical."""
    with nats_server(tmp_path) as server:
        prepare(server)
        with Trial(tmp_path, _WHILE_AWAY, server.address) as trial:
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


_KILLS = 6
_BACK_SECONDS = 15.0
_IN_A_CLUSTER = 200


@pytest.mark.long
def test_a_cluster_loses_nothing_when_its_leader_is_killed(tmp_path: Path) -> None:
    """After each kill -9 of the leader, pieces are acknowledged within 15 s, and the copies are identical."""
    with (
        cluster(tmp_path) as servers,
        Trial(tmp_path, _IN_A_CLUSTER, servers.proxy.address) as trial,
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


_PUBLISHERS = 500
_SECONDS = 60


@pytest.mark.long
def test_no_line_of_500_publishers_is_lost(tmp_path: Path) -> None:
    """500 publishers at 20 lines/s are acknowledged for a minute, and the server has all lines in order."""
    with nats_server(tmp_path) as server:
        prepare(server)
        load = end_load(start_load(server.port, _PUBLISHERS, 2, _SECONDS))
        kept = read_kept(server.port)
    assert load.refused == 0
    assert kept.ahead == 0
    assert (kept.lines, kept.messages) == (load.lines, load.messages)
    assert load.lines == _PUBLISHERS * _SECONDS * LINES_A_SECOND
