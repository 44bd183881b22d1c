"""Gets the attention of a user who is elsewhere: bell, desktop notification and terminal title.

The sequences bypass the widgets on their way to the terminal, so their texts are short, single lines of safe
text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from agentwatch.analysis.unread_counts import ended_turns
from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.session.events import Outcome
from agentwatch.session.limits import WAITS_FOR_LIMIT
from agentwatch.session.session import Session
from agentwatch.text.paths import last_name
from agentwatch.text.safe import SafeText, cut, safe_line
from agentwatch.text.signs import SIGNS

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
"""The notification sequences of terminals that support one, by TERM_PROGRAM or TERM."""
_MULTIPLEXERS = ("tmux", "screen")
"""Programs that do not forward notifications, and may inherit TERM_PROGRAM from the outer terminal."""
_OUTCOMES = {sign: outcome for outcome, sign in SIGNS.items()}


class Signals:
    def __init__(
        self, write: Callable[[str], None], config: Config, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._write = write
        self._bell = _BELL if config.bell else ""
        self._note = note_format(environ) if config.note else None
        self._shows_title = config.title and not environ.get("TERM", "").startswith("linux")
        self._title = ""

    def alert(self, words: str, *, rings: bool = True, notes: bool = True) -> None:
        note = self._note.format(_sendable(words)) if self._note is not None and notes else ""
        bell = self._bell if rings else ""
        if bell or note:
            self._write(bell + note)

    def set_title(self, words: str) -> None:
        """Set the terminal's title; the first time, the terminal keeps its own."""
        title = _sendable(words)
        if self._shows_title and title != self._title:
            keep = "" if self._title else _KEEP_TITLE
            self._title = title
            self._write(f"{keep}\x1b]0;{title}\x07")

    def give_title_back(self) -> None:
        """Restore the terminal's previous title; the next title that is set replaces it again."""
        if self._title:
            self._title = ""
            self._write(_GIVE_TITLE_BACK)


class Attention:
    """Signals events with bell, notification and title while a session is watched live; for a recording that
    was complete when it was opened, and for its replay, only the title is set."""

    def __init__(
        self,
        feed: Feed,
        write: Callable[[str], None],
        config: Config,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._feed = feed
        self._leave_to = config.leave_to
        self._signals = Signals(write, config, environ)
        self._is_past = feed.reader.growth.has_ended()
        self._history = feed.reader.growth.size()
        self._ended_turns = 0
        self._asked = 0
        self._was_quiet = False
        self._is_denied = False
        """Whether the exit code contradicts the result."""
        self.is_watching = False
        """Whether the recording was still growing, and its history has been read."""

    def update(self, words: SafeText, *, is_quiet: bool, is_paused: bool = False) -> None:
        """Update the title, and alert the user if a turn ended, or the agent asks or is silent; called per
        tick. `is_quiet`: the silence is longer than tolerated. `is_paused`: a rule has paused the agent."""
        session = self._feed.session
        ended, is_over = ended_turns(session), session.outcome is not Outcome.RUNNING
        is_denied = session.outcome is not session.result_outcome
        asked, is_asking = session.questions.count, session.questions.oldest is not None
        if ended > self._ended_turns and not self._is_past and self._is_new(session):
            self._alert(words if is_over else SafeText(_earlier_outcome(session)))
        elif self.is_watching and asked > self._asked and is_asking:
            self._alert(words)
        elif self.is_watching and is_quiet and not self._was_quiet and not is_over:
            self._alert(words, is_quiet=True)
        elif self.is_watching and is_denied and not self._is_denied:
            self._alert(words)  # the exit code came after the result
        self._ended_turns, self._asked, self._was_quiet = ended, asked, is_quiet
        self._is_denied = is_denied
        self.is_watching = not self._is_past and self._feed.offset >= self._history
        if session.runs and (self._feed.is_over or not self._is_past):  # half a recording seems to run
            is_silent = is_quiet and not is_over
            state = "asks" if is_asking else "quiet" if is_silent else session.outcome_words
            state = "limited" if words.startswith(WAITS_FOR_LIMIT) else state
            state = "paused" if is_paused else state
            name = _project(session)
            self._signals.set_title(f"agentwatch {state}" + (f" – {name}" if name else ""))

    def alarm(self, words: SafeText, *, rings: bool, notes: bool) -> None:
        name = _project(self._feed.session)
        self._signals.alert(f"{name}: {words}" if name else words, rings=rings, notes=notes)

    def give_title_back(self) -> None:
        self._signals.give_title_back()

    def _is_new(self, session: Session) -> bool:
        """Return whether the last turn ended after the recording was opened."""
        line = session.run.ended
        return (
            self.is_watching
            or self._feed.is_over
            or (line is not None and line.offset + line.length >= self._history)
        )

    def _alert(self, words: SafeText, *, is_quiet: bool = False) -> None:
        """Alert the user, unless the agent itself alerts. No agent alerts because it is silent."""
        if self._feed.session.agent_name in self._leave_to and not is_quiet:
            return
        name = _project(self._feed.session)
        self._signals.alert(f"{name}: {words}" if name else words)


def note_format(environ: Mapping[str, str]) -> str | None:
    """Return the format of a desktop notification in this terminal; None if none is known."""
    term = environ.get("TERM", "").lower()
    if "TMUX" in environ or term.startswith(_MULTIPLEXERS):
        return None
    return _NOTES.get(environ.get("TERM_PROGRAM", "").lower()) or _NOTES.get(term)


def _earlier_outcome(session: Session) -> str:
    """Return the outcome of the newest turn that is over, while another one is running."""
    if session.run.ended_turns or len(session.runs) < 2:
        return "the turn is over"
    return session.runs[-2].outcome


def _project(session: Session) -> str:
    return last_name(session.run.cwd or "")


def _sendable(text: str) -> str:
    """Return text that cannot end or split a control sequence, in the encoding of Textual's driver. Terminals
    that parse bytes treat 0x9C as the end of a sequence. Characters whose UTF-8 form contains this byte are
    replaced: ✓ by `succeeded`, ✗ by `failed`, others by `?`."""
    encoding = getattr(sys.__stderr__, "encoding", None) or "utf-8"
    shown = cut(safe_line(text[: 2 * _COLUMNS].replace(";", ",")), _COLUMNS)
    safe = "".join(_OUTCOMES.get(char, "?") if b"\x9c" in char.encode() else char for char in shown)
    return safe.encode(encoding, "replace").decode(encoding)
