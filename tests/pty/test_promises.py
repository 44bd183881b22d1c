"""The promises: nothing lost, and never in the way, whatever becomes of the screen or the monitor."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.fake_agent import command
from tests.pty import AGENTWATCH, DEMO, saved
from tests.terminal import Terminal

KILLS = int(os.environ.get("AGENTWATCH_KILLS", "3"))


def lines_of(home: Path) -> int:
    """Return how many lines the one recording has by now."""
    return sum(path.read_bytes().count(b"\n") for path in (home / "sessions").glob("*.ndjson"))


def is_written(path: Path) -> bool:
    """Whether a fake agent has written its report, which it does last."""
    return path.exists() and bool(path.read_text())


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_the_monitor_costs_nothing(home: Path, tmp_path: Path, seed: int) -> None:
    """Killed at any moment, the monitor takes neither the agent with it nor a byte of the recording."""
    report = tmp_path / "report.json"
    agent = command(DEMO, "--pace", "400", "--report", str(report))
    moment = random.Random(seed).randrange(20, 560)
    with Terminal([*AGENTWATCH, "run", "--", *agent], size=(100, 30), cwd=ROOT) as terminal:
        terminal.wait_until(lambda: lines_of(home) >= moment, what=f"line {moment}")
        terminal.signal(signal.SIGKILL)
        assert terminal.wait_exit() == 128 + signal.SIGKILL
        terminal.wait_until(lambda: is_written(report), what="end of the agent")
    assert saved(home).read_bytes() == DEMO.read_bytes()


@pytest.mark.parametrize("way", ["pipe", "run"])
def test_a_terminal_that_hangs_holds_up_nobody(home: Path, tmp_path: Path, way: str) -> None:
    """While the terminal reads nothing the agent writes on: 12 MB here, where its pipe holds 1 MiB."""
    report = tmp_path / "report.json"
    agent = command(DEMO, "--pace", "2000", "--burst", str(12 << 20), "--report", str(report))
    argv = [*AGENTWATCH, "run", "--", *agent] if way == "run" else AGENTWATCH
    producer = () if way == "run" else agent
    with Terminal(argv, producer=producer, size=(100, 30), cwd=ROOT) as terminal:
        terminal.wait_for("1 Transcript")
        terminal.pause_reading()
        terminal.wait_until(lambda: is_written(report), timeout=30, what="end of the agent")
        written = json.loads(report.read_text())["bytes"]
        terminal.wait_until(lambda: saved(home).stat().st_size == written, what="whole recording")
        terminal.resume_reading()
        terminal.wait_for("succeeded", timeout=30)
        terminal.send("q")
        assert terminal.wait_exit() == 0


def test_a_burst_at_the_end_is_kept(home: Path) -> None:
    """What an agent writes in its last moment, 3 MB at once, is in the recording."""
    agent = command(DEMO, "--burst", str(3 << 20))
    with Terminal([*AGENTWATCH, "run", "--print", "--", *agent], cwd=ROOT) as terminal:
        assert terminal.wait_exit(30) == 0
    data = saved(home).read_bytes()
    assert len(data) == DEMO.stat().st_size + (3 << 20)
    assert data.endswith(b"\n")
