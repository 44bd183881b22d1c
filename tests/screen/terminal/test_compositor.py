"""The compositor writes only the rows that changed, and the result equals a full redraw."""

import random
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pyte.screens import Char
from rich.console import Console, RenderableType
from rich.segment import Segment
from textual._compositor import CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.screen import Screen as AppScreen
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widgets import Static

from agentwatch.agents.opening import saved_source
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.terminal.compositor import ChangedPieces, Drawn
from agentwatch.screen.terminal.signals import PendingSignals
from tests.builders.screen.app import CountedFeed, Stage
from tests.builders.screen.lines import answer, init, prompt, result, shell, thinking
from tests.harness.pyte_screen import Screen, Stream

pytestmark = pytest.mark.slow

SIZE = (120, 30)
SAVE = Callable[[bytes], Path]
KEYS = ("j", "k", "g", "G", "pageup", "pagedown", "tab", "1", "2", "3", "4", "z", "t", "s", "e", "]", "enter")
TEXTS = (
    "words and words ",
    "two rows\n\nof text ",
    "漢字と🙏 ",
    "* a point\n",
    "`code` and **more** ",
    "x" * 150,
)


class DrawnApp(AgentwatchApp):
    """The app, with an emulated terminal that receives what the app writes."""

    written: list[str]
    terminal: Screen

    def _display(self, screen: AppScreen[object], renderable: RenderableType | None) -> None:
        if isinstance(renderable, CompositorUpdate):
            self.written.append(renderable.render_segments(self.console))
            Stream(self.terminal).take(self.written[-1].encode())
        super()._display(screen, renderable)

    def forget(self) -> None:
        """Replace the emulated terminal by an empty one of the app's size."""
        self.written, self.terminal = [], Screen(*self.size)


@asynccontextmanager
async def drawn(path: Path, *, follow: bool = False) -> AsyncIterator[tuple[DrawnApp, Stage]]:
    """Open a recording in an app that writes to an emulated terminal."""
    source = saved_source(path, follow)
    feed = CountedFeed(source.reader)
    app = DrawnApp(source, feed, PendingSignals())
    app.written, app.terminal = [], Screen(*SIZE)
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        stage = Stage(app, feed, path, pilot)
        await stage.until(lambda: not feed.backlog(), "the end of the recording")
        await stage.settled()
        yield app, stage


def cells(screen: Screen) -> list[list[Char]]:
    """Return each character of an emulated terminal with its style."""
    rows = (screen.buffer[y] for y in range(screen.lines))
    return [[row[x] for x in range(screen.columns)] for row in rows]


def redrawn(app: DrawnApp) -> list[list[Char]]:
    """Return what a terminal shows after a full redraw by Textual alone."""
    screen = Screen(*app.size)
    rows: list[Iterable[Strip]] = [[strip] for strip in app.screen._compositor.render_strips()]
    Stream(screen).take(LayoutUpdate(rows, app.size.region).render_segments(app.console).encode())
    return cells(screen)


def random_events(chance: random.Random, number: int) -> bytes:
    """Return a few random events."""
    kind = chance.randrange(6)
    if kind < 3:
        return b"".join(answer(chance.choice(TEXTS)) for _ in range(chance.randrange(1, 12)))
    if kind == 3:
        return thinking(chance.choice(TEXTS))
    return shell(number, chance.choice([0, 1, None]), chance.choice(TEXTS))


@pytest.mark.parametrize(("seed", "steps"), [(0, 8), pytest.param(1, 25, marks=pytest.mark.system)])
async def test_the_terminal_equals_a_full_redraw(recording: SAVE, seed: int, steps: int) -> None:
    """After any events, keys and resizes, the terminal shows the same as after a full redraw."""
    chance = random.Random(seed)
    path = recording(init() + prompt("go"))
    async with drawn(path, follow=True) as (app, stage):
        for number in range(steps):
            if chance.random() < 0.1:
                size = chance.choice([(120, 30), (80, 24), (140, 40), (60, 14)])
                await stage.pilot.resize_terminal(*size)
                app.forget()
                app.screen.refresh()
            elif chance.random() < 0.5:
                with path.open("ab") as file:
                    file.write(random_events(chance, number))
                await stage.until(lambda: not stage.feed.backlog(), "the end of the recording")
            else:
                await stage.press(*chance.choices(KEYS, k=chance.randrange(1, 4)))
            await stage.pilot.pause()
            await stage.until(lambda: cells(app.terminal) == redrawn(app), f"step {number} of seed {seed}")


