"""However a call is selected, every pane shows it."""

from functools import partial

import pytest
from rich.segment import Segment

from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.screens.session.panes import NAMES
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.widgets.line_view import CursorView, rows_in_view
from tests.builders.screen.app import Stage, opened, viewport
from tests.builders.screen.lines import answer, init, result, session, shell
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

CALLS, FAILED = 60, (10, 50)
"""The number of calls, and the calls that failed."""


def _session() -> bytes:
    calls = (answer(f"Now step {n}.") + shell(n, exit_code=int(n in FAILED)) for n in range(1, CALLS + 1))
    return init() + b"".join(calls) + answer("A last word. " * 200)


STEPS = (
    ("e", 50),
    ("e", 10),
    ("E", 50),
    ("1 g e", 10),
    ("2 k k k", 7),
    ("2 g j", 2),
    ("3 K", 1),
    ("3 J J", 3),
    ("slash e c h o space 2 3 enter", 23),
    ("escape 1 left_square_bracket", 22),
)
"""The keys of each way to select a call, and the number of the call that they select after those before."""


def _shown(stage: Stage, name: str, number: int) -> bool:
    """Return whether a pane shows a call."""
    pane = stage.pane(name)
    screen = stage.app.screen_stack[0]
    assert isinstance(screen, WatchScreen)
    if name == "detail":
        call = screen.workspace.panes.detail.call
        return call is not None and call.number == number
    view = rows_in_view(pane)
    if isinstance(pane, Transcript):
        drawn = [pane.draw(y, pane.size.width).text for y in view if y < pane.line_count()]
        return any(f"echo {number} " in f"{text} " for text in drawn)
    assert isinstance(pane, CursorView)
    return pane.cursor in view and f"echo {number} " in f"{pane.draw_row(pane.cursor, 200).text} "


@pytest.mark.parametrize("size", [(120, 40), pytest.param((40, 12), marks=pytest.mark.system)])
async def test_every_pane_shows_the_selected_call(recording: Saver, size: tuple[int, int]) -> None:
    """Each way of selecting a call brings it into view in every pane that is shown or is shown next."""
    async with opened(recording(_session()), size) as stage:
        for keys, number in STEPS:
            await stage.press(*keys.split())
            await stage.settled()
            for name in NAMES[:-1]:
                with case(f"{keys}: {name}"):
                    if stage.pane(name) not in stage.app.screen._compositor.visible_widgets:
                        await stage.press(str(NAMES.index(name) + 1))
                    chosen = stage.calls.chosen
                    assert chosen is not None
                    assert chosen.number == number
                    await stage.until(partial(_shown, stage, name, number), f"{keys}: {name}")


async def test_enter_opens_the_selected_call(recording: Saver) -> None:
    """`enter` in the transcript opens the selected call, also after the user has scrolled away from it."""
    async with opened(recording(_session()), (80, 24)) as stage:
        await stage.press("e", "g", "enter")
        await stage.until(lambda: stage.focus == "detail", "the detail")
        assert stage.chosen == "echo 50"
        assert "echo 50" in "\n".join(viewport(stage.pane("detail")))


MARK = "▐"


def marked_rows(stage: Stage, name: str, mark: str = MARK) -> list[str]:
    """Return the visible rows of a pane that begin with the mark of the selected row."""
    pane = stage.pane(name)
    rows = [pane.render_line(y).text.strip() for y in range(pane.scrollable_content_region.height)]
    return [row for row in rows if row.startswith(mark)]


def style_of_row(stage: Stage, name: str) -> object:
    """Return the background of the selected row of a pane."""
    pane = stage.pane(name)
    for y in range(pane.scrollable_content_region.height):
        strip = pane.render_line(y)
        if strip.text.strip().startswith(MARK):
            last: Segment = list(strip)[1]
            return last.style.bgcolor if last.style else None
    return None


async def is_everywhere(stage: Stage, target: str) -> None:
    """Wait until transcript and calls mark this call alone, and the detail shows it."""
    for name in ("transcript", "calls"):

        def is_marked(name: str = name) -> bool:
            rows = marked_rows(stage, name)
            return len(rows) == 1 and target in rows[0]

        await stage.until(is_marked, f"{target} in {name}")
    await stage.shows(target, "detail")
    assert len({style_of_row(stage, name) for name in ("transcript", "calls")}) == 1


@pytest.mark.system
async def test_the_selected_call_is_the_same_in_every_pane(recording: Saver) -> None:
    """All panes mark the call that is selected in one of them, or none while a thought is selected."""
    # A call selected in the transcript or the calls is the one that all panes mark.
    async with opened(recording(session(5) + result()), (120, 60)) as stage:
        await is_everywhere(stage, "echo 4")
        await stage.press("2", "k")
        await is_everywhere(stage, "echo 3")
        await stage.pilot.resize_terminal(160, 50)
        await is_everywhere(stage, "echo 3")
        await stage.press("1", "left_square_bracket")
        await is_everywhere(stage, "echo 2")
    # While a thought is selected no pane marks a call; the next selected call or another pane unmarks it.
    async with opened(recording(session(3) + result()), (120, 60)) as stage:
        await stage.press("1", "g")

        def is_thought_alone() -> bool:
            thought = next(segment for segment in stage.segments() if "thinking" in segment.text)
            is_lit = thought.style is not None and bool(thought.style.bold)
            return is_lit and not any(marked_rows(stage, name) for name in ("transcript", "calls"))

        for keys, target in ((("2",), "echo 0"), (("right_square_bracket",), "echo 0"), ("2j", "echo 1")):
            with case(f"{keys}"):
                await stage.press("1", *["left_square_bracket"] * 4)
                await stage.until(is_thought_alone, "the thought alone")
                await stage.press(*keys)
                await is_everywhere(stage, target)


@pytest.mark.system
async def test_the_selected_call_follows_the_newest(recording: Saver) -> None:
    """Each new call is selected in every pane; a failure that the detail holds on to is marked beside it."""
    async with opened(recording(session(2)), (120, 60), follow=True) as stage:
        # While the newest calls are followed, each new call is the selected one in every pane.
        for number in (41, 42):
            await stage.append(shell(number))
            await is_everywhere(stage, f"echo {number}")
        # A failure that the detail holds on to is marked beside the selected call, until esc follows again.
        await stage.append(shell(50, 2, "it broke") + shell(51))
        await stage.shows("it broke", "detail")
        for name in ("transcript", "calls"):
            rows = marked_rows(stage, name)
            assert [number for row in rows for number in ("50", "51") if f"echo {number}" in row] == [
                "50",
                "51",
            ]
        await stage.press("escape")
        await is_everywhere(stage, "echo 51")
