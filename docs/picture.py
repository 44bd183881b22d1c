"""Draw the pictures of the screen in README and docs: `python docs/picture.py [NAME…]`.

Each picture is a Textual export of the program itself, at a moment of a recording that it ships. The fonts
are those of the reader.
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
from textual.events import AppBlur, AppFocus
from textual.pilot import Pilot

from agentwatch.agent_facts import NO_FACTS, AgentFacts
from agentwatch.events import Event
from agentwatch.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.resources import resource
from agentwatch.screen.app import AgentwatchApp, Leave
from agentwatch.screen.screen import WatchScreen
from agentwatch.screen.terminal.signals import HeldSignals
from agentwatch.screen.transcript.pane import Transcript
from agentwatch.sources.open import saved_source

FOLDER = Path(__file__).parent
COLUMN = 12.2
"""Width of a column in Textual's SVG export, in pixels."""
AWAY, BACK = "<away>", "<back>"
"""Pseudo-keys: the terminal loses the focus, and gets it again."""

Step = tuple[float, Sequence[str]]
"""The time in the recording, in seconds, and the keys that are pressed then."""


class Moment(NamedTuple):
    """A picture: the recording, the terminal size in columns and rows, the steps before it, and the theme."""

    recording: str
    size: tuple[int, int]
    steps: Sequence[Step]
    theme: str = "textual-dark"
    has_colours: bool = True
    facts: AgentFacts = NO_FACTS
    """What is known about the agent's process; for a saved recording, nothing."""
    is_open: bool = False
    """Whether the recording may still grow."""
    is_news: bool = False
    """Whether the recording grows while it is watched, so that its events cause notices."""


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
    "screen-help": Moment("demo", (100, 52), [(4, "?")]),
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


class LivePace:
    """Lets a recording arrive at the times of a replay, on a screen that does not know of one."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def is_due(self, seen_ms: int | None, events: list[Event]) -> bool:
        """Return whether the line is due."""
        return self._replay.is_due(seen_ms, events)

    def seen_ms(self) -> int | None:
        """Return the recorded time at which the last line was due."""
        return self._replay.seen_ms()


async def export(moment: Moment) -> str:
    """Return the screen at a moment, as SVG."""
    clock = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = copied(moment.recording, Path(folder), is_whole=not moment.is_news)
        source = saved_source(path, follow=moment.is_open or moment.is_news)
        replay = Replay(clock=lambda: clock)
        feed = Feed(source.reader, LivePace(replay) if moment.is_news else replay)
        app = AgentwatchApp(source, feed, HeldSignals(), no_color=not moment.has_colours)
        with (
            patch("agentwatch.screen.screen.now_ms", replay.now_ms),
            patch("agentwatch.screen.frame.view_status.now_ms", replay.now_ms),
            patch("agentwatch.screen.overlays.notices.now_ms", replay.now_ms),
            patch("agentwatch.sources.file.FileSource.agent_facts", lambda _: moment.facts),
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
                            app.post_message(AppBlur() if key == AWAY else AppFocus())
                        else:
                            await pilot.press(key)
                    await settled(pilot)
                return app.export_screenshot()


def copied(name: str, folder: Path, *, is_whole: bool) -> Path:
    """Copy a bundled recording to `folder`, in full or only its first line; return the path of the copy."""
    path = folder / f"{name}.ndjson"
    data = (resource("recordings") / path.name).read_bytes()
    path.write_bytes(data if is_whole else data[: data.index(b"\n") + 1])
    shutil.copy(resource("recordings") / f"{name}.times", folder)
    return path


async def settled(pilot: Pilot[Leave]) -> None:
    """Wait until the screen shows everything that is due."""
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, WatchScreen)
    await pilot.pause(0.6)
    while screen.query_one(Transcript).viewport.is_measuring:
        await pilot.pause(0.1)
    await pilot.pause(0.3)


def mended(svg: str) -> str:
    """Return the export without web fonts, with text lengths that keep wide characters in their columns."""

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
