"""An agent that dies at any byte: its output is kept, and an incomplete line is not an event."""

import json
import random
import shutil
import signal
from pathlib import Path

import pytest

from tests.conftest import case
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import DEMO, described, in_terminal, saved
from tests.harness.program import watch

DATA = DEMO.read_bytes()
KILLED = 128 + signal.SIGKILL
SEEDS = [
    range(1),
    pytest.param(range(1, 10), marks=pytest.mark.system),
    *(pytest.param(range(at, at + 25), marks=pytest.mark.long) for at in range(10, 110, 25)),
]
"""The cuts of each test: one, 9 and 100."""

pytestmark = pytest.mark.slow


def mid_line(seed: int) -> int:
    """Return an offset in the demo that is neither the start nor the end of a line."""
    chance = random.Random(seed)
    while b"\n" in DATA[(cut := chance.randrange(1, len(DATA))) - 1 : cut + 1]:
        pass
    return cut


@pytest.mark.system
@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"from {seeds[0]}")
def test_killed_in_mid_line(home: Path, tmp_path: Path, seeds: range) -> None:
    """All bytes of an agent killed in mid-line are recorded, and its half line is shown as malformed."""
    for seed in seeds:
        cut = mid_line(seed)
        with case(f"seed {seed}, byte {cut}"):
            kill_at(cut, home, tmp_path / f"{seed}.json")
        shutil.rmtree(home)


def kill_at(cut: int, home: Path, report: Path) -> None:
    """Let an agent die after some bytes, and check its recording, the screen and the summary."""
    start = DATA.rfind(b"\n", 0, cut) + 1
    agent = command(DEMO, "--cut", str(cut), "--die", "KILL", "--report", str(report))
    with in_terminal("run", "--", *agent) as terminal:
        terminal.wait_for("◌ unfinished")
        terminal.press("i", "─ Session · ")
        terminal.press("5", "whether the recording is whole")
        terminal.wait_for(f"byte {start:,}, {cut - start:,} bytes: not JSON")
        assert "1 malformed" in terminal.screen_text()
        terminal.wait_gone("─ Session · ", "\x1b")
        terminal.leave("q", KILLED)
    assert json.loads(report.read_text())["bytes"] == cut
    assert saved(home).read_bytes() == DATA[:cut]
    assert described(home)["exit_code"] == KILLED
    summary = json.loads(watch("--output-format", "summary", saved(home)).stdout)
    assert summary["outcome"] == "unfinished"
    assert summary["lines"]["malformed"] == 1
    assert summary["lines"]["total"] == DATA.count(b"\n", 0, cut) + 1
