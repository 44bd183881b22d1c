"""The session that `run` publishes: its target, its process, and the wait for its end. Light to import."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import agentwatch
from agentwatch.base.config import EngineSettings
from agentwatch.base.credentials import PREFIX, credentials
from agentwatch.base.faults import USAGE, Fault
from agentwatch.recording.saved_sessions import is_stem
from agentwatch.recording.store import SessionFiles
from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login, new_session, publisher_of, unnamed
from agentwatch.remote.login import settings_of
from agentwatch.remote.publish.sidecar import Shipped, ShipState, Sidecar, is_saved, read_shipped, remember
from agentwatch.text.amounts import byte_size

PLAINTEXT = "plaintext"
"""The word for a connection without TLS, among the arguments of a process."""
_FILES = ("CREDENTIALS", "CA")
"""The variables that name files."""


class Given(NamedTuple):
    """The options of the command line about an engine, beside its address."""

    publisher: str = ""
    credentials: Path | None = None
    ca: Path | None = None
    plaintext: bool = False


class Target(NamedTuple):
    """An engine to which recordings are shipped."""

    login: Login
    publisher: str
    environ: Mapping[str, str]
    """The environment of a process that ships to it, which names the files of the login by full paths."""


def target_of(
    words: str, engines: Mapping[str, EngineSettings], environ: Mapping[str, str], given: Given
) -> Target:
    """Return where recordings are shipped to, by `given` or else by the settings; nothing is connected.
    `words` are an address, or the name of an engine in the settings. Raise `Fault` for an unknown name or a
    wrong value."""
    settings = settings_of(words, engines)
    address, session = parse_engine(words if settings is None else settings.address)
    if session:
        raise Fault(f"{words}: to publish, name the engine without a session: {address}", USAGE)
    settings = settings or EngineSettings(str(address))
    files = (given.credentials or settings.credentials, given.ca or settings.ca)
    named = {f"{PREFIX}{name}": str(file) for name, file in zip(_FILES, files, strict=True) if file}
    whole = {**environ, **named}
    for name in _FILES:
        if path := whole.get(f"{PREFIX}{name}"):
            whole[f"{PREFIX}{name}"] = os.path.abspath(path)
    login = Login(address, credentials(whole), given.plaintext or settings.plaintext)
    name = given.publisher or settings.publisher or address.user or login.credentials.user
    return Target(login, publisher_of(name or os.uname().nodename), whole)


_START = (
    "import sys; sys.path[0] = sys.argv.pop(1); from agentwatch.remote.publish.process import main; "
    "main(sys.argv[1:])"
)
"""The first entry of the path is the present folder, which is `/`."""


def start_shipping(recording: Path, target: Target) -> int:
    login = target.login
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", _START, str(Path(agentwatch.__file__).parent.parent)),
            *(str(login.address), target.publisher, PLAINTEXT if login.allows_plaintext else "tls"),
            os.path.abspath(recording),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=dict(target.environ),
        start_new_session=True,
    )
    process.returncode = 0  # it is to outlive us, which a Popen would warn of
    return process.pid


def is_running(child: int) -> bool:
    """Return whether a child process of ours runs; it is reaped if it does not."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == 0
    except ChildProcessError:  # it was reaped before
        return False


_READ_SECONDS = 1.0
"""The time between two readings of `STEM.ship` while a screen shows it."""
_POLL_SECONDS = 0.05
_OVER = (ShipState.DONE, ShipState.STOPPED)
_NOTHING = Given()
_LAG_BYTES = 100_000
"""Less than this is on its way, and no news."""


