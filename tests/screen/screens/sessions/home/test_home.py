"""Home: search, filter, order, hidden sessions, the counts above, and what an empty list says."""

import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.listing import Request, Sort
from agentwatch.catalog.row import Row
from agentwatch.screen.screens.sessions.home import ContentsWanted, Requested
from agentwatch.screen.screens.sessions.list import DemoWanted, Opened
from agentwatch.session.limits import Reported
from agentwatch.text.safe import SafeText, columns
from agentwatch.text.times import coming
from tests.builders.home.home_app import MINUTE_MS, NOW_MS, HomeApp, home_of, row, screen_rows
from tests.builders.home.machine_rows import ROWS
from tests.builders.screen.app import eventually
from tests.conftest import ROOT, case

pytestmark = pytest.mark.slow

OLD_MS = NOW_MS - 20 * 24 * 60 * MINUTE_MS


def some() -> list[Row]:
    """Return sessions of two agents and repositories, one of them old."""
    return [
        row("ask", State.ASKS, title="Add retry limits", prompts="Make it retry"),
        row("work", agent="codex", title="Port the page", repo="web"),
        row("old", State.SUCCEEDED, title="An old retry", seen_ms=OLD_MS, since_ms=OLD_MS),
    ]


def titles(app: HomeApp) -> list[str]:
    """Return the titles that the screen shows."""
    known = ("Add retry limits", "Port the page", "An old retry")
    return [title for line in screen_rows(app) for title in known if title in line]


