"""Makes equal keys for calls that run the same command in different words."""

from __future__ import annotations

import re

from agentwatch.analysis.files import named
from agentwatch.analysis.verdicts.programs import READERS, segments_of

_LIMIT = re.compile(r"^(?:timeout (?:-[ks] \S{1,20} |-\S{1,20} ){0,4}[0-9.]{1,9}[smhd]?|time|nice) ")
"""Words before a command that only limit or measure its time."""
_NO_OUTPUT = re.compile(r" ?(?:[0-9]?>&[0-9]|[0-9] ?> ?/dev/null)")


def command_key(command: str, cwd: str | None) -> str:
    """Return the key of a command, which is equal for two calls of the same command.

    Extra spaces, `cd` to the cwd, time limits, `2>&1`, and parts that only print or ignore the result are
    left out: `| tail -3`, `|| true`. A `cd` to another folder stays: `npm test` in two folders are two
    commands.

    Args:
        command: The command as the shell got it; only its first 2,000 characters are read.
        cwd: The folder in which the shell starts; None if unknown.

    Example:
        >>> command_key("cd /home/me/app && timeout 60 pytest  -q 2>&1 | tail -3", "/home/me/app")
        'pytest -q'
        >>> command_key("cd web && npm test || true", "/home/me/app")
        'cd web && npm test'
    """
    segments = [*segments_of(command)]
    while len(segments) > 1 and segments[-1].program in READERS:
        segments.pop()
    folder = ""
    while len(segments) > 1 and segments[0].program == "cd" and segments[0].after in ("&&", ";", "\n"):
        entered = segments.pop(0).words.removeprefix("cd").strip(" '\"")
        folder = entered if entered.startswith(("/", "~", "$")) or not folder else f"{folder}/{entered}"
    words = [f"cd {shown}", "&&"] if (shown := _elsewhere(folder, cwd)) else []
    for segment in segments:
        words += [_NO_OUTPUT.sub("", _LIMIT.sub("", segment.words)), segment.after.replace("\n", ";")]
    return " ".join(words[:-1])


def _elsewhere(folder: str, cwd: str | None) -> str:
    """Return a folder as it is shown, relative to the cwd; empty for the cwd itself."""
    if not folder or folder.startswith(("~", "$")):
        return folder
    shown = named(folder, cwd)[1]
    return "" if shown == "." else shown
