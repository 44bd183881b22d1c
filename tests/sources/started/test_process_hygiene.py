"""Whatever an agent does with its processes: no zombie, no unreported survivor, no hang, no lost byte."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RECORDINGS, ROOT, case
from tests.harness.fake_agent import assistant_lines, command
from tests.harness.processes import until, zombies_of
from tests.harness.program import HURRIED

PLAIN = RECORDINGS / "plain.ndjson"
DATA = PLAIN.read_bytes()
BEFORE_RESULT = DATA[: DATA.index(b'{"type":"result"')]
BURST = 1 << 20
KEEPER = """
import ctypes, json, os, pathlib, signal, subprocess, sys, time

def children():
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            before, _, after = path.read_text().rpartition(")")
        except OSError:
            continue
        state, parent = after.split()[:2]
        if int(parent) == os.getpid() and not before.endswith("(agentwatch-pipe"):
            found[int(path.parent.name)] = state
    return found

facts, stop_when, *argv = sys.argv[1:]
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans of agentwatch become our children
program = subprocess.Popen(argv)
deadline, code = time.monotonic() + 60, None
while code is None and time.monotonic() < deadline:
    if stop_when and os.path.exists(stop_when):
        program.terminate()
        stop_when = ""
    try:
        code = program.wait(0.02)
    except subprocess.TimeoutExpired:
        pass
with open(facts, "w") as file:
    json.dump({"code": code, "left": children()}, file)
while left := children():
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
"""
"""Runs a program, records its exit code and the processes that it left behind, and kills those.

A relay is left behind as well, until nobody holds its pipes. It does not count.
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc"),
]


@dataclass(frozen=True)
class Agent:
    """What an agent does, and what is expected of agentwatch."""

    switches: tuple[str, ...]
    code: int = 0
    """The exit code of agentwatch."""
    own_code: int | None = 0
    """The agent's exit code as noted in the process file; None while the agent lives."""
    written: bytes = DATA
    leaves_children: bool = False
    is_stopped: bool = False
    """Agentwatch is sent SIGTERM once the agent has written everything."""


STOPPED = 128 + signal.SIGTERM
AGENTS = {
    "forks": Agent(("--fork", "60"), leaves_children=True),
    "forks twice": Agent(("--fork", "60", "--setsid", "60"), leaves_children=True),
    "forks and fails": Agent(("--fork", "60", "--exit", "3"), 3, 3, leaves_children=True),
    "forks into a session": Agent(("--setsid", "60"), leaves_children=True),
    "never exits": Agent(("--hang",), 0, None),
    "never exits, ignoring TERM": Agent(("--hang", "--ignore-term"), 0, None),
    "never gets to its result": Agent(
        ("--hang-before-result",), STOPPED, STOPPED, BEFORE_RESULT, is_stopped=True
    ),
    "ignores TERM, with a child": Agent(
        ("--hang-before-result", "--ignore-term", "--fork", "60"),
        STOPPED,
        128 + signal.SIGKILL,
        BEFORE_RESULT,
        is_stopped=True,
    ),
    "ignores TERM, with a child in a session": Agent(
        ("--hang-before-result", "--ignore-term", "--setsid", "60"),
        STOPPED,
        128 + signal.SIGKILL,
        BEFORE_RESULT,
        is_stopped=True,
    ),
    "is stopped, with a child in a session": Agent(
        ("--hang-before-result", "--setsid", "60"), STOPPED, STOPPED, BEFORE_RESULT, is_stopped=True
    ),
    "exits after a burst": Agent(("--burst", str(BURST)), written=DATA + assistant_lines(BURST, DATA)),
    "dies in mid-line": Agent(("--cut", "3001", "--die", "KILL"), 137, 137, DATA[:3001]),
    "dies in mid-line, with a child": Agent(
        ("--cut", "3001", "--die", "KILL", "--fork", "60"), 137, 137, DATA[:3001], leaves_children=True
    ),
    "fills stderr": Agent(("--stderr-forever", "--hang"), 0, None),
    "fills stderr and never gets to its result": Agent(
        ("--stderr-forever", "--hang-before-result"), STOPPED, STOPPED, BEFORE_RESULT, is_stopped=True
    ),
}