async def test_words_show_the_sessions_that_match() -> None:
    """A search and a filter show what matches while they are typed; esc shows all sessions again."""
    async with home_of(some()) as (app, pilot):
        # Titles and prompts are searched, those of hidden sessions too; the number of matches is shown.
        await pilot.press("slash", *"retry")
        await eventually(pilot, lambda: titles(app) == ["Add retry limits", "An old retry"], "the matches")
        assert "2 of 3 sessions · enter: keep · esc: clear" in screen_rows(app)[-2]
        assert not any("search “retry”" in line for line in screen_rows(app))
        await pilot.press("enter")
        await pilot.pause()
        assert any("search “retry” · 2 of 3 sessions · esc: all" in line for line in screen_rows(app))
        assert [each.words for each in app.posted if isinstance(each, ContentsWanted)] == ["retry"]
        await pilot.press("escape")
        await pilot.pause()
        assert titles(app) == ["Add retry limits", "Port the page"]
        assert not any("search" in line for line in screen_rows(app))
        # All sessions are shown again, and the list has the focus.
        await pilot.press("f", *"agent:codex")
        await eventually(pilot, lambda: titles(app) == ["Port the page"], "the match")
        await pilot.press("escape")
        await pilot.pause()
        assert titles(app) == ["Add retry limits", "Port the page"]
        assert app.focused is app.home.sessions
        assert app.home.request == Request()
        # A session is shown if both match; opening a bar again shows its words.
        await pilot.press("f", *"agent:claude", "enter", "slash", *"old", "enter")
        await pilot.pause()
        assert titles(app) == ["An old retry"]
        assert any(
            "search “old” · filter “agent:claude” · 1 of 3 sessions" in line for line in screen_rows(app)
        )
        await pilot.press("f")
        assert app.home.bars.filter.input.value == "agent:claude"
        assert not app.home.bars.find.display
        # While words are typed, `s`, `a`, `e` and `q` are letters.
        await pilot.press("escape")
        await app.begin(pilot, some())
        await pilot.press("slash", *"saeq")
        assert app.home.bars.find.input.value == "saeq"
        assert app.home.request.sort is Sort.STATE
        # Pasted control characters do not reach the terminal, and a search without a match says so.
        await pilot.press("escape")
        app.home.ask(Request(search="\x1b[2J\nnothing"))
        await pilot.pause()
        assert titles(app) == []
        assert any(
            "No session matches “␛[2J␊nothing”. esc: all sessions" in line for line in screen_rows(app)
        )
        # A hidden session that matches is not among the number of those that are shown.
        await app.begin(pilot, some())
        await pilot.press("f", *"retry", "enter")
        assert any("1 of 3 sessions, 1 hidden" in line for line in screen_rows(app))
        await pilot.press("a")
        assert any("2 of 3 sessions ·" in line for line in screen_rows(app))
        # Tab completes a field and the name of an agent; a wrong rule is not kept, and its first words hold.
        await pilot.press("a")
        await app.begin(pilot, some())
        await pilot.press("f", *"ag")
        await eventually(
            pilot, lambda: any("agent: · age>" in line for line in screen_rows(app)), "the fields"
        )
        await pilot.press("tab", *"cod", "tab")
        assert app.home.bars.filter.input.value == "agent:codex"
        await eventually(pilot, lambda: titles(app) == ["Port the page"], "the match")
        await pilot.press("space", *"stat:x", "enter")
        await pilot.pause()
        assert app.home.bars.filter.is_typed_in
        assert titles(app) == ["Port the page"]
        assert any('unknown field "stat" (did you mean state?)' in line for line in screen_rows(app))
        await pilot.press(*["backspace"] * 7, "enter")
        await pilot.pause()
        assert app.focused is app.home.sessions
        assert app.home.request.filter == "agent:codex"
        # `a` shows old sessions, and hides them again; the order and the selection stay.
        await app.begin(pilot, some())
        await pilot.press("j", "a")
        assert titles(app) == ["Add retry limits", "Port the page", "An old retry"]
        assert app.home.sessions.chosen is not None
        assert app.home.sessions.chosen.id == "work"
        await pilot.press("a")
        assert titles(app) == ["Add retry limits", "Port the page"]
        shows = [each.request.shows_hidden for each in app.posted if isinstance(each, Requested)]
        assert shows == [True, False]
        # `s` sorts by age, repository, and by state again; a line names the order, unless it is by state.
        await app.begin(pilot, some())
        for sort in ("age", "repository", "state"):
            await pilot.press("s")
            words = f"sorted by {sort}"
            await pilot.pause()
            assert app.home.request.sort == sort
            assert (words in "\n".join(screen_rows(app))) is (sort != "state")
            assert any("WORKING" in line for line in screen_rows(app)) is (sort == "state")
        # If all sessions are hidden, the newest are shown below a heading; archived ones are only counted.
        await app.begin(pilot, some()[2:])
        assert any("OLDER THAN 7 DAYS  1" in line for line in screen_rows(app))
        assert titles(app) == ["An old retry"]
        await app.begin(pilot, [some()[2]._replace(is_archived=True)])
        assert any("No session of the last 7 days. 1 older hidden: a" in line for line in screen_rows(app))
        # Without words to clear, the key is not used by the list.
        await app.begin(pilot, some())
        seen: list[str] = []
        app.bind("escape", "noted")
        app.action_noted = lambda: seen.append("esc")  # type: ignore[attr-defined]
        await pilot.press("escape")
        assert seen == ["esc"]
        await pilot.press("f", *"x", "enter", "escape")
        assert seen == ["esc"]
        assert app.home.request == Request()


@pytest.mark.system
async def test_words_keep_the_selection_and_esc_restores_it() -> None:
    """It stays while it matches, comes back when it matches again, and gives way to one the user selects."""
    rows = [row(f"s{number}", title=f"{(number % 2 and 'odd') or 'even'} {number}") for number in range(6)]

    def chosen(app: HomeApp) -> str:
        return app.home.sessions.chosen.id if app.home.sessions.chosen else ""

    async with home_of(rows) as (app, pilot):
        await pilot.press("j", "j", "j")
        before = chosen(app)
        kind, other = ("odd", "even") if int(before[1]) % 2 else ("even", "odd")
        await pilot.press("slash", *kind)
        await pilot.pause()
        assert chosen(app) == before
        await pilot.press(*["backspace"] * 5, *other)
        await pilot.pause()
        assert chosen(app) != before
        await pilot.press(*["backspace"] * 5, *kind)
        await pilot.pause()
        assert chosen(app) == before
        await pilot.press(*["backspace"] * 5, *other, "escape")
        await pilot.pause()
        assert chosen(app) == before
        await pilot.press("f", *"repo:api", "enter", "k", "escape")
        await pilot.pause()
        assert chosen(app) not in ("", before)


