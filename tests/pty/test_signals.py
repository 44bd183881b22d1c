"""Signals at random moments: the terminal is restored, and the recording is what the agent wrote."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import DEMO, saved
from tests.harness.program import AGENTWATCH, watch
from tests.harness.terminal import Terminal

NAMES = ["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP"]
SEEDS = [*range(2), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 52))]
"""Each signal is sent in two ways: 100 times in a long run."""
SCREEN = b"\x1b[?1049h"


@pytest.fixture(autouse=True)
def _space_released(home: Path) -> Iterator[None]:
    """Delete recordings: a killed monitor does not release the 64 MiB reserved ahead."""
    yield
    shutil.rmtree(home, ignore_errors=True)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_under_run(home: Path, tmp_path: Path, name: str, seed: int) -> None:
    """At any moment a signal restores the terminal; INT and TERM end the agent, QUIT and HUP do not.

    The recording is what the agent wrote, byte for byte.
    """
    report, moment = tmp_path / "report.json", moment_of("run", name, seed)
    agent = command(DEMO, "--pace", "400", "--report", str(report))
    with Terminal([*AGENTWATCH, "run", "--", *agent], size=(100, 30), cwd=ROOT) as terminal:
        end_by(terminal, home, name, moment)
        terminal.wait_until(report.exists, what="end of the agent")
        written = json.loads(report.read_text())["bytes"]
        terminal.wait_until(lambda: saved(home).stat().st_size >= written, what="the relay's last bytes")
    kept = saved(home).read_bytes()
    assert DEMO.read_bytes().startswith(kept)
    assert kept[written:].count(b"\n") <= 1  # the signal may reach the agent before it counts a write
    if name in ("SIGQUIT", "SIGHUP"):
        assert len(kept) == written == DEMO.stat().st_size
    else:
        assert written <= len(kept)
        assert json.loads(saved(home, "json").read_text())["exit_code"] in (128 + signal.SIGTERM, 0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_on_a_pipe(home: Path, tmp_path: Path, name: str, seed: int) -> None:
    """At any moment a signal restores the terminal; what was received is recorded, after HUP all that comes.

    The log that was written is the log of the recording.
    """
    report, moment = tmp_path / "report.json", moment_of("pipe", name, seed)
    agent = command(DEMO, "--pace", "400", "--report", str(report))
    with Terminal(AGENTWATCH, producer=agent, size=(100, 30), cwd=ROOT) as terminal:
        recorded = end_by(terminal, home, name, moment)
        terminal.wait_until(report.exists, what="end of the agent")
    written = json.loads(report.read_text())["bytes"]
    kept = saved(home).read_bytes()
    assert kept.startswith(recorded)
    assert DEMO.read_bytes()[:written].startswith(kept)
    if name == "SIGHUP":
        assert len(kept) == written == DEMO.stat().st_size
    if SCREEN in terminal.raw:
        assert saved(home, "log").read_bytes() == watch("log", saved(home)).stdout


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", ["pipe", "run"])
def test_while_the_first_screen_is_drawn(way: str, name: str, seed: int) -> None:
    """A signal during the drawing of the first screen restores the terminal as well."""
    number, moment = signal.Signals[name], random.Random(f"{way} {name} {seed}").randrange(1, 400)
    agent = command(DEMO, "--pace", "400")
    argv = [*AGENTWATCH, "run", "--", *agent] if way == "run" else AGENTWATCH
    with Terminal(argv, producer=agent if way == "pipe" else (), size=(100, 30), cwd=ROOT) as terminal:
        bound = time.monotonic() + 10
        while len(terminal.raw) < moment:  # busy-wait, so that these few milliseconds are not missed
            assert time.monotonic() < bound
            os.sched_yield()
        terminal.signal(number)
        assert terminal.wait_exit(20) == 128 + number
        assert terminal.restored(), terminal.leftovers()
        assert b"Traceback" not in terminal.raw


def moment_of(way: str, name: str, seed: int) -> int:
    """Return the line of the recording at which the signal is sent."""
    return random.Random(f"{way} {name} {seed}").randrange(1, 560)


def end_by(terminal: Terminal, home: Path, name: str, moment: int) -> bytes:
    """Send a signal at a line, check that the terminal is restored, and return what was recorded before."""
    number = signal.Signals[name]

    def recorded() -> bytes | None:
        data = b"".join(path.read_bytes() for path in (home / "sessions").glob("*.ndjson"))
        return data if data.count(b"\n") >= moment else None

    before = terminal.wait_until(recorded, what=f"line {moment}")
    terminal.signal(number)
    assert terminal.wait_exit(20) == 128 + number
    assert terminal.restored(), terminal.leftovers()
    assert b"Traceback" not in terminal.raw
    return before
