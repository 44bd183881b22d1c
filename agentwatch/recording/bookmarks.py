"""The bookmarks of one recording: those in its file, with the changes that could not be written.

The file `STEM.bookmarks.json` is one JSON object:
`{"version":1,"bookmarks":[{"offset":…,"time_ms":…,"name":"…","created_ms":…}]}`. An agent may write in the
same folder, so the file is read as foreign data. It is replaced as a whole.
"""

import errno
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import orjson

from agentwatch.base.clock import now_ms
from agentwatch.base.json_fields import object_of
from agentwatch.recording.store import natural, open_own, replace_file, version_at

_VERSION = 1
MOST_BOOKMARKS = 1000
MOST_NAME = 100
"""Characters. With them, the largest file has 700 KB."""
_MOST_BYTES = 1 << 20


class Bookmark(NamedTuple):
    offset: int
    """The moment: the number of bytes of the recording before it."""
    ms: int | None
    """The recorded time of the moment; None if unknown."""
    name: str
    """Foreign text, because others can write the file; at most 100 characters. Empty if it has no name."""
    created_ms: int


def read_bookmarks(path: Path) -> dict[int, Bookmark]:
    """Return the bookmarks by offset; of two entries with one offset, the last counts. Entries with fields of
    a wrong type are ignored. Raise `OSError` if the file is a link, is not a regular file, belongs to another
    user, or has bookmarks that this version does not know."""
    try:
        fd = open_own(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, which is not followed", str(path)) from None
        raise
    try:
        data = os.pread(fd, _MOST_BYTES + 1, 0)
    finally:
        os.close(fd)
    if len(data) > _MOST_BYTES:
        raise OSError(errno.EFBIG, "it is larger than 1 MiB", str(path))
    return _parsed(data, path) if data else {}


def replace_bookmarks(
    path: Path, change: Callable[[dict[int, Bookmark]], Mapping[int, Bookmark]]
) -> dict[int, Bookmark]:
    """Write what `change` makes of the bookmarks in the file as a new file in its place. Another viewer of
    the recording waits, so that its bookmarks are read too. The file may not exist yet."""
    kept: dict[int, Bookmark] = {}

    def content() -> bytes:
        kept.update(sorted(change(read_bookmarks(path)).items())[:MOST_BOOKMARKS])
        return _formatted(kept)

    replace_file(path, content)
    return kept


def _parsed(data: bytes, path: Path) -> dict[int, Bookmark]:
    found = object_of(data) or {}
    version, entries = found.get("version"), found.get("bookmarks")
    if type(version) is int and version > _VERSION:
        raise OSError(errno.EINVAL, "a newer version of agentwatch has written it", str(path))
    if version != _VERSION or type(version) is not int or not isinstance(entries, list):
        raise OSError(errno.EINVAL, "it is not a file of bookmarks", str(path))
    bookmarks: dict[int, Bookmark] = {}
    for entry in entries[:MOST_BOOKMARKS]:
        if (bookmark := _bookmark(entry)) is not None:
            bookmarks[bookmark.offset] = bookmark
    return bookmarks


def _bookmark(entry: object) -> Bookmark | None:
    if not isinstance(entry, dict) or (offset := natural(entry.get("offset"))) is None:
        return None
    name = entry.get("name")
    shown = name[:MOST_NAME] if isinstance(name, str) else ""
    return Bookmark(offset, natural(entry.get("time_ms")), shown, natural(entry.get("created_ms")) or 0)


def _formatted(bookmarks: Mapping[int, Bookmark]) -> bytes:
    entries = [
        {"offset": each.offset, "time_ms": each.ms, "name": each.name, "created_ms": each.created_ms}
        for each in bookmarks.values()
    ]
    return orjson.dumps({"version": _VERSION, "bookmarks": entries}, option=orjson.OPT_APPEND_NEWLINE)


_UNNAMED = "nothing is written beside this recording"
_FULL = f"a recording has at most {MOST_BOOKMARKS:,} bookmarks"


class Bookmarks:
    """The bookmarks of a recording, in the order of their offsets.

    Each change is written at once. If that is not possible, the changes stay in memory, and the next change
    tries to write them too.

    Example:
        >>> bookmarks = Bookmarks(None, lambda offset: True)
        >>> bookmarks.toggle(120, None, "before the rewrite")
        True
        >>> [(each.offset, each.name) for each in bookmarks]
        [(120, 'before the rewrite')]
        >>> bookmarks.take_warning()
        'bookmarks are kept until you quit: nothing is written beside this recording'
    """

    def __init__(self, path: Path | None, is_moment: Callable[[int], bool]) -> None:
        """`path` is None if nothing is written beside the recording: they stay in memory. Bookmarks at an
        offset that is not a moment, as `is_moment` says, belong to another recording, or to bytes still
        missing; they are kept, but not shown."""
        self._path = path
        self._is_moment = is_moment
        self._in_file: Mapping[int, Bookmark] = {}
        self._unwritten: dict[int, Bookmark | None] = {}
        """The bookmarks that are not in the file; None for a bookmark that was removed."""
        self._stamp: tuple[int, ...] | None = None
        self._visible: dict[int, Bookmark] = {}
        self._offsets: list[int] = []
        self._warning = ""
        self._last_warning = ""
        self.refresh()

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Bookmark]:
        return iter([self._visible[offset] for offset in self._offsets])

    def at(self, offset: int) -> Bookmark | None:
        return self._visible.get(offset)

    def refresh(self) -> bool:
        """Read the file again if another viewer has changed it; return whether other bookmarks are shown.
        Those behind the end of the recording are shown once it has grown that far."""
        if self._path is not None and (stamp := version_at(self._path)) != self._stamp:
            try:
                self._in_file = read_bookmarks(self._path)
            except OSError as error:
                self._warn(error)
            self._stamp = stamp
        return self._show()

    def toggle(self, offset: int, ms: int | None, name: str = "") -> bool:
        """Set a bookmark at a moment, or remove the one that is shown there; return whether it is set now."""
        if offset in self._visible:
            self._change(offset, None)
        elif len({*self._in_file, *self._unwritten}) < MOST_BOOKMARKS:
            self._change(offset, Bookmark(offset, ms, _name(name), now_ms()))
        else:
            self._warning = _FULL
        return offset in self._visible

    def rename(self, offset: int, name: str) -> bool:
        """Return False if the moment has no bookmark any more. An empty name removes the present one."""
        self.refresh()
        if (bookmark := self._visible.get(offset)) is None:
            return False
        self._change(offset, bookmark._replace(name=_name(name)))
        return True

    def next(self, offset: int) -> Bookmark | None:
        """Return the next bookmark; None behind the last."""
        index = bisect_right(self._offsets, offset)
        return self._visible[self._offsets[index]] if index < len(self._offsets) else None

    def by_name(self) -> dict[str, int]:
        """The offset of each name; of two with the same name, the first."""
        return {each.name: each.offset for each in reversed([*self]) if each.name}

    def named(self, words: str) -> list[Bookmark]:
        """Return the bookmarks whose names contain all the words, in any case."""
        wanted = words.casefold().split()
        return [each for each in self if each.name and all(word in each.name.casefold() for word in wanted)]

    def take_warning(self) -> str:
        """Why the last change was not kept in the file, in one line, foreign text; each reason only once."""
        warning, self._warning = self._warning, ""
        return warning

    def _change(self, offset: int, bookmark: Bookmark | None) -> None:
        self._unwritten[offset] = bookmark
        if self._path is None:
            self._warn(None)
        else:
            try:
                self._in_file = replace_bookmarks(self._path, self._merged)
            except OSError as error:
                self._warn(error)
            else:
                self._unwritten.clear()
                self._stamp = version_at(self._path)
        self._show()

    def _merged(self, in_file: Mapping[int, Bookmark]) -> dict[int, Bookmark]:
        merged = {**in_file, **self._unwritten}
        return {offset: each for offset, each in merged.items() if each is not None}

    def _show(self) -> bool:
        """Show the bookmarks at which a line of the recording ends; return whether they are others."""
        merged = self._merged(self._in_file)
        shown = {offset: merged[offset] for offset in sorted(merged) if self._is_moment(offset)}
        is_changed = shown != self._visible
        self._visible, self._offsets = shown, list(shown)
        return is_changed

    def _warn(self, error: OSError | None) -> None:
        """Note why changes stay in memory, unless that was the last reason too."""
        reason = _UNNAMED
        if error is not None and self._path is not None:
            reason = f"{self._path.name}: {error.strerror or 'it cannot be used'}"
        if reason != self._last_warning:
            self._last_warning = reason
            self._warning = f"bookmarks are kept until you quit: {reason}"


def ends_a_line(line_at: Callable[[int, int], bytes], offset: int) -> bool:
    """Whether a moment lies at the start of a recording, or just after a line. A last line without its line
    end counts as one with it. `line_at` reads bytes, as `LineReader.line_at`."""
    try:
        before = line_at(offset - 1, 1) if offset else b"\n"
        return before == b"\n" or (not before and offset > 1 and line_at(offset - 2, 1) not in (b"", b"\n"))
    except OSError:
        return False


def _name(name: str) -> str:
    return " ".join(name.encode("utf-8", "replace").decode().split())[:MOST_NAME]
