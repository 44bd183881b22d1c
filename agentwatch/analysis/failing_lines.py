"""The lines of an output that name a failure, and the files that they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_FAILING = re.compile(
    r"^(?:E   |FAILED\b|FAIL\b|FAIL:|ERROR\b|\s*--- FAIL|\s*not ok\b|\s*[✗✕×✖✘]\s|npm ERR!)"
    r"|[Ee]rror(?:\[\w|:| TS\d)|AssertionError|panicked at|Traceback \(most recent call last\)"
)
"""A line of a test runner or a compiler that names a failure: pytest, unittest, go, jest, vitest, TAP, cargo,
tsc, npm, and whatever writes `error:`.
"""
_PLACE = re.compile(
    r'File "(?P<file>[^"]{1,400}+)", line (?P<number>\d{1,7})'
    r"|(?<![^\s\"'(\[<=])(?P<path>(?:[A-Za-z]:[\\/])?[^\s\"'()\[\]<>:,;]{1,400}+)"
    r"(?:::|:(?P<line>\d{1,7})|\((?P<at>\d{1,7}))?"
)
"""A file and its line as Python, pytest, go, cargo, jest and tsc write them. No word is read twice."""
_MOST_SEARCHED = 1_000
"""Characters of a line that are searched."""
_NEAR = 40
"""The lines before and after a failing line among which its file is searched."""
_MOST_FAILING = 20
_MOST_FILES = 50


class FileLine(NamedTuple):
    """A file as an output names it."""

    path: str
    """Foreign text."""
    line: int | None = None
    """The number of the line, from 1; None if the output does not name it."""


def is_failing(line: str) -> bool:
    """Return whether a line names a failure."""
    return _FAILING.search(line[:_MOST_SEARCHED]) is not None


def files_near(lines: Sequence[str], at: int) -> list[FileLine]:
    """Return the files that a failing line is about, the most likely first. These are the files in the line
    itself, then those in the nearest lines. A traceback begins with its outermost call: the last of its files
    comes first."""
    before, after = range(max(at - _NEAR, 0), at), range(at + 1, min(at + _NEAR, len(lines)))
    if lines[at].startswith("Traceback "):
        end = next((each for each in after if not lines[each].startswith(" ")), after.stop)
        order = [*range(end - 1, at, -1)]
    elif before and lines[at - 1].startswith("  ") and lines[at][:1].isalpha() and lines[at][1:2] != " ":
        order = [at, *reversed(before), *after]  # the last line of a traceback
    else:
        order = sorted((at, *after, *before), key=lambda each: (abs(each - at), each < at))
    found = (file for each in order for file in _files_in(lines[each]))
    return [*dict.fromkeys(islice(found, _MOST_FILES))]


def failing_files(text: str) -> list[FileLine]:
    """Return the files that the first failing lines of an output are about, the most likely first."""
    lines = text.split("\n")
    failing = (at for at, line in enumerate(lines) if is_failing(line))
    found = (file for at in islice(failing, _MOST_FAILING) for file in files_near(lines, at))
    return [*dict.fromkeys(found)]


def _files_in(line: str) -> Iterator[FileLine]:
    for found in _PLACE.finditer(line[:_MOST_SEARCHED]):
        path = found["file"] or found["path"]
        is_number = path[0].isdecimal() and "/" not in path  # `0.31s`, `2.5`
        if not is_number and ("." in path.strip(".") or "/" in path.strip("/")):
            number = found["number"] or found["line"] or found["at"]
            yield FileLine(path, int(number) if number else None)
