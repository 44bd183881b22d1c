"""Which files change when the hooks of an agent are installed or removed, and what is installed now.

A change is shown as a diff, and made only if the file is still what was shown. Our entries are put into the
text of a file, or removed; all other text keeps its form.
"""

from __future__ import annotations

import difflib
import errno
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from agentwatch.agents.program import HookedAgent
from agentwatch.agents.registry import answered_agents, hooked_agents
from agentwatch.base.clock import wall_ns
from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.files import config_file, state_folder, write_all
from agentwatch.catalog.hooks.program import Program, is_own, own_bytes
from agentwatch.recording.store import create_file, replace_file

# The text of a file with hooks.

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\n\r]*")
_INDENT = re.compile(r"\n([ \t]+)")


class Part(NamedTuple):
    begin: int
    """The index of the item, or of the key."""
    value: int
    """The index of the item, or of the member's value."""
    end: int


def checked(text: str) -> Any:
    """Raise `ValueError` if it is not JSON, is nested too deeply, or an object in it has a key twice."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_not_json)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def parts_of(text: str, at: int) -> dict[str | int, Part]:
    """The members of an object by key, or the items of an array by index, in their order."""
    found: dict[str | int, Part] = {}
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    while text[at] not in "]}":
        begin = at
        key: str | int = len(found)
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        found[key] = Part(begin, at, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def added(text: str, path: Sequence[str | int], value: object) -> str:
    """Return a document with one more value, formatted like its neighbours. `path` ends with the key of the
    new member, or with the number of items before the new item."""
    at = _skip(text, 0)
    for key in path[:-1]:
        at = parts_of(text, at)[key].value
    parts = list(parts_of(text, at).values())
    newline, indented = "\r\n" if "\r\n" in text else "\n", _INDENT.search(text)
    unit = indented[1] if indented else ""  # a step; nothing if all is in one line
    if not parts:
        margin = _margin(text, at) + unit
        written = _written(path[-1], value, unit, margin)
        inner = f"\n{margin}{written}\n{_margin(text, at)}" if unit else written
        return text[: at + 1] + inner.replace("\n", newline) + text[_skip(text, at + 1) :]
    last = parts[-1]
    gap = text[at + 1 : last.begin]
    if len(parts) > 1:
        gap = text[text.index(",", parts[-2].end) + 1 : last.begin]
    if "\n" in gap:
        written = _written(path[-1], value, unit, gap.rpartition("\n")[2])
    else:
        written, gap = _written(path[-1], value, "", ""), gap if len(parts) > 1 else " "
    return f"{text[: last.end]},{gap}{written.replace(chr(10), newline)}{text[last.end :]}"


def removed(text: str, path: Sequence[str | int]) -> str:
    """Return a document without the value at `path`, its comma and the blanks that belonged to it."""
    at = _skip(text, 0)
    for key in path[:-1]:
        at = parts_of(text, at)[key].value
    parts = parts_of(text, at)
    part, others = parts[path[-1]], list(parts.values())
    index = others.index(part)
    if len(others) == 1:
        return text[: at + 1] + text[_skip(text, part.end) :]
    if index + 1 < len(others):
        return text[: part.begin] + text[others[index + 1].begin :]
    return text[: others[index - 1].end] + text[part.end :]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def _margin(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(key: str | int, value: object, unit: str, margin: str) -> str:
    written = json.dumps(value, indent=unit or None, ensure_ascii=False)
    name = f"{json.dumps(key)}: " if isinstance(key, str) else ""
    return name + written.replace("\n", f"\n{margin}")


_HOOKS = "hooks"


class Shape(ValueError):
    """A file is not what an agent reads its hooks from; the message says why."""


def with_entries(text: str | None, agent: HookedAgent, program: Program) -> str:
    """The file with one entry of ours for each event; `text` is None without a file. Raise `Shape`."""
    commands = {event: program.command(agent.name, event) for event in agent.events}
    if text is None:
        events = {event: [agent.entry(command)] for event, command in commands.items()}
        versioned = {} if agent.is_nested else {"version": 1}
        return json.dumps({**versioned, _HOOKS: events}, indent=2) + "\n"
    document = _document(text, agent)
    if _HOOKS not in document:
        text = added(text, [_HOOKS], {})
    wanted = set(commands.values())
    text = _without(text, agent, lambda command: is_own(command) and command not in wanted)
    for event, command in commands.items():
        entries = _document(text, agent)[_HOOKS].get(event)
        if entries is None:
            text = added(text, [_HOOKS, event], [agent.entry(command)])
        elif command not in _commands(agent, entries):
            text = added(text, [_HOOKS, event, len(entries)], agent.entry(command))
    return text


def without_entries(text: str, agent: HookedAgent) -> str:
    """Return the file without our entries, and without the arrays that are empty then. Raise `Shape`."""
    return _without(text, agent, is_own)


def installed_events(text: str, agent: HookedAgent, program: Program) -> tuple[int, int]:
    """The number of events with the right entry, and of other entries of ours. Raise `Shape`."""
    events = _document(text, agent).get(_HOOKS, {})
    right = other = 0
    for event, entries in events.items():
        command = program.command(agent.name, event) if event in agent.events else None
        own = [each for each in _commands(agent, entries) if is_own(each)]
        right += command in own
        other += len(own) - (command in own)
    return right, other


def _without(text: str, agent: HookedAgent, is_unwanted: Any) -> str:
    events = _document(text, agent).get(_HOOKS, {})
    for event, entries in events.items():
        left = len(entries)
        for index in reversed(range(left)):
            commands = agent.commands(entries[index])
            unwanted = [is_unwanted(command) for command in commands]
            path = [_HOOKS, event, index]
            if all(unwanted) and commands:
                left -= 1
                text = removed(text, path if left else path[:-1])
                continue
            for place in reversed(range(len(commands))):
                if unwanted[place]:
                    text = removed(text, [*path, _HOOKS, place])
    return text


def _commands(agent: HookedAgent, entries: Iterable[object]) -> list[object]:
    return [command for entry in entries for command in agent.commands(entry)]


def _document(text: str, agent: HookedAgent) -> dict[str, Any]:
    try:
        document = checked(text)
    except ValueError as error:
        raise Shape(f"it is not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise Shape("it is not an object")
    if not agent.is_nested and document.get("version", 1) != 1:
        raise Shape("its version is not 1")
    events = document.get(_HOOKS, {})
    if not isinstance(events, dict):
        raise Shape("its `hooks` are not an object")
    if not all(isinstance(entries, list) for entries in events.values()):
        raise Shape("the hooks of an event are not an array")
    return document


# The changes of files.

MOST_BYTES = 1 << 20
"""A file with hooks that is larger is left alone."""
_NEW_MODE = 0o600
_MOST_KEPT = 100
_NOTHING = "/dev/null"
"""How a unified diff calls a file that does not exist."""


class Change(NamedTuple):
    path: Path
    before: bytes | None
    """It is None for a file that does not exist."""
    after: bytes | None
    """It is None for a file that is deleted."""
    is_ours: bool = False
    """Whether the whole file is ours, so that no copy of it is kept."""

    def diff(self) -> Iterator[str]:
        name = str(self.path)
        yield from difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            _NOTHING if self.before is None else name,
            _NOTHING if self.after is None else name,
            lineterm="",
        )

    def make(self) -> Path | None:
        """Return the path of the copy of the file before. Raise `OSError` if the file is not what it was, or
        cannot be written; nothing is changed then."""
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
    """Write a dated copy of a file beside it, which overwrites nothing. Raise `OSError`."""
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
    dated = re.compile(rf"{re.escape(path.name)}\.\d{{8}}-\d{{6}}(-\d+)?", re.ASCII)
    found = [path.with_name(name) for name in names if dated.fullmatch(name)]
    return sorted(found, reverse=True)[:_MOST_KEPT]


def remove_empty(folder: Path, above: Path) -> None:
    """Remove a folder if it is empty, then the empty folders above it, but not `above`."""
    with suppress(OSError):
        while folder != above:
            folder.rmdir()
            folder = folder.parent


def _lines(data: bytes | None) -> list[str]:
    text = "" if data is None else data.decode("utf-8", "replace")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


_MOST_COPIES = 20
_OURS: tuple[Mapping[str, Any], ...] = ({}, {"version": 1})
"""What is left of a file that had nothing but our entries."""
_T = TypeVar("_T")


class Status(NamedTuple):
    file: Path
    is_there: bool
    """Whether the agent's own folder exists."""
    right: int
    other: int
    """Entries of ours for another folder, or written by another version."""
    has_program: bool
    last_ms: int | None


