"""Schedules screen updates: immediately after a pause, then at the rate that the CPU budget allows."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable

from rich.style import Style
from textual import events, on
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from agentwatch.recording.times import Wakeup

LIVE_SHARE = 0.18
"""Share of wall time that reading and drawing may use; the rest of the machine belongs to the agent. The
threads that read the pipe and write to the terminal take 2 % more."""
LOADING_SHARE = 1.0
"""The share while the user waits for a file to load. After a key, a slice of loading is skipped."""
_TURNS = 20
"""Turns of the event loop between two ticks while a file loads. Without them, each of the tasks that forward
a key would wait for a slice of loading, and a key would take 110 ms. Idle, they take 0.3 ms."""
_REPAID_OVER = 8
"""The number of cycles over which time beyond the share is saved: an expensive cycle delays the following
ones a little, instead of only the next one by a tenth of a second."""
_LEAST_SECONDS = 1 / 50
"""Minimum time between two ticks; more frames would not be noticed, but each is written to the terminal."""


class FrameScheduler:
    """Calls `tick` when new data arrives, or when the previous tick requested another one. `tick` returns in
    how many seconds the next is due, None to wait for data. `post` runs a function as a screen's message."""

    def __init__(
        self, tick: Callable[[], float | None], post: Callable[[Callable[[], None]], object]
    ) -> None:
        self._tick = tick
        self._post = post
        self._loop = asyncio.get_running_loop()
        self._next: asyncio.TimerHandle | None = None
        self._earliest = 0.0
        self._is_posted = False
        self._is_stopped = False
        self.share = LIVE_SHARE
        self._used, self._beat_at = time.thread_time(), self._loop.time()
        self._debt = 0.0
        """Seconds of CPU used beyond the share; a pause repays them, so that the next frame is not late."""
        self._wakeup: Wakeup | None = None

    @property
    def is_resting(self) -> bool:
        return self._next is None and not self._is_posted

    def listen(self, wakeup: Wakeup) -> None:
        self._wakeup = wakeup
        self._loop.add_reader(wakeup.fd, self._woken)

    def stop(self) -> None:
        """Stop ticking, also if a tick was posted: the widgets may be removed before its turn."""
        self._is_stopped = True
        if self._wakeup is not None:
            self._loop.remove_reader(self._wakeup.fd)
        if self._next is not None:
            self._next.cancel()

    def within(self, seconds: float) -> None:
        """Tick within `seconds`, but not earlier than the CPU budget allows."""
        due = max(self._loop.time() + seconds, self._earliest)
        if self._next is not None:
            if self._next.when() <= due:
                return
            self._next.cancel()
        self._next = self._loop.call_at(due, self._due)

    def at_once(self) -> None:
        """Tick now regardless of the CPU budget, because the user pressed a key."""
        self._earliest = 0.0
        self.within(0)

    def _woken(self) -> None:
        if self._wakeup is not None:
            self._wakeup.hear()
        self.within(0)

    def _due(self) -> None:
        self._next, self._is_posted = None, True
        self._beat_after(_TURNS if self.share == LOADING_SHARE else 0)

    def _beat_after(self, turns: int) -> None:
        """Post the next tick, after other work has had some turns of the event loop."""
        if turns:
            self._loop.call_soon(self._beat_after, turns - 1)
        else:
            self._post(self._beat)

    def _beat(self) -> None:
        """Tick, and delay the next tick according to the cost of the last cycle, including its drawing."""
        self._is_posted = False
        if self._is_stopped:
            return
        used, now = time.thread_time(), self._loop.time()
        self._debt = max(self._debt + used - self._used - self.share * (now - self._beat_at), 0.0)
        self._used, self._beat_at = used, now
        least = 0.0 if self.share == LOADING_SHARE else _LEAST_SECONDS
        self._earliest = now + max(self._debt / self.share / _REPAID_OVER, least)
        if self._wakeup is not None:
            self._wakeup.ask()
        wait = self._tick()
        if wait is not None:
            self.within(wait)


# The switch that runs the screen on stock Textual: AGENTWATCH_STOCK=1 in the environment.
# All private names of Textual are used in this folder, and none of them with this switch. If a new version
# of Textual breaks one of them, the screen still works with the switch, with these losses:
#
# - Textual's compositor writes every row that a change touches, so a frame costs 3 to 4 times as much.
# - An input byte that is not UTF-8 ends the app, and a terminal that is gone may block the exit.
# - The terminal's title, the bell and desktop notifications are off.


def is_stock() -> bool:
    return os.environ.get("AGENTWATCH_STOCK") == "1"


# Keeps the time to the first frame short: every widget is styled once, and with the styles that it uses, and
# is laid out once for a size. Textual styles a widget when it is mounted, when its screen gets the classes of
# its size, and when its screen is shown. It then computes all component styles of the widget. The panes have
# 22 of them, and use a few. It lays out a screen when it is shown, and again for each of three resizes to the
# same size.


class MainScreen(Screen[None]):
    """A screen with panes. Its compositor and the breakpoint classes for the terminal's size are set at once.

    Textual has no public way to choose the compositor. It sets the classes of HORIZONTAL_BREAKPOINTS and
    VERTICAL_BREAKPOINTS, which `_get_breakpoint_classes` returns, at the first resize, when all widgets are
    styled already, and would style each a second time.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]

    def __init__(self) -> None:
        super().__init__()
        if is_stock():
            return
        from agentwatch.screen.terminal.compositor import PieceCompositor

        self._compositor = PieceCompositor()
        width, height = self.app.size
        wide = self._get_breakpoint_classes(width, self.HORIZONTAL_BREAKPOINTS)
        tall = self._get_breakpoint_classes(height, self.VERTICAL_BREAKPOINTS)
        self.add_class(*wide, *tall, update=False)

    @on(events.Resize)
    def _keep_layout(self, event: events.Resize) -> None:
        """Skip a resize to the size that the screen has: three layouts take 10 ms before the first text."""
        if event.size == self.outer_size:
            event.prevent_default()


def is_styled(node: DOMNode) -> bool:
    """Return whether a node is a screen that is just being shown for the first time: mounting has styled it.
    Textual increments `stack_updates`, styles the screen, and then gives it a size."""
    return isinstance(node, Screen) and not node.is_modal and node.stack_updates == 1 and not node.outer_size


def eager_classes(names: Iterable[str]) -> set[str]:
    """Return the component classes that Textual must compute: none, or all of them on stock Textual."""
    return set(names) if is_stock() else set()


def component_style(widget: Widget, name: str) -> tuple[Style, Style]:
    """Return a component's own style, and its style over that of the widget. The component is a node below
    the widget, as in Textual; `_attach` sets its parent, for which there is no public way but mounting it."""
    if name in widget.COMPONENT_CLASSES:
        return widget.get_component_rich_style(name, partial=True), widget.get_component_rich_style(name)
    component = DOMNode(classes=name)
    component._attach(widget)  # noqa: SLF001 - see the docstring
    widget.app.stylesheet.apply(component)
    return component.styles.partial_rich_style, component.styles.rich_style
