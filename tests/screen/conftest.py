"""Shared by the tests of the screen: session builders, an app with a single pane, and the whole app."""

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
from agentwatch.resources import resource
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
    """Return one event line of the stream."""
    return json.dumps({"session_id": SESSION, **fields}).encode() + b"\n"


def init(**fields: object) -> bytes:
    """Return the first line of a run."""
    known = {"cwd": CWD, "model": "Sonnet 5", "permissionMode": "default", "apiKeySource": "login"}
    return line(type="system", subtype="init", **known | fields)


def prompt(text: str) -> bytes:
    """Return the line of a user message."""
    return line(type="user", message={"role": "user", "content": [{"type": "text", "text": text}]})


def answer(text: str) -> bytes:
    """Return the line of an assistant message, one piece of text."""
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return line(type="assistant", message=message, timestamp_ms=1_793_610_000_000)


def thinking(text: str) -> bytes:
    """Return the two lines of a completed thought that took 2.5 s."""
    begun = line(type="thinking", subtype="delta", text=text, timestamp_ms=1_793_610_000_000)
    return begun + line(type="thinking", subtype="completed", timestamp_ms=1_793_610_002_500)


def started(call_id: str, tool: str, args: dict[str, object], at_ms: int = 1_793_610_000_000) -> bytes:
    """Return the line that starts a tool call."""
    call = {f"{tool}ToolCall": {"args": args}}
    return line(type="tool_call", subtype="started", call_id=call_id, tool_call=call, timestamp_ms=at_ms)


def ended(
    call_id: str, tool: str, args: dict[str, object], result: object, at_ms: int = 1_793_610_001_500
) -> bytes:
    """Return the line that completes a tool call."""
    call = {f"{tool}ToolCall": {"args": args, "result": result}}
    return line(type="tool_call", subtype="completed", call_id=call_id, tool_call=call, timestamp_ms=at_ms)


def shell(number: int, exit_code: int | None = 0, stdout: str = "") -> bytes:
    """Return a shell call `echo NUMBER`, start and end; with `exit_code=None` it is still running."""
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
    """Return a session: a prompt, a thought, and `calls` shell calls with a text before each.

    The calls numbered in `failed` exit with 1. The session has no result yet.
    """
    made = [init(), prompt("Mend it."), thinking("A thought.")]
    for number in range(calls):
        made += [answer(f"Step {number}."), shell(number, 1 if number in failed else 0, f"out {number}")]
    return b"".join(made)


def append(path: Path, data: bytes) -> None:
    """Append lines to a recording."""
    with path.open("ab") as file:
        file.write(data)


async def eventually(pilot: Pilot[Any], check: Callable[[], object], what: str) -> None:
    """Wait until `check` returns something true; fail after 20 s, naming `what`."""
    bound = time.monotonic() + BOUND_SECONDS
    await pilot.pause()
    while not check():
        assert time.monotonic() < bound, f"never came: {what}"
        await asyncio.sleep(0.01)
        await pilot.pause()


class PaneApp(App[None]):
    """An app that shows the given panes with the real style sheet."""

    CSS_PATH = resource("styles") / "agentwatch.tcss"

    def __init__(self, *panes: LineView) -> None:
        super().__init__()
        self._panes = panes

    def compose(self) -> ComposeResult:
        """Yield the panes."""
        yield from self._panes


def lines_of(pane: LineView) -> list[str]:
    """Return every line of a pane as text, visible or not, without trailing blanks."""
    width = pane.scrollable_content_region.width
    return [pane.draw(y, width).text.rstrip() for y in range(pane.line_count())]


def viewport(pane: LineView) -> list[str]:
    """Return the visible lines of a pane as text, without trailing blanks."""
    height = pane.scrollable_content_region.height
    return [pane.render_line(y).text.rstrip() for y in range(height)]


class CountedFeed(Feed):
    """A feed that counts the ticks of the screen: each tick calls `advance` once."""

    ticks = 0

    def advance(self, seconds: float | None = None) -> int:
        """Count the tick, then advance."""
        self.ticks += 1
        return super().advance(seconds)


class Stage:
    """The whole app over a recording, and the pilot that drives it."""

    def __init__(self, app: AgentwatchApp, feed: CountedFeed, path: Path, pilot: Pilot[Any]) -> None:
        self.app = app
        self.feed = feed
        self.path = path
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the app has handled them."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def append(self, data: bytes) -> None:
        """Append lines to the recording, and wait until the screen shows them."""
        append(self.path, data)
        await self.pilot.pause()
        await self.until(lambda: not self.feed.backlog(), "the end of the recording")
        await self.settled()

    async def settled(self) -> None:
        """Wait until two more ticks have passed, or no tick is due."""
        before, screen = self.feed.ticks, self.app.screen_stack[0]
        assert isinstance(screen, WatchScreen)
        await self.until(
            lambda: self.feed.ticks > before + 1 or screen.frame_scheduler.is_resting, "two ticks"
        )

    async def until(self, check: Callable[[], object], what: str) -> None:
        """Wait until `check` returns something true; fail after 20 s, naming `what`."""
        await eventually(self.pilot, check, what)

    async def shows(self, words: str, pane: str | None = None) -> None:
        """Wait until the words are on the screen, or in any line of the given pane, visible or not."""
        if pane is None:
            await self.until(lambda: words in self.text(blanks=True), words)
        else:
            await self.until(lambda: words in "\n".join(lines_of(self.pane(pane))), words)

    def pane(self, name: str) -> LineView:
        """Return the pane with this name."""
        return self.app.screen_stack[0].query_one(f"#{name}", LineView)

    @property
    def calls(self) -> CallTable:
        """The table of calls."""
        table = self.pane("calls")
        assert isinstance(table, CallTable)
        return table

    @property
    def chosen(self) -> str | None:
        """The target of the selected call; None without a call or a target."""
        return self.calls.chosen.target if self.calls.chosen else None

    @property
    def focus(self) -> str | None:
        """The name of the focused pane."""
        return self.app.focused.id if self.app.focused else None

    def segments(self) -> list[Segment]:
        """Return every segment on the screen."""
        return [segment for strip in self.app.screen._compositor.render_strips() for segment in strip]

    def rows(self) -> list[str]:
        """Return the rows of the screen as text, without trailing blanks."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    def text(self, *, blanks: bool = False) -> str:
        """Return the screen as text; `blanks` keeps the trailing blanks of its rows."""
        if blanks:
            return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())
        return "\n".join(self.rows())

    @property
    def header(self) -> str:
        """The text of the header line, the first row."""
        return self.rows()[0]

    @property
    def status(self) -> str:
        """The text of the status line, the second row."""
        return self.rows()[1]


@asynccontextmanager
async def opened(
    path: Path,
    size: tuple[int, int] = (120, 40),
    *,
    follow: bool = False,
    pace: Pace | None = None,
) -> AsyncIterator[Stage]:
    """Open a recording in the app; everything that is due is read and shown when this yields."""
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
    """Use UTC for times of day, and switch off animations."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def bundled(name: str) -> Path:
    """Return the path of a recording that belongs to the project."""
    return RECORDINGS / f"{name}.ndjson"
