"""The panes work together: a match, a filter, a selection or a failure in one shows in the others."""

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.screens.session import screen as watch
from agentwatch.screen.screens.session.box import SessionBox
from agentwatch.screen.screens.session.workspace import Workspace
from tests.builders.screen.app import PaneApp, lines_of, opened, viewport
from tests.builders.screen.call_table import rows_of
from tests.builders.screen.lines import answer, ended, init, prompt, result, shell, started
from tests.conftest import Saver

pytestmark = pytest.mark.slow


def session(calls: int = 12, *failed: int) -> bytes:
    """Return a run of `calls` shell calls, each after a sentence; those numbered in `failed` exit with 1."""
    made = [init(), prompt("Mend it.")]
    for number in range(calls):
        made += [answer(f"Step {number}. "), shell(number, int(number in failed), f"out {number}")]
    return b"".join(made)


def timed_shell(number: int, took_ms: int) -> bytes:
    """Return a shell call that took `took_ms` milliseconds."""
    args: dict[str, object] = {"command": f"echo {number}"}
    begun, ended_ms = 1_793_610_000_000, 1_793_610_000_000 + took_ms
    outcome = {"success": {"exitCode": 0, "stdout": ""}}
    return started(f"call-{number}", "shell", args, begun) + ended(
        f"call-{number}", "shell", args, outcome, ended_ms
    )


def edit(number: int, path: str) -> bytes:
    args: dict[str, object] = {"path": path}
    outcome = {"success": {"linesAdded": 1, "linesRemoved": 0}}
    return started(f"edit-{number}", "edit", args) + ended(f"edit-{number}", "edit", args, outcome)


async def test_a_match_or_a_filter_shows_in_every_pane(recording: Saver) -> None:
    """A match, a filter or a call that is selected in one pane shows in the others."""
    async with opened(recording(session(12, 3, 7) + result())) as stage:
        # `n` before any search says that there was none.
        await stage.press("n")
        await stage.shows("no search yet (press /)")
        # `[` and `]` select a call's line in the transcript, and enter goes to that call.
        await stage.press(*["left_square_bracket"] * 3)
        assert stage.focus == "transcript"
        await stage.press("right_square_bracket", "enter")
        await stage.until(lambda: stage.focus == "calls", "the calls")
        assert stage.chosen == "echo 9"
        await stage.shows("echo 9", "detail")
        # The search after `/` runs while the query is typed; `n` and `N` go to other matches, esc ends it.
        await stage.press("1")
        await stage.press("g", "slash", *"out 1")
        await stage.shows("1 of 3")
        assert stage.chosen == "echo 1"
        await stage.shows("echo 1", "detail")
        await stage.press("enter", "n")
        await stage.shows("2 of 3")
        assert stage.chosen == "echo 10"
        await stage.press("n")
        await stage.shows("3 of 3")
        assert stage.chosen == "echo 11"
        await stage.press("N")
        await stage.shows("2 of 3")
        assert stage.chosen == "echo 10"
        await stage.press("escape")
        await stage.until(lambda: "2 of 3" not in stage.text(), "no line of `/`")
        # `i` opens the session box; `i` again closes it.
        await stage.press("i", "2")
        assert isinstance(stage.app.screen, SessionBox)
        await stage.shows("Slowest calls")
        await stage.press("i")
        assert len(stage.app.screen_stack) == 1
        # `f` in the transcript focuses the calls and filters them; their title shows how many are hidden.
        await stage.press("1")
        assert stage.focus == "transcript"
        await stage.press("f", *"failed", "enter")
        await stage.shows('2 Calls · 10 hidden by "failed"')
        assert stage.focus == "calls"
        assert [row.split()[2:4] for row in rows_of(stage.calls)] == [["echo", "3"], ["echo", "7"]]
        # A click on the number of failed calls in the header shows these calls alone.
        await stage.press("escape", "1")
        await stage.until(lambda: "hidden by" not in stage.text(), "all calls")
        x = stage.header.index("2 failed")
        await stage.pilot.click("#header", offset=(x + 1, 0))
        await stage.shows('2 Calls · 10 hidden by "failed"')
        assert stage.focus == "calls"


