"""The list draws what has changed in view, and nothing else."""

import random

import pytest
from textual.screen import Screen
from textual.strip import Strip

from agentwatch.agents.state_report import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE
from agentwatch.screen.screens.sessions import screen
from agentwatch.screen.screens.sessions.list import DrawnRow, SessionList
from agentwatch.screen.terminal.frames import FrameScheduler
from agentwatch.screen.widgets.painting import LinePainter
from tests.builders.home.home_app import NOW_MS, HomeApp, home_of, row, screen_rows
from tests.builders.machine.app import at_home
from tests.conftest import case

pytestmark = pytest.mark.slow

SECOND_MS = 1000


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of the rows that were painted; the test clears the list."""
    numbers: list[int] = []
    paint = LinePainter.paint

    def noting(self: LinePainter, first: int, count: int) -> list[Strip]:
        numbers.extend(range(first, first + count))
        return paint(self, first, count)

    monkeypatch.setattr(LinePainter, "paint", noting)
    return numbers


def working(number: int, *, now: str = "pytest -q", calls: int = 5, size: int = 0) -> Row:
    """Return a session that works; the one with number 0 is at the top of the list."""
    seen_ms = NOW_MS - number * SECOND_MS
    return row(f"s{number:04}", seen_ms=seen_ms, now=now, calls=calls, size=size, is_calling=True)


def settled(number: int) -> Row:
    """Return a session that has ended, whose clocks stand still."""
    return row(f"e{number:04}", State.SUCCEEDED, seen_ms=NOW_MS - number * SECOND_MS)


async def test_only_changes_in_view_are_drawn(painted: list[int]) -> None:
    """A change in view is one painted row; what is out of view, not shown or stands still paints nothing."""
    async with home_of([working(number) for number in range(300)], (120, 30)) as (app, pilot):
        # When 270 of 300 sessions change, none of which is in view, no row is painted.
        painted.clear()
        app.put(*(working(number, now="make", calls=8) for number in range(30, 300)))
        await pilot.pause()
        assert painted == []
        assert app.listing.rows["claude", "s0299"].calls == 8
        # When 300 sessions get other values that the list does not show, no row is painted.
        await app.begin(pilot, [working(number) for number in range(300)])
        painted.clear()
        app.put(*(working(number, size=99) for number in range(300)))
        await pilot.pause()
        assert painted == []
        assert app.listing.rows["claude", "s0000"].size == 99
        # One session in view that does something else is one row that is painted, and it is up to date.
        await app.begin(pilot, [working(number) for number in range(300)])
        painted.clear()
        app.put(working(3, now="make all"))
        await pilot.pause()
        assert painted == [4]
        assert "make all" in screen_rows(app)[7]
        # After a second, the rows of live sessions in view are painted; headings and ended sessions are not.
        rows = [working(0), working(1), *(settled(number) for number in range(300))]
        await app.begin(pilot, rows)
        painted.clear()
        app.home.tick(NOW_MS + 400)
        await pilot.pause()
        assert painted == []
        app.home.tick(NOW_MS + SECOND_MS)
        await pilot.pause()
        assert sorted(painted) == [1, 2]
        assert "1:01" in screen_rows(app)[4]
        # Where every clock in view stands still, nothing is painted for a minute at 120 columns.
        await app.begin(pilot, [settled(number) for number in range(300)])
        painted.clear()
        for second in range(60):
            app.home.tick(NOW_MS + second * SECOND_MS)
        await pilot.pause()
        assert painted == []
        # When a project needs more room, the columns of all rows move together.
        await app.begin(pilot, [working(number) for number in range(60)])
        app.put(row("s0005", seen_ms=NOW_MS - 5 * SECOND_MS, repo="a-much-longer-name"))
        await pilot.pause()
        assert len({line.index("Title of") for line in screen_rows(app) if "Title of" in line}) == 1
        assert stale_rows(app.home.sessions) == []
        # Its heading names the day, or, in another order, its row does, without any change of the session.
        await app.begin(pilot, [settled(0)])
        assert "✓ 12:59" in screen_rows(app)[4]
        painted.clear()
        app.home.tick(NOW_MS + 12 * 3600 * SECOND_MS)
        await pilot.pause()
        assert painted == [0]
        assert "ENDED YESTERDAY" in screen_rows(app)[3]
        assert "✓ 12:59" in screen_rows(app)[4]
        await pilot.press("s")
        assert "✓ 22 Nov" in screen_rows(app)[3]
        app.home.tick(NOW_MS)
        await pilot.pause()
        assert "✓ 12:59" in screen_rows(app)[3]


async def test_a_tick_composes_only_rows_whose_clock_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick asks for the rows whose time has come, also after other rows have come into view."""
    asked: list[int] = []
    content = SessionList._row_content

    def noting(self: SessionList, y: int) -> DrawnRow:
        asked.append(y)
        return content(self, y)

    monkeypatch.setattr(SessionList, "_row_content", noting)
    rows = [working(0), *(settled(number) for number in range(300))]
    async with home_of(rows, (120, 30)) as (app, pilot):
        asked.clear()
        app.home.tick(NOW_MS + SECOND_MS)
        assert set(asked) == {1}
        await pilot.press("G")
        await pilot.pause()
        asked.clear()
        for second in range(2, 50):
            app.home.tick(NOW_MS + second * SECOND_MS)
        assert asked == []
        await pilot.press("g")
        app.home.tick(NOW_MS + 51 * SECOND_MS)
        await pilot.pause()
        assert stale_rows(app.home.sessions) == []
        assert "1:51" in screen_rows(app)[4]


