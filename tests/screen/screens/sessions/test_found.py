"""Words are found in the contents of all sessions, and a hit opens its session."""

import os
import re
from pathlib import Path

import orjson
import pytest

from agentwatch.catalog.contents import ContentsSearch
from agentwatch.catalog.hits import Hit
from agentwatch.catalog.row import Row
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.screens.sessions.found import FoundScreen, FoundView
from tests.builders.home.home_app import row
from tests.builders.machine.app import HomeStage, at_home
from tests.catalog.contents.test_search import said
from tests.conftest import RECORDINGS, case

pytestmark = pytest.mark.slow

PLAIN = RECORDINGS / "plain.ndjson"
HOSTILE = "\x1b[2J\x1b]0;title\x07 needle \u202e after"


def saved(folder: Path, name: str, *texts: str, seen_ms: int = 1) -> Row:
    """Save a session in which these texts were said, and return its row."""
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(map(said, texts)))
    return row(name, path=path, title=f"Title of {name}", seen_ms=seen_ms)


async def find(stage: HomeStage, words: str) -> FoundView:
    """Search the contents, wait until the search is over, and return the list of hits."""
    await stage.press("slash", *("space" if letter == " " else letter for letter in words), "enter")
    await stage.until(lambda: isinstance(stage.app.screen, FoundScreen), "the hits")
    view = stage.app.screen.query_one(FoundView)
    await stage.until(lambda: " of " not in str(view.border_title), "the end of the search")
    return view


@pytest.mark.system
async def test_words_are_found_in_the_contents(tmp_path: Path) -> None:
    """Hits are listed below their session, the newest first, with call and age; escape leads back. The line
    of a session has its agent and project at every width; there is a column of calls if one is known."""
    rows = [
        saved(tmp_path, "older", "an old Needle here", seen_ms=1),
        saved(tmp_path, "newer", "one needle", "nothing", "two needles", seen_ms=2),
        saved(tmp_path, "other", "no match", seen_ms=3),
    ]
    async with at_home(rows) as stage:
        # Each session is named once, and hits below each other belong to it.
        view = await find(stage, "needle")
        assert [hit.key[1] for hit in view.hits] == ["newer", "newer", "older"]
        assert str(view.border_title) == "“needle” · 3 hits · 3 sessions"
        assert stage.text.count("Title of newer") == 1
        assert "nothing" not in stage.text
        for size in ((160, 48), (100, 30), (80, 24), (60, 20)):
            with case(size):
                await stage.pilot.resize_terminal(*size)
                at = next(y for y, line in enumerate(stage.lines) if "an old Needle here" in line)
                assert re.search(r"claude +api +Title of older", stage.lines[at - 1])
                assert re.search(r" d +(prompt +)?an old Needle", stage.lines[at])
        await stage.pilot.resize_terminal(140, 40)
        # The cursor is on hits only, also after a click on the line of a session, and the first line is seen.
        chosen = []
        for key in ("g", "down", "down", "down", "up", "up", "up", "G"):
            await stage.press(key)
            assert view.chosen is not None
            chosen.append(view.hits.index(view.chosen))
        assert chosen == [0, 1, 2, 2, 1, 0, 0, 2]
        # A call has its number and its tool; the time is that of its line.
        await stage.begin(row("demo", path=RECORDINGS / "demo.ndjson"))
        view = await find(stage, "seconds\\b")
        assert [(hit.call, hit.tool) for hit in view.hits] == [(5, "grep")]
        line = next(line for line in stage.lines if "#5 grep" in line)
        assert re.search(r"\d+ d +#5 grep +\\\.seconds", line)
        # The search in titles and prompts is still there.
        rows = [saved(tmp_path, "one", "a needle"), saved(tmp_path, "two", "a needle")]
        await stage.begin(*rows)
        await find(stage, "one")
        await stage.back()
        assert "search “one” · 1 of 2 sessions" in stage.text
        assert stage.chosen is not None
        assert stage.chosen.id == "one"
        # A title may be read after the session was found; a session that vanishes keeps its hits.
        named = saved(tmp_path, "one", "a needle")
        await stage.begin(named._replace(title=""), saved(tmp_path, "two", "a needle"))
        await find(stage, "needle")
        assert "no prompt yet" in stage.text
        await stage.put(named)
        await stage.shows("Title of one")
        stage.machine.drop(named.key)
        await stage.until(lambda: len(stage.app._rows) == 1, "one row")
        assert "Title of one" in stage.text
        # Sessions that were not searched are counted, and enter does nothing.
        rows = [
            saved(tmp_path, "one", "x"),
            row("gone", path=tmp_path / "gone.jsonl"),
            row("meta", can_open=False),
        ]
        await stage.begin(*rows)
        view = await find(stage, "needle")
        assert str(view.border_title) == "“needle” · 0 hits · 3 sessions"
        await stage.shows("2 not searched: 1 deleted, 1 with metadata only")
        assert "nothing found" in stage.text
        await stage.press("enter")
        assert isinstance(stage.app.screen, FoundScreen)
        # The search in a session finds one text.
        await stage.begin(saved(tmp_path, "one", "first the limiter, then a retry"))
        view = await find(stage, "retry limiter")
        assert len(view.hits) == 1
        posted = await opened_words(stage)
        assert posted == "limiter"
        # No line is wider than the screen, and no control character is drawn.
        rows = [saved(tmp_path, f"s{number}", f"{number} {HOSTILE} 日本語{'x' * 300}") for number in range(3)]
        await stage.begin(*rows)
        view = await find(stage, "needle")
        assert len(view.hits) == 3
        for size in ((160, 50), (120, 40), (80, 24), (40, 12), (20, 8)):
            with case(size):
                await stage.pilot.resize_terminal(*size)
                drawn = "".join(stage.lines)
                assert drawn.isprintable()
                assert "\u202e" not in drawn
        # It has no border to show it in.
        await stage.pilot.resize_terminal(40, 12)
        await stage.begin(saved(tmp_path, "one", "a needle"))
        await find(stage, "needle")
        await stage.shows("“needle” · 1 hit · 1 session")


