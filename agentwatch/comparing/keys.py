"""The key of a call: calls of two runs with equal keys count as the same call.

A key consists of the kind of the tool and of the target. It knows no agent, so that `Bash` of one agent and
`shell` of another have the same key. What differs between two runs of the same task is levelled in targets:
ids, hashes, temporary paths, numbers in commands, the working directory and the user's home folder.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from agentwatch.analysis.files import named
from agentwatch.events import ToolKind
from agentwatch.session import Call, Session
from agentwatch.text.paths import is_windows, without_private

_MOST_CHARACTERS = 2000
"""The part of a target that is compared. Longer targets are scripts, which seldom differ only later."""
_OF_FILES = frozenset((ToolKind.READ, ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE))
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])")
_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])")
_TEMPORARY = re.compile(
    r"""(?<![\w.~-])(?:/private)?/(?:tmp|var/tmp|dev/shm|var/folders/[^/\s]{1,10}/[^/\s]{1,60}/T)"""
    r"""/[^\s"'`;|&<>()]{1,400}"""
    r"""|(?<!\w)[A-Za-z]:[\\/]Users[\\/][^\\/\s]{1,60}[\\/]AppData[\\/]Local[\\/]Temp[\\/][^\s"'`;|&<>()]{1,400}"""
)
_HOME = re.compile(r"""(?<![\w.~-])(?:/(?:home|Users)/[^/\s"'`;|&<>():]{1,64}|/root(?![\w.-]))""")
_OF_TEMPORARY = ("/tmp/", "/shm/", "/folders/", "AppData")  # noqa: S108 - no file
_OF_HOME = ("/home/", "/Users/", "/root")
"""What every text with such a path has."""
_MASK = re.compile(r"\[((?:secret:)?[a-z -]{1,40}) [0-9a-f]{4}\]|(user)-[0-9a-f]{4}(?![0-9A-Za-z])")
"""The mask of a secret in a redacted recording. Its digits differ from recording to recording."""
_NUMBER = re.compile(r"(?<![A-Za-z_0-9])[0-9]+")
_LONG_NUMBER = re.compile(r"(?<![0-9])[0-9]{5,20}(?![0-9])")
"""A number in the name of a file that is a time or a process; `0001.sql` and `0002.sql` are two files."""
_STAYS = re.compile(r"""cd[ ]["']?\.["']?[ ]?(?:&&|;)[ ]?""")
"""A `cd` to the current folder, after runs of spaces are joined."""
_NAME_OF_TEMPORARY = "tmp"
"""The beginning of random names by `tempfile` and `mktemp`."""


class Key(NamedTuple):
    """The parts of a call that are compared.

    Example:
        >>> import agentwatch
        >>> session = agentwatch.load("recordings/plain.ndjson")
        >>> key_of(session.calls[0], session.run.cwd)
        Key(tool='read', target='lantern/settings.py', subject='settings.py')
    """

    tool: str
    """The kind of the tool; if the kind is unknown, also the name."""
    target: str
    """The levelled target."""
    subject: str
    """The main part of the target: the name of the file, or the program. Empty if unknown."""


def keys_of(session: Session, most: int) -> list[Key]:
    """Return the keys of the first calls of a session, at most `most`; 10 µs each."""
    found = []
    for call in session.calls[:most]:
        run = session.runs[call.run - 1] if 0 < call.run <= len(session.runs) else session.run
        found.append(key_of(call, run.cwd))
    return found


def key_of(call: Call, cwd: str | None) -> Key:
    """Return the key of a call.

    Args:
        call: The call.
        cwd: The working directory of its run; None if unknown.
    """
    tool = f"{call.kind} {call.tool.casefold()}" if call.kind is ToolKind.OTHER else str(call.kind)
    if call.kind in _OF_FILES and (path := call.path or call.target):
        target = levelled_path(path, cwd)
        return Key(tool, target, target.rpartition("/")[2])
    target = levelled(call.target or "", cwd)
    return Key(tool, target, target.partition(" ")[0] if call.kind is ToolKind.EXECUTE else "")


def levelled(text: str, cwd: str | None = None) -> str:
    """Return a command or another target with what differs from run to run levelled.

    Example:
        >>> levelled("cd /home/ada && kill 4711; cat /tmp/tmpx81k/out.txt", "/home/ada")
        'kill <n>; cat <tmp>/out.txt'
        >>> levelled("git show 3f9c2ab", None)
        'git show <hash>'
    """
    text = " ".join(_without(text[:_MOST_CHARACTERS], cwd).split())
    while (found := _STAYS.match(text)) is not None:
        text = text[found.end() :]
    return _NUMBER.sub("<n>", _level(text))


def levelled_path(path: str, cwd: str | None = None) -> str:
    """Return a path relative to the working directory, with random names levelled.

    Example:
        >>> levelled_path("/home/ada/src/../app.py", "/home/ada"), levelled_path("db/0001.sql", "/home/ada")
        ('app.py', 'db/0001.sql')
    """
    shown = named(path[:_MOST_CHARACTERS], cwd)[1]
    if is_windows(path) or is_windows(cwd or ""):
        shown = _level(shown).replace("\\", "/")
    return _LONG_NUMBER.sub("<n>", _level(shown))


def _level(text: str) -> str:
    # A search for a literal takes a tenth of the time of a pattern.
    if "[" in text or "user-" in text:
        text = _MASK.sub(lambda found: f"<{found[1] or found[2]}>", text)
    if any(literal in text for literal in _OF_TEMPORARY):
        text = _TEMPORARY.sub(_temporary, text)
    if any(literal in text for literal in _OF_HOME):
        text = _HOME.sub("~", text)
    if "-" in text:
        text = _UUID.sub("<uuid>", text)
    return _HASH.sub(_hash, text)


def _temporary(found: re.Match[str]) -> str:
    """Return a temporary path by its last name, unless that name is random."""
    name = found[0].replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "<tmp>" if name.startswith(_NAME_OF_TEMPORARY) else f"<tmp>/{name}"


def _hash(found: re.Match[str]) -> str:
    """Return the replacement of a possible hash. Only a mix of digits and letters is a hash."""
    return found[0] if found[0].isdigit() or found[0].isalpha() else "<hash>"


def _without(text: str, cwd: str | None) -> str:
    """Return a text in which paths below the working directory are relative, and the directory is `.`."""
    whole = (cwd or "").rstrip("/\\")
    for folder in dict.fromkeys((whole, without_private(whole))):
        if len(folder) > 1 and folder in text:
            text = _joined(text.split(folder), folder)
    return text


def _joined(pieces: list[str], folder: str) -> str:
    """Join the pieces of a text around a folder, which is removed where it is a path of its own."""
    words = [pieces[0]]
    for before, piece in itertools.pairwise(pieces):
        is_start = not (before[-1:].isalnum() or before[-1:] in ("_", "-", ".", "/"))
        if is_start and piece[:1] in ("/", "\\") and piece[1:2].strip():
            words.append(piece[1:])
        elif is_start and not (piece[:1].isalnum() or piece[:1] in ("_", "-", ".")):
            words.append(f".{piece}")
        else:
            words.append(f"{folder}{piece}")
    return "".join(words)
