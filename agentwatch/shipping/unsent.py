"""The recordings outside of the sessions folder that were to be published, and that no engine has whole.

`AGENTWATCH_HOME/unsent` has a link for each of them, whose name is made of the path. A link is made and
removed in one step, so several processes can do it at the same time. Recordings in the sessions folder are
found by their `STEM.ship`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from agentwatch.recording import private_folder, sessions_folder
from agentwatch.recording.store import open_folder
from agentwatch.state_folder import state_folder

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
    """Note that a recording is published, or gone."""
    with suppress(OSError):
        os.unlink(_link(recording))


def unsent() -> list[Path]:
    """Return the recordings that are not stored yet; none if the folder does not exist.

    Raises:
        OSError: The folder cannot be read, or is a link.
    """
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
