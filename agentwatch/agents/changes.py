"""The changes of files that agents report, in each form: `apply_patch`, two texts, hunks, unified diffs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from agentwatch.agents.blocks import short_and_long
from agentwatch.agents.fields import Fields, items, mapping, number
from agentwatch.agents.tool import NO_FACTS, Facts, Phrase
from agentwatch.session.blocks import Block, ChangeBlock, PlanBlock, TextBlock
from agentwatch.session.counts import complete_sum
from agentwatch.session.events import PlanEntry, ToolKind

# Changes of files, in the terms that all forms share.


class ChangeKind(StrEnum):
    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"


class FileChange(NamedTuple):
    path: str
    kind: ChangeKind
    diff: str | None = None
    """A unified diff; None if the agent does not say what changed."""
    added: int | None = None
    removed: int | None = None
    moved_to: str | None = None
    """The new path of a file that was moved."""
    before: str | None = None
    """The whole content before the change, if that is what the agent says."""
    after: str | None = None


class Changes(NamedTuple):
    kind: ToolKind
    phrase: str
    paths: tuple[str, ...]
    added: int | None
    """The number of lines in all files; None if it is unknown for one of them."""
    removed: int | None
    is_new: bool


def summed(changes: Sequence[FileChange]) -> Changes:
    kinds = {change.kind for change in changes}
    kind, phrase = ToolKind.EDIT, Phrase.EDITED
    if kinds == {ChangeKind.ADD}:
        phrase = Phrase.CREATED
    elif kinds == {ChangeKind.DELETE}:
        kind, phrase = ToolKind.DELETE, Phrase.DELETED
    paths = [path for change in changes for path in (change.path, change.moved_to) if path]
    added, removed = (
        complete_sum([getattr(change, side) for change in changes]) for side in ("added", "removed")
    )
    return Changes(kind, phrase, tuple(dict.fromkeys(paths)), added, removed, kinds == {ChangeKind.ADD})


def line_count(content: str) -> int:
    return content.count("\n") + (not content.endswith("\n") and content != "")


# The patches of the tool `apply_patch`, which Codex and other agents use.

_BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_FILES = {
    "*** Add File: ": ChangeKind.ADD,
    "*** Delete File: ": ChangeKind.DELETE,
    "*** Update File: ": ChangeKind.UPDATE,
}
_MOVE = "*** Move to: "
_END_OF_FILE = "*** End of File"
_COMMANDS = ("apply_patch", "applypatch")


def patched_files(patch: str) -> list[FileChange]:
    """Return the changes of a patch, one for each file, by the grammar of
    `codex-rs/apply-patch/src/parser.rs`. A patch without its end, of a line that was only partly read,
    has the files up to there. The tool tolerates spaces around its marks, and a here-document around the
    patch.

    Example:
        >>> patched_files("*** Begin Patch\\n*** Add File: a.py\\n+x\\n*** End Patch")[0].diff
        '--- /dev/null\\n+++ a.py\\n@@ -0,0 +1 @@\\n+x'
    """
    found: list[FileChange] = []
    path, kind, moved_to = "", ChangeKind.UPDATE, None
    lines: list[str] = []
    has_begun = False
    for raw in patch.split("\n"):
        line = raw.removesuffix("\r")
        if not has_begun:
            has_begun = line.strip() == _BEGIN
            continue
        is_end = line.strip() == _END
        mark = None if is_end else next((each for each in _FILES if line.strip().startswith(each)), None)
        if (is_end or mark is not None) and path:
            found.append(_change(path, kind, moved_to, lines))
        if is_end:
            return found
        if mark is not None:
            path, kind, moved_to = line.strip().removeprefix(mark), _FILES[mark], None
            lines = []
        elif line.startswith(_MOVE):
            moved_to = line.removeprefix(_MOVE).strip()
        elif line.strip() != _END_OF_FILE:
            lines.append(line)
    return [*found, _change(path, kind, moved_to, lines)] if path else found


def patch_in_command(command: str) -> str | None:
    """Return the patch that a shell command passes to `apply_patch`; None if it runs something else.

    Example:
        >>> patch_in_command("apply_patch <<'EOF'\\n*** Begin Patch\\n*** End Patch\\nEOF")[:15]
        '*** Begin Patch'
    """
    begin = command.find(_BEGIN)
    before = command[:begin].lstrip() if begin >= 0 else ""
    words = before.rpartition("&&")[2].split(None, 1)
    if not words or words[0] not in _COMMANDS:
        return None
    return command[begin:]


def _change(path: str, kind: ChangeKind, moved_to: str | None, lines: list[str]) -> FileChange:
    if kind is ChangeKind.DELETE:
        return FileChange(path, kind)
    body = [line or " " for line in lines]  # some agents write an empty line of context without its space
    added = sum(line.startswith("+") for line in body)
    if kind is ChangeKind.ADD:
        head = f"@@ -0,0 +1{'' if added == 1 else f',{added}'} @@"
        body = [head, *(line for line in body if line.startswith("+"))] if added else []
        diff = "\n".join(["--- /dev/null", f"+++ {path}", *body])
        return FileChange(path, kind, diff, added, 0)
    while body and not body[-1].strip():
        body.pop()
    diff = "\n".join([f"--- {path}", f"+++ {moved_to or path}", *body])
    return FileChange(path, kind, diff, added, sum(line.startswith("-") for line in body), moved_to or None)


# Two texts: the one to be replaced, and the one that replaces it.

_CONTEXT = 3
"""The number of equal lines that are shown before and after the changed ones."""


class Replacement(NamedTuple):
    diff: str
    """A unified diff without file names; empty if the texts are equal."""
    added: int
    removed: int


def replacement(old: str, new: str) -> Replacement:
    """Compare two texts line by line, in time linear to their length. All lines between the first and the
    last difference count as removed and added. A finer comparison takes quadratic time.

    Example:
        >>> replacement("a\\nb\\nc", "a\\nB\\nc").diff
        '@@ -1,3 +1,3 @@\\n a\\n-b\\n+B\\n c'
    """
    before, after = lines_of(old), lines_of(new)
    if before == after:
        return Replacement("", 0, 0)
    first, last = equal_ends(before, after)
    removed, added = before[first : len(before) - last], after[first : len(after) - last]
    start = max(first - _CONTEXT, 0)
    ending = before[len(before) - last :][:_CONTEXT]
    shown = [
        *(f" {line}" for line in before[start:first]),
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
        *(f" {line}" for line in ending),
    ]
    around = first - start + len(ending)
    sizes = (len(removed) + around, len(added) + around)
    heading = f"@@ -{start + bool(sizes[0])},{sizes[0]} +{start + bool(sizes[1])},{sizes[1]} @@"
    return Replacement("\n".join((heading, *shown)), len(added), len(removed))


def equal_ends(before: list[str], after: list[str]) -> tuple[int, int]:
    """Return how many lines are equal at the beginning of two texts, and how many of the rest at the end."""
    least = min(len(before), len(after))
    first = next((at for at in range(least) if before[at] != after[at]), least)
    rest = least - first
    return first, next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)


def lines_of(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


# The arguments of an editing tool, for results that do not describe the change.

_PAIRS = (("old_string", "new_string"), ("old_str", "new_str"), ("old_text", "new_text"))
_MOST_CHARACTERS = 1 << 20
"""Longer texts are not compared: their changed lines stay unknown."""


def replaced_texts(arguments: Fields) -> Iterator[tuple[str, str]]:
    for edit in (arguments, *map(mapping, items(arguments.get("edits")))):
        for old_key, new_key in _PAIRS:
            old, new = edit.get(old_key), edit.get(new_key)
            if isinstance(old, str) and isinstance(new, str):
                yield old, new


def replaced_lines(arguments: Fields) -> Facts:
    """They are unknown if each occurrence is replaced: nothing says how often the text occurs."""
    edits = (arguments, *map(mapping, items(arguments.get("edits"))))
    pairs = list(replaced_texts(arguments))
    is_unknown = any(edit.get("replace_all") is True for edit in edits)
    if is_unknown or not pairs or sum(len(old) + len(new) for old, new in pairs) > _MOST_CHARACTERS:
        return NO_FACTS
    changes = [replacement(old, new) for old, new in pairs]
    return Facts(
        lines_added=sum(change.added for change in changes),
        lines_removed=sum(change.removed for change in changes),
    )


# The blocks of a call, for agents that name a tool's arguments in the common way.

_CONTENTS = ("content", "file_text")
_CHANGED = (*_CONTENTS, *(key for pair in _PAIRS for key in pair), "edits")


def argument_blocks(
    kind: ToolKind,
    arguments: Fields,
    entries: tuple[PlanEntry, ...] = (),
    *,
    is_change_known: bool = False,
) -> Iterator[Block]:
    """Yield the blocks; the change of a file only unless `is_change_known`: the result contains it then."""
    rest = dict(arguments)
    if kind is ToolKind.EDIT:
        changes = [] if is_change_known else list(_changes(arguments))
        yield from changes
        for key in _CHANGED if changes or is_change_known else ():
            rest.pop(key, None)
    description = rest.get("description")
    if kind is ToolKind.EXECUTE and isinstance(description, str) and description:
        yield TextBlock("description", description)
        del rest["description"]
    if entries:
        yield PlanBlock(entries)
        rest.pop("todos", None)
    yield from short_and_long(rest)


def _changes(arguments: Fields) -> Iterator[ChangeBlock]:
    pairs = list(replaced_texts(arguments))
    for old, new in pairs:
        yield ChangeBlock(replacement(old, new).diff)
    contents = [arguments.get(key) for key in _CONTENTS]
    content = next((value for value in contents if isinstance(value, str)), None)
    if content is not None and not pairs:
        yield ChangeBlock(None, after=content)


# The `structuredPatch` of Claude's tools, a list of hunks.
# A hunk is `{"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 2, "lines": [" a", "-b", "+c"]}`. The
# form is that of the npm package `diff`, in captures of Claude Code 1.0 to 2.1.


def patch_lines(patch: object) -> Facts:
    if not (hunks := items(patch)):
        return NO_FACTS
    lines = [line for hunk in hunks for line in _hunk_lines(mapping(hunk))]
    return Facts(
        lines_added=sum(line.startswith("+") for line in lines),
        lines_removed=sum(line.startswith("-") for line in lines),
    )


def unified_diff(patch: object) -> str | None:
    pieces: list[str] = []
    for hunk in map(mapping, items(patch)):
        if lines := _hunk_lines(hunk):
            pieces += (_heading(hunk, lines), *lines)
    return "\n".join(pieces) if pieces else None


def _heading(hunk: Fields, lines: list[str]) -> str:
    old = sum(not line.startswith(("+", "\\")) for line in lines)
    new = sum(not line.startswith(("-", "\\")) for line in lines)
    return f"@@ -{_start(hunk, 'oldStart')},{old} +{_start(hunk, 'newStart')},{new} @@"


def _start(hunk: Fields, key: str) -> int:
    return max(number(hunk, key) or 0, 0)


def _hunk_lines(hunk: Fields) -> list[str]:
    return [line for line in items(hunk.get("lines")) if isinstance(line, str)]


# Unified diffs.

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
"""The head of a hunk, with the number of its old and of its new lines; a number left out is 1."""
_NO_FILE = "/dev/null"


class FileDiff(NamedTuple):
    """The part of a unified diff that changes one file."""

    old_path: str | None
    """The path before the change; None if the diff does not name it, or if the file is new."""
    path: str | None
    """The path after the change; None if the diff does not name it, or if the file was deleted."""
    text: str
    added: int
    removed: int


def changed_lines(diff: str) -> tuple[int, int]:
    """Return the number of lines that a unified diff adds and removes, in all of its files.

    Example:
        >>> changed_lines("--- a\\n+++ b\\n@@ -1,2 +1,2 @@\\n same\\n-old\\n+new\\n")
        (1, 1)
    """
    files = list(per_file(diff))
    return sum(each.added for each in files), sum(each.removed for each in files)


def per_file(diff: str) -> Iterator[FileDiff]:
    """Yield one part for each file. Inside a hunk whose head has numbers, `--- x` is a removed line;
    inside another one, as other tools write it (`@@ class Tide`), it begins a file if `+++ y` follows."""
    reader = _Reader()
    lines = diff.split("\n")
    start = 0
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if reader.begins_file(line, following):
            yield reader.file("\n".join(lines[start:index]))
            start, reader = index, _Reader()
        reader.read(line, following)
    if reader.has_content or reader.has_header:
        yield reader.file("\n".join(lines[start:]))


class _Reader:
    def __init__(self) -> None:
        self.has_header = False
        self.has_content = False
        self._added = self._removed = 0
        self._old_path: str | None = None
        self._path: str | None = None
        self._old_left = self._new_left = 0
        """The numbers of old and new lines that the present hunk still has."""
        self._is_counted = False
        """Whether the head of the present hunk says how many lines it has."""

    def begins_file(self, line: str, following: str) -> bool:
        """Return whether a line begins the diff of another file."""
        if self._is_inside or not (self.has_content or self.has_header):
            return False
        if line.startswith("diff --git "):
            return True
        return self.has_content and line.startswith("--- ") and following.startswith("+++ ")

    def read(self, line: str, following: str) -> None:
        if self._is_inside:
            self._count(line[:1])
        elif found := _HUNK.match(line):
            self._old_left, self._new_left = int(found[1] or 1), int(found[2] or 1)
            self.has_content = self._is_counted = True
        elif line.startswith("--- ") and following.startswith("+++ ") and not self.has_content:
            self._old_path, self.has_header = _path(line), True
        elif line.startswith("+++ ") and self.has_header and not self.has_content:
            self._path = _path(line)
        elif line.startswith("diff --git "):
            self.has_header = True
        elif line.startswith("@@"):
            self.has_content, self._is_counted = True, False
        elif not self._is_counted:
            self._count(line[:1])

    def file(self, text: str) -> FileDiff:
        return FileDiff(self._old_path, self._path, text, self._added, self._removed)

    @property
    def _is_inside(self) -> bool:
        return self._old_left > 0 or self._new_left > 0

    def _count(self, sign: str) -> None:
        match sign:
            case "+":
                self._added, self._new_left = self._added + 1, self._new_left - 1
                self.has_content = True
            case "-":
                self._removed, self._old_left = self._removed + 1, self._old_left - 1
                self.has_content = True
            case " " | "":
                self._old_left, self._new_left = self._old_left - 1, self._new_left - 1
            case "\\":
                pass
            case _:  # no line of a hunk: its head had wrong numbers
                self._old_left = self._new_left = 0


def _path(line: str) -> str | None:
    """Return the path in a line `--- path` or `+++ path`, without a timestamp and git's `a/` and `b/`."""
    path = line[4:].partition("\t")[0].rstrip("\r")
    if path == _NO_FILE:
        return None
    return path[2:] if path.startswith(("a/", "b/")) else path
