"""Drives the terminal interface of an agent in tmux, with the list of sessions beside it."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.harness.processes import until
from tests.real.agents import Terminal
from tests.real.judge import NO_ROW, Sample
from tests.real.model import ScriptedModel

TERMINAL = ("states in --json", "states on the screen")
_SIGNS = {"!": "asks", "?": "quiet", "›": "your turn", "✓": "succeeded", "✗": "failed", "◌": "unfinished"}
_WORKING = ("model", "tool", "works")
_OVER = ("succeeded", "failed", "cancelled", "unfinished")
_HEADING = re.compile(r"^│ ([A-Z][A-Z ]+[A-Z])  \d")
Rows = Callable[[], list[dict[str, Any]]]


class Tmux:
    """A tmux server with a window for each agent and one for the list."""

    def __init__(self, socket: Path, environment: Mapping[str, str]) -> None:
        self._command = ("tmux", "-S", str(socket), "-f", "/dev/null")
        self._environment = dict(environment)

    def __call__(self, *arguments: str) -> str:
        """Run a command of tmux, and return what it prints."""
        ran = subprocess.run(
            [*self._command, *arguments], env=self._environment, capture_output=True, text=True, check=False
        )
        return ran.stdout

    def open(self, window: str, cwd: Path, *command: str) -> None:
        """Run a command in a new window; one of that name is closed."""
        size = ("-x", "150", "-y", "45")
        if not self("list-sessions"):
            self("new-session", "-d", *size, "-n", "first", "sleep 100000")
            self("set-option", "-g", "remain-on-exit", "on")
        self("kill-window", "-t", window)
        self("new-window", "-d", "-n", window, "-c", str(cwd), *command)

    def text(self, window: str) -> str:
        return self("capture-pane", "-p", "-t", window)

    def keys(self, window: str, *keys: str) -> None:
        self("send-keys", "-t", window, *keys)

    def is_over(self, window: str) -> bool:
        """Return whether the program of a window has ended."""
        return self("display-message", "-p", "-t", window, "#{pane_dead}").strip() != "0"


class Watch(threading.Thread):
    """Takes samples of the states of the sessions in a folder until `close`: in `--json` and on the screen.

    With `names` the samples are of the sessions that are not over, each named in `--json` by a letter, in
    the order in which they appeared: `A your turn, B working?`. A process without a session is `new`.
    """

    def __init__(
        self, agent: str, cwd: Path, tmux: Tmux, rows: Rows, names: dict[str, str] | None = None
    ) -> None:
        super().__init__(daemon=True)
        self.samples: dict[str, list[Sample]] = {view: [] for view in TERMINAL}
        self.log: list[dict[str, Any]] = []
        self.names = names
        self._agent, self._cwd, self._tmux, self._rows = agent, cwd, tmux, rows
        self._closing = threading.Event()
        self._screens = threading.Thread(target=self._look, daemon=True)

    def run(self) -> None:
        """Take the samples of `--json`."""
        watching = f"PYTHONPATH='{ROOT}' exec '{sys.executable}' -m agentwatch ."
        self._tmux.open("list", self._cwd, "sh", "-c", watching)
        self._screens.start()
        while not self._closing.wait(0.4 if self.names is None else 1.5):
            at = time.time()
            found = self._rows()
            self.log.append({"at": at, "rows": found})
            self.samples[TERMINAL[0]].append(Sample(at, row_states(found, self.names)))

    def _look(self) -> None:
        while not self._closing.wait(0.4):
            at = time.time()
            text = self._tmux.text("list")
            self.log.append({"at": at, "screen": text})
            state = screen_state(text, self._agent, self._cwd.name, is_live=self.names is not None)
            self.samples[TERMINAL[1]].append(Sample(at, state))

    def close(self) -> None:
        """End both threads."""
        self._closing.set()
        self.join()
        self._screens.join()


def row_states(rows: list[dict[str, Any]], names: dict[str, str] | None) -> str:
    """Return the states of sessions, as `--json` has them; with `names` of those that are not over."""
    found = []
    for row in sorted(rows, key=lambda row: row["since_ms"] or 0) if names is not None else rows:
        state = row["state"] + ("?" if row["ground"] == "inferred" else "")
        if names is not None:
            name = (
                "new" if row["id"].startswith("pid-") else names.setdefault(row["id"], chr(65 + len(names)))
            )
            if row["state"] in _OVER:
                continue
            state = f"{name} {state}"
        found.append(state)
    return ", ".join(found if names is None else sorted(found)) or NO_ROW


def screen_state(text: str, agent: str, project: str, *, is_live: bool = False) -> str:
    """Return the states of the sessions of an agent in a project, as the screen of the list shows them.

    With `is_live` they are those of the sessions that are not over.
    """
    pattern = re.compile(rf"^│[▐ ](\S+) (\S+).* {re.escape(agent)} +{re.escape(project)}\b")
    found, group = [], ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            group = heading[1]
        elif row := pattern.match(line):
            state = _shown_state(row[1], row[2])
            is_over = group.startswith("ENDED") and state != "unknown"
            if not (is_live and is_over):
                found.append(f"turn {state}" if is_live and state.startswith("failed") else state)
    return ", ".join(sorted(found) if is_live else found) or NO_ROW


def _shown_state(sign: str, word: str) -> str:
    mark = "?" if word.endswith("?") else ""
    if word.removesuffix("?") in _WORKING:
        return "working" + mark
    if sign == "–":
        return "unknown"
    if word.removesuffix("?") == "starts":
        return "starting" + mark
    return _SIGNS.get(sign.removesuffix("?") or "?", f"{sign} {word}") + mark


@dataclass
class Driver:
    """A terminal interface of an agent, in a window of its own."""

    how: Terminal
    program: str
    cwd: Path
    tmux: Tmux
    model: ScriptedModel
    window: str = "agent"

    def shows(self, pattern: str) -> bool:
        return re.search(pattern, self.tmux.text(self.window)) is not None

    def until(self, condition: Callable[[], object], seconds: float, what: str) -> float:
        """Wait for a condition, and return when it was true; AssertionError has the screen."""

        def slowly() -> object:
            time.sleep(0.1)
            return condition()

        until(slowly, seconds, what, lambda: self.tmux.text(self.window))
        return time.time()

    def waits(self, pattern: str, what: str) -> float:
        return self.until(lambda: self.shows(pattern), 60, what)

    def keys(self, *keys: str) -> float:
        self.tmux.keys(self.window, *keys)
        return time.time()

    def open(self, *arguments: str, **variables: str) -> float:
        """Start it, answer the dialogs of its start, and return when it took prompts."""
        words = [*self.how.arguments, *arguments]
        given = [f"{name}={value}" for name, value in variables.items()]
        command = shlex.join(["env", *given, self.program, *words] if given else [self.program, *words])
        self.tmux.open(self.window, self.cwd, f"exec {command}")
        begins = self.waits((arguments and self.how.again) or self.how.ready, "the agent to be ready")
        pressed = 0
        while time.time() < begins + self.how.settles:
            time.sleep(0.5)
            for pattern, *keys in self.how.dialogs:
                if self.shows(pattern):
                    assert (pressed := pressed + 1) < 10, f"the dialog stays:\n{self.tmux.text(self.window)}"
                    begins = self.keys(*keys)
        return begins

    def say(self, text: str) -> float:
        self.keys("-l", text)
        self.waits(re.escape(text), f"the screen to show {text}")
        time.sleep(0.8)  # agents take an Enter that follows at once as a line end of a pasted text
        return self.keys("Enter")

    def leave(self) -> float:
        """End it, and return when it had ended."""
        for _ in range(3 if self.how.keeps else 0):
            self.say(self.how.leave)
            with suppress(AssertionError):
                return self.until(lambda: self.tmux.is_over(self.window), 6, "the end of the agent")
        self.say(self.how.leave)
        return self.until(lambda: self.tmux.is_over(self.window), 20, "the end of the agent")
