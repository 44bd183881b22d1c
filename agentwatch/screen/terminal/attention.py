"""Calls for the attention of a user who looks elsewhere: bell, desktop note, and the terminal's title.

What is written here goes to the terminal past the widgets: it is safe text of one line, and short.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from agentwatch.analysis.away_summary import ended_runs
from agentwatch.config import Config
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.session import Session

_COLUMNS = 80
_BELL = "\x07"
_KEEP_TITLE = "\x1b[22;0t"
_GIVE_TITLE_BACK = "\x1b[23;0t"

_NOTES = {
    **dict.fromkeys(("iterm.app", "warpterminal", "xterm-kitty"), "\x1b]9;agentwatch: {}\x07"),
    **dict.fromkeys(
        ("ghostty", "xterm-ghostty", "wezterm", "foot", "foot-extra", "contour"),
        "\x1b]777;notify;agentwatch;{}\x07",
    ),
    **dict.fromkeys(("rxvt-unicode", "rxvt-unicode-256color"), "\x1b]777;notify;agentwatch;{}\x07"),
}
"""How a note is written to the terminals that are known to show one, by TERM_PROGRAM or TERM."""
_MULTIPLEXERS = ("tmux", "screen")
"""They pass no note on, and may have inherited the name of the terminal around them."""


class Attention:
    """Rings, notes and titles what happens while it is watched.

    Of a recording that was over when it was opened, as that of a replay, only the title tells.
    """

    def __init__(
        self,
        feed: Feed,
        write: Callable[[str], None],
        config: Config,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Look at the session of `feed`; `write` brings a control sequence to the terminal."""
        self._feed = feed
        self._write = write
        self._bell = _BELL if config.bell else ""
        self._note = note_format(environ) if config.note else None
        self._shows_title = config.title and not environ.get("TERM", "").startswith("linux")
        self._is_past = feed.reader.growth.has_ended()
        self._history = feed.reader.growth.size()
        self._ended_runs = 0
        self._was_quiet = False
        self._title = ""
        self.is_watching = False
        """Whether what comes now happens now: the history is read, and the recording still grew."""

    def update(self, words: SafeText, *, is_quiet: bool) -> None:
        """Take how the session stands, once a tick.

        Args:
            words: What is going on, as the status line says it.
            is_quiet: The silence is longer than it should be.
        """
        session = self._feed.session
        ended, is_over = ended_runs(session), session.outcome is not Outcome.RUNNING
        if ended > self._ended_runs and not self._is_past and self._is_new(session):
            outcome = session.runs[ended - 1].outcome if session.runs else session.outcome
            self._call(words if is_over else SafeText(outcome))
        elif is_quiet and not self._was_quiet and not is_over and self.is_watching:
            self._call(words)
        self._ended_runs, self._was_quiet = ended, is_quiet
        self.is_watching = not self._is_past and self._feed.offset >= self._history
        if session.runs:
            self._tell_title("quiet" if is_quiet and not is_over else session.outcome)

    def give_title_back(self) -> None:
        """Let the terminal have the title again that it had; the next look takes it anew."""
        if self._title:
            self._title = ""
            self._write(_GIVE_TITLE_BACK)

    def _is_new(self, session: Session) -> bool:
        """Return whether the last run ended after the recording was opened."""
        line = session.run.ended
        return (
            self.is_watching
            or self._feed.is_over
            or (line is not None and line.offset + line.length >= self._history)
        )

    def _call(self, words: SafeText) -> None:
        note = ""
        if self._note is not None:
            name = _project(self._feed.session)
            told = f"{name}: {words}" if name else words
            note = self._note.format(_sendable(told))
        if self._bell or note:
            self._write(self._bell + note)

    def _tell_title(self, state: str) -> None:
        if not self._shows_title:
            return
        name = _project(self._feed.session)
        title = _sendable(f"agentwatch {state}" + (f" – {name}" if name else ""))
        if title != self._title:
            keep = "" if self._title else _KEEP_TITLE
            self._title = title
            self._write(f"{keep}\x1b]0;{title}\x07")


def note_format(environ: Mapping[str, str]) -> str | None:
    """Return how a desktop note is written to this terminal; None when it is not known to show one."""
    term = environ.get("TERM", "").lower()
    if "TMUX" in environ or term.startswith(_MULTIPLEXERS):
        return None
    return _NOTES.get(environ.get("TERM_PROGRAM", "").lower()) or _NOTES.get(term)


def _project(session: Session) -> str:
    return os.path.basename((session.run.cwd or "").rstrip("/"))


def _sendable(text: str) -> str:
    """Return text that can end or split no control sequence, in what Textual's driver can encode.

    Terminals that look at bytes take 0x9C for the end, and the sign ✓ holds one: such characters give way.
    """
    encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
    shown = cut(safe_line(text[: 2 * _COLUMNS].replace(";", ",")), _COLUMNS)
    ending_none = "".join("?" if b"\x9c" in char.encode() else char for char in shown)
    return ending_none.encode(encoding, "replace").decode(encoding)