class Publication:
    """Publishes one session, in a process of its own."""

    def __init__(self, target: Target, wait_seconds: float, given: Given = _NOTHING) -> None:
        self.engine = target.login.address
        self.host = self.engine.host
        self._target = target
        self._wait_seconds = wait_seconds
        self._given = given
        self._recording: Path | None = None
        self._shipper = 0
        """The process that ships; 0 if none runs."""
        self._left: Shipped | None = None
        """The bytes that the engine had when the process ended early; another process may continue."""
        self._read_due = 0.0
        self._forms: tuple[str, ...] = ()

    def start(self, recording: Path) -> None:
        """Register a new recording, so that it can be shipped later in any case, and start the process."""
        self._recording = recording
        remember(recording)
        sidecar = Sidecar(SessionFiles(recording).shipped)  # one that lies there is of an earlier recording
        sidecar.write(Shipped(str(self._target.login.address), new_session(self._target.publisher)))
        sidecar.close()
        self._shipper = start_shipping(recording, self._target)

    def forms(self) -> tuple[str, ...]:
        """Return words for the header, the longest form first: the place of publication and the progress."""
        now = time.monotonic()
        if now >= self._read_due:
            self._read_due = now + _READ_SECONDS
            place, lag = f"⇡ {self.host}", self._lag()
            self._forms = (f"{place} · {lag}", f"⇡ {lag}", "⇡!") if lag else (place, "⇡")
        return self._forms

    @property
    def has_trouble(self) -> bool:
        return len(self._forms) > 2

    def wait(self, most: float = float("inf")) -> bool:
        """Wait until the engine has everything, at most `most` seconds; return whether it has."""
        deadline = time.monotonic() + min(self._wait_seconds, most)
        while not self._is_over():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        shipped = self._shipped()
        return shipped is not None and shipped.state is ShipState.DONE

    def unsent(self) -> str:
        """Return in one line what the engine does not have, and how to send it."""
        shipped, recording = self._shipped(), self._recording
        if recording is None:
            return ""
        why = shipped.problem if shipped is not None and shipped.problem else ""
        if not recording.exists():
            return f"not published: {why or 'the recording was deleted'}"
        left = self._size() - (0 if shipped is None else shipped.shipped)
        what = byte_size(left) if left > 0 else "the end of the recording"
        yet = "" if shipped is not None and shipped.state is ShipState.STOPPED else " yet"
        return f"not published{yet}: {what}{f' ({why})' if why else ''}; run: {self.command()}"

    def command(self) -> str:
        """Return the command that ships the rest, wherever it is run, with what this one was given."""
        recording, given, target = self._recording, self._given, self._target
        assert recording is not None
        is_short = is_saved(recording) and is_stem(recording.stem)
        words = ["agentwatch", "engine", "ship", recording.stem if is_short else os.path.abspath(recording)]
        if self._shipped() is None:  # nothing beside the recording says where it is shipped to
            words += ["--to", str(target.login.address), "--publish-as", target.publisher]
        for option, file in (("--credentials", given.credentials), ("--publish-ca", given.ca)):
            words += [option, os.path.abspath(file)] if file else []
        return shlex.join([*words, *(["--publish-plaintext"] if given.plaintext else [])])

    def warning(self) -> str:
        """Return what the user should know about the engine, although it works; empty if nothing."""
        shipped = self._shipped()
        return "" if shipped is None else shipped.warning

    def _lag(self) -> str:
        shipped = self._shipped()
        is_over = shipped is not None and shipped.state in _OVER
        if not is_over and self._has_exited():
            self._left = self._left or shipped
            if shipped == self._left:
                return "not publishing"
        if shipped is None:
            return ""
        if shipped.problem:
            return unnamed(shipped.to, shipped.problem)
        left = self._size() - shipped.shipped
        return f"{byte_size(left)} behind" if left >= _LAG_BYTES else ""

    def _is_over(self) -> bool:
        shipped = self._shipped()
        is_over = shipped is not None and shipped.state in _OVER
        return is_over or self._has_exited()

    def _has_exited(self) -> bool:
        if self._shipper and not is_running(self._shipper):
            self._shipper = 0
        return not self._shipper

    def _shipped(self) -> Shipped | None:
        return None if self._recording is None else read_shipped(SessionFiles(self._recording).shipped)

    def _size(self) -> int:
        with suppress(OSError):
            return 0 if self._recording is None else os.stat(self._recording).st_size
        return 0