@pytest.mark.system
async def test_an_empty_machine_shows_how_to_begin() -> None:
    """An empty list names three commands and the demo; the last line names the keys, as far as they fit."""
    async with home_of([], (160, 50)) as (app, pilot):
        # Without a session, the list says so and names three commands and the demo, in any terminal.
        for size in ((160, 30), (80, 30), (40, 30)):
            with case(size):
                await pilot.resize_terminal(*size)
                await pilot.pause()
                shown = " ".join(" ".join(line.strip(" │") for line in screen_rows(app)).split())
                assert "No session of a coding agent here yet." in shown
                for command in (
                    "claude",
                    "agentwatch run -- cursor-agent -p",
                    "| agentwatch",
                    "agentwatch demo",
                ):
                    assert command in shown
        # The line at the bottom names the keys of the list; help and quit are always there.
        await app.begin(pilot, some())
        for width in (160, 140, 100, 80, 60, 40):
            with case(width):
                await pilot.resize_terminal(width, 24)
                await pilot.pause()
                line = screen_rows(app)[-1]
                assert line.startswith(" enter Open  ")
                assert line.endswith("? Help  q Quit")
                if width >= 100:
                    assert "/ Find  f Filter  s Sort  r Ring  w Why  a All" in line


async def test_an_empty_machine_offers_the_demo() -> None:
    """Without a session the list says how to begin, and enter asks for the demo; with one it opens that."""
    async with home_of([]) as (app, pilot):
        # The key line has only what works there, and enter asks for the demo; with a session it opens that.
        assert screen_rows(app)[-1].split("  ") == [" enter Demo", "? Help", "q Quit"]
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.posted[-1], DemoWanted)
        app.put(row("one"))
        assert "enter Open" in screen_rows(app)[-1]
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.posted[-1], Opened)
        app.rows.clear()
        app.put(row("old", State.SUCCEEDED, seen_ms=NOW_MS - 9 * 24 * 60 * MINUTE_MS, is_archived=True))
        await pilot.pause()
        assert screen_rows(app)[-1].startswith(" a All")
        # An empty list does not claim that there is no session before that is known.
        app.rows.clear()
        app.put()
        app.home.show(app.listing, app.home._facts._replace(is_complete=False), NOW_MS)
        await pilot.pause()
        assert any("Searching for sessions …" in line for line in screen_rows(app))


def many() -> list[Row]:
    """Return sessions in every group, and 4,981 that are hidden."""
    rows = [row(f"ask{number}", State.ASKS) for number in range(2)]
    rows += [row("failed", State.TURN_FAILED), row("quiet", State.QUIET), row("turn", State.YOUR_TURN)]
    rows += [row(f"work{number}") for number in range(3)]
    rows += [row(f"ended{number}", State.SUCCEEDED) for number in range(9)]
    return rows + [
        row(f"old{number}", State.SUCCEEDED, seen_ms=OLD_MS, since_ms=OLD_MS) for number in range(4981)
    ]


