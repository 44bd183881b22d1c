"""The last lines of a command's output, without escape sequences."""

from __future__ import annotations

import re

MOST_CHARACTERS = 1 << 16
MOST_LINES = 400
MOST_COLUMNS = 400
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?|[ -/]{0,8}[0-Z\\-~])"
)
"""Control sequences, operating system commands (titles and links) and other escapes, by ECMA-48.

Each repetition is bounded, so one search costs at most a constant per character.
"""


def last_lines(output: str) -> list[str]:
    """Return the last lines of an output, each without escape sequences and surrounding blanks.

    A carriage return ends a line too, because progress bars redraw their line with it.

    Args:
        output: What the command printed. Only its last 65,536 characters and its last 400 lines are read.

    Returns:
        The lines, each cut at 400 characters. Blank lines are left out.
    """
    tail = output[-MOST_CHARACTERS:].rstrip()
    if "\r" in tail:
        tail = tail.replace("\r\n", "\n").replace("\r", "\n")
    # Cut first, so that the escape sequences of earlier lines are not searched. The pieces are as long as
    # 4,000 characters here, because escape sequences do not count as columns.
    lines = tail.rsplit("\n", MOST_LINES)[-MOST_LINES:]
    if "\x1b" in tail:
        lines = [line[: 10 * MOST_COLUMNS] for line in lines]
        lines = _ESCAPES.sub("", "\n".join(lines)).split("\n")
    elif max(map(len, lines)) > 10 * MOST_COLUMNS:
        lines = [line[: 10 * MOST_COLUMNS] for line in lines]
    found = [*filter(None, map(str.strip, lines))]
    if max(map(len, found), default=0) > MOST_COLUMNS:
        found = [line[:MOST_COLUMNS].rstrip() for line in found]
    return found
