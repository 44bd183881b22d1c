"""However a call is selected, every pane shows it."""

from __future__ import annotations

from functools import partial

import pytest

from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.screens.session.panes import NAMES
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.widgets.line_view import CursorView, rows_in_view
from tests.builders.screen.app import Stage, opened
from tests.builders.screen.lines import answer, init, shell
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

CALLS, FAILED = 60, (10, 50)
"""The number of calls, and the calls that failed."""


def _session() -> bytes:
    calls = (answer(f"Now step {n}.") + shell(n, exit_code=int(n in FAILED)) for n in range(1, CALLS + 1))
    return init() + b"".join(calls) + answer("A last word. " * 200)


STEPS = (
    ("e", 10),
    ("e", 50),
    ("E", 10),
    ("1 g e", 50),
    ("2 k k k", 47),
    ("2 g j", 2),
    ("3 K", 1),
    ("3 J J", 3),
    ("4 g j", 2),
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
            for name in NAMES:
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
        await stage.until(lambda: stage.focus == "calls", "the calls pane")
        assert stage.chosen == "echo 10"
        assert _shown(stage, "calls", 10)
