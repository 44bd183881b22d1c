"""Which sessions ring when they begin to need the user, and which the user has not looked at since."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from agentwatch.agents.found import Key
from agentwatch.agents.reported import State
from agentwatch.catalog.hiding import key_of, name_of
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import LIVE, Ground
from agentwatch.recording.remembered import Choices
from agentwatch.sources.procfs import stat_of
from agentwatch.text.safe import SafeText, cut, safe_line

_CHOSEN = Choices("rings.json", 500, bool)
_MOST_RUNG = 1000
_BLINK_MS = 500
"""Claude Code is busy or idle for up to 300 ms in the middle of a question. Nobody answers one and
misses the next within this time."""


def is_silenced(key: Key) -> bool:
    """Return whether the user has chosen, in any list, that a session does not ring."""
    return not _CHOSEN.read().get(name_of(key), True)


class Rings:
    """The rings and the marks of the sessions of a machine."""

    def __init__(self, *, by_default: bool, began_ms: int) -> None:
        """Read which sessions the user has chosen to ring, or not to. `by_default` says whether a session
        rings that the user has not chosen. What needed the user before `began_ms`, the start of the list,
        does not ring."""
        self._by_default = by_default
        self._began_ms = began_ms
        self._chosen: dict[str, bool] = {}
        self._unwritten: dict[str, bool] = {}
        """The choices that are not in the file."""
        self.refresh()
        self._known: set[Key] = set()
        """The sessions that were listed before, in any state."""
        self._asking: set[Key] = set()
        """The sessions that need the user now, by their own account."""
        self._rung: dict[Key, int | None] = {}
        """When those began that have rung last."""
        self._ceased: dict[Key, int | None] = {}
        """Since when those that needed the user are in another state."""
        self.begun: list[Row] = []
        """The sessions that have begun to need the user at the last update, also those that do not ring."""
        self.marked: dict[Key, None] = {}
        """The sessions that have begun to need the user, and were not looked at since."""

    def rings(self, key: Key) -> bool:
        """Return whether a session rings when it begins to need the user."""
        return self._chosen.get(name_of(key), self._by_default)

    def is_silenced(self, key: Key) -> bool:
        """Return whether the user has chosen that a session does not ring."""
        return not self._chosen.get(name_of(key), True)

    def toggle(self, key: Key) -> bool:
        """Let a session ring, or stop that; remember it, and return whether it rings now.

        After an OSError the choice holds in this list alone, and the next choice writes it again.
        """
        name, rings = name_of(key), not self.rings(key)
        for choices in (self._chosen, self._unwritten):
            choices[name] = rings

        def change(chosen: dict[str, bool]) -> None:
            for each in self._unwritten:
                chosen.pop(each, None)
            chosen.update(self._unwritten)

        self._chosen = _CHOSEN.change(change)
        self._unwritten = {}
        return rings

    def refresh(self) -> bool:
        """Read the choices, which other lists change too, and return whether any differs from before."""
        before, self._chosen = self._chosen, {**_CHOSEN.read(), **self._unwritten}
        return before != self._chosen

    def update(
        self, changed: Iterable[Row], vanished: Iterable[Key] = (), open_key: Key | None = None
    ) -> list[Row]:
        """Mark the sessions that have begun to need the user, and return those that ring. Only a state that
        an agent reports counts; an inferred one may be wrong. `open_key` is the session that is open on the
        screen; None without one."""
        begun = []
        for row in changed:
            key, standing = row.key, row.standing
            if standing.state is State.ASKS and standing.ground is Ground.SAID and row.parent is None:
                if key not in self._asking and self._is_new(row):
                    begun.append(row)
                self._asking.add(key)
            elif key in self._asking:
                self._asking.discard(key)
                self._ceased[key] = standing.since_ms or 0
            self._known.add(key)
        self._asking.difference_update(vanished := set(vanished))
        self._known -= vanished
        for row in begun:
            self._rung[row.key] = row.standing.since_ms
            if row.key != open_key:
                self.marked[row.key] = None
        for known in (self._rung, self._ceased):
            while len(known) > _MOST_RUNG:
                known.pop(next(iter(known)))
        self.begun = begun
        return [row for row in begun if self.rings(row.key)]

    def look_at(self, key: Key) -> bool:
        """Remove the mark of a session; return whether it had one."""
        return key in self.marked and self.marked.pop(key) is None

    def applied(self, rows: Mapping[Key, Row]) -> Mapping[Key, Row]:
        """Return the rows with their rings and marks. The rings of sessions that have ended are left out."""
        keys = self.marked.keys() & rows.keys()
        if self._by_default:
            chosen = {key_of(name) for name, rings in self._chosen.items() if not rings}
            keys |= chosen & rows.keys()
        else:
            keys |= {key for key, row in rows.items() if row.standing.state in LIVE}
        changed = {
            key: replace(rows[key], rings=self.rings(key), is_marked=key in self.marked) for key in keys
        }
        return {**rows, **changed} if changed else rows

    def _is_new(self, row: Row) -> bool:
        """Return whether a session has begun to need the user now, and not before the list was started."""
        since_ms = row.standing.since_ms
        if since_ms is None:
            return row.key in self._known
        is_blink = 0 <= since_ms - (self._ceased.pop(row.key, None) or 0) < _BLINK_MS
        return since_ms >= self._began_ms and self._rung.get(row.key) != since_ms and not is_blink


# Switches to the pane of tmux in which a session runs.
# Claude Code records its pane as `SESSION:@WINDOW.%PANE`. A session's name contains no `:` and no `.`; the
# ids are numbers.

_SECONDS = 2.0
"""How long tmux may take for a command."""
_SHOWN_COLUMNS = 40
_MOST_PARENTS = 64
_MOST_DIGITS = 9
_FACTS = "#{pane_id} #{pane_pid}"


class Pane(NamedTuple):
    """A pane of tmux."""

    session: str
    pane: str
    """Its id: `%0`."""
    words: SafeText
    """How it is shown: `main:@0.%0`."""


def pane_of(words: str) -> Pane | None:
    """Return the pane that a registry names; None if the text names none."""
    session, _, rest = words.partition(":")
    window, _, pane = rest.partition(".")
    if not session or not _is_id(window, "@") or not _is_id(pane, "%"):
        return None
    return Pane(session, pane, cut(safe_line(words), _SHOWN_COLUMNS))


def go_to_pane(pane: Pane, pid: int | None, environ: Mapping[str, str] = os.environ) -> SafeText:
    """Switch the terminal to a pane, if agentwatch runs in the same tmux. It may take 4 s. The process `pid`,
    None if unknown, must run in the pane: another server of tmux has panes with the same ids. Return why it
    was not switched, in words for the user; empty if it was."""
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
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()
