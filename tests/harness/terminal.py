"""A terminal for tests: programs on a real pty, what they draw, and what they leave behind."""

import os
import re
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeVar

import pyte

from tests.harness.job import Job
from tests.harness.processes import until
from tests.harness.pty_reader import PtyReader
from tests.harness.pyte_screen import Screen, Stream

T = TypeVar("T")
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
        self._screen = Screen(*size)
        self._stream = Stream(self._screen)
        self._text: str | None = None
        """The text of the screen after the bytes that are drawn."""
        self._drawn = 0
        sane = SANE | {name: os.environ[name] for name in INHERITED if name in os.environ}
        self._master, slave = os.openpty()
        termios.tcsetwinsize(slave, size[::-1])
        self._tty_at_first = termios.tcgetattr(slave)
        self.job = Job(
            [stage for stage in (producer, argv, consumer) if stage], slave, sane | dict(env or {}), cwd
        )
        os.close(slave)
        self.reader = PtyReader(self._master)
        self.wait_until(lambda: bool(self.job.pids), what="start of the program")
        self.pids = self.job.pids
        self.pid = self.pids[1 if producer else 0]
        """The process of `argv`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, keys: str | bytes) -> None:
        rest = keys.encode() if isinstance(keys, str) else keys
        while rest:
            rest = rest[os.write(self._master, rest) :]

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal; the foreground job receives SIGWINCH."""
        self.screen.resize(rows, columns)
        self._text = None
        termios.tcsetwinsize(self._master, (rows, columns))

    def hang_up(self) -> None:
        """Close the pty, as a closed terminal window does; the foreground job receives SIGHUP."""
        self.reader.stop()
        if self._master >= 0:
            os.close(self._master)
        self._master = -1

    def close(self) -> None:
        """Kill everything that was started here, in any session, and close the pty."""
        self.job.kill()
        self.hang_up()
        self.job.finish()

    @property
    def raw(self) -> bytes:
        """All bytes written to the pty."""
        return bytes(self.reader.received)

    @property
    def screen(self) -> pyte.Screen:
        """The pyte screen, with all received bytes drawn."""
        if fresh := bytes(self.reader.received[self._drawn :]):
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

    def wait_for(self, wanted: str | re.Pattern[str], timeout: float = 20) -> re.Match[str]:
        """Wait until the screen shows `wanted`; fail at once when no more output can come."""
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, str) else wanted
        what = repr(wanted if isinstance(wanted, str) else wanted.pattern)

        def found() -> re.Match[str] | None:
            over = not self.reader.is_alive
            match = pattern.search(self.screen_text())
            if over and match is None:
                raise AssertionError(f"all ended without {what}\n{self._picture()}")
            return match

        return self.wait_until(found, timeout, what)

    def press(self, keys: str, wanted: str | re.Pattern[str], timeout: float = 20) -> re.Match[str]:
        """Type `keys`, and wait until the screen shows `wanted`."""
        self.send(keys)
        return self.wait_for(wanted, timeout)

    def wait_gone(self, words: str, keys: str = "") -> None:
        """Type `keys`, and wait until the screen does not show `words`."""
        self.send(keys)
        self.wait_until(lambda: words not in self.screen_text(), what=f"a screen without {words!r}")

    def wait_until(self, check: Callable[[], T | None], timeout: float = 20, what: str = "the state") -> T:
        """Wait until `check` returns a true value, and return it; the failure shows the screen."""
        return until(check, timeout, what, self._picture)

    def exit_status(self, stage: int | None = None) -> int | None:
        """Return a stage's exit code, or 128 + the signal that ended it; None while it lives."""
        return self.job.exit_status(self.pid if stage is None else self.pids[stage])

    def wait_exit(self, timeout: float = 20, stage: int | None = None) -> int:
        """Wait for the end of a stage and for its last output; return its `exit_status`."""
        self.wait_until(lambda: self.exit_status(stage) is not None, timeout, "exit")
        self.reader.drain()
        status = self.exit_status(stage)
        assert status is not None
        return status

    def leave(self, keys: str = "q", status: int = 0, timeout: float = 20) -> None:
        """Type `keys`, and check that they end the program with a status and leave the terminal as it was."""
        self.send(keys)
        assert self.wait_exit(timeout) == status
        assert self.restored(), self.leftovers()

    def signal(self, signum: int) -> None:
        """Send a signal to the program, which must not have ended."""
        assert self.exit_status() is None, "it has ended"
        os.kill(self.pid, signum)

    @property
    def alt_screen_active(self) -> bool:
        """Whether the program is on the alternate screen."""
        return modes_of(self.raw).get(1049, False)

    def leftovers(self) -> list[str]:
        """Return what differs from a fresh terminal: modes, kitty keys, tty settings."""
        raw = self.raw
        modes = modes_of(raw).items()
        left = [f"?{n}{'h' if on else 'l'}" for n, on in modes if on != (n in ON_AT_FIRST)]
        if len(re.findall(rb"\x1b\[>\d+u", raw)) > len(re.findall(rb"\x1b\[<\d*u", raw)):
            left.append("kitty keys")
        if self._master >= 0 and termios.tcgetattr(self._master) != self._tty_at_first:
            left.append("tty")
        return left

    def restored(self) -> bool:
        """Return whether the terminal is as the program found it."""
        return not self.leftovers()

    def _picture(self) -> str:
        """Return the screen, for the message of a failed test."""
        rows = self.screen_text().rstrip().replace("\n", "\n| ")
        return f"stages {self.job.statuses()}, {self._drawn} bytes\n| {rows}"


def modes_of(raw: bytes) -> dict[int, bool]:
    """Return the DEC private modes that were set or reset, and whether each is on."""
    found = MODES.findall(raw)
    return {int(mode): end == b"h" for modes, end in found for mode in modes.split(b";")}
