"""Draws the pictures of the screen in README and docs: `python docs/picture.py`.

They are the program itself at moments of its demo, exported by Textual; the fonts are the reader's.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

from rich.cells import cell_len

from agentwatch.feed import Feed
from agentwatch.opening import saved_source
from agentwatch.pace import Replay
from agentwatch.resources import resource
from agentwatch.screen.app import AgentwatchApp
from agentwatch.terminal import HeldSignals

FOLDER = Path(__file__).parent
COLUMN = 12.2
"""The width of a column in Textual's export."""


class Moment(NamedTuple):
    """A picture: how large, how many seconds into the demo, in which theme, after which keys."""

    size: tuple[int, int]
    seconds: float
    keys: str = ""
    theme: str = "textual-dark"


PICTURES = {
    "demo": Moment((120, 36), 46, "2kkk3"),
    "screen-160x50": Moment((160, 50), 46, "2kkk"),
    "screen-120x40": Moment((120, 40), 100, "2kkkkkk"),
    "screen-80x24": Moment((80, 24), 31, "2", "textual-light"),
    "screen-40x12": Moment((40, 12), 31, "2"),
    "screen-files": Moment((120, 32), 100, "F"),
    "screen-time": Moment((120, 32), 100, "T"),
    "screen-find": Moment((120, 32), 100, "/gap"),
}


async def export(moment: Moment) -> str:
    """Return the screen as SVG."""
    clock = 0.0
    source = saved_source(resource("recordings") / "demo.ndjson")
    feed = Feed(source.reader, Replay(clock=lambda: clock))
    app = AgentwatchApp(source, feed, HeldSignals())
    async with app.run_test(size=moment.size) as pilot:
        app.theme = moment.theme
        clock = moment.seconds
        await pilot.pause(1)
        await pilot.press(*moment.keys)
        await pilot.pause(1)
        return app.export_screenshot()


def mended(svg: str) -> str:
    """Return the export without fonts from the network, and with wide characters in their columns."""

    def set_length(found: re.Match[str]) -> str:
        columns = cell_len(html.unescape(found[3]).replace("\xa0", " "))
        return f'{found[1]}textLength="{columns * COLUMN:.1f}"{found[2]}{found[3]}</text>'

    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r'(<text class="terminal[^>]*?)textLength="[^"]*"([^>]*>)([^<]*)</text>', set_length, svg)


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    for name, moment in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(mended(asyncio.run(export(moment))))
