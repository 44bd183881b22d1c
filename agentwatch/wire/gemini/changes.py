"""Counts the lines of the changes that Gemini reports."""

from __future__ import annotations


def counted_lines(diff: str) -> tuple[int, int]:
    """Return the number of added and of removed lines of a unified diff of one file.

    Lines before the first hunk are not counted: they name the file.

    Example:
        >>> counted_lines("--- a\\n+++ a\\n@@ -1 +1,2 @@\\n-x\\n+y\\n+z\\n")
        (2, 1)
    """
    lines = diff.split("\n")
    start = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
    hunks = lines[start:]
    return sum(line.startswith("+") for line in hunks), sum(line.startswith("-") for line in hunks)
