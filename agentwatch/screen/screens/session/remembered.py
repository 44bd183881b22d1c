"""What the screen remembers from one start to the next: what the user has chosen to show, hide or hear.

It is kept in small files beside the folder of saved sessions. Without a file, everything has its default; so
a file that cannot be read or written is ignored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agentwatch.recording.store import create_file, sessions_folder

_SCREEN = "screen.json"
_MOST_BYTES = 4096


def remembered(part: str) -> bool | None:
    """Return whether the user shows a part of the screen; None if the user has not chosen."""
    return read_choices(_SCREEN, _MOST_BYTES).get(part)


def remember(part: str, *, shown: bool) -> None:
    """Remember whether a part of the screen is shown."""
    write_choices(_SCREEN, read_choices(_SCREEN, _MOST_BYTES) | {part: shown})


def read_choices(name: str, most_bytes: int) -> dict[str, bool]:
    """Return the choices in a file; none if it cannot be read.

    Args:
        name: The name of the file.
        most_bytes: A larger file counts as damaged.
    """
    try:
        fd = os.open(_path(name), os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
        with open(fd, "rb") as file:
            found = json.loads(file.read(most_bytes))
    except (OSError, ValueError, RecursionError):
        return {}
    known = found.items() if isinstance(found, dict) else ()
    return {part: chosen for part, chosen in known if isinstance(chosen, bool)}


def write_choices(name: str, choices: Mapping[str, bool]) -> None:
    """Replace a file of choices as a whole."""
    path = _path(name)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(create_file(new), "w", encoding="utf-8") as file:
            json.dump(choices, file)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()


def _path(name: str) -> Path:
    return sessions_folder().parent / name
