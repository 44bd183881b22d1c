"""Pauses the process group of a started agent, and lets it go on."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from agentwatch.recording import now_ms
from agentwatch.sources.started.procfs import stat_of

_SETTLE_SECONDS = 1.0
"""How long a process may take to stop, or to be seen as running again."""
_PS_SECONDS = 2.0
_LOOK_SECONDS = 1.0
"""How often `ps` is asked while the agent is paused, on systems without /proc: it takes 5 ms of CPU."""


class Pausing:
    """Whether an agent is paused, and by which rule.

    Only the agent's own process group is paused. A tool that runs in a group or a session of its own goes on.
    """

    def __init__(
        self,
        agent: int,
        is_running: Callable[[], bool],
        note: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Create the state of an agent that is not paused.

        Args:
            agent: Its process id, which is also the id of its process group.
            is_running: Returns whether it has not ended.
            note: Is called with the id of a process group that was paused, and with 0 when it goes on.
        """
        self.agent = agent
        self.is_attended = True
        """Whether somebody can let the agent go on; if not, it is not paused."""
        self.continued_ms: int | None = None
        """When the agent went on after the last pause, in milliseconds since the epoch."""
        self._rule = ""
        self._is_running, self._note = is_running, note
        self._lock = threading.Lock()
        self._began = self._looked = 0.0

    @property
    def rule(self) -> str:
        """The rule that has paused the agent; empty if it is not paused, or was continued from outside."""
        if self._rule and not self._is_standing():
            self._end()
        return self._rule

    def pause(self, rule: str) -> bool:
        """Stop the agent's process group; return False if it has ended, or if nobody could let it go on."""
        with self._lock:
            if not (self.is_attended and self._is_running() and self._signal(signal.SIGSTOP)):
                return False
            self._began = self._looked = time.monotonic()
            self._rule = rule
            self._note(self.agent)
            return True

    def go_on(self) -> bool:
        """Let a paused agent go on; return whether it was paused."""
        if not self._rule:
            return False
        self._end()
        self._signal(signal.SIGCONT)
        return True

    def _end(self) -> None:
        with self._lock:
            if self._rule:
                self._rule, self.continued_ms = "", now_ms()
                self._note(0)

    def _signal(self, number: signal.Signals) -> bool:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.agent, number)
            return True
        return False

    def _is_standing(self) -> bool:
        """Return whether the agent is still stopped, as far as that can be seen."""
        if not self._is_running():
            return False
        now = time.monotonic()
        if now - self._began < _SETTLE_SECONDS:
            return True
        stat = stat_of(self.agent) if sys.platform == "linux" else None
        if stat is not None:
            return stat.state == "T"
        if now - self._looked < _LOOK_SECONDS:
            return True
        self._looked = now
        return _ps_state(self.agent)[:1] in ("T", "")


def _ps_state(pid: int) -> str:
    """Return the state of a process as `ps` prints it: `T` if stopped; empty if `ps` does not say."""
    import subprocess  # takes 2 ms, and few agents are paused

    command = ("ps", "-o", "state=", "-p", f"{pid}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PS_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
