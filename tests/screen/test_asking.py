"""A call that waits for the user asks, in every pane and at every moment; it is never called running."""

import re
from functools import partial
from pathlib import Path

import pytest

from tests.agents.claude.test_calls import ask, reply
from tests.builders.claude_lines import call, init, say, user, written
from tests.builders.screen.app import PANES, Stage, opened
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

COMMAND = "rm -rf build && make dist"
ASKS = re.compile(r"! asks [\d:]+ · waits for your permission")


def live(recording: Saver) -> Path:
    """Return a recording of an agent that waits for permission; each line arrived a second after the last."""
    lines = [init(), user("Build it."), say("Now."), call("Bash", "t-0", command="sleep 600")]
    lines += [call("Bash", command=COMMAND), ask(input={"command": COMMAND})]
    path = recording(*map(written, lines))
    offsets = [len(written(*lines[:count])) for count in range(len(lines))]
    times = "".join(f"{offset} {1_795_352_400_000 + 1000 * nth}\n" for nth, offset in enumerate(offsets))
    path.with_suffix(".times").write_text(times)
    return path


def _asks(stage: Stage) -> bool:
    return stage.header.startswith(" ! asks ")


def row(stage: Stage, pane: str, words: str) -> str:
    """Return the row of a pane that contains the words."""
    region = stage.pane(pane).region
    rows = stage.text(blanks=True).splitlines()[region.y : region.bottom]
    return next(
        (each[region.x : region.right] for each in rows if words in each[region.x : region.right]), ""
    )


async def test_a_question_in_an_editor_is_answered_there(recording: Saver) -> None:
    """A recording of both directions is that of an editor's agent, which has no terminal."""
    path = live(recording)
    path.with_suffix(".sent").write_bytes(b"")
    async with opened(path, (140, 40), follow=True) as stage:
        await stage.until(lambda: "answer it in the editor" in stage.status, "where it is answered")


async def test_every_pane_says_that_a_call_asks(recording: Saver) -> None:
    """Its sign, state and clock are in the header, its row, its line and its detail, until the answer."""
    async with opened(live(recording), (140, 40), follow=True) as stage:
        await stage.until(lambda: ASKS.search(stage.header), "the state in the header")
        assert "1 asks · 1 running" in stage.header
        assert re.fullmatch(rf" Wants to run {COMMAND} +answer it in the agent's terminal", stage.status)
        assert re.search(r"! Bash +rm -rf build.* asks *\d+:", row(stage, "calls", "rm -rf"))
        assert f"! #2 Wants to run {COMMAND} (waits for" in row(stage, "transcript", "#2")
        assert "◐ #1 Running sleep 600" in row(stage, "transcript", "#1")
        assert ASKS.search(row(stage, "detail", "asks"))
        await stage.append(written(reply(behavior="allow")))
        await stage.until(lambda: "◐ running" in stage.header, "the call that runs")
        assert "2 running" in stage.header
        assert "◐ #2 Running rm" in row(stage, "transcript", "#2")
        assert "running" in row(stage, "calls", "rm -rf")
        assert "◐ running" in row(stage, "detail", "running")


@pytest.mark.system
async def test_a_narrow_screen_and_an_earlier_moment_say_it_too(recording: Saver) -> None:
    """At 80 and 40 columns no pane calls it running; an earlier moment shows the questions of then."""
    # At 80 and 40 columns no pane calls it running.
    async with opened(live(recording), follow=True) as stage:
        for size in ((80, 24), (40, 12)):
            await stage.pilot.resize_terminal(*size)
            await stage.until(partial(_asks, stage), "the header")
            for number, pane in enumerate(PANES[:3], 1):
                await stage.press(str(number))
                await stage.settled()
                with case((size, pane)):
                    shown = row(stage, pane, "rm -r") + row(stage, pane, "asks")
                    assert "!" in shown
                    assert "◐" not in row(stage, pane, "rm -r")
    # Before the question the call runs; at the question it asks, with the clock of that moment.
    async with opened(live(recording), (140, 40), follow=True) as stage:
        await stage.append(written(reply(behavior="allow")))
        await stage.press(",")
        await stage.until(lambda: "! #2 Wants to run" in row(stage, "transcript", "#2"), "the question")
        assert stage.header.startswith(" ‖ as of ")
        assert re.search(r" asks +0:00", row(stage, "calls", "rm -rf"))
        assert "asks 0:00 · waits for your permission" in row(stage, "detail", "asks")
        await stage.press(",")
        await stage.until(lambda: "◐ #2 Running rm" in row(stage, "transcript", "#2"), "the moment before it")
        assert "◐ running" in row(stage, "detail", "running")
