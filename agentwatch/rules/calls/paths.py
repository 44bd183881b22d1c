"""The files that a call acts on, as absolute and as relative paths."""

from __future__ import annotations

import posixpath
from functools import lru_cache

from agentwatch.analysis.files import named
from agentwatch.rules.calls.commands import read_command
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind

_FILES = frozenset({ToolKind.READ, ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})


def paths_of(call: Call, cwd: str | None) -> tuple[str, ...] | None:
    """Return the paths of a call, both relative to the cwd and absolute, with `..` resolved.

    The paths of a command are those of its words that may be paths. Links are not followed: the files are
    those of another time, and perhaps of another machine.

    Returns:
        None if the call is about a file and its path is unknown.
    """
    words = words_of(call)
    if not words and call.kind in _FILES:
        return None
    return tuple(dict.fromkeys(each for word in words for each in _named(word, cwd)[:2]))


def words_of(call: Call) -> tuple[str, ...]:
    """Return the paths of a call, as the agent or its command writes them."""
    if call.kind is ToolKind.EXECUTE:
        return read_command(call.target or "").words
    if not call.more_paths:
        return (call.path,) if call.path else ()
    return tuple(path for path in (call.path, *call.more_paths) if path)


def is_outside(call: Call, cwd: str | None) -> bool | None:
    """Return whether a call acts on a file outside the cwd; None if its path or the cwd is unknown.

    `~` counts as outside, unless the cwd is below it too, as in a redacted recording. A word of a command
    counts only if it is a path with `/` or `..`. A path that begins with a variable is unknown.
    """
    words = words_of(call)
    if call.kind is ToolKind.EXECUTE:
        words = tuple(word for word in words if "/" in word or word in ("~", ".."))
    if not words:
        return None if call.kind in _FILES else False
    if cwd is None:
        return None
    is_redacted = cwd.startswith("~")
    if any((word[0] == "~" and not is_redacted) or _named(word, cwd)[2] for word in words if word[0] != "$"):
        return True
    return None if any(word[0] == "$" for word in words) else False


@lru_cache(maxsize=4096)
def _named(path: str, cwd: str | None) -> tuple[str, str, bool]:
    """Return the absolute path, the path relative to the cwd, and whether it is outside the cwd."""
    key, shown, is_outside = named(path, cwd)
    return key, shown if is_outside else posixpath.normpath(shown), is_outside
