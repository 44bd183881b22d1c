"""What is remembered from one start to the next: what the user has chosen to show, hide, hear or archive.

It is kept in small files beside the folder of saved sessions. Without a file, everything has its default; so
a file that cannot be read or written is ignored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from agentwatch.recording.store import create_file, sessions_folder

Choice = TypeVar("Choice", bool, str, int)
_SCREEN = "screen.json"
_MOST_BYTES = 4096


def remembered(part: str, kind: type[Choice]) -> Choice | None:
    """Return what the user has chosen for a part of the screen.

    Args:
        part: The part, such as `actions`, `sort` or `theme`.
        kind: The type of the choice.

    Returns:
        The choice; None if the user has not chosen.
    """
    return read_choices(_SCREEN, _MOST_BYTES, kind).get(part)


def remember(part: str, choice: bool | str | None) -> None:
    """Remember what the user has chosen for a part of the screen; None forgets it."""
    kept: dict[str, bool | str] = {**read_choices(_SCREEN, _MOST_BYTES, str)}
    kept |= read_choices(_SCREEN, _MOST_BYTES, bool)
    kept.pop(part, None)
    write_choices(_SCREEN, kept if choice is None else kept | {part: choice})


def read_choices(name: str, most_bytes: int, kind: type[Choice]) -> dict[str, Choice]:
    """Return the choices of a type in a file; none if it cannot be read.

    Args:
        name: The name of the file.
        most_bytes: A larger file counts as damaged.
        kind: The type of the choices.
    """
    try:
        fd = os.open(choices_path(name), os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
        with open(fd, "rb") as file:
            found = json.loads(file.read(most_bytes))
    except (OSError, ValueError, RecursionError):
        return {}
    known = found.items() if isinstance(found, dict) else ()
    return {part: chosen for part, chosen in known if type(chosen) is kind}


def write_choices(name: str, choices: Mapping[str, bool | str | int]) -> None:
    """Replace a file of choices as a whole."""
    path = choices_path(name)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(create_file(new), "w", encoding="utf-8") as file:
            json.dump(choices, file)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()


def choices_path(name: str) -> Path:
    """Return the path of a file of choices, which may not exist."""
    return sessions_folder().parent / name
