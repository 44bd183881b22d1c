"""A finished session begins with what happened, until the user moves."""

import asyncio
import json
from collections.abc import Callable
from functools import partial

import pytest

from agentwatch.screen.screens.session.box import SessionBox
from agentwatch.screen.screens.session.box_files import FileList
from agentwatch.screen.screens.session.finish_summary import FinishSummary
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import Stage, opened
from tests.builders.screen.lines import CWD, answer, ended, init, result, session, shell, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


def finished() -> bytes:
    """Return a finished session with an open failure, one that was fixed, and a changed file."""
    path: dict[str, object] = {"path": f"{CWD}/src/mill.py"}
    again: dict[str, object] = {"command": "echo 1"}
    counts = {"linesAdded": 4, "linesRemoved": 2}
    return (
        init()
        + shell(1, 2, "bad")
        + started("again", "shell", again)
        + ended("again", "shell", again, {"success": {"exitCode": 0}})
        + shell(2, 2, "worse")
        + started("edit", "edit", path)
        + ended("edit", "edit", path, {"success": counts})
        + answer("## Mended the mill\nAll of it.")
        + result("## Mended the mill\nAll of it.")
    )


def happened(stage: Stage) -> list[str]:
    """Return the lines with what happened; none if they are folded."""
    (found,) = [*stage.app.screen_stack[0].query(FinishSummary)] or [None]
    return [] if found is None else [" ".join(line.split()) for line in str(found.content).split("\n")]


def is_folded(stage: Stage) -> bool:
    """Return whether the lines are not there any more."""
    return not happened(stage)


async def shown(stage: Stage) -> None:
    """Wait until the lines are there and complete."""
    await stage.until(
        lambda: happened(stage) and "still reading" not in "".join(happened(stage)), "the lines"
    )


@pytest.mark.slow
async def test_an_exit_code_is_stronger_than_the_result(recording: Saver) -> None:
    """Header, status line, summary and transcript of a session say the worse of result and exit code, in the
    colour of a failure, with what the other one says; the reason is the agent's stderr."""
    path = recording(finished())
    described = {"command": ["agent"], "pid": 1, "started_ms": 1, "exit_code": 3}
    path.with_suffix(".json").write_text(json.dumps(described))
    path.with_suffix(".stderr").write_text("out of luck\n")
    async with opened(path) as stage:
        await shown(stage)
        await stage.shows("stderr: out of luck")
        assert stage.header.startswith(" ✗ exit 3 · result says ✓ ")
        header = next(each for each in stage.segments() if "exit 3" in each.text)
        failed = next(each for each in stage.segments() if "still red" in each.text or "✗ #" in each.text)
        assert header.style
        assert failed.style
        assert header.style.color == failed.style.color
        assert happened(stage)[2] == "result ✗ exit 3 · result says ✓ · Mended the mill"
        last = next(each for each in stage.segments() if "result says ✓ in 5.2 s" in each.text)
        assert last.text.startswith("✗ exit 3 · ")
        assert last.style
        assert last.style.color == failed.style.color


async def test_a_failed_run_has_no_tick_for_its_calls(recording: Saver) -> None:
    """A run that failed without a failed call says so without the sign of a success."""
    path = recording(init() + shell(1, 0, "ok") + answer("Mended") + result("Mended"))
    described = {"command": ["agent"], "pid": 1, "started_ms": 1, "exit_code": 3}
    path.with_suffix(".json").write_text(json.dumps(described))
    async with opened(path) as stage:
        await shown(stage)
        await stage.shows("exit 3")
        assert happened(stage)[0] == "failed no call failed"


