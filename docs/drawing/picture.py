"""Draws the pictures of the screen of one session.

Each picture is a Textual export of the program itself, which shows a bundled recording: live while it grows,
replayed, or complete. The fonts are those of the reader.
"""

from __future__ import annotations

import html
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager
from enum import Enum
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from rich.cells import cell_len
from textual.events import AppBlur, AppFocus
from textual.pilot import Pilot

from agentwatch.agents.opening import saved_source
from agentwatch.base.files import resource
from agentwatch.feed.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.screens.session.app import AgentwatchApp, Leave
from agentwatch.screen.screens.session.screen import WatchScreen
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.session.agent_process import NO_FACTS, AgentFacts

COLUMN = 12.2
"""Width of a column in Textual's SVG export, in pixels."""
SESSION_CLOCKS = (
    "panes.moment",
    *(f"screens.session.{name}" for name in ("box_reports", "notices", "screen")),
)
"""The modules of `agentwatch.screen` that read the time while a session that grows is shown."""
AWAY, BACK = "<away>", "<back>"
"""Pseudo-keys: the terminal loses the focus, and gets it again."""

Step = tuple[float, Sequence[str]]
"""The time in the recording, in seconds, and the keys that are pressed then."""


class Shown(Enum):
    """How the program shows the recording."""

    LIVE = "live"
    """It follows the recording, which grows at its recorded times."""
    REPLAY = "replay"
    """It replays the recording."""
    SAVED = "saved"
    """It has opened the complete recording."""


class Picture(NamedTuple):
    """A picture: the recording, the terminal size in columns and rows, the steps before it, and the theme."""

    recording: str
    size: tuple[int, int]
    steps: Sequence[Step]
    theme: str = "textual-dark"
    shown: Shown = Shown.LIVE
    has_colours: bool = True
    facts: AgentFacts = NO_FACTS
    """What is known about the agent's process; for a saved recording, nothing."""


REPLAY, SAVED = Shown.REPLAY, Shown.SAVED
LIGHT, SIXTEEN = "textual-light", "ansi-dark"
_GO_TO_6 = (":", "#", "6", "enter")
BACKWARDS = ["ctrl+p", *"backwards", "enter"]
_BAR: Sequence[Step] = [(0, [":", "#", "8", "enter", "m", ">", ">"]), (0, [":", *"+4s", "enter"])]
PICTURES = {
    "demo": Picture("demo", (120, 36), [(0, ""), (46, "2kkk3jjjj")], shown=REPLAY),
    "screen-160x50": Picture("demo", (160, 50), [(46, "2kkk")]),
    "screen-120x40": Picture("demo", (120, 40), [(0, "2kkkkkk")], shown=SAVED),
    "screen-80x24": Picture("demo", (80, 24), [(46, "2")], LIGHT),
    "screen-40x12": Picture("demo", (40, 12), [(46, "2")]),
    "screen-light": Picture("demo", (120, 36), [(46, "2kkk3z")], LIGHT),
    "screen-16-colours": Picture("demo", (120, 36), [(46, "2kkk3jjjj")], SIXTEEN),
    "screen-no-colour": Picture("demo", (120, 36), [(46, "2kkk3jjjj")], has_colours=False),
    "screen-find": Picture("demo", (120, 32), [(0, "/gap")], shown=SAVED),
    "screen-files": Picture("demo", (120, 32), [(0, "i4")], shown=SAVED),
    "screen-time": Picture("demo", (120, 32), [(0, "i2")], shown=SAVED),
    "screen-help": Picture("demo", (100, 68), [(4, "??")]),
    "screen-attention": Picture("stuck", (120, 36), [(0, ""), (18, [AWAY]), (66, [BACK, "2"])]),
    "detail-shell": Picture("stuck", (80, 24), [(69, "23")]),
    "detail-file": Picture("stuck", (80, 24), [(14, "23")]),
    "detail-tree": Picture("stuck", (80, 24), [(16, "23")]),
    "detail-raw": Picture("stuck", (80, 24), [(16, "23r")]),
    "detail-list": Picture("demo", (80, 24), [(0, "2g3")], shown=SAVED),
    "detail-steps": Picture("demo", (80, 24), [(0, "2kkk3")], shown=SAVED),
    "status-1-thinking": Picture("stuck", (80, 16), [(4, "")]),
    "status-2-parallel": Picture("parallel", (80, 16), [(2.4, "2")]),
    "status-3-limit": Picture("stuck", (80, 16), [(25, "2")]),
    "status-4-quiet": Picture("stuck", (80, 16), [(66, ""), (155, "")]),
    "status-5-result": Picture("demo", (80, 16), [(0, "")], shown=SAVED),
    "status-6-alive": Picture("plain", (80, 16), [(100, "")], facts=AgentFacts(4242)),
    "moment-earlier": Picture(
        "demo", (120, 36), [(30, ""), (62, [*_GO_TO_6, ":", *"-5s", "enter"]), (66, "")]
    ),
    "moment-live": Picture("demo", (120, 36), [(46, " "), (51.2, "L")]),
    "moment-backwards": Picture("demo", (120, 36), [(0, ""), (60, BACKWARDS), (75, "")], shown=REPLAY),
    "moment-goto": Picture("demo", (120, 36), [(0, [*_GO_TO_6, "m"]), (0, ":")], shown=SAVED),
    "moment-test-runs": Picture("demo", (120, 32), [(0, ["i", "3", "tab"])], shown=SAVED),
    "moment-digest": Picture("stuck", (120, 36), [(0, ""), (18, [AWAY]), (330, [BACK]), (330, "i")]),
    "time-bar-160": Picture("demo", (160, 16), _BAR, shown=SAVED),
    "time-bar-80": Picture("demo", (80, 16), _BAR, shown=SAVED),
    "time-bar-40": Picture("demo", (40, 12), _BAR, shown=SAVED),
    "time-bar-light": Picture("demo", (120, 16), _BAR, LIGHT, shown=SAVED),
    "time-bar-16-colours": Picture("demo", (120, 16), _BAR, SIXTEEN, shown=SAVED),
}


