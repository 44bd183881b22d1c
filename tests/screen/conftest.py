"""What every test of the screen starts from: times of day in UTC, no animation, and messages that stay."""

import asyncio
import time
from collections.abc import Iterator
from functools import cache
from math import inf
from typing import Any

import pytest
from textual._context import active_app
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen
from textual.timer import Timer

_parse = Stylesheet._parse_rules
_MOST_TURNS = 100


@cache
def _parsed(variables: frozenset[tuple[str, str]], css: str, *named: tuple[str, Any]) -> list[RuleSet]:
    return _parse(Stylesheet(variables=dict(variables)), css, **dict(named))


@pytest.fixture(autouse=True)
def styles_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse each style sheet once for each theme, not once for each app: that took 20 % of the CPU time."""

    def parse(sheet: Stylesheet, css: str, **named: Any) -> list[RuleSet]:
        return _parsed(frozenset(sheet._variables.items()), css, *named.items())

    monkeypatch.setattr(Stylesheet, "_parse_rules", parse)


def _has_changes(screen: Screen[Any]) -> bool:
    """Return whether a screen has to lay out or draw something."""
    timer: Timer | None = screen._update_timer
    is_due = timer is not None and timer._active.is_set()
    return is_due or screen._layout_required or screen._repaint_required or bool(screen._dirty_widgets)


async def _idle(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until an app has handled its messages, drawn its changes, and met each timer of the next 10 ms.

    A screen draws its changes at the next beat of a timer of 1/60 s: here it draws them at once. An app that
    goes on working, as one that loads a file, is left after some turns of the loop and 0.1 s of CPU time.
    """
    loop, app = asyncio.get_running_loop(), active_app.get()
    began, most, turns = loop.time(), time.process_time() + 0.1, 0
    while turns < _MOST_TURNS or time.process_time() < most:
        turns += 1
        await asyncio.sleep(0)
        if loop._ready:  # type: ignore[attr-defined]
            continue
        screen = app.screen_stack[-1] if app._running and app.screen_stack and not app._batch_count else None
        if screen is not None and _has_changes(screen):
            screen._on_timer_update()
            if loop._ready or not _has_changes(screen):  # type: ignore[attr-defined]
                continue
        timers = [each.when() for each in loop._scheduled if not each.cancelled()]  # type: ignore[attr-defined]
        if (due := min(timers, default=inf)) > began + 0.01:
            return
        await asyncio.sleep(due - loop.time())


@pytest.fixture(autouse=True)
def a_pilot_waits_for_what_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a pilot wait for the messages of an app, not for 20 ms: it waits twice for each key."""
    monkeypatch.setattr("textual.app.wait_for_idle", _idle)
    monkeypatch.setattr("textual.pilot.wait_for_idle", _idle)


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use UTC for times of day, switch off animations, and keep messages longer than a slow machine draws."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    for app in ("textual.app.App", "agentwatch.screen.terminal.base_app.TerminalApp"):
        monkeypatch.setattr(f"{app}.NOTIFICATION_TIMEOUT", 60.0)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
