"""Paths as agents write them, which may follow the rules of another operating system than this one."""

from __future__ import annotations

import ntpath
import posixpath
from functools import lru_cache
from pathlib import PurePosixPath, PureWindowsPath

_MOST_NAMED = 1 << 12
"""The paths whose names are kept: agents name the same files again and again."""


def is_windows(path: str) -> bool:
    r"""`C:\src`, `C:/src`, `\\host\share`."""
    return path.startswith("\\\\") or (path[1:2] == ":" and path[2:3] in ("", "/", "\\"))


def last_name(path: str) -> str:
    """Return the name of a folder or a file; the path itself if it has none, as the root has.

    Example:
        >>> last_name("/home/me/shop/"), last_name("C:\\\\src\\\\shop"), last_name("/")
        ('shop', 'shop', '/')
    """
    if is_windows(path):
        return PureWindowsPath(path).name or path
    name = path[path.rfind("/") + 1 :]  # as `PurePosixPath`, which takes 25 times as long
    return name if name and name != "." else PurePosixPath(path).name or path


_PRIVATE = "/private"
_LINKED = tuple(_PRIVATE + folder for folder in ("/tmp", "/var", "/etc"))  # noqa: S108 - compared, never opened


def without_private(path: str) -> str:
    """Remove `/private` from a macOS path, where `/tmp`, `/var` and `/etc` are links into it. In a capture,
    the cwd was `/private/tmp/x` and the paths began with `/tmp/x`."""
    if not path.startswith(_LINKED):
        return path
    rest = path.removeprefix(_PRIVATE)
    return rest if rest[4:5] in ("", "/") else path


def relative_to(path: str, folder: str) -> str | None:
    """Return `.` for the folder itself, None if the path is not inside, or `folder`, without a separator at
    its end, is empty. The comparison is lexical: `..` is not resolved. Case and the kind of slash are ignored
    for a Windows path, `/private` of macOS too."""
    if not folder:
        return None
    inside = _inside(path, folder)
    return _inside(without_private(path), without_private(folder)) if inside is None else inside


def _inside(path: str, folder: str) -> str | None:
    start, rest = path[: len(folder)], path[len(folder) :]
    separators = "/"
    if is_windows(folder):
        folder, start = (name.replace("\\", "/").lower() for name in (folder, start))
        separators = "/\\"
    if start != folder or (rest and rest[0] not in separators):
        return None
    return rest.lstrip(separators) or "."


@lru_cache(_MOST_NAMED)
def named(path: str, cwd: str | None) -> tuple[str, str, bool]:
    """Return a path's key, the path as it is shown, and whether it is outside the cwd.

    The key is the same for all spellings of a path. The path rules are those of the agent's system. If cwd
    and path belong to different systems, or one of them may be relative, the path does not count as outside.

    Example:
        >>> named("src/../app.py", "/home/me/project")
        ('/home/me/project/app.py', 'app.py', False)
        >>> named("/etc/hosts", "/home/me/project")
        ('/etc/hosts', '/etc/hosts', True)
    """
    by_windows = is_windows(path) or is_windows(cwd or "")
    rules = ntpath if by_windows else posixpath
    is_whole = path.startswith("~") and (cwd or "").startswith("~")  # both are redacted
    whole = rules.normpath(path if is_whole else rules.join(cwd or "", path))
    key = rules.normcase(whole if by_windows else without_private(whole))
    if not cwd or is_windows(cwd) != is_windows(whole) or (by_windows and path.startswith("/")):
        return key, path, False
    folder = rules.normpath(cwd).rstrip(rules.sep)
    shown = relative_to(whole, folder) if folder else whole.lstrip(rules.sep) or "."
    return (key, whole, True) if shown is None else (key, shown, False)
