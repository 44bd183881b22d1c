"""What the screen remembers from one start to the next: which parts of it the user shows or hides.

It is kept in `screen.json` beside the folder of saved sessions. Without it, everything has its default; so
a file that cannot be read or written is ignored.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from agentwatch.recording import create_file, sessions_folder

_MOST_BYTES = 4096


def remembered(part: str) -> bool | None:
    """Return whether the user shows a part of the screen; None if the user has not chosen."""
    return _read().get(part)


def remember(part: str, *, shown: bool) -> None:
    """Remember whether a part of the screen is shown; the file is replaced as a whole."""
    path = _path()
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(create_file(new), "w", encoding="utf-8") as file:
            json.dump(_read() | {part: shown}, file)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()


def _read() -> dict[str, bool]:
    try:
        fd = os.open(_path(), os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
        with open(fd, "rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    known = found.items() if isinstance(found, dict) else ()
    return {part: shown for part, shown in known if isinstance(shown, bool)}


def _path() -> Path:
    return sessions_folder().parent / "screen.json"
