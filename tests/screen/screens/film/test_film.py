"""A film of the screen: a terminal that plays it shows at each time what the replaying app shows."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from itertools import chain, pairwise
from pathlib import Path

import pytest

from agentwatch.feed.playhead import Replay
from agentwatch.output.export.exported import Wanted
from agentwatch.output.export.exporters import Choices
from agentwatch.screen.screens import film as film_module
from agentwatch.screen.screens.film import SetClock, filmed
from tests.builders.exports.opened import RAW, opened
from tests.builders.lines import DONE, completed, init, result, started, user
from tests.builders.screen.app import opened as app_opened
from tests.conftest import RECORDINGS, case
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, environment, watch
from tests.harness.terminal_oracle import acting, taken_apart
from tests.output.export.asciicast.casts import Cast, read
from tests.output.export.atif.trajectories import wanted

DEMO = RECORDINGS / "demo.ndjson"
REPORTING = """
import sys
from agentwatch.cli import app
sys.argv[0] = "agentwatch"
try:
    app.main()
finally:
    print("textual" in sys.modules, file=sys.stderr)
"""
"""Agentwatch, which reports at its end whether Textual was loaded."""
OWN = re.compile(rb"\x1b\[(?:[0-9;]*m|[0-9]+;[0-9]+H|2J|\?25[lh])")


def film(path: Path, part: Wanted = RAW, size: tuple[int, int] = (100, 30), **more: float) -> Cast:
    """Return the film of a recording."""
    return read(film_file(path, part, size, **more))


def film_file(
    path: Path, part: Wanted = RAW, size: tuple[int, int] = (100, 30), max_idle: float | None = None
) -> bytes:
    """Return the file of a film."""
    with opened(path, part) as session:
        choices = Choices(screen=True, columns=size[0], rows=size[1], max_idle=max_idle)
        return b"".join(filmed(session, choices))


async def app_at(path: Path, times: list[float], size: tuple[int, int]) -> list[list[str]]:
    """Return the rows that the app shows at some times of a replay."""
    clock, shown = SetClock(), []
    async with app_opened(path, size, replay=Replay(clock=clock)) as stage:
        for clock.seconds in times:
            before: list[str] = []
            while (rows := stage.rows()) != before:
                before = rows
                await stage.settled()
                await stage.settled()
            shown.append(rows)
    return shown


@pytest.mark.system
def test_a_terminal_shows_what_the_app_shows() -> None:
    """At several times of the demo, the rows of an emulated terminal are those of the replaying app."""
    size, times = (120, 40), [0.0, 3.0, 12.0, 20.0, 33.0, 45.0, 60.0, 68.0]
    found = film(DEMO, size=size)
    steps = [max(event.at for event in found.events if event.at <= at) for at in times]
    expected = asyncio.run(app_at(DEMO, steps, size))
    for at, rows in zip(steps, expected, strict=True):
        assert found.screen_at(at) == rows, at
    assert "succeeded" in expected[-1][0]


@pytest.mark.system
def test_a_film_is_a_function_of_the_recording() -> None:
    """Two films of a recording are the same bytes."""
    path = RECORDINGS / "parallel.ndjson"
    assert film_file(path) == film_file(path)


@pytest.mark.system
def test_frames_are_written_only_when_the_screen_changes() -> None:
    """A frame changes what a terminal shows, and there are at most ten in a second."""
    found = film(RECORDINGS / "failures.ndjson")
    frames = [event for event in found.events if event.code == "o"]
    assert len({event.at for event in frames}) > 10
    for before, after in pairwise(frames[1:-1]):
        assert after.at - before.at > 0.099
        assert found.screen_at(after.at) != found.screen_at(before.at)
    assert found.events[-1].code == "x"


@pytest.mark.system
def test_a_long_session_has_few_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has fewer frames per second; with short silences, it is as long as they are."""
    monkeypatch.setattr(film_module, "_MOST_FRAMES", 100)
    path = RECORDINGS / "plain.ndjson"
    times = [line.split() for line in path.with_suffix(".times").read_text().splitlines()]
    first = int(times[0][1])
    slow = [f"{offset} {first + (int(ms) - first) * 1000}" for offset, ms in times]
    (tmp_path / "long.ndjson").write_bytes(path.read_bytes())
    (tmp_path / "long.times").write_text("\n".join(slow) + "\n")
    found = film(tmp_path / "long.ndjson", size=(80, 24))
    seconds = (int(times[-1][1]) - first) * 1000 / 1000
    assert found.events[-1].at == pytest.approx(seconds, rel=0.02)
    assert len(found.events) < 110
    short = film(tmp_path / "long.ndjson", size=(80, 24), max_idle=1)
    assert short.events[-1].at < len(times) * 1.2
    assert short.screen_at(1e9) == found.screen_at(1e9)


