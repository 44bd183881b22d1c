"""Signals at random moments: the terminal is restored, and the files are what the agent wrote.

The log that was written is the log of the recording. The long tests try 2,000 moments in all; with
`AGENTWATCH_EXAMPLES=N` in the environment they try N.
"""

import json
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.builders.lines import completed, init, result
from tests.conftest import ROOT
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import DEMO, described, saved
from tests.harness.processes import is_alive, until
from tests.harness.program import AGENTWATCH, watch
from tests.harness.terminal import Terminal

NAMES = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
EXAMPLES = int(os.environ.get("AGENTWATCH_EXAMPLES", "2000"))
"""The number of moments that the three long tests try."""


def stages(few: int) -> list[Any]:
    """Return the number of moments that a test tries in each stage."""
    return [
        pytest.param(few, id="few", marks=pytest.mark.system),
        pytest.param(EXAMPLES // 3, id="all", marks=pytest.mark.long),
    ]


@pytest.mark.parametrize("count", stages(4))
def test_under_run(tmp_path: Path, count: int) -> None:
    """At any moment a signal restores the terminal; INT and TERM end the agent, QUIT and HUP do not.

    The recording is what the agent wrote, byte for byte, and the log is its log. Only an agent that outlives
    the monitor, after QUIT, has a log that ends earlier.
    """
    short, long = recording(tmp_path, 560), recording(tmp_path, 20_000)
    for number in range(count):
        name, moment = NAMES[number % 4], line_of("run", number)
        played = short if name in ("SIGQUIT", "SIGHUP") else long
        with on_terminal(tmp_path, f"{name} at line {moment}", "run", played) as (terminal, home):
            end_by(terminal, home, name, moment)
            written = written_bytes(terminal, home)
            terminal.wait_until(partial(has_size, home, written), what="the relay's last bytes")
            kept, log = saved(home).read_bytes(), saved(home, "log").read_bytes()
            assert played.read_bytes().startswith(kept)
            assert kept[written:].count(b"\n") <= 1  # the signal may reach the agent before it counts a write
            if played is short:
                assert len(kept) == written == short.stat().st_size
            else:
                assert written <= len(kept)
                assert described(home)["exit_code"] in (128 + signal.SIGTERM, 0)
            assert whole_log(home).startswith(log) if name == "SIGQUIT" else log == whole_log(home)


@pytest.mark.parametrize("count", stages(4))
def test_on_a_pipe(tmp_path: Path, count: int) -> None:
    """At any moment a signal restores the terminal; what was received is recorded, after HUP all that comes.

    The log that was written is the log of the recording.
    """
    short, long = recording(tmp_path, 560), recording(tmp_path, 20_000)
    for number in range(count):
        name, moment = NAMES[number % 4], line_of("pipe", number)
        played = short if name == "SIGHUP" else long
        with on_terminal(tmp_path, f"{name} at line {moment}", "pipe", played) as (terminal, home):
            recorded = end_by(terminal, home, name, moment)
            written, kept = written_bytes(terminal, home), saved(home).read_bytes()
            assert kept.startswith(recorded)
            assert played.read_bytes()[:written].startswith(kept)
            if played is short:
                assert len(kept) == written == short.stat().st_size
            assert saved(home, "log").read_bytes() == whole_log(home)


@pytest.mark.parametrize("count", stages(8))
def test_while_the_first_screen_is_drawn(tmp_path: Path, count: int) -> None:
    """A signal during the drawing of the first screen restores the terminal as well."""
    for number in range(count):
        way, name = ("pipe", "run")[number % 2], NAMES[number // 2 % 4]
        moment = random.Random(f"{way} {name} {number // 8}").randrange(1, 400)
        with on_terminal(tmp_path, f"{name} at byte {moment}", way, DEMO) as (terminal, _):
            until(partial(has_drawn, terminal, moment))
            restored_by(terminal, name)


@pytest.mark.system
def test_after_the_end_of_the_agent(tmp_path: Path) -> None:
    """When the agent has ended before the screen opens, QUIT and HUP also leave its whole log."""
    for name in ("SIGQUIT", "SIGHUP"):
        with on_terminal(tmp_path, f"{name} after the agent", "run", DEMO, pace=0) as (terminal, home):
            terminal.wait_until(partial(has_agent_ended, home), what="end of the agent")
            terminal.wait_until(partial(has_size, home, DEMO.stat().st_size), what="the relay's last bytes")
            restored_by(terminal, name)
            assert saved(home, "log").read_bytes() == whole_log(home)


@contextmanager
def on_terminal(
    folder: Path, case: str, way: str, played: Path, *, pace: int = 400
) -> Iterator[tuple[Terminal, Path]]:
    """Run agentwatch on a terminal, with an agent and a home for its files, which are deleted at the end.

    A killed monitor does not release the 64 MiB that it has reserved ahead. The message of a failure names
    the case and shows the terminal.
    """
    with TemporaryDirectory(dir=folder) as home:
        agent = command(played, "--report", f"{home}/report.json", "--pace", str(pace))
        argv = [*AGENTWATCH, "run", "--", *agent] if way == "run" else AGENTWATCH
        producer, env = [] if way == "run" else agent, {"AGENTWATCH_HOME": home}
        with Terminal(argv, producer=producer, size=(100, 30), env=env, cwd=ROOT) as terminal:
            try:
                yield terminal, Path(home)
            except AssertionError as error:
                raise AssertionError(f"{way}, {case}: {error}\n{terminal.screen_text()}") from error


def recording(folder: Path, calls: int) -> Path:
    """Write a recording of which nearly each line ends a call, and is a line of the log."""
    path = folder / f"{calls}.ndjson"
    lines = [completed("read", f"call {number}", {"success": {}}, path="a") for number in range(calls)]
    path.write_bytes(b"".join([init(), *lines, result()]))
    return path


def line_of(way: str, number: int) -> int:
    """Return the line of the recording at which the signal is sent."""
    return random.Random(f"{way} {NAMES[number % 4]} {number // 4}").randrange(1, 560)


def end_by(terminal: Terminal, home: Path, name: str, moment: int) -> bytes:
    """Send a signal at a line, check that the terminal is restored, and return what was recorded before."""

    def recorded() -> bytes | None:
        data = b"".join(path.read_bytes() for path in (home / "sessions").glob("*.ndjson"))
        return data if data.count(b"\n") >= moment else None

    before = terminal.wait_until(recorded, what=f"line {moment}")
    restored_by(terminal, name)
    return before


def restored_by(terminal: Terminal, name: str) -> None:
    """Send a signal, and check that it ends the program, and that the terminal is restored."""
    number = signal.Signals[name]
    terminal.signal(number)
    assert terminal.wait_exit(20) == 128 + number
    assert terminal.restored(), terminal.leftovers()
    assert b"Traceback" not in terminal.raw


def written_bytes(terminal: Terminal, home: Path) -> int:
    """Wait for the end of the agent, and return the number of bytes that it wrote."""
    report = home / "report.json"
    terminal.wait_until(report.exists, what="end of the agent")
    return int(json.loads(report.read_text())["bytes"])


def has_size(home: Path, size: int) -> bool:
    """Return whether the recording has at least this size."""
    return saved(home).stat().st_size >= size


def has_drawn(terminal: Terminal, size: int) -> bool:
    """Return whether at least this number of bytes was written to the terminal."""
    return len(terminal.raw) >= size


def has_agent_ended(home: Path) -> bool:
    return (home / "report.json").exists() and not is_alive(described(home)["pid"])


def whole_log(home: Path) -> bytes:
    """Return what `--print --times` prints of the recording."""
    return watch("-p", "--times", saved(home)).stdout
