"""What the screen's tests share: sessions line by line, one pane alone, and the whole app with a pilot."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agentwatch.cli.terminal import HeldSignals
from agentwatch.feed import Feed, Pace
from agentwatch.resources import stylesheets
from agentwatch.screen.app import AgentwatchApp
from agentwatch.screen.calls.pane import CallTable
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.screen import WatchScreen
from agentwatch.sources.open import saved_source
from tests.conftest import RECORDINGS

SESSION = "5e55104e-0000-4000-8000-000000000000"
CWD = "/home/ada/src/mill"
BOUND_SECONDS = 20.0
PANES = ("transcript", "calls", "detail", "log")


def line(**fields: object) -> bytes:
    """Return an event of the stream."""
    return json.dumps({"session_id": SESSION, **fields}).encode() + b"\n"


def init(**fields: object) -> bytes:
    """Return the first line of a run."""
    known = {"cwd": CWD, "model": "Sonnet 5", "permissionMode": "default", "apiKeySource": "login"}
    return line(type="system", subtype="init", **known | fields)


def prompt(text: str) -> bytes:
    """Return the user's message."""
    return line(type="user", message={"role": "user", "content": [{"type": "text", "text": text}]})


def answer(text: str) -> bytes:
    """Return new text of the assistant's."""
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return line(type="assistant", message=message, timestamp_ms=1_793_610_000_000)


def thinking(text: str) -> bytes:
    """Return a whole thought that took 2.5 s."""
    begun = line(type="thinking", subtype="delta", text=text, timestamp_ms=1_793_610_000_000)
    return begun + line(type="thinking", subtype="completed", timestamp_ms=1_793_610_002_500)


def started(call_id: str, tool: str, args: dict[str, object], at_ms: int = 1_793_610_000_000) -> bytes:
    """Return the start of a call."""
    call = {f"{tool}ToolCall": {"args": args}}
    return line(type="tool_call", subtype="started", call_id=call_id, tool_call=call, timestamp_ms=at_ms)


def ended(
    call_id: str, tool: str, args: dict[str, object], result: object, at_ms: int = 1_793_610_001_500
) -> bytes:
    """Return the end of a call."""
    call = {f"{tool}ToolCall": {"args": args, "result": result}}
    return line(type="tool_call", subtype="completed", call_id=call_id, tool_call=call, timestamp_ms=at_ms)


def shell(number: int, exit_code: int | None = 0, stdout: str = "") -> bytes:
    """Return a shell call, `echo NUMBER`, from start to end; None leaves it running."""
    call_id, args = f"call-{number}", {"command": f"echo {number}"}
    begun = started(call_id, "shell", dict(args))
    if exit_code is None:
        return begun
    return begun + ended(call_id, "shell", dict(args), {"success": {"exitCode": exit_code, "stdout": stdout}})


def result(text: str = "", **fields: object) -> bytes:
    """Return the last line of a run."""
    told = {"subtype": "success", "is_error": False, "duration_ms": 5234, "result": text}
    return line(type="result", **told | fields)


def session(calls: int = 40, *failed: int) -> bytes:
    """Return a session with a prompt, a thought, and so many calls with a text before each."""
    made = [init(), prompt("Mend it."), thinking("A thought.")]
    for number in range(calls):
        made += [answer(f"Step {number}."), shell(number, 1 if number in failed else 0, f"out {number}")]
    return b"".join(made)


def append(path: Path, data: bytes) -> None:
    """Let a recording grow."""
    with path.open("ab") as file:
        file.write(data)


async def eventually(pilot: Pilot[Any], check: Callable[[], object], what: str) -> None:
    """Let the app go on until `check` holds."""
    bound = time.monotonic() + BOUND_SECONDS
    await pilot.pause()
    while not check():
        assert time.monotonic() < bound, f"never came: {what}"
        await asyncio.sleep(0.01)
        await pilot.pause()


class PaneApp(App[None]):
    """One pane alone, in the looks of the sheet."""

    CSS_PATH = stylesheets()

    def __init__(self, *panes: LineView) -> None:
        super().__init__()
        self._panes = panes

    def compose(self) -> ComposeResult:
        """Show the pane."""
        yield from self._panes