@pytest.mark.system
async def test_moving_the_cursor_draws_two_rows(painted: list[int]) -> None:
    """The rows of the session that the cursor leaves and of the one that it enters are painted."""
    async with home_of([working(number) for number in range(300)], (120, 30)) as (_, pilot):
        for size, expected in (((120, 30), [2, 3]), ((40, 12), [3, 4, 5, 6])):
            await pilot.resize_terminal(*size)
            await pilot.press("g", "j")
            await pilot.pause()
            painted.clear()
            await pilot.press("j")
            await pilot.pause()
            assert sorted(set(painted)) == expected


def stale_rows(sessions: SessionList) -> list[int]:
    """Return the rows in view that were not drawn as they are when they are made from nothing."""
    rows, content, drawn = sessions._rows, sessions._content, sessions._drawn
    top, height = sessions.scroll_offset.y, sessions.scrollable_content_region.height
    wrong = [y for y in drawn if sessions.line_count() <= y < top + height]
    for y in range(top, min(top + height, len(rows))):
        index, part = rows.at(y)
        spans = content.spans(rows.lines[index], part, sessions._now_ms)
        is_chosen = rows.lines[index] is sessions._chosen
        if y not in drawn or (drawn[y].spans, drawn[y].is_chosen) != (spans, is_chosen):
            wrong.append(y)
    return wrong


def changed_at_random(app: HomeApp, chance: random.Random) -> None:
    """Add, change or remove some sessions."""
    for _ in range(chance.randrange(1, 6)):
        number = chance.randrange(40)
        key = ("claude", f"r{number}")
        if chance.random() < 0.2:
            app.rows.pop(key, None)
            continue
        state = chance.choice([*LIVE, State.SUCCEEDED])
        now = chance.choice(["", "make", "終わり", "x" * 300])
        parent = ("claude", "r0") if number in (1, 2) else None
        repo = chance.choice(["api", "a-longer-repository"])
        app.rows[key] = row(f"r{number}", state, now=now, calls=number, repo=repo, parent=parent)
    app.put(now_ms=NOW_MS + chance.randrange(10**6))


@pytest.mark.system
@pytest.mark.parametrize("size", [(120, 24), (40, 12)])
async def test_random_changes_leave_no_row_stale(size: tuple[int, int]) -> None:
    """After any changes, keys and ticks, every row in view shows what it should."""
    chance = random.Random(7)
    keys = ["j", "k", "G", "g", "e", "right", "left", "pagedown", "s", "a"]
    async with home_of([], size) as (app, pilot):
        for step in range(120):
            changed_at_random(app, chance)
            if step % 3 == 0:
                await pilot.press(chance.choice(keys))
            app.home.tick(NOW_MS + chance.randrange(10**6))
            await pilot.pause()
            assert stale_rows(app.home.sessions) == [], step


async def test_the_clock_of_the_list_rests_while_none_in_view_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ticks each second while a session in view runs, or shows a mark or a preview, and at other times
    when the next age changes, or after 10 s. While something else is on the screen, it stands still."""
    waits: list[float] = []
    within = FrameScheduler.within

    def noting(self: FrameScheduler, seconds: float) -> None:
        waits.append(seconds)
        within(self, seconds)

    monkeypatch.setattr(FrameScheduler, "within", noting)
    old = row("old", State.SUCCEEDED, began_ms=NOW_MS - 7_200_000, seen_ms=NOW_MS - 3_600_000)
    async with at_home([old]) as stage:

        def wait() -> float:
            stage.home._tick()
            return waits[-1]

        assert 9 < wait() <= 11
        monkeypatch.setattr(screen, "_MOST_REST_MS", 60_000)
        for other in row("runs"), old._replace(is_marked=True), old._replace(alarm="tests"):
            with case(other):
                await stage.put(other)
                assert wait() <= 1.5
                await stage.begin(old)
                assert wait() > 31
        await stage.put(row("young", State.SUCCEEDED, began_ms=NOW_MS - 570_000, seen_ms=NOW_MS))
        assert 1.5 < wait() <= 31
        await stage.begin(old)
        await stage.press("space")
        assert wait() <= 1.5
        await stage.begin(old)
        for _ in range(2):  # Textual takes a screen below one other for visible
            await stage.app.push_screen(Screen())
        waits.clear()
        stage.home._tick()
        assert waits == []
        for _ in range(2):
            await stage.app.pop_screen()
        await stage.until(lambda: waits, "the clock")
