"""Draws the pictures of the screen in README and docs: `python docs/picture.py [NAME…]`.

They are the program itself at moments of recordings that it ships, exported by Textual; the fonts are the
reader's.
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from rich.cells import cell_len
from textual import events
from textual.pilot import Pilot

from agentwatch.analysis.silence import NO_FACTS, AgentFacts
from agentwatch.cli.terminal import HeldSignals
from agentwatch.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.resources import resource
from agentwatch.screen.app import AgentwatchApp, Leave
from agentwatch.screen.screen import WatchScreen
from agentwatch.screen.transcript.pane import Transcript
from agentwatch.sources.open import saved_source

FOLDER = Path(__file__).parent
COLUMN = 12.2
"""The width of a column in Textual's export."""
AWAY, BACK = "<away>", "<back>"
"""What stands among the keys where the user looks elsewhere, and back."""

Step = tuple[float, Sequence[str]]
"""So many seconds into the recording these keys are pressed."""


class Moment(NamedTuple):
    """A picture: of which recording, how large, after which steps, in which theme."""

    recording: str
    size: tuple[int, int]
    steps: Sequence[Step]
    theme: str = "textual-dark"
    has_colours: bool = True
    facts: AgentFacts = NO_FACTS
    """What is known of the agent's process; of a recording nothing is."""
    is_open: bool = False
    """More of the recording may come."""
    is_news: bool = False
    """It comes while it is looked at, and is told."""


LIGHT = "textual-light"
PICTURES = {
    "demo": Moment("demo", (120, 36), [(46, "2kkk3jjjj")]),
    "screen-160x50": Moment("demo", (160, 50), [(46, "2kkk")]),
    "screen-120x40": Moment("demo", (120, 40), [(100, "2kkkkkk")]),
    "screen-80x24": Moment("demo", (80, 24), [(46, "2")], LIGHT),
    "screen-40x12": Moment("demo", (40, 12), [(46, "2")]),
    "screen-light": Moment("demo", (120, 36), [(46, "2kkk3m")], LIGHT),
    "screen-16-colours": Moment("demo", (120, 36), [(46, "2kkk3jjjj")], "ansi-dark"),
    "screen-no-colour": Moment("demo", (120, 36), [(46, "2kkk3jjjj")], has_colours=False),
    "screen-find": Moment("demo", (120, 32), [(100, "/gap")]),
    "screen-files": Moment("demo", (120, 32), [(100, "F")]),
    "screen-time": Moment("demo", (120, 32), [(100, "T")]),
    "screen-help": Moment("demo", (100, 40), [(4, "?")]),
    "screen-attention": Moment("stuck", (120, 36), [(18, [AWAY]), (66, [BACK, "2"])], is_news=True),
    "screen-frozen": Moment("demo", (80, 24), [(40, "kkkk"), (60, " ")]),
    "detail-shell": Moment("stuck", (80, 24), [(69, "23")]),
    "detail-file": Moment("stuck", (80, 24), [(14, "23")]),
    "detail-tree": Moment("stuck", (80, 24), [(16, "23")]),
    "detail-raw": Moment("stuck", (80, 24), [(16, "23r")]),
    "detail-list": Moment("demo", (80, 24), [(100, "2g3")]),
    "detail-steps": Moment("demo", (80, 24), [(100, "2kkk3")]),
    "status-1-thinking": Moment("stuck", (80, 16), [(4, "")]),
    "status-2-parallel": Moment("parallel", (80, 16), [(2.4, "2")]),
    "status-3-limit": Moment("stuck", (80, 16), [(25, "2")]),
    "status-4-quiet": Moment("stuck", (80, 16), [(66, ""), (155, "")], is_open=True),
    "status-5-result": Moment("demo", (80, 16), [(100, "")]),
    "status-6-alive": Moment("plain", (80, 16), [(100, "")], facts=AgentFacts(4242), is_open=True),
}


async def export(moment: Moment) -> str:
    """Return the screen as SVG."""
    clock = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = copied(moment.recording, Path(folder), is_whole=not moment.is_news)
        source = saved_source(path, follow=moment.is_open or moment.is_news)
        replay = Replay(clock=lambda: clock)
        app = AgentwatchApp(
            source, Feed(source.reader, replay), HeldSignals(), no_color=not moment.has_colours
        )
        with (
            patch("agentwatch.screen.screen.now_ms", replay.now_ms),
            patch("agentwatch.screen.overlays.notices.now_ms", replay.now_ms),
            patch("agentwatch.sources.facts.ProcessFacts.now", lambda _: moment.facts),
        ):
            async with app.run_test(size=moment.size, notifications=True) as pilot:
                copied(moment.recording, Path(folder), is_whole=True)
                if moment.has_colours:
                    app.theme = moment.theme
                for seconds, keys in moment.steps:
                    clock = seconds
                    await settled(pilot)
                    for key in keys:
                        if key in (AWAY, BACK):
                            app.post_message(events.AppBlur() if key == AWAY else events.AppFocus())
                        else:
                            await pilot.press(key)
                    await settled(pilot)
                return app.export_screenshot()


def copied(name: str, folder: Path, *, is_whole: bool) -> Path:
    """Return a copy of a recording, with all its lines or with the first alone."""
    path = folder / f"{name}.ndjson"
    data = (resource("recordings") / path.name).read_bytes()
    path.write_bytes(data if is_whole else data[: data.index(b"\n") + 1])
    shutil.copy(resource("recordings") / f"{name}.times", folder)
    return path


async def settled(pilot: Pilot[Leave]) -> None:
    """Wait until the screen shows all that is due."""
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, WatchScreen)
    await pilot.pause(0.6)
    while screen.query_one(Transcript).viewport.is_measuring:
        await pilot.pause(0.1)
    await pilot.pause(0.3)


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
    for name in sys.argv[1:] or PICTURES:
        (FOLDER / f"{name}.svg").write_text(mended(asyncio.run(export(PICTURES[name]))))
        os.environ.pop("NO_COLOR", None)
