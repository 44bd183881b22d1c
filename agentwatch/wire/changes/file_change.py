"""What an agent did to a file, in the terms that all formats of changes share."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from agentwatch.events import ToolKind
from agentwatch.wire.tool import Phrase


class ChangeKind(StrEnum):
    """What happens to a file."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"


class FileChange(NamedTuple):
    """The change of one file."""

    path: str
    kind: ChangeKind
    diff: str | None = None
    """A unified diff; None if the agent does not say what changed."""
    added: int | None = None
    """The number of lines; None if the agent does not say what changed."""
    removed: int | None = None
    moved_to: str | None = None
    """The new path of a file that was moved."""
    before: str | None = None
    """The whole content before the change, if that is what the agent says."""
    after: str | None = None
    """The whole content after the change, if that is what the agent says."""


class Changes(NamedTuple):
    """The changes of one call, as its action shows them."""

    kind: ToolKind
    phrase: str
    paths: tuple[str, ...]
    added: int | None
    """The number of lines in all files; None if it is unknown for one of them."""
    removed: int | None
    is_new: bool
    """Whether all files are new."""


def summed(changes: Sequence[FileChange]) -> Changes:
    """Return the changes of one call together.

    A call that only creates files, or only deletes them, is described by that; any other edits files.
    """
    kinds = {change.kind for change in changes}
    kind, phrase = ToolKind.EDIT, Phrase.EDITED
    if kinds == {ChangeKind.ADD}:
        phrase = Phrase.CREATED
    elif kinds == {ChangeKind.DELETE}:
        kind, phrase = ToolKind.DELETE, Phrase.DELETED
    paths = [path for change in changes for path in (change.path, change.moved_to) if path]
    added, removed = (_total([getattr(change, side) for change in changes]) for side in ("added", "removed"))
    return Changes(kind, phrase, tuple(dict.fromkeys(paths)), added, removed, kinds == {ChangeKind.ADD})


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def line_count(content: str) -> int:
    """Return the number of lines of a file's content."""
    return content.count("\n") + (not content.endswith("\n") and content != "")
