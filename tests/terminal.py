"""A terminal to test in: programs on a real pty, what they draw, and what they leave behind.

`SHELL` leads the session, as a shell does: it starts the stages of a pipeline as one job in the
foreground, lives on when they end, and tells of each how it ended. So the pty is the controlling
terminal of each, ctrl+z stops them, a closed terminal sends them SIGHUP, and what an ended program
leaves running gets none.
"""

import copy
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
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar
from uuid import uuid4

import pyte
from wcwidth import wcwidth

T = TypeVar("T")

SHELL = r"""
import contextlib, fcntl, json, os, signal, sys, termios
link, stages, pids, source = int(sys.argv[1]), json.loads(sys.argv[2]), [], 0
os.set_inheritable(link, False)
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
def hang_up(*_):
    with contextlib.suppress(OSError):
        os.killpg(pids[0], signal.SIGHUP)
signal.signal(signal.SIGHUP, hang_up)
for argv in stages:
    drain, sink = (0, 1) if len(pids) == len(stages) - 1 else os.pipe()
    pid = os.fork()
    group = pids[0] if pids else pid
    with contextlib.suppress(OSError):  # The second of the two who set it may come too late.
        os.setpgid(pid, group)
    if pid == 0:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(2, os.getpgrp())
        for name in "HUP INT QUIT TERM PIPE XFSZ CHLD TSTP TTIN TTOU".split():
            signal.signal(signal.Signals["SIG" + name], signal.SIG_DFL)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        try:
            os.execvp(argv[0], argv)
        except OSError as error:
            os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127)
    for fd in {source, sink} - {0, 1}:
        os.close(fd)
    source = drain
    pids.append(pid)
os.closerange(0, 3)
os.write(link, "".join(f"{pid} -1\n" for pid in pids).encode())
left = len(pids)
while left:
    pid, status = os.waitpid(-1, os.WUNTRACED | os.WCONTINUED)
    left -= os.WIFEXITED(status) or os.WIFSIGNALED(status)
    os.write(link, f"{pid} {status}\n".encode())
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.read(link, 1)
"""

MISREAD = re.compile(
    rb"\x1b\[[<=>][0-?]*[ -/]*[@-~]"  # pyte draws the end of `CSI < u`, takes `CSI > 4 m` as SGR.
    rb"|\x1b\]\d{2,}[^\x07\x1b]*(?:\x07|\x1b\\)"  # It takes OSC 22, a pointer shape, as a title.
    rb"|\x1b[PX^_][^\x1b]*\x1b\\"  # It draws what a DCS or an APC holds.
)
UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[PX^_\]][^\x07\x1b]*\x1b?)?\Z")
MODES = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
ON_AT_FIRST = (7, 25)  # line wrap and the cursor
INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")
SANE = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}


class _Screen(pyte.Screen):
    """A pyte screen with an alternate screen, which pyte has not."""

    _main: tuple[dict[int, Any], pyte.screens.Cursor] | None = None

    def set_mode(self, *modes: int, **kwargs: bool) -> None:
        super().set_mode(*modes, **kwargs)
        if 1049 in modes and kwargs.get("private") and self._main is None:
            self._main = dict(self.buffer), copy.copy(self.cursor)
            self.buffer.clear()

    def reset_mode(self, *modes: int, **kwargs: bool) -> None:
        super().reset_mode(*modes, **kwargs)
        if 1049 in modes and kwargs.get("private") and self._main:
            self.buffer.clear()
            rows, self.cursor = self._main
            self.buffer.update(rows)
            self.ensure_hbounds()
            self.ensure_vbounds()
            self._main = None

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        # pyte drops rows at the top even where the rows below the cursor would do.
        gone = max(0, self.cursor.y + 1 - (lines or self.lines))
        rows, y = {n - gone: row for n, row in self.buffer.items()}, self.cursor.y - gone
        super().resize(lines, columns)
        self.buffer.clear()
        self.buffer.update(rows)
        self.cursor.y = y

    def draw(self, data: str) -> None:
        # pyte drops the rest of a text after a zero-width character, such as U+FE0F.
        super().draw("".join(x for x in data if wcwidth(x) > 0 or unicodedata.combining(x)))


class _Stream(pyte.ByteStream):
    """A pyte stream that passes over what pyte cannot read, as a terminal does."""

    _held = b""

    def take(self, data: bytes) -> None:
        data = self._held + data
        unfinished = UNFINISHED.search(data)
        end = unfinished.start() if unfinished else len(data)
        self._held = data[end:]
        self.feed(MISREAD.sub(b"", data[:end]))

    def _send_to_parser(self, data: str) -> bool | None:
        try:
            return super()._send_to_parser(data)
        except (TypeError, ValueError, LookupError, NameError):
            return True  # Arguments that the screen's method does not take; the parser is reset.


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
        self._screen = _Screen(*size)
        self._stream = _Stream(self._screen)
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
            [sys.executable, "-ISc", SHELL, str(link.fileno()), stages],
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
        fresh = bytes(self._raw[self._drawn :])
        self._drawn += len(fresh)
        self._stream.take(fresh)
        return self._screen

    def line(self, number: int) -> str:
        """Give a row of the screen by its number from 0, or from -1 upwards."""
        return self.screen_text().split("\n")[number]

    def screen_text(self) -> str:
        """Give the rows of the screen, without the blanks at their ends."""
        screen = self.screen
        rows = (screen.buffer[y] for y in range(screen.lines))
        texts = ("".join(row[x].data for x in range(screen.columns)) for row in rows)
        return "\n".join(text.rstrip() for text in texts)

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
