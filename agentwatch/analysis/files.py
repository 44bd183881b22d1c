"""The files that a session read, changed or deleted, without those that only shell commands touched."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from agentwatch.feed.feed import Feed
from agentwatch.session.blocks import ChangeBlock
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.text.paths import named

_MOST_COMPARED_BYTES = 1 << 20
"""The contents in longer lines are not compared: reading two lines of 1 MiB takes 3 ms."""


class FileAction(StrEnum):
    READ = "read"
    EDITED = "edited"
    CREATED = "created"
    DELETED = "deleted"
    TRIED = "tried"
    """The call failed, was rejected, has no known outcome or never completed."""


CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)


@dataclass(slots=True, eq=False)
class TouchedFile:
    """What the session did to one file."""

    shown: str
    """The path as it is shown: relative to the cwd if the file is inside it."""
    is_outside: bool = False
    """Whether the file is outside the cwd of a run with a call about it. An unknown cwd counts as inside."""
    calls: list[Call] = field(default_factory=list)
    """The calls about the file, in the order in which they ended."""
    file_actions: Counter[FileAction] = field(default_factory=Counter)
    lines_added: int | None = None
    lines_removed: int | None = None
    last_ms: int | None = None
    """The end of the last call about the file, as `latest_ms` returns it."""
    unread: FileAction | None = None
    """The first edit or deletion made before the session had read or created the file."""
    first_change: Call | None = None
    last_change: Call | None = None
    may_be_changed: bool = False
    """Whether a call that was meant to change the file has no known outcome or never completed."""
    _known_from: int | None = None
    """The offset of the line in the recording that first read or created the file."""

    @property
    def is_changed(self) -> bool:
        return self.first_change is not None

    @property
    def is_read(self) -> bool:
        return self.file_actions[FileAction.READ] > 0

    def add(self, call: Call) -> None:
        file_action = file_action_of(call)
        self.calls.append(call)
        self.file_actions[file_action] += 1
        self.last_ms = latest_ms(call)
        if file_action is FileAction.TRIED:
            is_open = call.outcome not in (Outcome.FAILED, Outcome.REJECTED)
            self.may_be_changed = self.may_be_changed or (is_open and call.kind in CHANGES)
            return
        if file_action is not FileAction.READ:
            self.first_change, self.last_change = self.first_change or call, call
        if (
            file_action in (FileAction.EDITED, FileAction.DELETED)
            and self.unread is None
            and not self._was_known_to(call)
        ):
            self.unread = file_action
        if (
            file_action in (FileAction.READ, FileAction.CREATED)
            and self._known_from is None
            and call.ended is not None
        ):
            self._known_from = call.ended.offset
        if call.more_paths:
            return  # the call reports the changed lines of all its files together
        if call.lines_added is not None:
            self.lines_added = (self.lines_added or 0) + call.lines_added
        if call.lines_removed is not None:
            self.lines_removed = (self.lines_removed or 0) + call.lines_removed

    def _was_known_to(self, call: Call) -> bool:
        began = call.started or call.ended
        return self._known_from is not None and (began is None or began.offset > self._known_from)


class TouchedFiles:
    """The files that the calls of a session read, changed or deleted after the first `first` calls."""

    def __init__(self, session: Session, first: int = 0) -> None:
        self._session = session
        self._calls_read = first
        self._files: dict[str, TouchedFile] = {}
        """The files by the key that `named` returns. The file of the last call is the last one."""
        self._by_name: list[TouchedFile] = []

    @property
    def calls_read(self) -> int:
        """The number of ended calls that were read. The files change only if this number changes."""
        return self._calls_read

    def update(self, most: int = 200) -> bool:
        """Read at most `most` newly ended calls."""
        ended = self._session.ended_calls
        end = min(self._calls_read + most, len(ended))
        for call in ended[self._calls_read : end]:
            if call.kind is ToolKind.READ or call.kind in CHANGES:
                for path in dict.fromkeys((call.path, *call.more_paths)):
                    if path:
                        self._touch(call, path)
        self._calls_read = end
        return end < len(ended)

    def named(self, path: str, run: int) -> TouchedFile | None:
        """Return the file that an output names, perhaps relative to a folder in the cwd; None without one."""
        file = self._files.get(named(path, self._session.runs[run - 1].cwd)[0])
        end = "/" + path.replace("\\", "/").removeprefix("./")
        if file is None:
            file = next((each for each in self.newest_first() if each.shown.endswith(end)), None)
        return file

    def newest_first(self) -> list[TouchedFile]:
        return list(reversed(self._files.values()))

    def by_name(self) -> list[TouchedFile]:
        return self._by_name

    def _touch(self, call: Call, path: str) -> None:
        key, shown, is_outside = named(path, self._session.runs[call.run - 1].cwd)
        file = self._files.pop(key, None)
        if file is None:
            file = TouchedFile(shown)
            insort(self._by_name, file, key=lambda one: one.shown)
        self._files[key] = file
        file.is_outside = file.is_outside or is_outside
        file.add(call)


def file_action_of(call: Call) -> FileAction:
    """Return what a call about a file, which must have ended, did to the file."""
    if call.outcome is not Outcome.SUCCEEDED:
        return FileAction.TRIED
    match call.kind:
        case ToolKind.READ:
            return FileAction.READ
        case ToolKind.DELETE:
            return FileAction.DELETED
    return FileAction.CREATED if call.is_new_file else FileAction.EDITED


def latest_ms(call: Call) -> int | None:
    """Return when a call ended, or else started, by the agent's clock, else by arrival; None if unknown."""
    agent = call.started_ms if call.ended_ms is None else call.ended_ms
    place = call.ended or call.started
    return agent if agent is not None or place is None else place.seen_ms


def is_back_to_start(file: TouchedFile, feed: Feed) -> bool | None:
    """Return whether a file has its content from before its first change again; None if unknown."""
    first, last = file.first_change, file.last_change
    if first is None or last is None or file.may_be_changed or file_action_of(first) is FileAction.DELETED:
        return None
    before, after = _contents(first, feed)
    if last is not first:
        after = (False, None) if file_action_of(last) is FileAction.DELETED else _contents(last, feed)[1]
    return None if before is None or after is None else before == after


_Content = tuple[bool, str | None]
"""Whether the file exists, and its content."""


def _contents(call: Call, feed: Feed) -> tuple[_Content | None, _Content | None]:
    """Return the contents of a file before and after a call changed it; None for an unknown one."""
    place = call.result_place
    if place is None or place.length > _MOST_COMPARED_BYTES or call.more_paths:
        return None, None
    change = next(
        (block for block in feed.blocks(place, call.call_id) if isinstance(block, ChangeBlock)), None
    )
    if change is None:
        return None, None
    before, after = _content(change.before), _content(change.after)
    if before is None and after is not None and file_action_of(call) is FileAction.CREATED:
        before = (False, None)
    return before, after


def _content(text: str | None) -> _Content | None:
    return None if text is None else (True, text)
