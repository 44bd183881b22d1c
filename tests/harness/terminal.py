"""A terminal to test in: programs on a real pty, what they draw, and what they leave behind.

`session_leader.py` leads the session, as a shell does: it starts the stages of a pipeline as one job in the
foreground, lives on when they end, and tells of each how it ended. So the pty is the controlling
terminal of each, ctrl+z stops them, a closed terminal sends them SIGHUP, and what an ended program
leaves running gets none.
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
ON_AT_FIRST = (7, 25)  # line wrap and the cursor
INHERITED = ("PATH", "HOME", "AGENTWATCH_HOME", "USER", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")
SANE = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "LANG": "C.UTF-8",
    "AGENTWATCH_CONFIG": os.devnull,
}


class Terminal:
    """A program on a pty of its own; to be used in a `with`, which ends all that it started.

    `size` is (columns, rows); `env` adds to a small, sane environment; what is not piped is the
    pty. A thread reads the pty all the time, so that no program waits. `pids` are the stages of
    the job; they share a process group, whose id is the first. A `stage` of None is `argv`.
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
        # Not pty.fork(): with threads about, Python 3.12 warns that it may deadlock.
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
        """Give the terminal another size; the foreground job gets SIGWINCH."""
        self.screen.resize(rows, columns)
        self._text = None
        termios.tcsetwinsize(self._master, (rows, columns))

    def pause_reading(self) -> None:
        """Read no more from the pty, like a terminal that hangs; done when this returns."""
        self._parked.clear()
        self._reads.clear()
        self._parked.wait()

    def resume_reading(self) -> None:
        """Read on."""
        self._reads.set()

    def hang_up(self) -> None:
        """Close the pty, as a closed terminal window does: the foreground job gets SIGHUP."""
        self._closing = True
        self._reads.set()
        self._reader.join()
        if self._master >= 0:
            os.close(self._master)
        self._master = -1

    def close(self) -> None:
        """Kill all that was started here, in whatever session it is, and close the pty."""
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
        """All bytes that were written to the pty."""
        return bytes(self._raw)

    @property
    def screen(self) -> pyte.Screen:
        """The pyte screen, with all that has come drawn on it."""
        if fresh := bytes(self._raw[self._drawn :]):
            self._drawn += len(fresh)
            self._stream.take(fresh)
            self._text = None
        return self._screen

    def line(self, number: int) -> str:
        """Give a row of the screen by its number from 0, or from -1 upwards."""
        return self.screen_text().split("\n")[number]

    def screen_text(self) -> str:
        """Give the rows of the screen, without the blanks at their ends."""
        screen = self.screen
        if self._text is None:
            rows = (screen.buffer[y] for y in range(screen.lines))
            texts = ("".join([row[x].data for x in range(screen.columns)]) for row in rows)
            self._text = "\n".join([text.rstrip() for text in texts])
        return self._text

    def wait_for(self, wanted: str | re.Pattern[str], timeout: float = 10) -> re.Match[str]:
        """Wait until the screen shows `wanted`; fail at once when no more can come."""
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
        """Wait until `check` gives something other than None and False; return it."""
        deadline = time.monotonic() + timeout
        while (got := check()) is None or got is False:
            if time.monotonic() > deadline:
                raise AssertionError(self._picture(f"no {what or 'such state'} in {timeout} s"))
            time.sleep(0.01)
        return got

    def exit_status(self, stage: int | None = None) -> int | None:
        """Give a stage's exit code, or 128 + the signal that ended it; None while it lives."""
        status = self._hear()[self._pid(stage)]
        if status == -1 or os.WIFSTOPPED(status) or os.WIFCONTINUED(status):
            return None
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def wait_exit(self, timeout: float = 10, stage: int | None = None) -> int:
        """Wait for the end of a stage and for its last output; give its `exit_status`."""
        status = self.wait_until(lambda: self.exit_status(stage), timeout, "exit")
        idle, late = self._idle + 2 if self._reads.is_set() else 0, time.monotonic() + 1
        while self._idle < idle and self._reader.is_alive() and time.monotonic() < late:
            time.sleep(0.01)
        return status

    def wait_stopped(self, timeout: float = 10, stage: int | None = None) -> None:
        """Wait until a stage is stopped, as by ctrl+z."""
        self.wait_until(lambda: os.WIFSTOPPED(self._hear()[self._pid(stage)]), timeout, "stop")

    def signal(self, signum: int, stage: int | None = None) -> None:
        """Send a signal to one stage, which has not ended."""
        assert self.exit_status(stage) is None, "it has ended"
        os.kill(self._pid(stage), signum)

    @property
    def alt_screen_active(self) -> bool:
        """Whether the program has gone to the alternate screen and not come back."""
        return self._modes().get(1049, False)

    def leftovers(self) -> list[str]:
        """Name what is not as a terminal starts: modes, kitty keys, settings of the tty."""
        modes, raw = self._modes().items(), self.raw
        left = [f"?{n}{'h' if on else 'l'}" for n, on in modes if on != (n in ON_AT_FIRST)]
        if len(re.findall(rb"\x1b\[>\d+u", raw)) > len(re.findall(rb"\x1b\[<\d*u", raw)):
            left.append("kitty keys")
        if self._master >= 0 and termios.tcgetattr(self._master) != self._tty_at_first:
            left.append("tty")
        return left

    def restored(self) -> bool:
        """Whether the terminal is as the program found it."""
        return not self.leftovers()

    def _modes(self) -> dict[int, bool]:
        """Give the DEC private modes that were set or reset, and whether they are on."""
        found = MODES.findall(self.raw)
        return {int(mode): end == b"h" for modes, end in found for mode in modes.split(b";")}

    def _pid(self, stage: int | None) -> int:
        return self.pids[self._main_stage if stage is None else stage]

    def _picture(self, headline: str) -> str:
        """Give a headline and the screen below it, for a failed test."""
        rows = self.screen_text().rstrip().replace("\n", "\n| ")
        return f"{headline}; stages {self._hear()}, {len(self._raw)} bytes\n| {rows}"

    def _read(self) -> None:
        """Take in what the pty gives, until nobody is left who could write to it."""
        while not self._closing:
            if not self._reads.is_set():
                self._parked.set()
                self._reads.wait()
            elif select.select([self._master], [], [], 0.01)[0]:
                try:
                    data = os.read(self._master, 1 << 16)
                except OSError:  # EIO, the way in which Linux tells the end of a pty.
                    data = b""
                if not data:
                    break
                self._raw += data
            else:
                self._idle += 1
        self._parked.set()

    def _hear(self) -> dict[int, int]:
        """Give each stage's last wait status, -1 before the first, by process id."""
        while select.select([self._link], [], [], 0)[0] and (data := self._link.recv(4096)):
            self._heard += data
        *lines, self._heard = self._heard.split(b"\n")
        for line in lines:
            pid, status = line.split()
            self._status[int(pid)] = int(status)
        return self._status

    def _marked(self) -> list[int]:
        """List the live processes that have this terminal's mark; none where /proc is not."""
        marked = []
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if self._mark.encode() in environ.read_bytes():
                    marked.append(int(environ.parent.name))
        return [pid for pid in marked if pid != self._shell.pid]