class Hooks:
    """Creating it reads nothing."""

    def __init__(self, agent: HookedAgent, environ: Mapping[str, str], home: Path) -> None:
        self.agent = agent
        self._environ, self._home = environ, home
        folder, settings = state_folder(environ) / "hooks", config_file(environ)
        self.program = Program(folder.absolute(), agent.answers, settings.absolute())
        self._folder = agent.folder(environ, home)
        self.file = self._folder / agent.file

    def installing(self) -> list[Change]:
        """Return none if all are installed. Raise `Fault` for an alien file, or without the folder."""
        if not self._folder.is_dir():
            raise Fault(f"{self._folder} does not exist: {self.agent.title} was never started", USAGE)
        present = self._read(self.file)
        return [*self._manifest(is_wanted=True), *self._to(present, self._with(present))]

    def removing(self) -> list[Change]:
        """Return none if no hook is installed. Raise `Fault` for a file to leave alone."""
        present = self._read(self.file)
        if present is None:
            return self._manifest(is_wanted=False)
        left, is_restored = self._without(present)
        manifest = [] if left else self._manifest(is_wanted=False)
        return [*self._to(present, left, is_ours=is_restored), *manifest]

    def install(self, changes: list[Change]) -> list[Path]:
        """Write the program, make the changes, and return the copies of the files. Raise `OSError`."""
        self.program.install()
        return made(changes)

    def remove(self, changes: list[Change]) -> list[Path]:
        """Make the changes, and delete what is ours: the logs of the agent, the program if no other agent
        runs it, and the copies of what the file is again. Return the copies of the files before. Raise
        `OSError` if a file cannot be written, or has changed meanwhile."""
        copies = made(changes)
        if self.agent.manifest:
            remove_empty(self.file.parent, self._folder)
        present = self._read(self.file)
        for copy in _copies_of(self.file) if present is not None else ():
            with suppress(OSError):
                if own_bytes(copy, MOST_BYTES) == present:
                    copy.unlink()
        self.program.forget(self.agent.name)
        if not self.is_program_shared():
            self.program.path.unlink(missing_ok=True)
            remove_empty(self.program.folder, self.program.folder.parent)
        return copies

    def is_program_shared(self) -> bool:
        """Return whether another agent runs the program, or may run it."""
        others = (answered_agents() if self.agent.answers else hooked_agents()).values()
        for other in others:
            if other.name == self.agent.name:
                continue
            try:
                status = Hooks(other, self._environ, self._home).status()
            except Fault:
                return True
            if status.right + status.other:
                return True
        return False

    def status(self) -> Status:
        """Raise `Fault` if the file is not what the agent reads."""
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
        """Return the same counts as `installed_events`."""
        return self._shaped(lambda: installed_events(_text(data), self.agent, self.program))

    def _count(self, data: bytes) -> int:
        return sum(self._installed(data))

    def _with(self, present: bytes | None) -> bytes:
        def made() -> str:
            return with_entries(None if present is None else _text(present), self.agent, self.program)

        return self._shaped(made).encode()

    def _without(self, present: bytes) -> tuple[bytes | None, bool]:
        """Return the file without our entries, None if it is to be deleted; and whether it was exactly so
        before they were put in: then nothing else was changed since."""
        if not self._count(present):
            return present, False
        if present == self._with(None):
            return None, True
        first: bytes | None = None
        """The newest copy without our entries."""
        for copy in _copies_of(self.file)[:_MOST_COPIES]:
            try:
                before = own_bytes(copy, MOST_BYTES)
                if before is not None and not self._count(before):
                    first = before if first is None else first
                    if self._with(before) == present:
                        return before, True
            except (OSError, Fault):
                continue
        left = self._shaped(lambda: without_entries(_text(present), self.agent))
        document = json.loads(left)
        if document.get(_HOOKS) == {} and (first is None or _HOOKS not in json.loads(first)):
            left = removed(left, [_HOOKS])
            del document[_HOOKS]
        is_ours = self.agent.manifest is not None and not document.get(_HOOKS)
        return None if is_ours or (first is None and document in _OURS) else left.encode(), False

    def _to(self, present: bytes | None, wanted: bytes | None, *, is_ours: bool = False) -> list[Change]:
        is_extension = self.agent.manifest is not None
        if is_extension and present is not None and not self._count(present):
            raise self._left_alone(self.file, "it is not from agentwatch")
        if present == wanted:
            return []
        is_ours |= wanted is None or (is_extension and present is None)
        return [Change(self.file, present, wanted, is_ours=is_ours)]

    def _manifest(self, *, is_wanted: bool) -> list[Change]:
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


def made(changes: list[Change]) -> list[Path]:
    return [copy for change in changes if (copy := change.make()) is not None]


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Shape("it is not valid JSON: it is not UTF-8") from None
