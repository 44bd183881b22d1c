"""The files of agents that cannot be read, in lines for the user. All other sessions are listed."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path

from agentwatch.faults import cannot_open
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, safe_line

_MOST_NAMED = 10
_EXPECTED = (errno.ENOENT, errno.ENOTDIR, errno.ENOTSUP)
"""A file has just been removed, or needs a package that is not installed. Opening it gives the reason."""


def is_problem(error: OSError, *, is_known: bool) -> bool:
    """Return whether the user should know that a file cannot be read.

    Args:
        error: Why it cannot be read.
        is_known: Whether it was read before. If an agent writes it now, it is read again soon.
    """
    return error.errno not in _EXPECTED and not (is_known and error.errno == errno.EBUSY)


def notes_of(problems: Iterable[OSError]) -> tuple[SafeText, ...]:
    """Return a line for each file that cannot be read; the lines after the tenth are one that counts them."""
    faults = {f"{each.filename}": each for each in problems}
    lines = [f"{cannot_open(Path(name), error)}" for name, error in sorted(faults.items())]
    if len(lines) > _MOST_NAMED:
        lines[_MOST_NAMED:] = [f"{plural(len(lines) - _MOST_NAMED, 'other file')} cannot be opened"]
    return tuple(map(safe_line, lines))
