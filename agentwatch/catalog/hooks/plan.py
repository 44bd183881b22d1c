"""Which files change when the hooks of an agent are installed or removed, and what is installed now.

A change is shown as a diff, and made only if the file is still what was shown.
"""

from __future__ import annotations

import difflib
import errno
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from agentwatch.agents.program import HookedAgent
from agentwatch.base.clock import wall_ns
from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.files import config_file, state_folder, write_all
from agentwatch.catalog.hooks.entries import Shape, installed_events, with_entries, without_entries
from agentwatch.catalog.hooks.program import Program, own_bytes
from agentwatch.recording.store import create_file, replace_file

MOST_BYTES = 1 << 20
"""A file with hooks that is larger is left alone."""
_NEW_MODE = 0o600
_MOST_KEPT = 100
"""The most copies of a file from before."""
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
        """Make the change, and return the path of the copy of the file before. Raise `OSError` if it cannot
        be made, or the file is not what it was; nothing is changed then."""
        mode = _mode_of(self.path)
        copy = None
        if self.before is not None and not self.is_ours:
            copy = keep_copy(self.path, self.before, _NEW_MODE if mode is None else mode)
        if self.after is None:
            self._if_unchanged()
            self.path.unlink()
            return copy
        if self.is_ours:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, self._if_unchanged, _NEW_MODE if mode is None else mode)
        return copy

    def _if_unchanged(self) -> bytes:
        if own_bytes(self.path, MOST_BYTES) != self.before:
            raise OSError(errno.EBUSY, "it has changed meanwhile", str(self.path))
        return self.after or b""


def _mode_of(path: Path) -> int | None:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:
        return None


def keep_copy(path: Path, data: bytes, mode: int) -> Path:
    """Write a dated copy of a file beside it, which overwrites nothing, and return its path. Raise `OSError`
    if it cannot be written."""
    name = f"{path.name}.{time.strftime('%Y%m%d-%H%M%S', time.localtime(wall_ns() // 10**9))}"
    for number in range(_MOST_KEPT):
        copy = path.with_name(f"{name}-{number}" if number else name)
        with suppress(FileExistsError):
            fd = create_file(copy)
            try:
                os.fchmod(fd, mode)
                write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
            return copy
    raise FileExistsError(errno.EEXIST, "there are too many copies", str(path))


def _copies_of(path: Path) -> list[Path]:
    """The newest copy is first."""
    try:
        names = os.listdir(path.parent)
    except OSError:
        return []
    found = [path.with_name(name) for name in names if name.startswith(f"{path.name}.2")]
    return sorted(found, reverse=True)[:_MOST_KEPT]


def remove_empty(folder: Path, above: Path) -> None:
    """Remove a folder if it is empty, then the empty folders above it, up to a folder that is kept."""
    with suppress(OSError):
        while folder != above:
            folder.rmdir()
            folder = folder.parent


def _lines(data: bytes | None) -> list[str]:
    text = "" if data is None else data.decode("utf-8", "replace")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


_MOST_COPIES = 20
_T = TypeVar("_T")


class Status(NamedTuple):
    """What is installed for an agent."""

    file: Path
    is_there: bool
    """Whether the agent's own folder exists."""
    right: int
    """The number of events with the right entry."""
    other: int
    """The number of other entries of ours: for another folder, or written by another version."""
    has_program: bool
    last_ms: int | None
    """The time of the last event, in ms since the epoch; None if there was none."""


