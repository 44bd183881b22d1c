"""Draws the pictures of the comparison of two runs: the bundled demo, and a made run of the same task.

The other run did not fetch the page nor ask a subagent, read another test, and one of its tests fails.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from agentwatch.base.resources import resource
from agentwatch.feed.feed import Feed
from agentwatch.output.compare.comparison import Side, compare, side_of
from agentwatch.recording.saved import open_saved
from agentwatch.screen.screens.compare.screen import ComparisonApp
from agentwatch.screen.terminal.signals import HeldSignals
from drawing.picture import mended

_LEFT_OUT = (b"webFetchToolCall", b"taskToolCall")
_OTHER_WORDS = (
    (b"17 passed", b"1 failed, 16 passed"),
    (b'"linesAdded":8', b'"linesAdded":11'),
    (b"tests/test_nearest.py", b"tests/test_forecast.py"),
)
"""Words of the demo, and those of the made run."""


class Picture(NamedTuple):
    """A picture: the size of the terminal in columns and rows, the keys before it, and the theme."""

    size: tuple[int, int]
    keys: Sequence[str] = ()
    theme: str = "textual-dark"


PICTURES = {
    "compare-120x32": Picture((120, 32)),
    "compare-pair": Picture((120, 32), ("N", "enter")),
}


async def drawn(picture: Picture) -> str:
    """Return the screen after the keys of a picture, as SVG."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(patch.dict(os.environ, AGENTWATCH_HOME=str(folder)))
        lines = (resource("recordings") / "demo.ndjson").read_bytes().splitlines(keepends=True)
        paths = folder / "before.ndjson", folder / "after.ndjson"
        paths[0].write_bytes(b"".join(lines))
        paths[1].write_bytes(b"".join(_other(line) for line in lines))
        comparison = compare(_side(paths[0]), _side(paths[1]))
        app = ComparisonApp(HeldSignals(), comparison, paths, (str(paths[0]), str(paths[1])))
        async with app.run_test(size=picture.size) as pilot:
            app.theme = picture.theme
            await pilot.pause(0.5)
            for key in picture.keys:
                await pilot.press(key)
            app.clear_notifications()
            await pilot.pause(0.5)
            return mended(app.export_screenshot())


def _other(line: bytes) -> bytes:
    """Return a line of the demo as it is in the made run; empty if that does not have it."""
    if any(words in line for words in _LEFT_OUT):
        return b""
    for words, others in _OTHER_WORDS:
        line = line.replace(words, others)
    return line


def _side(path: Path) -> Side:
    feed = Feed(open_saved(path))
    feed.advance()
    return side_of(path.name, feed)
