"""Textual's Linux driver, hardened: it accepts any byte as input and survives a terminal that goes away."""

from __future__ import annotations

import asyncio
import os
import select
import time
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from textual import constants, events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.dom import DOMNode
from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread

from agentwatch.recording.times import Wakeup

_READ_BYTES = 1 << 12
_PAIR = 2
_GONE_SECONDS = 0.1
"""The pause after a read without bytes: the terminal is gone, or another process has changed its mode."""


class TolerantWriter(WriterThread):
    """Textual's writer thread, kept alive when the terminal is gone, or later writers would block forever."""

    def run(self) -> None:
        try:
            super().run()
        except OSError:
            while self._queue.get() is not None:
                pass

    def stop(self) -> None:
        """Stop the thread; with two ends, because the flush that follows the first may fail."""
        self._queue.put(None)
        super().stop()


class EscapeParser(XTermParser):
    """Textual's parser of keys; an Escape and a key that follow each other at once are two keys. Textual
    reads them as one key with Alt: `alt+j`, or `/` without the Escape, or the character that a Mac has on
    that key: `™` for Escape and 2. No binding has such a key by default. `keeps_alt` reads them as one key,
    because the user has bound a key with Alt."""

    def __init__(self, keeps_alt: Callable[[], bool]) -> None:
        super().__init__()
        self._keeps_alt = keeps_alt

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        has_sign = len(sequence) == _PAIR and isinstance(ANSI_SEQUENCES_KEYS.get(sequence), str)
        if (alt or has_sign) and not self._keeps_alt():
            yield events.Key("escape", "\x1b")
            alt, sequence = False, sequence[-1:]
        yield from super()._sequence_to_key_events(sequence, alt)


class TolerantDriver(linux_driver.LinuxDriver):
    """Textual's driver, with a loop of its own for the keys. Textual decodes input strictly: a single byte
    0xFF would end the app, with exit code 0. Its loop also wakes ten times a second to see whether the app
    ends, which takes 0.07 % of a core."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._stopping = Wakeup()
        self._stopping.ask()

    def start_application_mode(self) -> None:
        # start_application_mode reads the class of its writer from its module, and has no parameter for it.
        vars(linux_driver)["WriterThread"] = TolerantWriter
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def _sigcont_application(self, *_: object) -> None:
        """Enter application mode after SIGCONT. Textual expects that SIGTSTP came before and ended
        application mode. Without it (`kill -CONT`, `kill -STOP` and `fg`, a terminal that was closed) it
        would start a second thread for the keys; the first would never end, nor would the program. Only what
        is still running is stopped, and in the event loop: a handler that interrupts the queue of the writer
        would wait for its lock for ever."""
        if self._must_signal_resume:
            super()._sigcont_application()
        elif self._is_running():
            asyncio.get_running_loop().call_soon_threadsafe(self._enter_again)

    def _enter_again(self) -> None:
        """Leave application mode and enter it: a shell may have changed the terminal meanwhile."""
        if self._is_running():
            with self.no_automatic_restart():
                self._must_signal_resume = True
                self.suspend_application_mode()
                self.start_application_mode()

    def _is_running(self) -> bool:
        return self._key_thread is not None and self._key_thread.is_alive() and not self.exit_event.is_set()

    def disable_input(self) -> None:
        self._stopping.ring()
        super().disable_input()
        self._stopping.hear()
        self._stopping.ask()

    def run_input_thread(self) -> None:
        """Read keys until the app ends; invalid UTF-8 is replaced. The thread sleeps until a byte comes or
        the input is disabled, and wakes again when an Escape that nothing followed becomes a key."""
        keyboard, stopping = self.fileno, self._stopping.fd
        # The app sets its keymap after the driver has started.
        parser = EscapeParser(lambda: any("alt+" in keys for keys in self._app._keymap.values()))  # noqa: SLF001
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        escape_at: float | None = None
        while True:
            wait = None if escape_at is None else max(escape_at - time.monotonic(), 0)
            ready, _, _ = select.select((keyboard, stopping), (), (), wait)
            if stopping in ready:
                return
            if not ready:
                escape_at = None
            elif data := os.read(keyboard, _READ_BYTES):
                if text := decode(data):  # the parser takes an empty text for the end
                    for event in parser.feed(text):
                        self.process_message(event)
                escape_at = time.monotonic() + constants.ESCAPE_DELAY
            else:
                select.select((stopping,), (), (), _GONE_SECONDS)
            for event in parser.tick():
                self.process_message(event)


# Delivers keys one at a time, so that a key that is typed ahead goes where the previous key moved the
# focus.
# Textual forwards a key to the widget that has the focus when the key arrives. The key that moves the focus
# acts only after it has passed from that widget up to the app. The keys of a burst, such as `/pytest`, are
# all forwarded before that, and none of them reaches the input that `/` opens.
# A pane that was hidden gets its size, and reads its lines, some time after it gets the focus. A key that
# acts on the lines, such as `j`, waits for that.

Typed = events.Key | events.Paste


class KeyQueue:
    """Holds keys and pasted text back until the previous one has passed every widget up to the app. `deliver`
    forwards one key to the widget that has the focus; unhandled keys rise to `app`. `note` is called before a
    key is delivered, with False, and once it is handled, with True."""

    def __init__(
        self, app: App[Any], deliver: Callable[[Typed], Awaitable[None]], note: Callable[[bool], object]
    ) -> None:
        self._app = app
        self._deliver, self._note = deliver, note
        self._waiting: deque[Typed] = deque()
        self._at: DOMNode | None = None
        """The widget that the last key has reached on its way up; None while no key is on its way."""

    async def add(self, typed: Typed) -> None:
        self._waiting.append(typed)
        if self._at is None or not self._at.is_running:
            await self._next()

    async def _next(self, *, is_refreshed: bool = False) -> None:
        """Deliver the next key, and follow it up to the app. Until the screen `is_refreshed` for this key, no
        key is delivered to a widget that has no size yet."""
        self._at = None
        self._note(True)
        if not self._waiting:
            return
        focused = self._app.focused
        if focused is not None and not focused.size and not is_refreshed:
            again = partial(self._next, is_refreshed=True)
            if focused.screen.call_after_refresh(self._app.call_later, again):
                self._at = focused.screen
                return
        self._note(False)
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