class Hooks:
    """The hooks of one agent for one user. Creating it reads nothing."""

    def __init__(self, agent: HookedAgent, environ: Mapping[str, str], home: Path) -> None:
        self.agent = agent
        folder, settings = state_folder(environ) / "hooks", config_file(environ)
        self.program = Program(folder.absolute(), agent.answers, settings.absolute())
        self._folder = agent.folder(environ, home)
        self.file = self._folder / agent.file

    def installing(self) -> list[Change]:
        """Return the changes that install the hooks; none if they are installed. Raise `Fault` if the agent's
        folder does not exist, or a file is to be left alone."""
        if not self._folder.is_dir():
            raise Fault(f"{self._folder} does not exist: {self.agent.title} was never started", USAGE)
        present = self._read(self.file)
        return [*self._manifest(is_wanted=True), *self._to(present, self._with(present))]

    def removing(self) -> list[Change]:
        """Return the changes that take the hooks out; empty if no hook is installed. Raise `Fault` if a file
        is to be left alone."""
        present = self._read(self.file)
        if present is None:
            return self._manifest(is_wanted=False)
        left = self._without(present)
        manifest = [] if left else self._manifest(is_wanted=False)
        return [*self._to(present, left), *manifest]

    def install(self, changes: list[Change]) -> list[Path]:
        """Make the changes, after the program was written; return the copies of the files before. Raise
        `OSError` if a file cannot be written, or has changed meanwhile."""
        self.program.install()
        return _made(changes)

    def remove(self, changes: list[Change]) -> list[Path]:
        """Make the changes, and delete the logs of the agent; return the copies of the files before. Raise
        `OSError` if a file cannot be written, or has changed meanwhile."""
        copies = _made(changes)
        if self.agent.manifest:
            remove_empty(self.file.parent, self._folder)
        self.program.forget(self.agent.name)
        return copies

    def status(self) -> Status:
        """Return what is installed. Raise `Fault` if the file is not what the agent reads."""
        data = self._read(self.file)
        right, other = (0, 0) if data is None else self._installed(data)
        return Status(
            self.file, self._folder.is_dir(), right, other, self.program.is_installed, self._last_ms()
        )

    def _last_ms(self) -> int | None:
        try:
            logs = list((self.program.folder / self.agent.name).glob("*.log"))
            return max((log.lstat().st_mtime_ns // 10**6 for log in logs), default=None)
        except OSError:
            return None

    def _installed(self, data: bytes) -> tuple[int, int]:
        """Return how many events have the right entry in a file, and how many other entries are ours."""
        return self._shaped(lambda: installed_events(_text(data), self.agent, self.program))

    def _count(self, data: bytes) -> int:
        return sum(self._installed(data))

    def _with(self, present: bytes | None) -> bytes:
        def made() -> str:
            return with_entries(None if present is None else _text(present), self.agent, self.program)

        return self._shaped(made).encode()

    def _without(self, present: bytes) -> bytes | None:
        """Return the file without our entries; None if it is to be deleted. If nothing else was changed since
        they were put in, that is exactly the file before."""
        if present == self._with(None):
            return None
        for copy in _copies_of(self.file)[:_MOST_COPIES]:
            try:
                before = own_bytes(copy, MOST_BYTES)
                if before is not None and not self._count(before) and self._with(before) == present:
                    return before
            except (OSError, Fault):
                continue
        left = self._shaped(lambda: without_entries(_text(present), self.agent))
        return None if self.agent.manifest and not json.loads(left).get("hooks") else left.encode()

    def _to(self, present: bytes | None, wanted: bytes | None) -> list[Change]:
        is_extension = self.agent.manifest is not None
        if is_extension and present is not None and not self._count(present):
            raise self._left_alone(self.file, "it is not from agentwatch")
        if present == wanted:
            return []
        is_ours = wanted is None or (is_extension and present is None)
        return [Change(self.file, present, wanted, is_ours=is_ours)]

    def _manifest(self, *, is_wanted: bool) -> list[Change]:
        """Return the change of the extension's manifest, if the agent has extensions."""
        if self.agent.manifest is None:
            return []
        name, contents = self.agent.manifest
        path = self.file.parent.parent / name
        ours = (json.dumps(contents, indent=2) + "\n").encode()
        present, wanted = self._read(path), ours if is_wanted else None
        if present not in (None, ours):
            raise self._left_alone(path, "it is not from agentwatch")
        return [] if present == wanted else [Change(path, present, wanted, is_ours=True)]

    def _read(self, path: Path) -> bytes | None:
        try:
            return own_bytes(path, MOST_BYTES)
        except NotADirectoryError:
            return None
        except OSError as error:
            raise self._left_alone(path, error.strerror or "it cannot be read") from None

    def _shaped(self, made: Callable[[], _T]) -> _T:
        try:
            return made()
        except Shape as error:
            raise self._left_alone(self.file, str(error)) from None

    @staticmethod
    def _left_alone(path: Path, why: str) -> Fault:
        return Fault(f"{path} is left alone: {why}", USAGE)


def _made(changes: list[Change]) -> list[Path]:
    return [copy for change in changes if (copy := change.make()) is not None]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Shape("it is not valid JSON: it is not UTF-8") from None