class Program:
    """The program over a bundled recording, at the time of a clock that is set."""

    def __init__(self, recording: str, shown: Shown, folder: Path) -> None:
        """Copy the recording to `folder`; one that grows is empty until its time comes."""
        source = resource("recordings") / f"{recording}.ndjson"
        self.path = folder / source.name
        self.seconds = 0.0
        """The time that has passed since the start of the recording."""
        self.is_growing = shown is Shown.LIVE
        self._data = source.read_bytes()
        times = source.with_suffix(".times").read_text().splitlines()
        self._arrivals = [(int(offset), int(ms)) for offset, ms in map(str.split, times)]
        self.path.write_bytes(b"" if self.is_growing else self._data)
        shutil.copy(source.with_suffix(".times"), folder)

    def now_ms(self) -> int:
        """Return the recorded time."""
        return self._arrivals[0][1] + int(self.seconds * 1000)

    def pass_to(self, seconds: float) -> None:
        """Let the time come, and the bytes that had arrived by then."""
        self.seconds = seconds
        if self.is_growing:
            later = (offset for offset, ms in self._arrivals if ms > self.now_ms())
            with self.path.open("ab") as file:
                file.write(self._data[file.tell() : next(later, len(self._data))])


class Screen:
    """The screen of the program, and the keys that are pressed on it."""

    def __init__(self, app: AgentwatchApp, program: Program, pilot: Pilot[Leave]) -> None:
        self.app = app
        self._program = program
        self._pilot = pilot

    async def step(self, seconds: float, keys: Iterable[str], pause: float = 0.9) -> None:
        """Remove the notices that are shown, let a time come, and press keys.

        Args:
            seconds: The time in the recording.
            keys: The keys, and AWAY and BACK.
            pause: The real time in which the screen shows everything that is due.
        """
        self.app.clear_notifications()
        self._program.pass_to(seconds)
        await self._settled(pause)
        for key in keys:
            if key in (AWAY, BACK):
                self.app.post_message(AppBlur() if key == AWAY else AppFocus())
            else:
                await self._pilot.press(key)
                await self._settled(pause / 4)
        await self._settled(pause)

    def svg(self) -> str:
        """Return what is shown, as Textual exports it."""
        return self.app.export_screenshot()

    async def _settled(self, pause: float) -> None:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, WatchScreen)
        await self._pilot.pause(pause * 2 / 3)
        while screen.query_one(Transcript).viewport.is_unsettled:
            await self._pilot.pause(0.1)
        await self._pilot.pause(pause / 3)


@asynccontextmanager
async def opened(picture: Picture) -> AsyncIterator[Screen]:
    """Yield the screen at the start of the recording, or, if it grows, at the time of the first step."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        program = Program(picture.recording, picture.shown, Path(folder))
        program.pass_to(picture.steps[0][0] if program.is_growing else 0)
        source = saved_source(program.path, follow=program.is_growing)
        replay = Replay(clock=lambda: program.seconds) if picture.shown is REPLAY else None
        feed = Feed(source.reader)
        app = AgentwatchApp(source, feed, PendingSignals(), None, replay, no_color=not picture.has_colours)
        if program.is_growing:
            for module in SESSION_CLOCKS:
                stack.enter_context(patch(f"agentwatch.screen.{module}.now_ms", program.now_ms))
        stack.enter_context(patch("agentwatch.sources.file.FileSource.agent_facts", lambda _: picture.facts))
        async with app.run_test(size=picture.size, notifications=True) as pilot:
            if picture.has_colours:
                app.theme = picture.theme
            yield Screen(app, program, pilot)


async def drawn(picture: Picture) -> str:
    """Return the screen after the steps of a picture, as SVG."""
    async with opened(picture) as screen:
        for seconds, keys in picture.steps:
            await screen.step(seconds, keys)
        return mended(screen.svg())


def mended(svg: str) -> str:
    """Return the export without web fonts, with text lengths that keep wide characters in their columns."""

    def set_length(found: re.Match[str]) -> str:
        columns = cell_len(html.unescape(found[3]).replace("\xa0", " "))
        return f'{found[1]}textLength="{columns * COLUMN:.1f}"{found[2]}{found[3]}</text>'

    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r'(<text class="terminal[^>]*?)textLength="[^"]*"([^>]*>)([^<]*)</text>', set_length, svg)
