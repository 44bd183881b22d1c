"""Reads a chat that is one JSON document, which gemini-cli rewrote at each change until 0.38
(`~/.gemini/tmp/*/chats/session-*.json`). Its lines have the grammar of the later `.jsonl`."""

from __future__ import annotations

import errno
import os
from hashlib import blake2b
from pathlib import Path
from typing import Any

from agentwatch.recording.store import open_own, open_regular
from agentwatch.sources.stores.lines import as_line, parsed

_MOST_BYTES = 256 << 20
"""The largest document that is read. Chats of real sessions have a few MB."""
_DIGEST_BYTES = 16


class GeminiJson:
    """Read again when its size or its time has changed. Creating it reads nothing."""

    def __init__(
        self, path: Path, silent: tuple[str, ...] = ("lastUpdated",), *, is_named: bool = True
    ) -> None:
        """`silent` are the members of the document that report nothing. `is_named`: the user has named the
        path, which may be a link."""
        self._path, self._is_named = path, is_named
        self._silent = ("messages", *silent)
        self._version: tuple[int, int, int] | None = None
        self._facts: dict[str, Any] | None = None
        self._messages: list[tuple[str, bytes]] = []

    def new_lines(self) -> list[bytes]:
        """Return a line for each message that is new, changed or removed. Raise `OSError` if the document
        cannot be read, or is being written."""
        fd = open_regular(self._path, follow_links=True) if self._is_named else open_own(self._path)
        try:
            status = os.fstat(fd)
            version = (status.st_ino, status.st_size, status.st_mtime_ns)
            if version == self._version:
                return []
            if status.st_size > _MOST_BYTES:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(self._path))
            document = self._parsed(_all_bytes(fd, status.st_size))
        finally:
            os.close(fd)
        lines = [*self._changed_facts(document), *self._changed_messages(document["messages"])]
        self._version = version
        return lines

    def close(self) -> None:
        """Do nothing: no file is kept open."""

    def _parsed(self, data: bytes) -> dict[str, Any]:
        document = parsed(data)
        if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
            raise OSError(errno.EINVAL, "is not a complete chat", str(self._path))
        return document

    def _changed_facts(self, document: dict[str, Any]) -> list[bytes]:
        facts = {key: value for key, value in document.items() if key not in self._silent}
        lines = {key: as_line({key: value}) for key, value in facts.items()}
        known, self._facts = self._facts, lines  # comparing values that are nested deeply would raise
        if known is None or known.get("sessionId") != lines.get("sessionId"):
            self._messages = []
            return [_line(facts)]
        changed = {key: facts[key] for key, line in lines.items() if known.get(key) != line}
        return [_line({"$set": changed})] if changed else []

    def _changed_messages(self, messages: list[Any]) -> list[bytes]:
        found = [message for message in messages if isinstance(message, dict)]
        keys = [_key(message, number) for number, message in enumerate(found)]
        pairs = zip(self._messages, keys, strict=False)
        least = min(len(self._messages), len(keys))
        same = next((number for number, (known, key) in enumerate(pairs) if known[0] != key), least)
        lines = []
        if same < len(self._messages):
            lines.append(_line({"$rewindTo": self._messages[same][0]}))
            del self._messages[same:]
        for number, (key, message) in enumerate(zip(keys, found, strict=True)):
            line = _line({**message, "id": key})
            entry = (key, blake2b(line, digest_size=_DIGEST_BYTES).digest())
            if number >= same:
                self._messages.append(entry)
            elif self._messages[number] != entry:
                self._messages[number] = entry
            else:
                continue
            lines.append(line)
        return lines


def _key(message: dict[str, Any], number: int) -> str:
    key = message.get("id")
    return key if isinstance(key, str) and key else f"#{number}"


def _all_bytes(fd: int, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := os.read(fd, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _line(value: dict[str, Any]) -> bytes:
    """Return an object as a line. One that is nested too deeply becomes a line of an unknown type."""
    return as_line(value) or as_line({"id": value.get("id"), "type": "nested too deeply"}) or b""
