"""The small foreign files that describe sessions, and the folders with one such file for each session."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeGuard

from agentwatch.agents.fields import Fields, mapping, parse
from agentwatch.agents.places import Stamp
from agentwatch.recording.head_tail import first_bytes
from agentwatch.recording.store import is_foreign_id, open_own

MOST_BYTES = 1 << 20
"""The largest known description is the `projects.json` of Gemini, with 50 bytes for each folder."""
_HEAD_BYTES = 1 << 12
_MOST_TEXT = 1000
_MOST_PATH = 4096
"""The longest path on Linux."""
_MOST_LINES = 1000
_LATEST_MS = 1 << 53
_BLOCKS = frozenset({"|", "|-", "|+", ">", ">-", ">+"})
_NOTHING = frozenset({"", "~", "null"})


def json_object(path: str, most: int = MOST_BYTES) -> Fields:
    """Return the JSON object in a file; {} if the file does not exist, is too large, or has none."""
    try:
        return own_object(Path(path), most)
    except (OSError, ValueError):
        return {}


def first_text(path: str, key: str) -> str:
    """Return the first text with a key in the first 4 KiB of a file that may be large; empty without one."""
    return text_with(first_bytes(path, _HEAD_BYTES), key)


def first_line(path: str) -> bytes:
    return first_bytes(path, _HEAD_BYTES).partition(b"\n")[0]


def text_with(data: bytes, key: str) -> str:
    _, found, rest = data.partition(f'"{key}"'.encode())
    value = rest.lstrip().removeprefix(b":").lstrip() if found else b""
    text = value[1:].partition(b'"')[0] if value.startswith(b'"') else b""
    return text.decode("utf-8", "replace") if b"\\" not in text else ""


def yaml_texts(data: bytes) -> dict[str, str]:
    """Return the texts at the top level of a YAML document: `key: text`, also with quotes or on indented
    lines. That is all that Copilot writes in `workspace.yaml`."""
    texts: dict[str, str] = {}
    for key, lines in _entries(data.decode("utf-8", "replace").split("\n", _MOST_LINES)):
        first = lines[0] if lines[0] not in _BLOCKS else ""
        text = " ".join(filter(None, (first, *lines[1:])))
        if text not in _NOTHING:
            texts[key] = _unquoted(text)
    return texts


def _entries(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    key, found = "", [""]
    for line in lines[:_MOST_LINES]:
        if line[:1] in ("", " ", "\t"):
            found.append(line.strip())
            continue
        if key:
            yield key, found
        key, _, rest = line.partition(":")
        found = [rest.strip()]
    if key:
        yield key, found


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text[0] == '"':
        with suppress(ValueError):
            value = parse(text.encode())
            return value if isinstance(value, str) else text
    return text


def text_in(value: object) -> str:
    return value[:_MOST_TEXT] if isinstance(value, str) else ""


def is_id(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and is_foreign_id(value)


def id_in(value: object) -> str | None:
    return value if is_id(value) else None


def name_in(value: object) -> str | None:
    """Return a name, such as that of a model; None for an empty text and any other value."""
    return text_in(value) or None


def folder_in(value: object) -> str | None:
    """Return None unless it is an absolute path, also one of Windows: the files may come from there."""
    if not isinstance(value, str) or not 0 < len(value) <= _MOST_PATH or "\0" in value:
        return None
    return value if value[0] in "/\\" or value[1:2] == ":" else None


def time_in(value: object) -> int | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < _LATEST_MS:
        return int(value)
    return None


# The files of a folder that have changed since they were last read.

_MOST_ENTRIES = 100_000


def own_files(folder: str | Path, uid: int, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Stamp]]:
    """Only the files whose name is `wanted` are asked for their stamp; none if the folder cannot be read."""
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_ENTRIES):
                if wanted(entry.name) and (stamp := stamp_of(entry, uid)):
                    yield entry.name, stamp
    except OSError:  # it does not exist, or has just been removed
        return


def stamp_of(file: str | Path | os.DirEntry[str], uid: int) -> Stamp | None:
    try:
        found = os.lstat(file) if isinstance(file, (str, Path)) else file.stat(follow_symlinks=False)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_uid != uid:
        return None
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino)


# Reads a small file that an agent of this user has written.


def own_object(path: Path, most_bytes: int) -> Fields:
    """Return the JSON object in a small file of this user; {} without one in the first `most_bytes`. Half
    an emoji, where an agent cuts a title, becomes U+FFFD. Raise `OSError` if it is not a readable regular
    file of this user."""
    fd = open_own(path)
    try:
        return mapping(os.pread(fd, most_bytes, 0))
    finally:
        os.close(fd)
