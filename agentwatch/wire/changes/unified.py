"""Reads unified diffs: counts the changed lines, and splits a diff of several files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
"""The head of a hunk, with the number of its old and of its new lines; a number left out is 1."""
_NO_FILE = "/dev/null"


class FileDiff(NamedTuple):
    """The part of a unified diff that changes one file."""

    old_path: str | None
    """The path before the change; None if the diff does not name it, or if the file is new."""
    path: str | None
    """The path after the change; None if the diff does not name it, or if the file was deleted."""
    text: str
    added: int
    removed: int


def changed_lines(diff: str) -> tuple[int, int]:
    """Return the number of lines that a unified diff adds and removes, in all of its files.

    Example:
        >>> changed_lines("--- a\\n+++ b\\n@@ -1,2 +1,2 @@\\n same\\n-old\\n+new\\n")
        (1, 1)
    """
    files = list(per_file(diff))
    return sum(each.added for each in files), sum(each.removed for each in files)


def per_file(diff: str) -> Iterator[FileDiff]:
    """Yield the parts of a unified diff, one for each file.

    Inside a hunk whose head has numbers, a line such as `--- x` is a removed line. Inside a hunk whose head
    has no numbers, as other tools write it (`@@ class Tide`), `--- x` begins a file if `+++ y` follows.
    """
    reader = _Reader()
    lines = diff.split("\n")
    start = 0
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if reader.begins_file(line, following):
            yield reader.file("\n".join(lines[start:number]))
            start, reader = number, _Reader()
        reader.read(line, following)
    if reader.has_content or reader.has_header:
        yield reader.file("\n".join(lines[start:]))


class _Reader:
    """Reads the lines of one file's diff."""

    def __init__(self) -> None:
        self.has_header = False
        self.has_content = False
        self._added = self._removed = 0
        self._old_path: str | None = None
        self._path: str | None = None
        self._old_left = self._new_left = 0
        """The numbers of old and new lines that the present hunk still has."""
        self._is_counted = False
        """Whether the head of the present hunk says how many lines it has."""

    def begins_file(self, line: str, following: str) -> bool:
        """Return whether a line begins the diff of another file."""
        if self._is_inside or not (self.has_content or self.has_header):
            return False
        if line.startswith("diff --git "):
            return True
        return self.has_content and line.startswith("--- ") and following.startswith("+++ ")

    def read(self, line: str, following: str) -> None:
        """Read the next line."""
        if self._is_inside:
            self._count(line[:1])
        elif found := _HUNK.match(line):
            self._old_left, self._new_left = int(found[1] or 1), int(found[2] or 1)
            self.has_content = self._is_counted = True
        elif line.startswith("--- ") and following.startswith("+++ ") and not self.has_content:
            self._old_path, self.has_header = _path(line), True
        elif line.startswith("+++ ") and self.has_header and not self.has_content:
            self._path = _path(line)
        elif line.startswith("diff --git "):
            self.has_header = True
        elif line.startswith("@@"):
            self.has_content, self._is_counted = True, False
        elif not self._is_counted:
            self._count(line[:1])

    def file(self, text: str) -> FileDiff:
        """Return the diff of the file."""
        return FileDiff(self._old_path, self._path, text, self._added, self._removed)

    @property
    def _is_inside(self) -> bool:
        return self._old_left > 0 or self._new_left > 0

    def _count(self, sign: str) -> None:
        match sign:
            case "+":
                self._added, self._new_left = self._added + 1, self._new_left - 1
                self.has_content = True
            case "-":
                self._removed, self._old_left = self._removed + 1, self._old_left - 1
                self.has_content = True
            case " " | "":
                self._old_left, self._new_left = self._old_left - 1, self._new_left - 1
            case "\\":
                pass
            case _:  # no line of a hunk: its head had wrong numbers
                self._old_left = self._new_left = 0


def _path(line: str) -> str | None:
    """Return the path in a line `--- path` or `+++ path`, without a timestamp and git's `a/` and `b/`."""
    path = line[4:].partition("\t")[0].rstrip("\r")
    if path == _NO_FILE:
        return None
    return path[2:] if path.startswith(("a/", "b/")) else path
