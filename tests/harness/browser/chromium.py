"""Starts a headless Chromium, and speaks the DevTools protocol with it over two pipes.

Chromium reads commands from descriptor 3 and writes answers and events to descriptor 4. Each is a JSON object
that a NUL byte ends. Nothing listens on a port, and no package is needed.
"""

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from agentwatch.base.local_socket import short_folder
from tests.harness.processes import is_ready

SECONDS = 30.0
"""The longest wait for an answer: a busy machine needs some seconds to start a browser."""
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_FLAGS = (
    *(
        "--headless",
        "--remote-debugging-pipe",
        "--no-first-run",
        "--no-default-browser-check",
        "--mute-audio",
    ),
    *("--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-extensions", "--disable-default-apps", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--force-color-profile=srgb", "--host-resolver-rules=MAP * ~NOTFOUND"),
    "--enable-precise-memory-info",
)
_READ_BYTES = 1 << 20


class ProtocolError(Exception):
    """Chromium has refused a command, or has ended."""


def needed() -> str:
    """Return the path of Chromium.

    Without one, the test is skipped, or fails if AGENTWATCH_CHROMIUM is `required`, as it is in CI.
    """
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        if os.environ.get("AGENTWATCH_CHROMIUM") == "required":
            pytest.fail("AGENTWATCH_CHROMIUM is `required`, and there is no Chromium")
        pytest.skip("Chromium is not installed")
    return path


class Chromium:
    """A running browser."""

    def __init__(self, process: subprocess.Popen[bytes], writing: int, reading: int) -> None:
        self._process = process
        self._writing = writing
        self._reading = reading
        self._last_id = 0
        self._pieces: list[bytes] = []
        self._messages: deque[dict[str, Any]] = deque()
        self.events: dict[str, list[dict[str, Any]]] = {}
        """What each page has reported, by its session; that of the browser itself by an empty name."""

    def send(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Send a command to a page or, if no page is named, to the browser, and return its result."""
        self._last_id += 1
        number = self._last_id
        command = {"id": number, "method": method, "params": params}
        if session:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self._writing, data) :]
        late = time.monotonic() + SECONDS
        while True:
            message = self._next(late)
            if message is None:
                raise ProtocolError(f"{method}: no answer")
            if message.get("id") == number:
                if "error" in message:
                    raise ProtocolError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result

    def wait(self, session: str, holds: Callable[[dict[str, Any]], bool], seconds: float = SECONDS) -> bool:
        """Wait for an event of a page for which a condition holds; return whether it came."""
        seen, late = 0, time.monotonic() + seconds
        while True:
            events = self.events.get(session, [])
            if any(map(holds, events[seen:])):
                return True
            seen = len(events)
            if self._next(late) is None:
                return False

    def resident_bytes(self) -> int:
        """Return the memory of all processes of the browser; what some share is counted once."""
        total, waiting = 0, [self._process.pid]
        while waiting:
            pid = waiting.pop()
            with suppress(OSError):
                with open(f"/proc/{pid}/smaps_rollup") as file:
                    total += sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
                with open(f"/proc/{pid}/task/{pid}/children") as file:
                    waiting += map(int, file.read().split())
        return total

    def _next(self, late: float) -> dict[str, Any] | None:
        """Return the next message, which is noted if it is an event; None if none comes in time."""
        while not self._messages:
            ready = is_ready(self._reading, max(late - time.monotonic(), 0))
            data = os.read(self._reading, _READ_BYTES) if ready else b""
            if not data:
                return None
            *whole, rest = data.split(b"\0")
            if whole:
                whole[0] = b"".join((*self._pieces, whole[0]))
                self._pieces = []
                self._messages.extend(map(json.loads, whole))
            self._pieces.append(rest)
        message = self._messages.popleft()
        if "method" in message:
            self.events.setdefault(message.get("sessionId", ""), []).append(message)
        return message


@contextmanager
def started() -> Iterator[Chromium]:
    """Start a browser with a new profile, and stop it at the end."""
    path, flags = needed(), [*_FLAGS]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium refuses to run as root with it
    profile = short_folder()  # Chromium makes a socket in it
    try:
        commands, writing = _pipe()
        reading, answers = _pipe()

        def connect() -> None:
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        process = subprocess.Popen(
            [path, *flags, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": profile, "TMPDIR": profile},
            pass_fds=(3, 4),
            preexec_fn=connect,  # noqa: PLW1509 - takes no lock
            start_new_session=True,
        )
        os.close(commands)
        os.close(answers)
        browser = Chromium(process, writing, reading)
        try:
            yield browser
        finally:
            with suppress(ProtocolError, OSError):
                browser.send("Browser.close")
            os.close(writing)
            os.close(reading)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def _pipe() -> tuple[int, int]:
    """Return the ends of a pipe, with numbers that Chromium does not use."""
    ends = os.pipe()
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in ends]
    for fd in ends:
        os.close(fd)
    return moved[0], moved[1]
