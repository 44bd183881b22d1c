"""Reads the unified diffs in Copilot's results, and the files of a patch in the form `*** Begin Patch`."""

from __future__ import annotations

_PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


def changed_lines(diff: str) -> tuple[int, int] | None:
    """Return the numbers of added and removed lines of a unified diff; None if the text has no hunk."""
    added = removed = 0
    in_hunk = is_diff = False
    for line in diff.split("\n"):
        if line.startswith("@@ "):
            in_hunk = is_diff = True
        elif line.startswith("diff --git "):
            in_hunk = False
        elif in_hunk:
            added += line.startswith("+")
            removed += line.startswith("-")
    return (added, removed) if is_diff else None


def patched_paths(patch: str) -> list[str]:
    """Return the files of a patch, without duplicates."""
    found = (
        line.removeprefix(mark).strip()
        for line in patch.split("\n")
        for mark in _PATCHED
        if line.startswith(mark)
    )
    return list(dict.fromkeys(filter(None, found)))
