"""The file `STEM.ship` beside a recording: which session of which engine it is, and how much the engine has.

It is one JSON object: `to`, `session`, `shipped`, `bytes`, `state`, `problem`, `warning`, `at_ms`. It is
advice: the engine's newest piece says what the engine has. An agent may write in the same folder, so the file
is read as foreign data. Its lock (flock(2)) belongs to the process that ships the recording.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from agentwatch.base.files import state_folder
from agentwatch.base.json_fields import Field, values_in, values_of
from agentwatch.recording.store import (
    lock,
    open_folder,
    open_own,
    private_folder,
    read_object,
    sessions_folder,
)
from agentwatch.remote.chunk import LARGEST_NUMBER
from agentwatch.remote.engine import SessionName, parse_session

_BLOCK = 1 << 12
"""The file is filled up with blanks to this size, so that one write of the same size replaces it."""
MOST_TEXT = 200
"""Characters of an address, a problem or a warning. In UTF-8 and JSON all of them fit into a block."""
_FIELDS = (
    *(Field(name, str, MOST_TEXT, "") for name in ("to", "session", "state", "problem", "warning")),
    *(Field(name, int, LARGEST_NUMBER, 0) for name in ("shipped", "bytes", "at_ms")),
)
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class ShipState(StrEnum):
    SHIPPING = "shipping"
    WAITING = "waiting"
    """The engine is away or refuses; it is tried again."""
    DONE = "done"
    """The engine has the whole recording, which has ended."""
    STOPPED = "stopped"
    """The rest is not sent, for a reason that time does not remove."""


class Shipped(NamedTuple):
    to: str
    session: SessionName
    shipped: int = 0
    """The bytes of the recording that the engine has."""
    bytes: int = 0
    state: ShipState = ShipState.SHIPPING
    problem: str = ""
    """The reason why the engine does not have the rest."""
    warning: str = ""
    """A warning about the engine, although it works."""
    at_ms: int = 0
    """The time at which the engine stored the last bytes, in milliseconds since the epoch; 0 for never."""


def read_shipped(path: Path) -> Shipped | None:
    """Return what `STEM.ship` contains; None without such a file of this user."""
    try:
        return _parsed(read_object(open_own(path), _BLOCK))
    except OSError:
        return None


class Sidecar:
    """The file `STEM.ship`, open and locked by the process that ships the recording."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. If that is not possible, nothing is written."""
        self.is_held = False
        """Whether another process ships the recording."""
        self.before: Shipped | None = None
        """The content of the file when it was opened."""
        self._fd = _opened(path)
        if self._fd is None:
            return
        self.is_held = lock(self._fd) is False
        self.before = _parsed(read_object(os.dup(self._fd), _BLOCK))

    def write(self, shipped: Shipped) -> None:
        """Replace what the file contains. A full disk leaves the old content, which is advice only."""
        if self._fd is None or self.is_held:
            return
        values = values_of(_FIELDS, shipped, session=str(shipped.session))
        with suppress(OSError):
            os.pwrite(self._fd, orjson.dumps(values).ljust(_BLOCK - 1) + b"\n", 0)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _opened(path: Path) -> int | None:
    """Return the descriptor of the file; None if it is not a regular file of this user with this one name."""
    try:
        fd = os.open(path, _OPEN, 0o600)
    except OSError:
        return None
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1:
        return fd
    os.close(fd)
    return None


def _parsed(found: dict[str, Any]) -> Shipped | None:
    values = values_in(_FIELDS, found)
    session, state = parse_session(values.pop("session")), values.pop("state")
    if session is None or not values["to"]:
        return None
    return Shipped(
        **values, session=session, state=ShipState(state) if state in [*ShipState] else ShipState.SHIPPING
    )


# `AGENTWATCH_HOME/unsent` has a link for each recording outside of the sessions folder that no engine has
# whole. Its name is made of the path. A link is made and removed in one step, so several processes can do it
# at the same time.

_MOST = 10_000


def is_saved(recording: Path) -> bool:
    """Return whether a recording is in the sessions folder, so that its stem names it."""
    return Path(os.path.realpath(recording)).parent == Path(os.path.realpath(sessions_folder()))


def remember(recording: Path) -> None:
    """Note that a recording is to be published. A home that cannot be written leaves it unnoted."""
    if is_saved(recording):
        return
    with suppress(OSError):  # it is noted already, or cannot be
        private_folder(_folder())
        os.symlink(os.path.abspath(recording), _link(recording))


def forget(recording: Path) -> None:
    """Note that a recording is published, or no longer exists."""
    with suppress(OSError):
        os.unlink(_link(recording))


def unsent() -> list[Path]:
    """Return the recordings that are not stored yet; none if the folder does not exist."""
    try:
        folder = open_folder(_folder())
    except FileNotFoundError:
        return []
    found = []
    try:
        for name in os.listdir(folder)[:_MOST]:
            with suppress(OSError):  # it is not a link, or was removed meanwhile
                path = os.readlink(name, dir_fd=folder)
                if os.path.isabs(path):
                    found.append(Path(path))
    finally:
        os.close(folder)
    return sorted(found)


def _folder() -> Path:
    return state_folder() / "unsent"


def _link(recording: Path) -> Path:
    return _folder() / sha256(os.fsencode(os.path.abspath(recording))).hexdigest()[:32]
