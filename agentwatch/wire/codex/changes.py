"""Reads the changes of files that Codex reports, in each form that its versions have used."""

from __future__ import annotations

from itertools import islice

from agentwatch.wire.changes.file_change import ChangeKind, FileChange, line_count
from agentwatch.wire.changes.unified import changed_lines
from agentwatch.wire.fields import Fields, items, mapping, text

_MOST_FILES = 10_000
_KINDS = {kind.value: kind for kind in ChangeKind}
_MOVED = "\n\nMoved to: "
"""What Codex appends to the diff of a file that was moved."""


def listed_changes(value: object) -> list[FileChange]:
    """Return the changes in a list, as `codex exec` writes them: `[{"path": …, "kind": …, "diff": …}]`.

    The kind is a name, or an object whose `type` is the name. The diff of a new or deleted file is its
    content.
    """
    found = []
    for each in map(mapping, islice(items(value), _MOST_FILES)):
        path, kind = text(each, "path"), each.get("kind")
        if path is not None:
            name = text(mapping(kind), "type") if isinstance(kind, dict) else kind
            found.append(_change(path, name, each.get("diff"), text(mapping(kind), "move_path")))
    return found


def mapped_changes(value: object) -> list[FileChange]:
    """Return the changes in an object, as rollouts have them: `{"a.py": {"type": "add", "content": …}}`.

    Before version 0.60 the name of the kind was the key of the rest: `{"a.py": {"add": {"content": …}}}`.
    """
    found = []
    for path, given in islice(mapping(value).items(), _MOST_FILES):
        body = mapping(given)
        name: object = text(body, "type")
        if name is None:
            name = next((kind for kind in _KINDS if kind in body), None)
            body = mapping(body.get(name)) if isinstance(name, str) else body
        diff = body.get("unified_diff", body.get("content"))
        found.append(_change(path, name, diff, text(body, "move_path")))
    return found


def _change(path: str, name: object, diff: object, moved_to: str | None) -> FileChange:
    kind = _KINDS.get(name, ChangeKind.UPDATE) if isinstance(name, str) else ChangeKind.UPDATE
    if not isinstance(diff, str):
        return FileChange(path, kind, moved_to=moved_to)
    is_content = not diff.startswith(("@@", "--- ", "diff --git "))
    if kind is ChangeKind.ADD and is_content:
        return FileChange(path, kind, None, line_count(diff), 0, moved_to, after=diff)
    if kind is ChangeKind.DELETE and is_content:
        return FileChange(path, kind, None, 0, line_count(diff), moved_to, before=diff, after="")
    diff, _, moved = diff.partition(_MOVED)
    added, removed = changed_lines(diff)
    moved_to = moved_to or moved or None
    if diff.startswith("@@"):
        diff = f"--- {path}\n+++ {moved_to or path}\n{diff}"
    return FileChange(path, kind, diff, added, removed, moved_to)


def results_of_mcp(result: Fields) -> str:
    """Return the texts that an MCP tool returned."""
    found = (text(mapping(piece), "text") for piece in items(result.get("content")))
    return "\n".join(each for each in found if each is not None)