def lines_of(pane: LineView) -> list[str]:
    """Return every line of a pane as text, in view or not, without the blanks at its end."""
    width = pane.scrollable_content_region.width
    return [pane.draw(y, width).text.rstrip() for y in range(pane.line_count())]


def viewport(pane: LineView) -> list[str]:
    """Return what the pane shows now, line by line."""
    height = pane.scrollable_content_region.height
    return [pane.render_line(y).text.rstrip() for y in range(height)]


class CountedFeed(Feed):
    """A feed that counts the ticks of the screen, each of which advances it once."""

    ticks = 0

    def advance(self, seconds: float | None = None) -> int:
        """Count, and advance."""
        self.ticks += 1
        return super().advance(seconds)


class Stage:
    """The app over a recording, and the pilot who plays it."""

    def __init__(self, app: AgentwatchApp, feed: CountedFeed, path: Path, pilot: Pilot[Any]) -> None:
        self.app = app
        self.feed = feed
        self.path = path
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, and let them work."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def append(self, data: bytes) -> None:
        """Let the recording grow, and wait until the screen has taken it."""
        append(self.path, data)
        await self.pilot.pause()
        await self.until(lambda: not self.feed.backlog(), "the end of the recording")
        await self.settled()

    async def settled(self) -> None:
        """Wait until whole ticks have shown what is there, and nothing more is due."""
        before, screen = self.feed.ticks, self.app.screen_stack[0]
        assert isinstance(screen, WatchScreen)
        await self.until(
            lambda: self.feed.ticks > before + 1 or screen.frame_scheduler.is_resting, "two ticks"
        )

    async def until(self, check: Callable[[], object], what: str) -> None:
        """Let the app go on until `check` holds."""
        await eventually(self.pilot, check, what)

    async def shows(self, words: str, pane: str | None = None) -> None:
        """Wait until the screen, or a pane in any of its lines, shows these words."""
        if pane is None:
            await self.until(lambda: words in self.text(blanks=True), words)
        else:
            await self.until(lambda: words in "\n".join(lines_of(self.pane(pane))), words)

    def pane(self, name: str) -> LineView:
        """Return a pane."""
        return self.app.screen_stack[0].query_one(f"#{name}", LineView)

    @property
    def calls(self) -> CallTable:
        """The table of calls."""
        table = self.pane("calls")
        assert isinstance(table, CallTable)
        return table

    @property
    def chosen(self) -> str | None:
        """The target of the chosen call."""
        return self.calls.chosen.target if self.calls.chosen else None

    @property
    def focus(self) -> str | None:
        """The pane that has the focus."""
        return self.app.focused.id if self.app.focused else None

    def segments(self) -> list[Segment]:
        """Return all that is drawn."""
        return [segment for strip in self.app.screen._compositor.render_strips() for segment in strip]

    def rows(self) -> list[str]:
        """Return the rows of the screen, without the blanks at their ends."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    def text(self, *, blanks: bool = False) -> str:
        """Return the screen as text, with or without the blanks at the ends of its rows."""
        if blanks:
            return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())
        return "\n".join(self.rows())

    @property
    def header(self) -> str:
        """The line at the top."""
        return self.rows()[0]

    @property
    def status(self) -> str:
        """The line below it."""
        return self.rows()[1]


@asynccontextmanager
async def opened(
    path: Path,
    size: tuple[int, int] = (120, 40),
    *,
    follow: bool = False,
    pace: Pace | None = None,
) -> AsyncIterator[Stage]:
    """Open a recording in the app; all that is there and due has been read when this yields."""
    source = saved_source(path, follow)
    feed = CountedFeed(source.reader, pace)
    app = AgentwatchApp(source, feed, HeldSignals())
    async with app.run_test(size=size, notifications=True) as pilot:
        stage = Stage(app, feed, path, pilot)
        if pace is None:
            await stage.until(lambda: not feed.backlog(), "the end of the recording")
        await stage.settled()
        yield stage


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Show times of day in UTC, and let nothing move by itself."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def bundled(name: str) -> Path:
    """Return a recording of the project's."""
    return RECORDINGS / f"{name}.ndjson"