@pytest.mark.system
async def test_the_slowest_calls_are_found(recording: Saver) -> None:
    """`s` sorts the calls by duration from any pane; enter in the times and in the files goes to a call."""
    # `s` sorts the calls by duration, slowest first, from any pane; enter in the times goes to one.
    took = (200, 9000, 400)
    data = init() + b"".join(timed_shell(n, ms) for n, ms in enumerate(took)) + result()
    async with opened(recording(data)) as stage:
        # `s` sorts the calls by duration, slowest first, from any pane; `s` again sorts them by time.
        await stage.press("s")
        await stage.shows("2 Calls · slowest first")
        assert [row.split()[3] for row in rows_of(stage.calls)] == ["1", "2", "0"]
        assert (stage.focus, stage.chosen) == ("calls", "echo 1")
        await stage.press("s")
        await stage.until(lambda: "slowest first" not in stage.text(), "the order of time")
        assert [row.split()[3] for row in rows_of(stage.calls)] == ["0", "1", "2"]
        # Enter on one of the slowest calls goes to that call in the table.
        await stage.press("1")
        await stage.press("i", "2")
        await stage.shows("Slowest calls")
        await stage.press("enter")
        await stage.until(lambda: len(stage.app.screen_stack) == 1, "the panes")
        assert (stage.focus, stage.chosen) == ("calls", "echo 1")
    # In the files, enter goes to the calls of the selected file, and enter again to the call.
    data = init() + edit(1, "mill/old.py") + edit(2, "mill/new.py") + shell(3) + result()
    async with opened(recording(data)) as stage:
        await stage.press("i", "4")
        await stage.shows("2 files · newest first")
        await stage.press("j", "enter", "enter")
        await stage.until(lambda: len(stage.app.screen_stack) == 1, "the panes")
        assert stage.calls.chosen is stage.feed.session.calls[0]
        assert stage.focus == "calls"
        await stage.shows("3 Detail · #1 edit mill/old.py")


@pytest.mark.system
async def test_a_failure_opens_its_detail(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the newest calls are followed, a failure opens its detail, and only then."""
    async with opened(recording(session(3)), follow=True) as stage:
        # While the newest calls are followed, a failure opens its detail, which stays when other calls end.
        await stage.append(shell(50, 2, "it broke") + shell(51))
        await stage.shows("$ echo 50", "detail")
        assert "it broke" in lines_of(stage.pane("detail"))
        assert stage.chosen == "echo 51"
        await stage.append(shell(52))
        assert "$ echo 50" in lines_of(stage.pane("detail"))[0]
        await stage.press("2", "k")
        await stage.shows("echo 51", "detail")
        # When the selected call is not the newest one, its detail stays when another call fails.
        await stage.append(shell(60, 2))
        assert "echo 51" in lines_of(stage.pane("detail"))[0]
        assert stage.chosen == "echo 51"
    # A saved session opens with the detail of its newest call, however many steps reading it takes.
    monkeypatch.setattr(watch, "_APPLY_SECONDS", 0)
    data = init() + shell(1) + shell(2, 1, "it broke") + shell(3) + result()
    async with opened(recording(data)) as stage:
        await stage.shows("succeeded")
        await stage.shows("echo 3", "detail")


async def test_an_empty_pane_says_that_the_file_is_still_read(recording: Saver) -> None:
    """In a preview, a pane without lines says that the file is still being read; later it is empty."""
    feed = Feed(open_saved(recording(init())))
    for is_preview in (True, False):
        workspace = Workspace(feed, is_preview=is_preview)
        async with PaneApp(workspace.panes.calls).run_test(size=(60, 10)):
            assert ("still being read" in viewport(workspace.panes.calls)[0]) is is_preview
