"""A change of one file: shown as a diff, and made only if the file is still what was shown."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agentwatch.hooks.files import keep_copy, mode_of, own_bytes, write

MOST_BYTES = 1 << 20
"""A file with hooks that is larger is left alone."""
_NEW_MODE = 0o600
_NOTHING = "/dev/null"
"""The name of a file that does not exist, in a unified diff."""


class Change(NamedTuple):
    """A change of one file."""

    path: Path
    before: bytes | None
    """None for a file that does not exist."""
    after: bytes | None
    """None for a file that is deleted."""
    is_ours: bool = False
    """Whether the whole file is ours, so that no copy of it is kept."""

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff."""
        name = str(self.path)
        yield from difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            _NOTHING if self.before is None else name,
            _NOTHING if self.after is None else name,
            lineterm="",
        )

    def make(self) -> Path | None:
        """Make the change, and return the path of the copy of the file before.

        Raises:
            OSError: It cannot be made, or the file is not what it was; nothing is changed then.
        """
        mode = mode_of(self.path)
        copy = None
        if self.before is not None and not self.is_ours:
            copy = keep_copy(self.path, self.before, _NEW_MODE if mode is None else mode)
        self._require_unchanged()
        if self.after is None:
            self.path.unlink()
            return copy
        if self.is_ours:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        write(self.path, self.after, _NEW_MODE if mode is None else mode)
        return copy

    def _require_unchanged(self) -> None:
        if own_bytes(self.path, MOST_BYTES) != self.before:
            raise OSError(errno.EBUSY, "it has changed meanwhile", str(self.path))


def remove_empty(folder: Path, above: Path) -> None:
    """Remove a folder and those above it, up to but without another one, as far as they are empty."""
    with suppress(OSError):
        while folder != above:
            folder.rmdir()
            folder = folder.parent


def _lines(data: bytes | None) -> list[str]:
    text = "" if data is None else data.decode("utf-8", "replace")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