async def test_the_header_counts_the_sessions() -> None:
    """The header counts the sessions in each group and those that are hidden, as far as the width allows."""
    async with home_of(many(), (140, 20)) as (app, pilot):
        # The name goes first, then the word `older`, the ended sessions, and the words; no count is cut.
        found = {}
        for width in (140, 100, 84, 76, 60, 40, 24):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            found[width] = screen_rows(app)[0]
            assert columns(SafeText(found[width])) <= width
        whole = "2 need you · 1 failed · 3 working · 1 quiet · 1 your turn"
        assert found[140].split("   ")[0] == f" agentwatch │ {whole} · 9 ended today"
        assert found[140].endswith("4,981 older hidden: a")
        assert found[100].startswith(f" {whole} · 9 ended today  ")
        assert found[100].endswith(" 4,981 older hidden: a")
        assert found[84].startswith(f" {whole}  ")
        assert found[84].endswith(" 4,981 hidden: a")
        assert found[60].startswith(" ! 2 · ✗ 1 · ◐ 3 · ? 1 · › 1 ")
        assert found[60].endswith(" 4,981 hidden: a")
        assert found[24] == " ! 2"
        # `a` shows them, and the header does not name the key any more; again, it does.
        await pilot.resize_terminal(140, 20)
        await pilot.pause()
        assert "4,981 older hidden: a" in screen_rows(app)[0]
        await pilot.press("a")
        assert "hidden" not in screen_rows(app)[0]
        await pilot.press("a")
        assert "4,981 older hidden: a" in screen_rows(app)[0]
        # Of sessions that are all older, the newest are shown, and the others are counted.
        await app.begin(pilot, many()[17:137])
        assert "100 older hidden: a" in screen_rows(app)[0]
        assert any("OLDER THAN 7 DAYS" in line for line in screen_rows(app))
        # While a filter is applied, it counts those that match it; a search hides none.
        app.home.ask(app.home.request._replace(filter="old11"))
        await pilot.pause()
        assert "hidden" not in screen_rows(app)[0]
        await app.begin(pilot, many())
        app.home.ask(app.home.request._replace(filter="old11"))
        await pilot.pause()
        assert "older hidden: a" in screen_rows(app)[0]
        # The verb agrees with the number.
        await app.begin(pilot, [row("ask", State.ASKS)])
        assert screen_rows(app)[0] == " agentwatch │ 1 needs you"
        # The header says that no session is running.
        await app.begin(pilot, [])
        assert screen_rows(app)[0] == " agentwatch │ no session is running"


@pytest.mark.system
async def test_the_limits_give_way_to_the_width() -> None:
    """The other agent goes first, then the reset, then the window that is less full; at last all of them."""
    week = Reported("7d", 87.0, NOW_MS + 2 * 60 * MINUTE_MS, NOW_MS - 3 * MINUTE_MS)
    short = week._replace(name="5h", used_percent=62.0)
    rows = [row("ask", State.ASKS, limits=(short, week)), row("codex", agent="codex", limits=(short,))]
    resets = coming(week.resets_ms or 0, NOW_MS)
    claude = f"claude 5 h 62 % · week 87 % · resets {resets} · 3 min ago"
    async with home_of(rows, (160, 20)) as (app, pilot):
        found = {}
        for width in (160, 110, 78, 56, 46, 36):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            found[width] = screen_rows(app)[0]
            assert columns(SafeText(found[width])) <= width
        await pilot.resize_terminal(160, 20)
        app.home.tick(NOW_MS + 60 * MINUTE_MS)
        await pilot.pause()
        assert "· 63 min ago" not in screen_rows(app)[0]
        assert "week 87 % · resets " in screen_rows(app)[0]
        assert " · 1 h ago" in screen_rows(app)[0]
        app.home.tick(NOW_MS + 120 * MINUTE_MS)
        await pilot.pause()
        assert "claude" not in screen_rows(app)[0]
    assert found[160].startswith(" agentwatch │ 1 needs you")
    assert f"{claude}, codex 5 h 62 % · resets {resets} · 3 min ago" in found[160]
    assert found[110].endswith(f"  {claude}")
    assert found[78].endswith("  claude 5 h 62 % · week 87 % · 3 min ago")
    assert found[56].endswith("  claude week 87 % · 3 min ago")
    assert found[46].endswith("  claude week 87 %")
    assert "claude" not in found[36]


SIZES = ((160, 16), (140, 16), (80, 16), (40, 22))


@pytest.mark.system
@pytest.mark.parametrize("size", SIZES)
async def test_the_screen(size: tuple[int, int]) -> None:
    """A session in each group, with wide characters and a hostile title, as tests/expected/home shows it."""
    expected = ROOT / "tests" / "expected" / "home" / f"{size[0]}.txt"
    async with home_of(ROWS, size) as (app, _):
        assert "\n".join([*screen_rows(app), ""]) == expected.read_text(encoding="utf-8")
