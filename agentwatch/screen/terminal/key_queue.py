"""Delivers keys one at a time, so that a key that is typed ahead goes where the previous key moved the focus.

Textual forwards a key to the widget that has the focus when the key arrives. The key that moves the focus
acts only after it has passed from that widget up to the app. The keys of a burst, such as `/pytest`, are
all forwarded before that, and none of them reaches the input that `/` opens.

A pane that was hidden gets its size, and reads its lines, some time after it gets the focus. A key that acts
on the lines, such as `j`, waits for that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from textual import events
from textual.app import App
from textual.dom import DOMNode

Typed = events.Key | events.Paste


class KeyQueue:
    """Holds keys and pasted text back until the previous one has passed every widget up to the app."""

    def __init__(self, app: App[Any], deliver: Callable[[Typed], Awaitable[None]]) -> None:
        """Create the queue.

        Args:
            app: The app to which all unhandled keys rise.
            deliver: Forwards one key to the widget that has the focus.
        """
        self._app = app
        self._deliver = deliver
        self._waiting: deque[Typed] = deque()
        self._at: DOMNode | None = None
        """The widget that the last key has reached on its way up; None while no key is on its way."""

    async def add(self, typed: Typed) -> None:
        """Deliver a key, now or when all earlier ones have been handled."""
        self._waiting.append(typed)
        if self._at is None or not self._at.is_running:
            await self._next()

    async def _next(self, *, is_refreshed: bool = False) -> None:
        """Deliver the next key that waits, and follow it up to the app.

        Args:
            is_refreshed: Whether the screen was refreshed for this key. Before that, no key is delivered to a
                widget that has no size yet.
        """
        self._at = None
        if not self._waiting:
            return
        focused = self._app.focused
        if focused is not None and not focused.size and not is_refreshed:
            again = partial(self._next, is_refreshed=True)
            if focused.screen.call_after_refresh(self._app.call_later, again):
                self._at = focused.screen
                return
        await self._deliver(self._waiting.popleft())
        self._follow(self._app.focused or self._app.screen)

    def _follow(self, node: DOMNode | None) -> None:
        """Wait until a widget has handled its present messages, with the key; then follow to its parent."""
        while node is not None and node is not self._app:
            self._at = node
            if node.call_later(self._follow, node.parent):
                return
            node = node.parent
        self._at = self._app
        self._app.call_later(self._next)
