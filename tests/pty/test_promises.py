"""The two promises: no byte is lost, and the agent is never delayed, whatever happens to the monitor."""

import json
import random
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, case
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import DEMO, saved
from tests.harness.processes import is_alive
from tests.harness.program import AGENTWATCH
from tests.harness.terminal import Terminal

SEEDS = [
    range(1),
    *(pytest.param(range(at, at + 8), marks=pytest.mark.system) for at in (1, 9)),
    *(pytest.param(range(at, at + 100), marks=pytest.mark.long) for at in range(17, 517, 100)),
]
"""The moments of each test: one, 16 and 500."""
EVENTS_A_SECOND = 2000
WAYS = ["pipe", "run"]

pytestmark = pytest.mark.slow


def lines_of(home: Path) -> int:
    """Return how many lines the recording has so far."""
    return sum(path.read_bytes().count(b"\n") for path in (home / "sessions").glob("*.ndjson"))


def is_written(path: Path) -> bool:
    """Return whether a fake agent has written its report, which is its last step."""
    return path.exists() and bool(path.read_text())


def watching(way: str, agent: Sequence[str]) -> Terminal:
    """Watch an agent on a terminal, through a pipe or started by `run`."""
    argv = [*AGENTWATCH, "run", "--", *agent] if way == "run" else AGENTWATCH
    return Terminal(argv, producer=agent if way == "pipe" else (), size=(100, 30), cwd=ROOT)


def unread(home: Path, tmp_path: Path, way: str, seconds: int) -> dict[str, Any]:
    """Let an agent write for `seconds` while its terminal reads nothing; return the agent's report."""
    report = tmp_path / "report.json"
    data = DEMO.read_bytes()
    times = -(-seconds * EVENTS_A_SECOND // data.count(b"\n"))
    pace = ("--pace", str(EVENTS_A_SECOND), "--repeat", str(times))
    with watching(way, command(DEMO, *pace, "--report", str(report))) as terminal:
        terminal.wait_until(lambda: terminal.alt_screen_active, what="screen")
        terminal.reader.pause()
        terminal.wait_until(lambda: is_written(report), timeout=2 * seconds + 20, what="end of the agent")
        terminal.wait_until(lambda: saved(home).stat().st_size == len(data) * times, what="whole recording")
        terminal.reader.resume()
        terminal.wait_for("succeeded", timeout=60)
        terminal.leave(timeout=60)
    assert saved(home).read_bytes() == data * times
    found: dict[str, Any] = json.loads(report.read_text())
    return found


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"from {seeds[0]}")
def test_killing_the_monitor_costs_no_byte(home: Path, tmp_path: Path, seeds: range) -> None:
    """Killing the monitor at any moment neither ends the agent nor costs a byte of the recording."""
    for seed in seeds:
        moment = random.Random(seed).randrange(20, 560)
        with case(f"seed {seed}, line {moment}"):
            kill_at(moment, home, tmp_path / f"{seed}.json")
        shutil.rmtree(home)  # a killed monitor does not release the 64 MiB reserved ahead


def kill_at(moment: int, home: Path, report: Path) -> None:
    """Kill a monitor when its recording has some lines, and check that the recording becomes whole."""
    agent = command(DEMO, "--pace", "400", "--report", str(report))
    with watching("run", agent) as terminal:
        terminal.wait_until(lambda: lines_of(home) >= moment, what=f"line {moment}")
        terminal.signal(signal.SIGKILL)
        assert terminal.wait_exit() == 128 + signal.SIGKILL
        terminal.wait_until(lambda: is_written(report), what="end of the agent")
        whole = DEMO.stat().st_size
        terminal.wait_until(lambda: saved(home).stat().st_size >= whole, what="end of the relay")
    assert saved(home).read_bytes() == DEMO.read_bytes()


@pytest.mark.system
@pytest.mark.parametrize("way", WAYS)
def test_a_terminal_that_hangs_does_not_block_the_agent(home: Path, tmp_path: Path, way: str) -> None:
    """The agent keeps writing while the terminal reads nothing: 12 MB here, where its pipe holds 1 MiB."""
    report = tmp_path / "report.json"
    agent = command(DEMO, "--pace", "2000", "--burst", str(12 << 20), "--report", str(report))
    with watching(way, agent) as terminal:
        terminal.wait_for("1 Transcript")
        terminal.reader.pause()
        terminal.wait_until(lambda: is_written(report), timeout=30, what="end of the agent")
        facts = json.loads(report.read_text())
        terminal.wait_until(lambda: saved(home).stat().st_size == facts["bytes"], what="whole recording")
        terminal.wait_until(lambda: not is_alive(facts["pid"]), what="exit of the agent")
        terminal.reader.resume()
        terminal.wait_for("succeeded", timeout=30)
        terminal.leave()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "seconds", [pytest.param(3, marks=pytest.mark.system), pytest.param(60, marks=pytest.mark.long)]
)
def test_an_unread_terminal_costs_no_event(home: Path, tmp_path: Path, way: str, seconds: int) -> None:
    """Of 2,000 events a second each is recorded while nothing reads the terminal.

    In a minute no write of the agent takes over 50 ms.
    """
    report = unread(home, tmp_path, way, seconds)
    print(f"worst write, {way}: {report['worst_write_ms']} ms in {report['lines']} lines")
    assert report["lines"] >= seconds * EVENTS_A_SECOND
    assert seconds < 60 or report["worst_write_ms"] <= 50


def test_a_burst_at_the_end_is_kept(home: Path) -> None:
    """The last 3 MB that an agent writes at once before it exits are in the recording."""
    agent = command(DEMO, "--burst", str(3 << 20))
    with Terminal([*AGENTWATCH, "run", "--print", "--", *agent], cwd=ROOT) as terminal:
        assert terminal.wait_exit(30) == 0
    data = saved(home).read_bytes()
    assert len(data) == DEMO.stat().st_size + (3 << 20)
    assert data.endswith(b"\n")
