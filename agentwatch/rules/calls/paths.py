"""The paths that a call acts on: those that its agent names, or that are in its command."""

from __future__ import annotations

import posixpath
from functools import lru_cache

from agentwatch.agents.tool import Phrase
from agentwatch.analysis.files import named
from agentwatch.rules.calls.commands import Command, read_command
from agentwatch.rules.language.conditions import Partly
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind

_FILES = frozenset({ToolKind.READ, ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
_READING = frozenset({ToolKind.READ, ToolKind.SEARCH})


def paths_of(call: Call, cwd: str | None) -> tuple[str, ...] | Partly | None:
    """Return the paths of a call, relative to the cwd and absolute, with `..` resolved; None if unknown.

    The paths of a command are those of its words that may be paths. Links are not followed: the files are
    those of another time, and perhaps of another machine.
    """
    words = words_of(call)
    if not words and call.kind in _FILES:
        return None
    found = _both(words, cwd)
    return known_in(command_in(call), found) if call.kind is ToolKind.EXECUTE else found


def read_paths(call: Call, cwd: str | None) -> tuple[str, ...] | Partly | None:
    """Return the paths of what a call reads, as `paths_of` does."""
    if call.kind is ToolKind.EXECUTE:
        command = command_in(call)
        return known_in(command, _both(command.read, cwd))
    return paths_of(call, cwd) if call.kind in _READING else ()


def command_in(call: Call) -> Command:
    """Return what the command of a call does. A script in another language than the shell's is not read."""
    found = read_command(call.command or "")
    is_script = call.phrase == Phrase.USED and (call.command or "").startswith(call.tool)
    return found._replace(is_whole=False) if is_script or call.command is None else found


def known_in(command: Command, found: tuple[str, ...]) -> tuple[str, ...] | Partly:
    """Return what was found in a command; it may be only a part of what there is."""
    return found if command.is_whole else Partly(found)


def _both(words: tuple[str, ...], cwd: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for word in words for each in _named(word, cwd)[:2]))


def words_of(call: Call) -> tuple[str, ...]:
    """Return the paths of a call, as the agent or its command writes them."""
    if call.kind is ToolKind.EXECUTE:
        return command_in(call).words
    if not call.more_paths:
        return (call.path,) if call.path else ()
    return tuple(path for path in (call.path, *call.more_paths) if path)


def is_outside(call: Call, cwd: str | None) -> bool | None:
    """Return whether a call acts on a file outside the cwd; None if its path or the cwd is unknown.

    `~` counts as outside, unless the cwd is below it too, as in a redacted recording. A word of a command
    counts only if it is a path with `/` or `..`. A path that begins with a variable is unknown.
    """
    words = words_of(call)
    otherwise: bool | None = False
    if call.kind is ToolKind.EXECUTE:
        words = tuple(word for word in words if "/" in word or word in ("~", ".."))
        otherwise = False if command_in(call).is_whole else None
    if not words:
        return None if call.kind in _FILES else otherwise
    if cwd is None:
        return None
    is_redacted = cwd.startswith("~")
    if any((word[0] == "~" and not is_redacted) or _named(word, cwd)[2] for word in words if word[0] != "$"):
        return True
    return None if any(word[0] == "$" for word in words) else otherwise


_TEMPORARY = ("/tmp/", "/var/tmp/", "/var/folders/")  # noqa: S108 - only compared


def deleted_places(call: Call, cwd: str | None) -> tuple[str, ...] | None:
    """Return where the files are that a call deletes: `inside` or `outside` of the cwd, or `temporary`.

    If one place is unknown, the result is None, unless another one is outside.
    """
    words = words_of(call) if call.kind is ToolKind.DELETE else ()
    found: set[str | None] = set() if words or call.kind is not ToolKind.DELETE else {None}
    if call.kind is ToolKind.EXECUTE:
        command = command_in(call)
        words, found = command.deleted, set() if command.is_whole else {None}
    for word in words:
        if word[0] == "$":
            found.add(None)
        elif word[0] == "~":
            found.add("inside" if cwd is not None and cwd.startswith("~") else "outside")
        elif cwd is None and word[0] != "/":
            found.add(None)
        else:
            path, _, is_out = _named(word, cwd)
            is_temporary = path.removeprefix("/private").startswith(_TEMPORARY)
            found.add("inside" if not is_out and cwd else "temporary" if is_temporary else "outside")
    if None in found and "outside" not in found:
        return None
    return tuple(sorted(filter(None, found)))


@lru_cache(maxsize=4096)
def _named(path: str, cwd: str | None) -> tuple[str, str, bool]:
    """Return the absolute path, the path relative to the cwd, and whether it is outside the cwd."""
    key, shown, is_outside = named(path, cwd)
    return key, shown if is_outside else posixpath.normpath(shown), is_outside
