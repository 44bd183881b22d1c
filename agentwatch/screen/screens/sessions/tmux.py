"""Switches to the pane of tmux in which a session runs.

Claude Code records its pane as `SESSION:@WINDOW.%PANE`. A session's name contains no `:` and no `.`; the ids
are numbers.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

from agentwatch.sources.proc import stat_of
from agentwatch.text.safe import SafeText, cut, safe_line

_SECONDS = 2.0
_SHOWN_COLUMNS = 40
_MOST_PARENTS = 64
_MOST_DIGITS = 9
_FACTS = "#{pane_id} #{pane_pid}"


class Pane(NamedTuple):
    session: str
    pane: str
    """The pane's id: `%0`."""
    words: SafeText
    """The pane in words: `main:@0.%0`."""


def pane_of(words: str) -> Pane | None:
    """Return the pane that a registry names; None if the text names none."""
    session, _, rest = words.partition(":")
    window, _, pane = rest.partition(".")
    if not session or not _is_id(window, "@") or not _is_id(pane, "%"):
        return None
    return Pane(session, pane, cut(safe_line(words), _SHOWN_COLUMNS))


def go_to_pane(pane: Pane, pid: int | None, environ: Mapping[str, str] = os.environ) -> SafeText:
    """Switch to a pane in at most 4 s, if agentwatch runs in the same tmux, and return why not, for the user.
    The process `pid` must run in the pane, because panes of another tmux server have the same ids."""
    if not environ.get("TMUX"):
        name = shlex.quote(cut(safe_line(pane.session), _SHOWN_COLUMNS))  # it is copied into a shell
        return SafeText(f"session runs in tmux pane {pane.words}: tmux attach -t {name}")
    found = _tmux("display-message", "-p", "-t", pane.pane, _FACTS)
    shown, _, pane_pid = (found or "").partition(" ")
    if shown != pane.pane:
        return SafeText(f"tmux pane {pane.words} is gone, or tmux does not answer")
    if not _is_at(pane_pid, pid):
        return SafeText(f"the session does not run in this tmux: its pane is {pane.words} of another server")
    at = ("-t", pane.pane)
    switched = _tmux("select-window", *at, ";", "select-pane", *at, ";", "switch-client", *at)
    return SafeText(f"tmux cannot switch to pane {pane.words}" if switched is None else "")


def _is_id(text: str, sign: str) -> bool:
    digits = text[1:]
    return text[:1] == sign and digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS


def _is_at(pane_pid: str, pid: int | None) -> bool:
    """Return whether a process is that of a pane, or runs below it; True if that cannot be known."""
    if pid is None or stat_of(os.getpid()) is None:
        return True
    current = pid
    for _ in range(_MOST_PARENTS):
        if str(current) == pane_pid:
            return True
        stat = stat_of(current)
        if stat is None or stat.parent <= 1:
            return False
        current = stat.parent
    return False


def _tmux(*arguments: str) -> str | None:
    """Run a command of tmux, and return the line that it prints; None if it fails."""
    program = shutil.which("tmux")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()
