"""The cursor of the list, and what its keys and the mouse do."""

import pytest
from textual.pilot import Pilot

from agentwatch.agents.state_report import State
from agentwatch.catalog.listing import Heading
from agentwatch.screen.screens.sessions.list import Chosen, Opened, SessionList, Wanted
from tests.builders.home.home_app import NOW_MS, HomeApp, chosen_id, home_of, row, screen_rows, working
from tests.builders.screen.app import eventually, viewport

pytestmark = pytest.mark.slow

NARROW = (40, 12)


def text(app: HomeApp) -> str:
    return "\n".join(screen_rows(app))


def place_of(app: HomeApp) -> int:
    """Return the row of the screen in which the selected session is marked, counted in the list."""
    sessions = app.home.sessions
    return sessions.cursor - sessions.scroll_offset.y


async def test_the_cursor_moves_over_sessions() -> None:
    """In one row or two for each session, keys and pages move the cursor by sessions, over the headings."""
    rows = [row("ask", State.ASKS), row("work"), row("turn", State.YOUR_TURN)]
    async with home_of(rows) as (app, pilot):
        # The cursor begins on the first session, and headings are skipped in both directions.
        visited = [chosen_id(app)]
        for key in ("j", "down", "down", "k", "up", "up", "G", "g"):
            await pilot.press(key)
            visited.append(chosen_id(app))
        assert visited == ["ask", "work", "turn", "turn", "work", "ask", "ask", "turn", "ask"]
        # The right arrow shows the subagents of a session, indented; the left one hides them.
        rows = [row("top", subagents=1), row("sub", parent=("claude", "top"))]
        await app.begin(pilot, rows)
        assert any("+1 sub" in line for line in screen_rows(app))
        assert not any("└ Title of sub" in line for line in screen_rows(app))
        await pilot.press("right")
        assert any("└ Title of sub" in line for line in screen_rows(app))
        await pilot.press("left")
        assert not any("└ Title of sub" in line for line in screen_rows(app))
        assert chosen_id(app) == "top"
        # `e` selects the next session that needs the user or failed, `E` the previous one, around the ends.
        rows = [row("ask", State.ASKS), row("fail", State.TURN_FAILED), *working(4)]
        await app.begin(pilot, rows)
        visited = []
        for key in ("G", "e", "e", "e", "E", "E", "E"):
            await pilot.press(key)
            visited.append(chosen_id(app))
        assert visited == ["s0003", "ask", "fail", "ask", "fail", "ask", "fail"]
        # `e` says that no session needs the user, and selects nothing else.
        await app.begin(pilot, working(2))
        await pilot.press("e")
        await eventually(pilot, lambda: "no session needs you" in "\n".join(screen_rows(app)), "the message")
        assert chosen_id(app) == "s0000"
        # `y` copies the id of the selected session as safe text, and says so.
        await app.begin(pilot, [row("0a1b\x1b[31m")])
        await pilot.press("y")
        await eventually(pilot, lambda: "copied 0a1b␛[31m" in "\n".join(screen_rows(app)), "the message")
        assert app.clipboard == "0a1b␛[31m"
        # When the selected session vanishes, the one in its place is selected; the last one at the end.
        await app.begin(pilot, working(3))
        await pilot.press("j")
        del app.rows["claude", "s0001"]
        app.put()
        assert chosen_id(app) == "s0002"
        del app.rows["claude", "s0002"]
        app.put()
        assert chosen_id(app) == "s0000"
        app.rows.clear()
        app.put()
        assert app.home.sessions.chosen is None
        await pilot.press("j", "k", "enter", "space", "e", "y", "right", "g", "G", "pagedown")
        app.put(row("again"))
        assert chosen_id(app) == "again"
        # A message names the selected session when it is another one than before, and only then.
        await app.begin(pilot, [])
        app.put(*working(3))
        await pilot.press("j", "k", "k")
        app.put(row("s0001", now="something else"))
        await pilot.pause()
        reported = [each.row and each.row.id for each in app.posted if isinstance(each, Chosen)]
        assert reported == ["s0000", "s0001", "s0000"]


@pytest.mark.system
async def test_the_selected_session_stays_where_it_is() -> None:
    """Sessions that come and go above it move neither the selection nor its row of the screen."""
    for size in ((100, 30), NARROW):
        async with home_of(working(200), size) as (app, pilot):
            await pilot.press("pagedown", "pagedown", "k", "k")
            before = chosen_id(app), place_of(app)
            app.put(row("new", State.ASKS), row("new2", State.ASKS), row("new3", seen_ms=NOW_MS + 5))
            assert (chosen_id(app), place_of(app)) == before
            del app.rows["claude", "new"], app.rows["claude", "s0000"]
            app.put()
            assert (chosen_id(app), place_of(app)) == before


