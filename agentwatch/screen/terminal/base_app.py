"""The base of all agentwatch apps: stylesheet, colours, terminating signals and suspending."""

from __future__ import annotations

import asyncio
import codecs
import gc
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from time import monotonic
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.color import Color
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen
from textual.worker import WorkerFailed

from agentwatch.base.config import Config
from agentwatch.base.files import resource, stylesheets
from agentwatch.recording.remembered import remember, remembered
from agentwatch.screen.keys import bindings
from agentwatch.screen.terminal.driver import KeyQueue, TolerantDriver
from agentwatch.screen.terminal.frames import is_stock, is_styled
from agentwatch.screen.terminal.signals import ENDING, PendingSignals
from agentwatch.screen.terminal.themes import ANSI_THEMES, in_256_colours, readable
from agentwatch.text.safe import SafeText, columns, cut_inside, safe_line

# A last line filter, independent of `safe_text`, against control characters and live links.

_LOOKALIKES = {
    "|": "│┃║▏▎▍▌▐▋▊▉▕‖",
    "-": "─━═▁▔⎯–−",
    ".": "╌·",
    "#": "◈▅▆▇█",
    "@": "⊗",
    "<": "◀↵",
    ">": "›▸▶↳",
    "+": "╭╮╰╯┌┐└┘├┤┬┴┼╞╡╪",
    ":": "▂▃▄",
    "v": "✓▾↓",
    "x": "✗×",
    "/": "⊘",
    "o": "◌○",
    "*": "◐●•",
    "~": "…",
    "!": "≠",
    "^": "↑",
}
_ASCII = {sign: ascii for ascii, signs in _LOOKALIKES.items() for sign in signs}


class Guard(LineFilter):
    """Checks each piece of text on its way to the terminal, whichever widget drew it. Text that went through
    `safe_text` passes unchanged; all other text is made safe here. Without colours, every colour is removed.
    If the terminal's encoding is not Unicode, borders and signs become ASCII."""

    def __init__(self, *, no_color: bool, ascii_only: bool = False) -> None:
        super().__init__()
        self._ascii_only = ascii_only
        self._no_color = no_color
        self.has_256_colours = False

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [self._passed(segment) for segment in segments]

    def _passed(self, segment: Segment) -> Segment:
        text, style, _ = segment
        if not (text.isascii() and text.isprintable()):
            # A piece may end within a word: its joiner, which has no width, would be shown by its number.
            text = safe_line(text.strip("\u200c\u200d"))
            if self._ascii_only:
                text = "".join(map(_in_ascii, text))
        if style is not None:
            if style.link:
                style = style.update_link(None)
            if self._no_color:
                style = style.without_color
            elif self.has_256_colours:
                style = in_256_colours(style)
        return Segment(text, style)


def _in_ascii(char: str) -> str:
    """Return an ASCII replacement for a character, of the same width in columns."""
    return char if char.isascii() else _ASCII.get(char, "?" * columns(SafeText(char)))


Result = TypeVar("Result")

_THEME = "theme"
_RESIZED_SECONDS = 0.5
"""How long the size is checked after a resize; by then the burst in which a resize may be lost is over."""
_SIZE_SECONDS = 5.0
"""The interval at which the size is checked without a resize, for terminals without SIGWINCH."""
_AROUND_MESSAGE = 2
"""The columns of a message that hold no text."""
_WARNING_SECONDS = 10.0
_READ_SECONDS = 1.0
"""The least time that an unsolicited warning stays, although the user types."""