def watch(folder: Path, argv: Sequence[str], stop_when: Path | None = None) -> dict[str, Any]:
    """Run a program to its end; return its exit code, the processes left behind and its stderr."""
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        subprocess.run(
            [sys.executable, "-c", KEEPER, str(folder / "facts"), str(stop_when or ""), *argv],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,
            timeout=90,
            check=True,
        )
    facts: dict[str, Any] = json.loads((folder / "facts").read_text())
    facts["left"] = {int(pid): state for pid, state in facts["left"].items()}
    return facts | {"stderr": (folder / "stderr").read_text()}


def check(folder: Path, agent: Agent, program: Sequence[str] = (sys.executable, "-c", HURRIED)) -> None:
    """Watch an agent to its end and check the result."""
    folder.mkdir()
    report, recording = folder / "report.json", folder / "r.ndjson"
    run = ["run", "--print", "--record", str(recording), "--", *command(PLAIN, *agent.switches)]
    facts = watch(folder, [*program, *run, "--report", str(report)], report if agent.is_stopped else None)
    written = json.loads(report.read_text())
    process = json.loads((folder / "r.json").read_text())
    assert facts["code"] == agent.code, facts
    assert process["exit_code"] == agent.own_code
    left = set(written["children"]) if agent.leaves_children else set()
    left |= {process["pid"]} if agent.own_code is None else set()
    living = {pid for pid, state in facts["left"].items() if state != "Z"}
    assert living == left, facts
    # a child that is killed may become a zombie only after agentwatch has ended
    assert agent.is_stopped or set(facts["left"]) == left, facts
    assert {int(pid) for pid in re.findall(r"process (\d+)", facts["stderr"])} == left
    assert "Traceback" not in facts["stderr"], facts["stderr"]
    assert recording.read_bytes() == agent.written
    assert written["bytes"] == len(agent.written)


@pytest.mark.parametrize(
    ("names", "trials"),
    [
        pytest.param(["forks twice", "dies in mid-line"], 1, id="two"),
        pytest.param([*AGENTS], 1, id="all", marks=pytest.mark.system),
        pytest.param([*AGENTS][:8], 20, id="the first eight", marks=pytest.mark.long),
        pytest.param([*AGENTS][8:], 20, id="the others", marks=pytest.mark.long),
    ],
)
def test_survivors_are_reported_and_no_byte_is_lost(tmp_path: Path, names: list[str], trials: int) -> None:
    """The exit code is right, surviving processes are reported, none is a zombie, and no byte is lost.

    In the stage `long` the same holds in twenty runs in a row.
    """
    for name, trial in product(names, range(trials)):
        with case(f"{name}, {trial}"):
            check(tmp_path / f"{name} {trial}", AGENTS[name])


@pytest.mark.long
@pytest.mark.parametrize("name", ["never exits", "fills stderr"])
def test_the_whole_grace_period(tmp_path: Path, name: str) -> None:
    """An agent that never exits is left after the 30 s of grace, and within a minute."""
    check(tmp_path / "trial", AGENTS[name], (sys.executable, "-m", "agentwatch"))


def test_orphans_of_the_agent_are_reaped(tmp_path: Path) -> None:
    """Orphans of the agent's children are reaped as soon as they end, while the agent still works."""
    mark = tmp_path / "mark"
    abandons = f"for n in 1 2 3 4 5; do ( ( sleep 0.1; : ) & ); done; sleep 0.3; touch '{mark}'; sleep 60"
    argv = [sys.executable, "-m", "agentwatch", "run", "--print", "--", "sh", "-c", abandons]
    with subprocess.Popen(
        argv,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
    ) as program:
        try:
            until(mark.exists, what="the orphans")
            until(
                lambda: not zombies_of(program.pid),
                what="no zombie",
                picture=lambda: str(zombies_of(program.pid)),
            )
            assert program.poll() is None
        finally:
            program.terminate()
    assert program.returncode == STOPPED
