"""Draws the README's picture of the screen: `python docs/picture.py`.

It is the program itself, 46 seconds into its demo, exported by Textual; the fonts are the reader's.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import time
from pathlib import Path

from rich.cells import cell_len

from agentwatch.feed import Feed
from agentwatch.opening import saved_source
from agentwatch.pace import Replay
from agentwatch.resources import resource
from agentwatch.screen.app import AgentwatchApp
from agentwatch.terminal import HeldSignals

PICTURE = Path(__file__).with_name("demo.svg")
SECONDS = 46.0
COLUMN = 12.2
"""The width of a column in Textual's export."""


async def export() -> str:
    """Return the screen as SVG, at a moment of the demo."""
    clock = 0.0
    source = saved_source(resource("recordings") / "demo.ndjson", follow=False, log=None)
    app = AgentwatchApp(source, Feed(source.reader, Replay(clock=lambda: clock)), HeldSignals())
    async with app.run_test(size=(120, 36)) as pilot:
        clock = SECONDS
        await pilot.pause(1)
        await pilot.press("2", "k", "k", "k", "3")
        await pilot.pause(0.5)
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
    PICTURE.write_text(mended(asyncio.run(export())))