class TerminalApp(App[Result], Generic[Result]):
    """Restores the terminal, however it ends. `held` are the signals that arrived before the app runs."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("app")
    CSS_PATH = stylesheets("home", "time_bar", "overlays")
    TITLE = "agentwatch"
    NOTIFICATION_TIMEOUT = 2.0

    def __init__(self, held: PendingSignals, config: Config | None = None, *, no_color: bool) -> None:
        self._held = held
        self.config = config or Config()
        if no_color:
            os.environ["NO_COLOR"] = "1"
        super().__init__()
        self.ended_by: int | None = None
        self.is_leaving = False
        self.fault: Exception | None = None
        self._keys = KeyQueue(self, super().on_event, self._end_message)
        self._message = ""
        """The message that is shown, or was shown last."""
        self._message_until = self._read_until = 0.0
        self._is_message_over = False
        """Whether the message ends once the present key is handled."""
        self._given_theme = self.theme
        """The theme of the settings, or else the default one."""
        self._guard = Guard(no_color=self.no_color, ascii_only=not _is_output_unicode())
        for theme in ANSI_THEMES:
            self.register_theme(theme)
        if self.no_color:
            self.theme = "ansi-dark"  # its contrasts do not depend on colours
        else:
            self._given_theme = self.config.theme or self.theme
            chosen = remembered(_THEME, str)
            self.theme = chosen if chosen in self.available_themes else self._given_theme

    def choose_theme(self, name: str) -> None:
        """Use a theme now and at later starts; the one that they have anyway is not remembered."""
        self.theme = name
        remember(_THEME, None if name == self._given_theme else name, self.notify)

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        return variables if self.current_theme.ansi else readable(variables)

    def get_screen(self, screen: Any, screen_class: Any = None) -> Any:
        """Read the styles of dialogs before the first one is styled, instead of before the first frame."""
        if isinstance(screen, ModalScreen):
            self.read_styles("overlays")
        return super().get_screen(screen, screen_class)

    def read_styles(self, name: str) -> None:
        """Read a style sheet that the first frame does not need; do nothing if it was read before."""
        path = resource("styles") / f"{name}.tcss"
        self.stylesheet.add_source(path.read_text(encoding="utf-8"), (str(path), ""))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._guard]

    def get_driver_class(self) -> type[Driver]:
        chosen = super().get_driver_class()
        return chosen if chosen is not LinuxDriver or is_stock() else TolerantDriver

    def on_mount(self) -> None:
        """Handle the terminating signals; Textual handles none of them and would not restore the terminal.
        Garbage is collected from the first frame on. On a terminal of few colours the default theme is that
        of its own sixteen: in the others red and green would be the same grey there."""
        if not self.is_headless and not self.no_color:
            self._guard.has_256_colours = self.console.color_system == "256"
            is_ansi = any(theme.name == self.theme for theme in ANSI_THEMES)
            if self.console.color_system == "standard" and self.config.theme is None and not is_ansi:
                self.theme = "ansi-dark"
        self.call_after_refresh(self._collect_garbage)
        self.set_keymap(dict(self.config.keys))
        loop = asyncio.get_running_loop()
        for number in ENDING:
            loop.add_signal_handler(number, self._end_by, number)
        if self._held.noted:
            self._end_by(self._held.noted[0])
        self.app_resume_signal.subscribe(self, self._redraw)
        if not self.is_headless:
            self.set_interval(_SIZE_SECONDS, self._check_size)

    def _collect_garbage(self) -> None:
        gc.enable()  # passed as it is, Textual would parse its signature, which takes 2 ms

    def on_resize(self) -> None:
        if not self.is_headless:
            self.set_timer(_RESIZED_SECONDS, self._check_size)

    def update_styles(self, node: DOMNode, animate: bool = True) -> None:
        """Style a node and its descendants, unless they are styled already."""
        if is_stock() or not is_styled(node):
            super().update_styles(node, animate)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a message in the place of the previous one, whose empty holder Textual would leave, on one
        line that keeps its end: a long path must not hide the reason. The next key or click ends it."""
        self._is_message_over, now = False, monotonic()
        if message == self._message and now < self._message_until:
            return  # a held key says it again
        timeout = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self._message, self._message_until, self._read_until = message, now + timeout, 0.0
        if self.size.width:
            message = cut_inside(SafeText(message), self.size.width - _AROUND_MESSAGE)
        self.clear_notifications()
        self.screen.query("ToastHolder").remove()
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def warn(self, words: str) -> None:
        """Show a warning that no key has asked for, for long enough to be read."""
        self.notify(words, severity="warning", timeout=_WARNING_SECONDS, markup=False)
        self._read_until = monotonic() + _READ_SECONDS

    def _end_message(self, is_handled: bool) -> None:
        """End the message of an earlier key once the present key is handled, unless that repeats it."""
        now = monotonic()
        if self._is_message_over and is_handled:
            self._is_message_over, self._message_until = False, 0.0
            self.clear_notifications()
        elif not is_handled and self._read_until <= now < self._message_until:
            self._is_message_over = True

    async def on_event(self, event: events.Event) -> None:
        """Deliver keys and pasted text one at a time, and everything else at once."""
        if isinstance(event, events.MouseDown) and not event.is_forwarded:
            self._end_message(False)
            self._end_message(True)
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._keys.add(event)
        else:
            await super().on_event(event)

    def exit(self, result: Result | None = None, return_code: int = 0, message: object = None) -> None:
        self.is_leaving = True
        super().exit(result, return_code, message)  # type: ignore[arg-type]

    def write_to_terminal(self, sequence: str) -> None:
        """Write a control sequence in order with what is drawn, which no public method of an app does."""
        if self._driver is not None and not self.is_headless and not is_stock():
            self._driver.write(sequence)

    def action_suspend_process(self) -> None:
        """Stop the whole job; if only agentwatch stopped, the shell would wait for the other processes.
        Textual stops its own process alone. Only the driver knows whether it can be suspended."""
        if is_stock():
            super().action_suspend_process()
        elif self._driver is not None and self._driver.can_suspend:
            os.killpg(0, signal.SIGTSTP)

    def _check_size(self) -> None:
        """Apply the terminal's size if a resize was missed. Under load, Textual loses the last of several
        resizes that come within milliseconds: 5 of 72 times. So each resize is followed by a check."""
        size = Size(*shutil.get_terminal_size())
        if self.screen.size != size:
            resized = events.Resize(size, size)
            (self if self.size != size else self.screen).post_message(resized)

    def _redraw(self, _app: App[Result]) -> None:
        self.screen.refresh(layout=True)
        for widget in self.screen.walk_children():
            widget.refresh()

    def _handle_exception(self, error: Exception) -> None:
        """Leave the screen; Textual would print the values of variables, and exit with 0. Textual has no
        public hook for an exception in a handler. `_fatal_error` prints the variables and then calls
        `_close_messages_no_wait`, which alone ends the app here."""
        if isinstance(error, WorkerFailed):
            error = error.error if isinstance(error.error, Exception) else error
        self.fault = self.fault or error
        if self.is_headless or is_stock():
            super()._handle_exception(error)  # so that tests see the exception
        else:
            self._close_messages_no_wait()

    def fail(self, error: Exception) -> None:
        self._handle_exception(error)

    def _end_by(self, number: int) -> None:
        self.ended_by = number
        self.exit(return_code=128 + number)


def _is_output_unicode() -> bool:
    """Return whether stderr, which Textual draws to, is encoded as UTF-8 or another UTF."""
    encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")
