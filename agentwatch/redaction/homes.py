"""Finds whose recording it is: the home folder and the name of the user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from agentwatch.redaction.personal import Personal

_FOLDER = re.compile(r"/(?:home|Users)/(\w[\w.-]{0,63})")
_WINDOWS_FOLDER = re.compile(r":(?<=[A-Za-z]:)[\\/]{1,4}Users[\\/]{1,4}(\w[\w.-]{0,63})")
_CWD = re.compile(
    r'"(?:cwd|directory|worktree|working_?[dD]irectory|workspace)": ?'
    r'"([A-Za-z]:[\\/]{1,4}Users[\\/]{1,4}|/home/|/Users/)([^\\/"\n]{1,64})'
)
_MASKED = re.compile(r"user-[0-9a-f]{4}")
_MOST_NAMES = 10_000
_MOST_HOMES = 8
"""The home folders of a recording: a resumed session may have moved to another machine."""


class Homes:
    """The home folders in a recording."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._of_cwd: dict[tuple[str, str], None] = {}

    def read(self, text: str) -> None:
        """Count the home folders in a text."""
        if "/home/" in text or "Users" in text:
            for cwd in set(_CWD.findall(text)):
                if len(self._of_cwd) < _MOST_HOMES and not _MASKED.fullmatch(cwd[1]):
                    self._of_cwd[cwd] = None
            if len(self._counts) < _MOST_NAMES:
                self._counts.update(_folders(text))

    def personal(self) -> Personal:
        """Return what finds the personal data.

        The home folder is that of a working directory, or else the most frequent one.
        """
        homes = [*self._of_cwd] or [each for each, _ in self._counts.most_common(1)]
        return Personal((path for home in homes for path in _paths(*home)), (name for _, name in homes))


def _folders(text: str) -> Iterator[tuple[str, str]]:
    """Yield each home folder: what stands before the name, and the name."""
    for pattern in (_FOLDER, _WINDOWS_FOLDER):
        for match in pattern.finditer(text):
            if not _MASKED.fullmatch(match[1]):
                start = match.start() - (pattern is _WINDOWS_FOLDER)
                yield text[start : match.start(1)], match[1]


def _paths(parent: str, name: str) -> Iterator[str]:
    """Yield the ways to write a home folder: as a path, and as a part of the name of a folder."""
    if parent.startswith("/"):
        yield f"{parent}{name}"
        yield f"{parent.replace('/', '-')}{name}"
        return
    for letter in {parent[0].lower(), parent[0].upper()}:
        yield f"{letter}:\\Users\\{name}"
        yield f"{letter}:/Users/{name}"
        yield f"/{letter}/Users/{name}"
        yield f"{letter}--Users-{name}"