async def test_the_rows_in_view_stay() -> None:
    """What comes, goes or changes moves neither the selected session nor the rows in view."""
    async with home_of(working(200), (100, 30)) as (app, pilot):
        # After scrolling away from the selected session, the first row in view holds its place.
        app.home.sessions.scroll_to(y=100, animate=False, immediate=True)
        await pilot.pause()
        shown = viewport(app.home.sessions)
        app.put(row("new", State.ASKS))
        await pilot.pause()
        assert viewport(app.home.sessions) == shown
        assert chosen_id(app) == "s0000"
        # A session that begins to need the user appears at the top; the selection stays on its session.
        await app.begin(pilot, working(200))
        app.put(row("new", State.ASKS))
        await pilot.pause()
        assert "NEEDS YOU" in screen_rows(app)[3]
        assert "Title of new" in screen_rows(app)[4]
        assert chosen_id(app) == "s0000"
        await pilot.press("g")
        assert chosen_id(app) == "new"
        app.put(row("newer", State.ASKS))
        await pilot.pause()
        assert "Title of newer" in screen_rows(app)[4]
        # A page moves by as many rows as the list shows.
        await app.begin(pilot, working(200))
        await pilot.press("pagedown")
        height = app.home.sessions.scrollable_content_region.height
        assert chosen_id(app) == f"s{height:04}"
        await pilot.press("pageup")
        assert chosen_id(app) == "s0000"
        assert app.home.sessions.scroll_offset.y == 0
        # A group never begins without its heading at the top of the list.
        rows = [*(row(f"a{number}", State.ASKS) for number in range(9)), *working(60)]
        await app.begin(pilot, rows)
        await pilot.press("G")
        while chosen_id(app) != "s0000":
            await pilot.press("k")
        assert "WORKING" in viewport(app.home.sessions)[0]
        assert "Title of s0000" in viewport(app.home.sessions)[1]
        # The selection follows the session to another group.
        await app.begin(pilot, working(60))
        await pilot.press("j", "j")
        app.put(row("s0002", State.ASKS))
        assert chosen_id(app) == "s0002"
        # The first and the last of 5,000 sessions are one key apart, and both are drawn.
        await app.begin(pilot, working(5000))
        lines = app.listing.lines
        assert isinstance(lines[0], Heading)
        assert len(lines) == 5001
        await pilot.press("G")
        assert any("Title of s4999" in line for line in screen_rows(app))
        await pilot.press("g")
        assert any("Title of s0000" in line for line in screen_rows(app))
        # When sessions begin to take two rows, the selected one is still selected and in view.
        await app.begin(pilot, working(100))
        await pilot.press("pagedown", "pagedown", "pagedown")
        before = chosen_id(app)
        await pilot.resize_terminal(*NARROW)
        await eventually(pilot, lambda: app.home.sessions.size.width < 41, "the narrow list")
        assert chosen_id(app) == before
        assert any("▐◐ model" in line and f"Title of {before}" in line for line in screen_rows(app))
        # While the list is at its top, it stays there if the selected session is in view there too.
        await app.begin(pilot, working(100))
        await pilot.press("j", "j")
        for size in (NARROW, (100, 20)):
            await pilot.resize_terminal(*size)
            await eventually(pilot, lambda width=size[0]: abs(app.home.sessions.size.width - width) < 5, "it")  # type: ignore[misc]
            assert app.home.sessions.scroll_offset.y == 0
            assert chosen_id(app) == "s0002"
        # Where a session takes two rows, a key moves by a session too.
        rows = [row("ask", State.ASKS), *working(3)]
        await pilot.resize_terminal(*NARROW)
        await app.begin(pilot, rows)
        visited = [chosen_id(app)]
        for key in ("j", "j", "j", "j", "k", "k", "k", "k"):
            await pilot.press(key)
            visited.append(chosen_id(app))
        marked = [line for line in screen_rows(app) if line.startswith("▐")]
        assert len(marked) == 2
        assert visited == ["ask", "s0000", "s0001", "s0002", "s0002", "s0001", "s0000", "ask", "ask"]