@pytest.mark.system
async def test_a_hit_opens_its_session_at_the_words(tmp_path: Path) -> None:
    """Escape closes the search in the session, then the session, and shows the hits as they were."""
    rows = [saved(tmp_path, "one", "x"), row("demo", path=PLAIN, seen_ms=9)]
    async with at_home(rows) as stage:
        data = orjson.loads(next(line for line in PLAIN.read_bytes().splitlines() if b'"assistant"' in line))
        word = max(data["message"]["content"][0]["text"].split(), key=len).strip(".,`*")
        view = await find(stage, word)
        assert view.hits
        await stage.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, WatchScreen), "the session")
        screen = stage.app.screen
        assert isinstance(screen, WatchScreen)
        bar = screen.workspace.find_bar
        await stage.until(lambda: bar.display and bar._match is not None, "the match")
        assert bar.input.value == word
        assert not bar.is_typed_in
        await stage.press("escape")
        assert isinstance(stage.app.screen, WatchScreen)
        assert not bar.display
        await stage.press("escape")
        await stage.until(lambda: isinstance(stage.app.screen, FoundScreen), "the hits again")
        assert stage.app.screen.query_one(FoundView) is view
        await stage.back()


async def opened_words(stage: HomeStage) -> str:
    """Open the selected hit, and return what is searched for in its session."""
    await stage.press("enter")
    await stage.until(lambda: isinstance(stage.app.screen, WatchScreen), "the session")
    screen = stage.app.screen
    assert isinstance(screen, WatchScreen)
    await stage.until(lambda: screen.workspace.find_bar.display, "the find bar")
    return screen.workspace.find_bar.input.value


@pytest.mark.system
async def test_the_selected_hit_stays_while_others_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hits are appended as they are found; leaving ends the search."""
    advance = ContentsSearch.advance
    allowed = [1]

    def one_at_a_time(search: ContentsSearch, seconds: float) -> object:
        if not allowed[0]:
            return []
        allowed[0] -= 1
        found: list[Hit] = []
        while not found and not search.is_over:
            found = advance(search, 0)
        return found

    monkeypatch.setattr(ContentsSearch, "advance", one_at_a_time)
    rows = [saved(tmp_path, f"s{n}", f"needle {n}", seen_ms=9 - n) for n in range(9)]
    async with at_home(rows) as stage:
        await stage.press("slash", *"needle", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, FoundScreen), "the hits")
        view = stage.app.screen.query_one(FoundView)
        await stage.until(lambda: len(view.hits) == 1, "the first hit")
        await stage.until(lambda: "of 9 sessions" in str(view.border_title), "the progress")
        allowed[0] = 2
        await stage.until(lambda: len(view.hits) == 3, "more hits")
        await stage.press("j")
        chosen = view.chosen
        allowed[0] = 3
        await stage.until(lambda: len(view.hits) == 6, "still more hits")
        assert view.chosen == chosen
        assert chosen is not None
        assert chosen.key == rows[1].key
        await stage.back()
        assert stage.app.screen is stage.home


@pytest.mark.system
async def test_leaving_closes_the_file_that_is_searched(tmp_path: Path) -> None:
    """No thread and no file is left."""
    rows = [saved(tmp_path, f"s{number}", *["word " * 200] * 2000) for number in range(20)]
    async with at_home(rows) as stage:
        before = set(os.listdir("/dev/fd"))
        await stage.press("slash", *"needle", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, FoundScreen), "the hits")
        await stage.back()
        assert len(os.listdir("/dev/fd")) <= len(before)