@pytest.mark.system
async def test_a_finished_session_begins_with_what_happened(recording: Saver) -> None:
    """The lines are the failures that nothing mended, the changed files, and the beginning of the answer."""
    async with opened(recording(finished())) as stage:
        for size, labels in (((120, 40), ("failed ", "changed ", "result ")), ((40, 12), ("", "", ""))):
            with case(size):
                await stage.pilot.resize_terminal(*size)
                await shown(stage)
                failed, changed, told = happened(stage)
                assert failed == f"{labels[0]}✗ #3 echo 2 (exit 2)"
                assert changed == f"{labels[1]}1 file +4 −2 · src/mill.py"
                assert told == f"{labels[2]}✓ Mended the mill"


@pytest.mark.system
async def test_any_movement_folds_it(recording: Saver) -> None:
    """A key that moves and another turn fold the lines; other keys and the mouse leave them, so that the row
    under the pointer stays."""
    for key in ("j", "e", "comma", "tab"):
        with case(key):
            async with opened(recording(finished()), (120, 40)) as stage:
                await shown(stage)
                await stage.press("question_mark", "escape", "i", "2", "i")
                assert happened(stage)
                before = stage.calls.region
                await stage.pilot.click(stage.calls, offset=(8, 3))
                await stage.until(lambda: stage.chosen == "echo 1", "the selected call")
                await asyncio.sleep(0.7)  # as long as the lines once waited for a second click
                assert (happened(stage) != [], stage.calls.region) == (True, before)
                await stage.press(key)
                await stage.until(partial(is_folded, stage), "folded lines")
    # A session in which another run begins is not finished: the lines are folded.
    async with opened(recording(finished()), (120, 40), follow=True) as stage:
        await shown(stage)
        await stage.append(init() + shell(9, None))
        await stage.until(lambda: not happened(stage), "folded lines")


@pytest.mark.system
async def test_an_earlier_moment_folds_it(recording: Saver) -> None:
    """An earlier moment does not tell what came after it, however the user got there."""
    data = finished()
    for is_followed in (False, True):
        with case(is_followed):
            async with opened(recording(data), (120, 40), follow=is_followed) as stage:
                await shown(stage)
                watch_screen(stage).go_to(data.index(b"\n") + 1)
                await stage.until(lambda: not happened(stage), "folded lines")
                watch_screen(stage).go_to(len(data))
                await stage.settled()
                assert happened(stage) == []


async def test_only_a_finished_session_begins_so(recording: Saver) -> None:
    """A session that runs, or one without calls, shows no such lines."""
    for name, lines in (("running", session(3)), ("without calls", init() + result())):
        with case(name):
            async with opened(recording(lines), (120, 40), follow=name == "running") as stage:
                await stage.settled()
                assert happened(stage) == []


@pytest.mark.system
async def test_the_row_above_names_what_the_lines_no_longer_name(recording: Saver) -> None:
    """Open failures and changed files are in the second row only while the lines are folded."""
    words = "echo 2 failed #3 · 1 file +4 −2"
    async with opened(recording(finished()), (120, 40)) as stage:
        await shown(stage)
        await stage.settled()
        assert "1 file" not in stage.status
        await stage.press("j")
        await stage.until(lambda: words in stage.status, words)


@pytest.mark.system
async def test_a_click_on_a_line_goes_to_what_it_names(recording: Saver) -> None:
    """The first line leads to the open failure, the second to the files, the third to the transcript."""
    reached: tuple[Callable[[Stage], bool], ...] = (
        lambda stage: stage.calls.chosen is not None and stage.calls.chosen.number == 3,
        lambda stage: isinstance(stage.app.screen, SessionBox) and isinstance(stage.app.focused, FileList),
        lambda stage: stage.focus == "transcript",
    )
    for line, is_there in enumerate(reached):
        with case(line):
            async with opened(recording(finished()), (120, 40)) as stage:
                await shown(stage)
                stage.app.screen.set_focus(stage.pane("detail"))
                await stage.pilot.click(FinishSummary, offset=(20, line))
                await stage.until(partial(is_there, stage), "what the line names")
                await stage.until(partial(is_folded, stage), "folded lines")