async def test_the_first_session_is_selected_until_all_are_found() -> None:
    """On a busy machine newer sessions are found later; the first one is selected until the search ends."""
    async with home_of([row("old", seen_ms=NOW_MS - 9000)], is_settled=False) as (app, _):
        app.put(row("newer"), is_settled=False)
        app.put(row("asks", State.ASKS))
        assert chosen_id(app) == "asks"
        app.put(row("also", State.ASKS, seen_ms=NOW_MS + 5))
        assert chosen_id(app) == "asks"


@pytest.mark.system
async def test_keys_are_about_the_selected_or_the_marked_sessions() -> None:
    """Keys post what the user wants of the selected session or of all marked ones, and unfold a fold."""
    wants = {"space": "preview", "t": "terminal", "r": "ring", "ctrl+r": "rename", "I": "interrupt"}
    of_marked = {"d": "removal", "X": "export", "z": "archive"}
    async with home_of(working(2)) as (app, pilot):
        # Each key posts what the user wants of the selected session.
        await pilot.press("j")
        for key, what in {"enter": "", **wants, **of_marked}.items():
            await pilot.press(key)
            await pilot.pause()
            posted = app.posted[-1]
            assert isinstance(posted, Wanted if what else Opened)
            rows = posted.rows if isinstance(posted, Wanted) else [posted.row]
            assert (getattr(posted, "what", ""), [each.id for each in rows]) == (what, ["s0001"])
        # `v` marks sessions and goes on to the next; keys are about all of them, and esc removes the marks.
        ended = [row(f"o{number}", State.SUCCEEDED, is_one_liner=True, cwd="/api") for number in range(3)]
        sub = row("sub", State.SUCCEEDED, parent=("claude", "o1"))
        await app.begin(pilot, [*working(4), *ended, sub])
        await pilot.press("v", "j", "v")
        assert chosen_id(app) == "s0003"
        assert [line[1] for line in screen_rows(app) if "Title of s000" in line] == ["•", " ", "•", "▐"]
        await pilot.press("z")
        posted = app.posted[-1]
        assert isinstance(posted, Wanted)
        assert posted.what == "archive"
        assert [each.id for each in posted.rows] == ["s0000", "s0002"]
        assert any(
            "2 marked · d Delete · z Archive · X Export · esc None" in line for line in screen_rows(app)
        )
        await pilot.press("j", "v")
        assert [each.id for each in app.home.sessions.marked] == ["s0000", "s0002", "o0", "o1", "o2"]
        await pilot.press("v", "g", "v")
        assert [each.id for each in app.home.sessions.marked] == ["s0002"]
        await pilot.press("escape")
        assert not app.home.sessions.marked
        assert not any("marked" in line or "•" in line for line in screen_rows(app))
        # Enter and space toggle a fold, the arrows open and close it; it stays selected.
        ended = [row(f"o{number}", State.SUCCEEDED, is_one_liner=True, cwd="/api") for number in range(3)]
        await app.begin(pilot, [row("work"), *ended])
        await pilot.press("j")
        assert app.home.sessions.chosen is None
        assert not any("Title of o1" in line for line in screen_rows(app))
        for key, is_open in (("enter", 1), ("space", 0), ("right", 1), ("right", 1), ("left", 0), ("l", 1)):
            await pilot.press(key)
            assert any("Title of o1" in line for line in screen_rows(app)) is bool(is_open), key
            assert sum("one-liners in api" in line and "▐" in line for line in screen_rows(app)) == 1
        assert not app.posted[1:] or not isinstance(app.posted[-1], Opened)
        # Keys for several sessions act on all of a fold; the others say why they do nothing.
        await pilot.press("h")
        for key, what in {**of_marked, "r": "ring"}.items():
            await pilot.press(key)
            posted = app.posted[-1]
            assert isinstance(posted, Wanted)
            assert (posted.what, {each.id for each in posted.rows}) == (what, {"o0", "o1", "o2"})
        count = len(app.posted)
        for key in ("P", "A", "I", "t", "w", "ctrl+r", "y"):
            await app.screen.query("ToastHolder").remove()
            await pilot.press(key)
            await eventually(pilot, lambda: "3 sessions in this line: open it" in text(app), key)
        assert len(app.posted) == count


