"""The digest shows what happened since a moment, opens its calls and plays it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agentwatch.analysis.unread import Play, play_missed
from agentwatch.analysis.unread_counts import Mark, mark
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.screens.session import box
from agentwatch.screen.screens.session.box import BoxState, SessionBox
from agentwatch.screen.screens.session.box_reports import ReportList, happened_report
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.text.durations import duration_words
from agentwatch.text.times import time_of_day
from tests.builders.lines import feed_of, user
from tests.builders.moment.slow_digest import decoded, session_at
from tests.builders.moment.timed import RecordedTimes
from tests.builders.screen.app import eventually, lines_of, viewport
from tests.builders.screen.box_alone import ScreenApp, at_rest, box_of
from tests.builders.screen.lines import BEGAN_MS, CWD, append, ended, init, result, started
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

UPPER = "src/mill/grinding/coarse/stones_of_the_upper_mill.py"


def call(number: int, tool: str, args: dict[str, object], outcome: dict[str, Any]) -> bytes:
    """Return a call, ten seconds after the call numbered before it."""
    call_id, at_ms = f"c-{number}", BEGAN_MS + 10_000 * number
    return started(call_id, tool, args, at_ms) + ended(call_id, tool, args, outcome, at_ms + 100)


def shell(number: int, command: str, exit_code: int = 0, stdout: str = "") -> bytes:
    body = {"exitCode": exit_code, "stdout": stdout}
    return call(number, "shell", {"command": command}, {"failure" if exit_code else "success": body})


def edit(number: int, path: str, added: int, removed: int, before: str | None = "x") -> bytes:
    body = {"linesAdded": added, "linesRemoved": removed, "beforeFullFileContent": before}
    return call(number, "edit", {"path": f"{CWD}/{path}"}, {"success": body})


def read(number: int, path: str) -> bytes:
    return call(number, "read", {"path": f"{CWD}/{path}"}, {"success": {"totalLines": 20}})


BEFORE = init() + user("Mend the mill.") + shell(1, "pytest -q", 1, "3 failed, 4 passed in 0.31s")
SINCE = (
    *(read(2, "README.md"), read(3, "src/wheel.py"), edit(4, "src/wheel.py", 8, 3), read(5, "README.md")),
    *(edit(6, UPPER, 1, 0), shell(7, "pytest -q", 0, "7 passed in 0.31s")),
    *(shell(8, "ruff check src", 1, "Found 2 errors."), shell(9, "make all", 2), shell(10, "make all", 2)),
    call(11, "webFetch", {"url": "https://example.org"}, {"rejected": {"reason": "no"}}),
    started("c-12", "shell", {"command": "npm test"}, BEGAN_MS + 120_000),
)


def digest_box(
    feed: Feed, times: RecordedTimes, facts: AgentFacts = NO_FACTS, since: Mark | None = None
) -> SessionBox:
    """Return a box with what happened since a moment."""
    since = since or mark_after(BEFORE)

    def play() -> Play | None:
        return play_missed(times, since.offset, feed.offset)

    report = happened_report(feed, since, play, lambda: facts)
    return box_of(ReportList("box-happened", BoxState(), report, at_end=True), play=play)


class DigestApp(ScreenApp):
    """An app that opens the digest."""

    @property
    def view(self) -> ReportList:
        """The list."""
        return self.opened.query_one(ReportList)

    def rows(self) -> list[str]:
        """Return the rows, with runs of blanks collapsed."""
        return [" ".join(row.split()) for row in lines_of(self.view)]


def times_of(path: Path, seconds: int) -> RecordedTimes:
    """Return times of the lines of a recording, with the given seconds between two lines."""
    offsets = [0]
    for line in path.read_bytes().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    lines = [(offset, BEGAN_MS + 1000 * seconds * at) for at, offset in enumerate(offsets[:-1])]
    return RecordedTimes(lines, offsets[-1])


def mark_after(data: bytes) -> Mark:
    """Return the mark of the moment at which a recording had only these bytes."""
    lines = decoded(data)
    return mark(session_at(lines, len(lines)), len(data), BEGAN_MS)


@asynccontextmanager
async def opened(
    path: Path,
    size: tuple[int, int] = (100, 46),
    seconds: int | None = 20,
    facts: AgentFacts = NO_FACTS,
) -> AsyncIterator[tuple[DigestApp, Pilot[None]]]:
    """Open the digest of a growing recording; with `seconds=None` the recording has no times."""
    feed = feed_of(path, follow=True)
    times = RecordedTimes([], feed.offset) if seconds is None else times_of(path, seconds)
    app = DigestApp(feed, digest_box(feed, times, facts))
    async with at_rest(app, size) as pilot:
        yield app, pilot


async def show(
    app: DigestApp, pilot: Pilot[None], path: Path, seconds: int | None = 20, facts: AgentFacts = NO_FACTS
) -> None:
    """Open the digest of another recording."""
    app.feed = Feed(open_saved(path, follow=True))
    app.feed.advance()
    times = RecordedTimes([], app.feed.offset) if seconds is None else times_of(path, seconds)
    await app.again(pilot, digest_box(app.feed, times, facts))


async def test_what_needs_the_user_comes_first(recording: Saver) -> None:
    """The sections are in the order of need; a line opens its call, `p` plays, and keys reach every row."""
    path = recording(BEFORE, *SINCE)
    async with opened(path) as (app, pilot):
        # The sections are: counts, open failures, verdicts, running calls, files changed and read, kinds.
        rows = app.rows()
        rows[rows.index("Still running") + 1] = rows[rows.index("Still running") + 1].rpartition(" ")[0]
        assert rows == [
            "21 events, 10 calls, 3 failed, 1 rejected",
            "p: play it in 27.0 s (×16)",
            *(
                "",
                "Failures still open",
                "✗ #10 shell make all ×2 exit 2",
                "✗ #8 shell ruff check src exit 1",
            ),
            *("", "Tests, linters, builds", "✗2 ruff: 2 errors 1 run", "✗3 → ✓ pytest: 7 passed 1 run"),
            *("", "Still running", "◐ #12 shell npm test"),
            *("", "Files changed", f"{UPPER} +1", "src/wheel.py +8 −3"),
            *("", "Files read", "README.md ×2"),
            *("", "Calls", "execute ×4 3 failed", "read ×3", "edit ×2", "fetch ×1"),
        ]
        assert app.view.title == f"what happened since {time_of_day(BEGAN_MS)}"
        # The cursor moves among the lines about calls, and enter dismisses the screen with the call.
        for moves, number in ((0, 10), (1, 8), (3, 7), (4, 12), (6, 4), (7, 5), (8, 10), (9, 5)):
            await app.again(pilot, digest_box(app.feed, times_of(path, 20)))
            await pilot.press(*"j" * moves, "enter")
            await eventually(pilot, lambda: app.given, "the call")
            assert [each.call.number for each in app.given] == [number]
        # `p` dismisses the screen with where to begin and how fast to play.
        await app.again(pilot, digest_box(app.feed, times_of(path, 20)))
        await pilot.press("p")
        await eventually(pilot, lambda: app.given, "how to play")
        assert app.given == [Play(len(BEFORE), 16, None, 27)]
        # Esc, `q` and `D` close the screen.
        for key in ("escape", "q", "i"):
            await app.again(pilot, digest_box(app.feed, times_of(path, 20)))
            await pilot.press(key)
            await eventually(pilot, lambda: app.given == [None], "the end")
        # When the terminal becomes narrower, the lines are wrapped for it.
        await app.again(pilot, digest_box(app.feed, times_of(path, 20)))
        await pilot.resize_terminal(30, 20)
        await pilot.pause()
        assert app.rows()[:2] == ["21 events, 10 calls, 3", "failed, 1 rejected"]
        # In a short terminal the rows before and after the calls are reached by the same keys.
        await pilot.resize_terminal(40, 8)
        await app.again(pilot, digest_box(app.feed, times_of(path, 20)))
        await pilot.press("G")
        assert viewport(app.view)[-1].startswith("fetch ×1")
        await pilot.press("enter")
        assert [each.call.number for each in app.given] == [11]
        await app.again(pilot, digest_box(app.feed, times_of(path, 20)))
        await pilot.press("G", "g")
        assert viewport(app.view)[0].startswith("21 events")
        # At every size each row fits, the first line is wrapped, and a path is cut in the middle.
        await app.again(pilot, digest_box(app.feed, times_of(path, 20)))
        for size in ((160, 50), (80, 24), (40, 12), (20, 6)):
            with case(size):
                await pilot.resize_terminal(*size)
                width = app.view.scrollable_content_region.width
                assert all(len(row) < width for row in lines_of(app.view))
                assert " ".join(app.rows()).startswith("21 events, 10 calls, 3 failed, 1 rejected")
                name = next(row for row in app.rows() if row.endswith("mill.py +1"))
                assert (name == f"{UPPER} +1") == (size[0] > 70)


async def test_the_digest_of_other_sessions(recording: Saver) -> None:
    """Questions, prompts, the end, files that come and go, silences and long lists are named."""
    facts = AgentFacts(asks="shell npm test", asks_since_ms=BEGAN_MS)
    async with opened(recording(BEFORE, *SINCE), facts=facts) as (app, pilot):
        # It is the first thing in the digest, and wants an answer.
        rows = app.rows()
        assert rows[2:4] == ["", "Waits for you"]
        assert rows[4].startswith("! #12 shell npm test ")
        assert "Still running" not in rows
        # Prompts and the end of the run are in the first line; a digest without calls has no sections.
        await show(app, pilot, recording(BEFORE, result("ok"), user("More."), result("ok")))
        assert app.rows()[0] == "3 events, 1 prompt, the run succeeded"
        assert len(app.rows()) == 2
        # A file that was created or deleted says so.
        made = call(2, "write", {"path": f"{CWD}/new.py"}, {"success": {"linesCreated": 19}})
        gone = call(3, "delete", {"path": f"{CWD}/old.py"}, {"success": {}})
        await show(app, pilot, recording(BEFORE, made, gone))
        rows = app.rows()
        first = rows.index("Files changed")
        assert rows[first + 1 : first + 3] == ["old.py deleted", "new.py created"]
        # If the highest speed does not suffice, the line says to what silences are cut.
        await show(app, pilot, recording(BEFORE, *SINCE), seconds=600)
        row = app.rows()[1]
        await pilot.press("p")
        await eventually(pilot, lambda: app.given, "how to play")
        play = app.given[0]
        assert row == f"p: play it in 30.0 s (×64, silences cut to {duration_words(play.max_idle * 1000)})"
        assert 85 < play.max_idle <= 1920 // 21  # each silence is known to 3 s
        # A recording without times is not played, and `p` says so.
        await show(app, pilot, recording(BEFORE, *SINCE), seconds=None)
        assert app.rows()[1] == ""
        await pilot.press("p")
        assert [toast.message for toast in app._notifications] == ["cannot play: the recording has no times"]
        assert not app.given
        # A list has at most as many lines as can be read; a last line has the number of the others.
        reads = [read(number, f"f{number}") for number in range(2, 25)]
        await show(app, pilot, recording(BEFORE, *reads))
        rows = app.rows()
        first = rows.index("Files read")
        assert rows[first + 20 : first + 22] == ["f5", "and 3 more"]
        # Without calls nothing is selected, and enter keeps the screen open.
        await show(app, pilot, recording(BEFORE))
        assert app.rows()[0] == "nothing happened"
        await pilot.press("enter", "j", "k")
        assert app.view.chosen is None
        assert not app.given


@pytest.mark.system
async def test_it_grows_while_it_is_open(recording: Saver) -> None:
    """New calls are added, and the selection stays with what a line is about."""
    path = recording(BEFORE, shell(2, "make all", 2))
    async with opened(path) as (app, pilot):
        # New calls are added, and the selected call stays selected.
        assert app.view.chosen is not None
        chosen = app.view.chosen.call.number
        append(path, shell(3, "make test", 1))
        app.feed.advance()
        await eventually(pilot, lambda: "✗ #3 shell make test exit 1" in app.rows(), "the failure")
        assert app.view.chosen is not None
        assert app.view.chosen.call.number == chosen == 2
        assert app.rows()[3:6] == [
            *("Failures still open", "✗ #3 shell make test exit 1", "✗ #2 shell make all exit 2"),
        ]
        # The selection stays with what a line is about, even if another line has the same call.
        path = recording(BEFORE, shell(2, "make all", 2))
        await show(app, pilot, path)
        await pilot.press("G")
        assert app.rows()[app.view.cursor] == "execute ×1 1 failed"
        append(path, shell(3, "make test"))
        app.feed.advance()
        await eventually(pilot, lambda: "execute ×2 1 failed" in app.rows(), "the call")
        assert app.rows()[app.view.cursor] == "execute ×2 1 failed"
        await pilot.press("g")
        assert app.rows()[app.view.cursor] == "✗ #2 shell make all exit 2"
        append(path, shell(4, "make all"))
        app.feed.advance()
        await eventually(pilot, lambda: "execute ×3 1 failed" in app.rows(), "the repetition")
        assert app.view.cursor == app.view.item_rows[0] == 4


async def test_the_first_item_is_selected(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the digest is read, the first item stays selected, although a section appears above it."""
    monkeypatch.setattr(box, "_SLICE_SECONDS", 1e-9)
    commands = shell(3, "pytest -q", 0, "7 passed in 0.31s") + shell(4, "npm install")
    async with opened(recording(BEFORE, edit(2, "src/wheel.py", 8, 0), commands)) as (app, _):
        assert app.rows()[3:8] == [
            *("Tests, linters, builds", "✗3 → ✓ pytest: 7 passed 1 run", ""),
            *("Files changed", "src/wheel.py +8"),
        ]
        assert app.view.cursor == 4


async def test_trouble_is_one_line_an_episode(recording: Saver) -> None:
    """A failure that was tried often is an episode, and no open failure as well; enter goes to its last call.

    An episode that was over before the moment is left out. One that began before it is not.
    """
    early = b"".join(shell(number, "make all", int(number < 4)) for number in range(2, 5))
    late = b"".join(shell(number, "npm test", 2) for number in range(5, 8)) + edit(8, "src/a.py", 1, 1)
    path = recording(BEFORE + early, late, shell(9, "ruff check", 1))
    feed = feed_of(path, follow=True)
    since = mark_after(BEFORE + early + shell(5, "npm test", 2))
    app = DigestApp(feed, digest_box(feed, RecordedTimes([], feed.offset), since=since))
    async with at_rest(app, (100, 46)) as pilot:
        assert app.rows()[2:9] == [
            *("Failures still open", "✗ #9 shell ruff check exit 1", "", "Trouble"),
            "✗ not fixed yet, 3 tries, 20.1 s: npm test #5–#7",
            "· edited without reading: src/a.py #8",
            "",
        ]
        await pilot.press("j", "enter")
        await eventually(pilot, lambda: app.given, "the call")
        assert [each.call.number for each in app.given] == [7]
