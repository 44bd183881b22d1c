"""Divides the arguments and the result of an opencode call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import fields_block, short_and_long
from agentwatch.agents.fields import NO_FIELDS, Fields, decoded_size, items, mapping, number, text
from agentwatch.agents.opencode.stream import IS_OPEN, file_changes, metadata_of, plan_entries, tool_named
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FilesBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.session.events import ToolKind

_MOST_ATTACHMENTS = 100
_SHOWN_ELSEWHERE = frozenset(
    {
        *("output", "exit", "truncated", "diff", "filediff", "files", "results", "todos", "display"),
        *("preview", "description", "filepath", "exists", "loaded"),
    }
)
"""Metadata that repeats the output, the arguments or the outcome of a call."""


def blocks(line: Fields, _call_id: str = "") -> Iterator[Block]:
    """In a stream, one line has arguments and result; of a stored call, each has a line."""
    part = mapping(line.get("part"))
    name, state = text(part, "tool") or "", mapping(part.get("state"))
    is_open = state.get("status") in IS_OPEN
    changes = [] if is_open else list(_changes(state))
    if is_open or line.get("type") == "tool_use":
        yield from _arguments(name, state, is_changed=bool(changes))
    if not is_open:
        yield from changes
        yield from _result(name, state)


def _arguments(name: str, state: Fields, *, is_changed: bool) -> Iterator[Block]:
    """`is_changed`: the result describes the change, so that the texts of an edit need not be shown."""
    rest = dict(mapping(state.get("input")))
    kind = tool_named(name).kind
    if kind is ToolKind.EXECUTE and (description := text(rest, "description")):
        yield TextBlock("description", description)
        del rest["description"]
    if kind is ToolKind.DELEGATE and (agent := text(rest, "subagent_type")):
        yield TextBlock("subagent", agent)
        del rest["subagent_type"]
    if kind is ToolKind.PLAN and (entries := plan_entries(state)):
        yield PlanBlock(entries)
        rest.pop("todos", None)
    if is_changed:
        for key in ("oldString", "newString", "patchText", "edits"):
            rest.pop(key, None)
    yield from short_and_long(rest, ["content"] if name == "write" else [])


def _changes(state: Fields) -> Iterator[Block]:
    metadata = metadata_of(state)
    found = False
    for change in file_changes(state):
        diff = text(change, "patch") or text(change, "diff")
        if diff is None and change is metadata.get("filediff"):
            diff = text(metadata, "diff")
        before, after = _content(change, "before"), _content(change, "after")
        if diff is not None or before is not None or after is not None:
            found = True
            yield ChangeBlock(_bare(diff), before, after)
    if not found and (diff := text(metadata, "diff")):
        yield ChangeBlock(_bare(diff))


def _bare(diff: str | None) -> str | None:
    """Return a diff without the line `Index: PATH` and the rule below it, with which opencode begins it."""
    if diff is None or not diff.startswith("Index: "):
        return diff
    start = diff.find("\n--- ")
    return diff if start < 0 else diff[start + 1 :]


def _content(change: Fields, key: str) -> str | None:
    value = change.get(key)
    return value if isinstance(value, str) else None


def _result(name: str, state: Fields) -> Iterator[Block]:
    tool, metadata = tool_named(name), metadata_of(state)
    if error := text(state, "error"):
        yield ErrorBlock(error)
    # What a call had printed that failed or was stopped is in the metadata.
    printed = metadata if state.get("status") == "error" else NO_FIELDS
    if output := text(state, "output") or text(printed, "output"):
        yield from _output_blocks(name, tool.kind, output, metadata)
    for attachment in map(mapping, items(state.get("attachments"))[:_MOST_ATTACHMENTS]):
        yield BinaryBlock(text(attachment, "mime") or "binary", _size(text(attachment, "url")))
    rest = {key: value for key, value in metadata.items() if key not in _SHOWN_ELSEWHERE}
    yield from fields_block("result", rest)


def _output_blocks(name: str, kind: ToolKind, output: str, metadata: Fields) -> Iterator[Block]:
    display = mapping(metadata.get("display"))
    if kind is ToolKind.EXECUTE:
        yield OutputBlock("stdout", output)
    elif kind is ToolKind.READ and (content := text(display, "text")):
        yield ContentBlock(content, number(display, "lineStart") or 1)
    elif kind in (ToolKind.FETCH, ToolKind.DELEGATE) or name == "websearch":
        yield MarkdownBlock(output)
    elif name == "glob":
        yield FilesBlock(tuple(output.splitlines()))
    elif kind not in (ToolKind.PLAN, ToolKind.EDIT):
        yield ContentBlock(output)
    elif "\n" in output and kind is ToolKind.EDIT:  # diagnostics follow the confirmation
        yield TextBlock("output", output)


def _size(url: str | None) -> int | None:
    if url is None or not url.startswith("data:") or ";base64," not in url[:200]:
        return None
    return decoded_size(url.partition(",")[2])