@pytest.mark.system
def test_a_part_is_filmed() -> None:
    """The film begins and ends at the moments, and shows the calls that the words select."""
    found = film(DEMO, wanted(begin="#5", until="#9", only="read"))
    first, last = found.screen_at(0), found.screen_at(1e9)
    assert "as of" in first[0]
    assert any(" read " in row for row in first)
    assert not any(" grep " in row for row in first)
    assert "as of" in last[0]
    assert {event.code for event in found.events} == {"o", "m"}
    assert [name[:2] for _, name in found.marks()] == ["#6", "#9"]


@pytest.mark.system
def test_a_recording_without_times_is_filmed(tmp_path: Path) -> None:
    """Its lines come 20 a second."""
    path = tmp_path / "session.ndjson"
    calls = [(started("read", f"c-{at}"), completed("read", f"c-{at}", DONE)) for at in range(20)]
    path.write_bytes(b"".join([init(), user(), *chain.from_iterable(calls), result("Done.")]))
    found = film(path)
    assert found.events[-1].at == pytest.approx(43 * 0.05, abs=0.2)
    assert "20 calls" in "\n".join(found.screen_at(1e9))


@pytest.mark.system
@pytest.mark.slow
def test_a_recording_without_lines_is_filmed(tmp_path: Path) -> None:
    """An empty session has one frame."""
    path = tmp_path / "session.ndjson"
    path.write_bytes(init())
    assert film(path).events[0].code == "o"


@pytest.mark.system
def test_foreign_text_does_not_control_the_terminal() -> None:
    """The film has the sequences of a picture only, and no character that acts on a terminal."""
    for name in ("hostile", "wide", "malformed"):
        with case(name):
            path = RECORDINGS / f"{name}.ndjson"
            found = film(path, size=(120, 40))
            sequences, text = taken_apart(found.output.encode())
            assert [each for each in sequences if OWN.fullmatch(each) is None] == []
            assert acting(text.decode()) == []


@pytest.mark.system
def test_the_command_films_the_screen(tmp_path: Path) -> None:
    """`export --to asciicast --screen` writes the film; without `--screen` no screen is loaded."""
    path = tmp_path / "a.cast"
    words = "--to", "asciicast", "--screen", "-o", path
    done = watch("export", RECORDINGS / "rejected.ndjson", *words, late=120)
    assert (done.returncode, done.stdout) == (0, b"")
    assert "\x1b[2J" in read(path.read_bytes()).output
    arguments = ["export", str(DEMO), "--to", "asciicast", "-o", "-"]
    program = [sys.executable, "-c", REPORTING, *arguments]
    text = subprocess.run(program, capture_output=True, env=environment(), check=False)
    assert text.stderr.endswith(b"False\n")


@pytest.mark.system
def test_a_signal_ends_a_film(tmp_path: Path) -> None:
    """After ctrl+c no file is left, and the exit code is that of the signal."""
    path = tmp_path / "a.cast"
    words = ["export", str(RECORDINGS / "stuck.ndjson"), "--to", "asciicast", "--screen", "-o", str(path)]
    with subprocess.Popen([*AGENTWATCH, *words], env=environment(), stderr=subprocess.DEVNULL) as program:
        until(lambda: [*tmp_path.glob(".a.cast*")])
        os.kill(program.pid, signal.SIGINT)
        assert program.wait(30) == 130
    assert [*tmp_path.glob("*a.cast*")] == []