@pytest.mark.system
async def test_the_line_of_keys_offers_what_fits_the_row() -> None:
    """A key that cannot act on the selected row is not offered."""
    ended = [row(f"o{number}", State.SUCCEEDED, is_one_liner=True, cwd="/api") for number in range(3)]
    rows = [row("work", tmux="main:@0.%0"), *ended, row("apart", State.SUCCEEDED, host="box", can_open=False)]
    offered = {
        "work": {"Open", "Preview", "Ring", "Why", "Terminal", "Archive", "Export"},
        "apart": {"Preview", "Why"},
        None: {"Open", "Archive", "Export"},
    }
    every = set().union(*offered.values())
    async with home_of(rows, (200, 30)) as (app, pilot):
        for _ in offered:
            chosen = app.home.sessions.chosen
            keys = screen_rows(app)[-1]
            assert {each for each in every if f" {each} " in keys} == offered[chosen and chosen.id]
            await pilot.press("j")


@pytest.mark.system
async def test_the_heading_of_the_first_row_in_view_stays() -> None:
    """While the list scrolls, the group or the repository of the first row in view is named above it."""
    rows = [*(row(f"a{number}", State.ASKS) for number in range(9)), *working(60)]
    for size in ((100, 20), (60, 20)):
        async with home_of(rows, size) as (app, pilot):
            await pilot.press("G")
            for key in ("k", "pageup", "pageup", "pageup", "k", "k"):
                await pilot.press(key)
                shown = [line.strip("│ ") for line in screen_rows(app)]
                first = 3 if size[0] == 100 else 1
                assert shown[first].startswith(("WORKING  60", "NEEDS YOU  9")), shown[first]
                (marked,) = [
                    at for at, line in enumerate(shown) if line.startswith("▐") and chosen_id(app) in line
                ]
                assert marked > first
            await pilot.press("s", "s", "G", "k", "k")
            assert "api · 9 needs you" in screen_rows(app)[first]
            await pilot.click(app.home.sessions, offset=(5, first - 1))
            assert app.home.sessions.chosen is not None
            await pilot.press("s")


async def test_columns_can_be_chosen() -> None:
    """A column that is chosen is shown where it would not fit well. Columns and order are remembered."""
    async with home_of(working(3), (100, 20)) as (app, pilot):
        assert "lines" not in screen_rows(app)[2]
        app.put(row("s0000", lines_added=3, lines_removed=4, cost_usd=1.2))
        assert app.home.sessions.columns == ["for", "agent", "project", "now"]
        for name in ("agent", "now", "lines", "cost"):
            app.home.toggle_column(name)
        await pilot.pause()
        assert screen_rows(app)[2].split() == ["│", "state", "for", "project", "title", "cost", "lines", "│"]
        assert screen_rows(app)[4].split()[-4:-1] == ["$1.20", "+3", "−4"]
        await pilot.press("s")
    async with home_of([row("s0000", lines_added=3)], (100, 20)) as (app, _):
        assert app.home.sessions.columns == ["for", "project", "lines"]
        assert app.home.request.sort == "age"
        app.home.reset_columns()
        assert "now" in app.home.sessions.columns


async def click(pilot: Pilot[None], sessions: SessionList, y: int, times: int = 1) -> None:
    assert await pilot.click(sessions, offset=(10, y + sessions.styles.gutter.top), times=times)
    await pilot.pause()


@pytest.mark.system
async def test_a_click_selects_and_a_double_click_opens() -> None:
    """A click on either row selects a session; on a heading, and below the last one, it does nothing."""
    # A click on a heading, and below the last session, does nothing.
    async with home_of([row("ask", State.ASKS), *working(2)]) as (app, pilot):
        sessions = app.home.sessions
        await click(pilot, sessions, 3)
        assert chosen_id(app) == "s0000"
        for y in (2, 12):
            await click(pilot, sessions, y)
            assert chosen_id(app) == "s0000"
        await click(pilot, sessions, 4, times=2)
        assert chosen_id(app) == "s0001"
        opened = [each for each in app.posted if isinstance(each, Opened)]
        assert [each.row.id for each in opened] == ["s0001"]
    # Where a session takes two rows, both belong to it.
    async with home_of(working(3), NARROW) as (app, pilot):
        for y, name in ((1, "s0000"), (2, "s0000"), (4, "s0001"), (3, "s0001"), (5, "s0002")):
            await click(pilot, app.home.sessions, y)
            assert chosen_id(app) == name


async def test_the_wheel_scrolls() -> None:
    """The wheel moves the rows and not the selection."""
    async with home_of(working(100), (100, 20)) as (app, pilot):
        sessions = app.home.sessions
        sessions.scroll_down(animate=False, immediate=True)
        await pilot.pause()
        assert sessions.scroll_offset.y > 0
        assert chosen_id(app) == "s0000"
