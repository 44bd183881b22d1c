"""A terminal for tests: programs on a real pty, what they draw, and what they leave behind.

`session_leader.py` leads the session as a shell does: the pty is the controlling terminal of each stage,
ctrl+z stops them, and a closed terminal sends them SIGHUP, but not to the children of an ended program.
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar
from uuid import uuid4

import pyte

from tests.harness.pyte_screen import Screen, Stream

T = TypeVar("T")
LEADER = Path(__file__).with_name("session_leader.py")

MODES = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
ON_AT_FIRST = (7, 25)  # line wrap and the cursor are on
INHERITED = ("PATH", "HOME", "AGENTWATCH_HOME", "USER", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")
SANE = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "LANG": "C.UTF-8",
    "AGENTWATCH_CONFIG": os.devnull,
}


class Terminal:
    """A program on its own pty; use it in a `with`, which kills everything that it started.

    `size` is (columns, rows). `env` is added to a small, sane environment. Streams that are not piped are
    connected to the pty. A thread reads the pty all the time, so that no program blocks on it. `pids` are the
    stages of the job; they share a process group, whose id is the first pid. A `stage` of None is `argv`.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        producer: Sequence[str] = (),
        consumer: Sequence[str] = (),
        size: tuple[int, int] = (80, 24),
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
    ) -> None:
        """Run `argv`, or `producer | argv | consumer`."""
        self._main_stage = 1 if producer else 0
        self._screen = Screen(*size)
        self._stream = Stream(self._screen)
        self._text: str | None = None
        """The text of the screen after the bytes that are drawn."""
        self._raw, self._drawn, self._idle = bytearray(), 0, 0
        self._reads, self._parked, self._closing = threading.Event(), threading.Event(), False
        self._status: dict[int, int] = {}
        self._heard = b""
        self._mark = uuid4().hex
        sane = SANE | {name: os.environ[name] for name in INHERITED if name in os.environ}
        stages = json.dumps([list(stage) for stage in (producer, argv, consumer) if stage])
        self._master, slave = os.openpty()
        termios.tcsetwinsize(slave, size[::-1])
        self._tty_at_first = termios.tcgetattr(slave)
        self._link, link = socket.socketpair()
        # Not pty.fork(): in a process with threads, Python 3.12 warns that it may deadlock.
        self._shell = subprocess.Popen(
            [sys.executable, "-IS", str(LEADER), str(link.fileno()), stages],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            pass_fds=[link.fileno()],
            env=sane | dict(env or {}) | {"TEST_TERMINAL": self._mark},
            cwd=cwd,
            start_new_session=True,
        )
        link.close()
        os.close(slave)
        self._reads.set()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.wait_until(lambda: bool(self._hear()), what="start of the program")
        self.pids = list(self._status)

    @classmethod
    def pipeline(
        cls,
        producer: Sequence[str],
        argv: Sequence[str],
        consumer: Sequence[str] = (),
        *,
        size: tuple[int, int] = (80, 24),
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
    ) -> Self:
        """Run `producer | argv | consumer`."""
        return cls(argv, producer=producer, consumer=consumer, size=size, env=env, cwd=cwd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, keys: str | bytes) -> None:
        """Type `keys`."""
        rest = keys.encode() if isinstance(keys, str) else keys
        while rest:
            rest = rest[os.write(self._master, rest) :]

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal; the foreground job receives SIGWINCH."""
        self.screen.resize(rows, columns)
        self._text = None
        termios.tcsetwinsize(self._master, (rows, columns))

    def pause_reading(self) -> None:
        """Stop reading the pty, like a terminal that hangs; returns once the reader has stopped."""
        self._parked.clear()
        self._reads.clear()
        self._parked.wait()

    def resume_reading(self) -> None:
        """Read the pty again."""
        self._reads.set()

    def hang_up(self) -> None:
        """Close the pty, as a closed terminal window does; the foreground job receives SIGHUP."""
        self._closing = True
        self._reads.set()
        self._reader.join()
        if self._master >= 0:
            os.close(self._master)
        self._master = -1

    def close(self) -> None:
        """Kill everything that was started here, in any session, and close the pty."""
        while marked := self._marked():
            for pid in marked:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if any(self.exit_status(stage) is None for stage in range(len(self.pids))):
            with suppress(ProcessLookupError):
                os.killpg(self.pids[0], signal.SIGKILL)
        self.hang_up()
        self._link.shutdown(socket.SHUT_WR)
        self._shell.wait(10)
        self._link.close()

    @property
    def raw(self) -> bytes:
        """All bytes written to the pty."""
        return bytes(self._raw)

    @property
    def screen(self) -> pyte.Screen:
        """The pyte screen, with all received bytes drawn."""
        if fresh := bytes(self._raw[self._drawn :]):
            self._drawn += len(fresh)
            self._stream.take(fresh)
            self._text = None
        return self._screen

    def line(self, number: int) -> str:
        """Return a row of the screen, counted from 0, or from the bottom with negative numbers."""
        return self.screen_text().split("\n")[number]

    def screen_text(self) -> str:
        """Return the rows of the screen without trailing blanks."""
        screen = self.screen
        if self._text is None:
            rows = (screen.buffer[y] for y in range(screen.lines))
            texts = ("".join([row[x].data for x in range(screen.columns)]) for row in rows)
            self._text = "\n".join([text.rstrip() for text in texts])
        return self._text

    def wait_for(self, wanted: str | re.Pattern[str], timeout: float = 10) -> re.Match[str]:
        """Wait until the screen shows `wanted`; fail at once when no more output can come."""
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
        what = repr(wanted if isinstance(wanted, str) else wanted.pattern)

        def found() -> re.Match[str] | None:
            over = not self._reader.is_alive()
            match = pattern.search(self.screen_text())
            if over and match is None:
                raise AssertionError(self._picture(f"all ended without {what}"))
            return match

        return self.wait_until(found, timeout, what)

    def wait_until(self, check: Callable[[], T | None], timeout: float = 10, what: str = "") -> T:
        """Wait until `check` returns something other than None and False, and return it."""
        deadline = time.monotonic() + timeout
        while (got := check()) is None or got is False:
            if time.monotonic() > deadline:
                raise AssertionError(self._picture(f"no {what or 'such state'} in {timeout} s"))
            time.sleep(0.01)
        return got

    def exit_status(self, stage: int | None = None) -> int | None:
        """Return a stage's exit code, or 128 + the signal that ended it; None while it lives."""
        status = self._hear()[self._pid(stage)]
        if status == -1 or os.WIFSTOPPED(status) or os.WIFCONTINUED(status):
            return None
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def wait_exit(self, timeout: float = 10, stage: int | None = None) -> int:
        """Wait for the end of a stage and for its last output; return its `exit_status`."""
        status = self.wait_until(lambda: self.exit_status(stage), timeout, "exit")
        idle, late = self._idle + 2 if self._reads.is_set() else 0, time.monotonic() + 1
        while self._idle < idle and self._reader.is_alive() and time.monotonic() < late:
            time.sleep(0.01)
        return status

    def wait_stopped(self, timeout: float = 10, stage: int | None = None) -> None:
        """Wait until a stage is stopped, as by ctrl+z."""
        self.wait_until(lambda: os.WIFSTOPPED(self._hear()[self._pid(stage)]), timeout, "stop")

    def signal(self, signum: int, stage: int | None = None) -> None:
        """Send a signal to one stage, which must not have ended."""
        assert self.exit_status(stage) is None, "it has ended"
        os.kill(self._pid(stage), signum)

    @property
    def alt_screen_active(self) -> bool:
        """Whether the program is on the alternate screen."""
        return self._modes().get(1049, False)

    def leftovers(self) -> list[str]:
        """Return what differs from a fresh terminal: modes, kitty keys, tty settings."""
        modes, raw = self._modes().items(), self.raw
        left = [f"?{n}{'h' if on else 'l'}" for n, on in modes if on != (n in ON_AT_FIRST)]
        if len(re.findall(rb"\x1b\[>\d+u", raw)) > len(re.findall(rb"\x1b\[<\d*u", raw)):
            left.append("kitty keys")
        if self._master >= 0 and termios.tcgetattr(self._master) != self._tty_at_first:
            left.append("tty")
        return left

    def restored(self) -> bool:
        """Return whether the terminal is as the program found it."""
        return not self.leftovers()

    def _modes(self) -> dict[int, bool]:
        """Return the DEC private modes that were set or reset, and whether each is on."""
        found = MODES.findall(self.raw)
        return {int(mode): end == b"h" for modes, end in found for mode in modes.split(b";")}

    def _pid(self, stage: int | None) -> int:
        return self.pids[self._main_stage if stage is None else stage]

    def _picture(self, headline: str) -> str:
        """Return a headline with the screen below it, for the message of a failed test."""
        rows = self.screen_text().rstrip().replace("\n", "\n| ")
        return f"{headline}; stages {self._hear()}, {len(self._raw)} bytes\n| {rows}"

    def _read(self) -> None:
        """Read the pty until no process is left that could write to it."""
        while not self._closing:
            if not self._reads.is_set():
                self._parked.set()
                self._reads.wait()
            elif select.select([self._master], [], [], 0.01)[0]:
                try:
                    data = os.read(self._master, 1 << 16)
                except OSError:  # EIO, by which Linux reports the end of a pty
                    data = b""
                if not data:
                    break
                self._raw += data
            else:
                self._idle += 1
        self._parked.set()

    def _hear(self) -> dict[int, int]:
        """Return the last wait status of each stage by process id, -1 before the first."""
        while select.select([self._link], [], [], 0)[0] and (data := self._link.recv(4096)):
            self._heard += data
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            pid, status = line.split()
            self._status[int(pid)] = int(status)
        return self._status

    def _marked(self) -> list[int]:
        """Return the live processes with this terminal's mark; an empty list without /proc."""
        marked = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if self._mark.encode() in environ.read_bytes():
                    marked.append(int(environ.parent.name))
        return [pid for pid in marked if pid != self._shell.pid]
