"""Finds whose recording it is: the home folder and the name of the user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from agentwatch.redaction.personal import Personal

_NAME = rb"([A-Za-z0-9][A-Za-z0-9._-]{0,63})"
_FOLDER = re.compile(rb"(/home/|/Users/|[A-Za-z]:(?:\\{1,8}|/)Users(?:\\{1,8}|/))" + _NAME)
_CWD = re.compile(
    rb'"(?:cwd|directory|worktree|working_?[dD]irectory|workspace)\\{0,6}": ?\\{0,6}"([^"]{1,512})"'
)
_MASKED = re.compile(rb"user-[0-9a-f]{4}")
_MOST_NAMES = 10_000
_MOST_HOMES = 8
"""The home folders of a recording: a resumed session may have moved to another machine."""


class Homes:
    """The home folders in a recording."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[bytes, bytes]] = Counter()
        self._of_cwd: dict[tuple[bytes, bytes], None] = {}

    def read(self, data: bytes) -> None:
        """Count the home folders in some lines."""
        if b"/home/" in data or b"Users" in data:
            for cwd in set(_CWD.findall(data)):
                if len(self._of_cwd) < _MOST_HOMES:
                    self._of_cwd.update(dict.fromkeys(_folders(cwd)))
            if len(self._counts) < _MOST_NAMES:
                self._counts.update(_folders(data))

    def personal(self) -> Personal:
        """Return what finds the personal data.

        The home folder is that of a working directory, or else the most frequent one.
        """
        homes = [*self._of_cwd] or [each for each, _ in self._counts.most_common(1)]
        names = [name.decode("ascii") for _, name in homes]
        paths = [
            path for (folder, _), name in zip(homes, names, strict=True) for path in _paths(folder, name)
        ]
        return Personal(paths, names)


def _folders(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each home folder: its parent and its name."""
    for match in _FOLDER.finditer(data):
        if not _MASKED.fullmatch(match[2]):
            yield match[1], match[2]


def _paths(folder: bytes, name: str) -> Iterator[str]:
    """Yield the ways to write a home folder: as a path, and as a part of the name of a folder."""
    if folder.startswith(b"/"):
        parent = folder.decode("ascii")
        yield f"{parent}{name}"
        yield f"{parent.replace('/', '-')}{name}"
    else:
        drive = chr(folder[0])
        for letter in {drive.lower(), drive.upper()}:
            yield f"{letter}:\\Users\\{name}"
            yield f"{letter}:/Users/{name}"
            yield f"/{letter}/Users/{name}"
            yield f"{letter}--Users-{name}"