@pytest.mark.system
async def test_rows_that_did_not_change_are_not_written(
    recording: SAVE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new line writes its own row, and neither the rows above it nor the scrollbar."""
    async with drawn(recording(init() + prompt("go") + answer("first\n\n")), follow=True) as (app, stage):
        # A new line writes its own row and none of the rows above it.
        await stage.append(answer("second\n\n"))
        await stage.until(lambda: "second" in "".join(app.written), "the second line")
        app.written.clear()
        await stage.append(answer("third"))
        await stage.until(lambda: "third" in "".join(app.written), "the third line")
        written = "".join(app.written)
        assert not any(word in written for word in ("go", "first", "second"))
        # A new line draws the pane's rows, and not its scrollbar unless the thumb moves.
        drawn_bars: list[ScrollBar] = []
        render = ScrollBar.render_lines

        def counted(bar: ScrollBar, crop: Region) -> list[Strip]:
            drawn_bars.append(bar)
            return render(bar, crop)

        app.written.clear()
        monkeypatch.setattr(ScrollBar, "render_lines", counted)
        await stage.append(answer(" more"))
        await stage.until(lambda: "more" in "".join(app.written), "the second word")
        assert not drawn_bars
        stage.pane("transcript").vertical_scrollbar.refresh()
        await stage.until(lambda: drawn_bars, "the scrollbar")


async def test_an_unchanged_redraw_writes_nothing(recording: SAVE) -> None:
    """Redrawing a pane that has not changed writes nothing to the terminal."""
    async with drawn(recording(init() + prompt("go") + shell(1) + result("done"))) as (app, stage):
        pane = stage.pane("calls")
        pane.refresh()
        await stage.pilot.pause()
        app.written.clear()
        pane.refresh()
        await stage.until(lambda: app.written, "a frame")
        assert app.written == [""]


def test_the_rest_of_a_changed_row_is_written() -> None:
    """A changed row is written from its first change on, with what a widget still shows behind it."""
    # The rest of a row is written after a change in it, as a character may be wider than expected.
    console, shown = Console(), dict[tuple[int, int], str]()
    rows: list[Drawn] = [
        (0, 0, Strip.blank(3)),
        (0, 3, Strip.blank(1)),
        (1, 0, Strip.blank(3)),
        (1, 3, Strip.blank(1)),
    ]
    ChangedPieces(rows, shown, set()).render_segments(console)
    shown[0, 0] = "old"
    written = ChangedPieces(rows, shown, set()).render_segments(console)
    assert written == "\x1b[1;1H   \x1b[1;4H "
    # A piece that was not drawn again is written if its row changes before it, and only then.
    shown = {(0, 0): "a", (0, 1): "|", (1, 0): "b", (1, 1): "|"}
    rows = [
        (0, 0, Strip([Segment("c")])),
        (0, 1, None),
        (1, 0, Strip([Segment("b")])),
        (1, 1, None),
    ]
    assert ChangedPieces(rows, shown, set()).render_segments(Console()) == "\x1b[1;1Hc\x1b[1;2H|"


@pytest.mark.system
async def test_a_full_redraw_shows_what_textual_shows(recording: SAVE) -> None:
    """A full redraw shows what Textual shows, and invalidates the rows that were written before."""
    # A redraw of the whole screen, with a dialog or a bar over the panes, shows what Textual's does.
    async with drawn(recording(init() + prompt("go") + shell(1) + result("done"))) as (app, stage):
        for key in ("question_mark", "i", "slash"):
            await stage.press(key)
            app.forget()
            app.screen.refresh()
            await stage.until(lambda: app.written, "a frame")
            assert cells(app.terminal) == redrawn(app)
            await stage.press("escape")
    # A row is written again when it returns to the content it had before a full redraw.
    async with drawn(recording(init() + prompt("go") + result("done"))) as (app, stage):
        status = app.screen.query_one("#status", Static)
        for words, is_full in (("one", False), ("two", True), ("one", False)):
            status.update(words, layout=False)
            if is_full:
                app.screen.refresh()
            await stage.pilot.pause()
            await stage.until(lambda: cells(app.terminal) == redrawn(app), words)
