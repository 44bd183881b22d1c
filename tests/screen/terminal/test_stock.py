"""AGENTWATCH_STOCK=1: the screen on stock Textual, without a private name of it, shows the same."""

from difflib import ndiff
from functools import partial
from pathlib import Path

import pytest
from textual._compositor import Compositor

from agentwatch.screen.terminal.compositor import PieceCompositor
from tests.builders.moment.panes import watch_screen
from tests.builders.screen.app import Stage, opened
from tests.conftest import RECORDINGS
from tests.harness.on_a_pty import in_terminal
from tests.harness.processes import until
from tests.harness.terminal import Terminal

pytestmark = pytest.mark.system

KEYS = ("", "2", "g", "enter", "1", "pageup", "t", "z", "escape", "slash", "b", "u", "g", "enter", "escape")
SIZE = (120, 40)
RECORDING = RECORDINGS / "demo.ndjson"


def has_heights(stage: Stage) -> bool:
    """Return whether no block of the transcript has an estimated height."""
    return not watch_screen(stage).workspace.panes.transcript.viewport.is_unsettled


async def shown_after_each_key() -> tuple[type[Compositor], list[str]]:
    """Return what draws the screen, and its text after each of the keys."""
    async with opened(RECORDING, SIZE) as stage:
        texts = []
        for key in KEYS:
            await stage.press(*filter(None, [key]))
            await stage.until(partial(has_heights, stage), "the heights that the scroll bar shows")
            await stage.settled()
            await stage.until(lambda: "searching" not in stage.text(), "the end of the search")
            texts.append(stage.text())
        return type(stage.app.screen._compositor), texts


async def test_stock_textual_shows_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """After each key the screen shows the same text on stock Textual as with our compositor and painter."""
    compositor, texts = await shown_after_each_key()
    assert compositor is PieceCompositor
    monkeypatch.setenv("AGENTWATCH_STOCK", "1")
    stock_compositor, stock_texts = await shown_after_each_key()
    assert stock_compositor is Compositor
    for key, text, stock_text in zip(KEYS, texts, stock_texts, strict=True):
        assert stock_text == text, key
    assert len(set(texts)) > len(KEYS) // 2


def is_drawn(terminal: Terminal, *, with_help: bool) -> bool:
    """Return whether a terminal shows the session, with the help over it or without."""
    text = terminal.screen_text()
    return "Keys · calls" in text if with_help else "✓ succeeded" in text and "3 Detail" in text


def shows_the_same(ours: Terminal, stock: Terminal) -> bool:
    """Return whether two terminals show the same text."""
    return ours.screen_text() == stock.screen_text()


def difference(ours: Terminal, stock: Terminal) -> str:
    """Return the rows in which two terminals differ."""
    return "\n".join(ndiff(ours.screen_text().splitlines(), stock.screen_text().splitlines()))


def test_stock_textual_shows_the_same_on_a_terminal(tmp_path: Path) -> None:
    """On a real terminal a saved session is shown with the same text, and the terminal is given back."""
    arguments = (str(RECORDING),)
    own_home = {"AGENTWATCH_HOME": str(tmp_path)}  # each is the first to open the session
    with (
        in_terminal(*arguments, size=SIZE) as ours,
        in_terminal(*arguments, size=SIZE, env={"AGENTWATCH_STOCK": "1"} | own_home) as stock,
    ):
        for key in ("", "2", "g", "?", "\x1b"):
            for terminal in (ours, stock):
                terminal.send(key)
                terminal.wait_until(partial(is_drawn, terminal, with_help=key == "?"), what=repr(key))
            until(
                partial(shows_the_same, ours, stock),
                what=f"the same text after {key!r}",
                picture=partial(difference, ours, stock),
            )
        assert b"\x1b]0;" in ours.raw
        assert b"\x1b]0;" not in stock.raw, "the title is set by a private name"
        for terminal in (ours, stock):
            terminal.leave()
