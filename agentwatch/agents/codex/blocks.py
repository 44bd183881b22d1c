"""Divides an item of `codex exec --json` into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import binary_block, fields_block
from agentwatch.agents.changes import FileChange
from agentwatch.agents.codex.stream import listed_changes, message_in
from agentwatch.agents.fields import Fields, items, mapping, text
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)

_SHOWN = frozenset({"id", "type", "status", "aggregated_output", "exit_code"})
_PLAIN_ACTIONS = ("search", "other", None)


def blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    """Yield the blocks of a line: the arguments of an item that started, the result of one that ended."""
    item = mapping(fields.get("item"))
    is_start = fields.get("type") == "item.started"
    rest = {key: value for key, value in item.items() if key not in _SHOWN}
    match item.get("type"):
        case "command_execution":
            if not is_start:
                yield from output_block(item.get("aggregated_output"))
            elif command := text(item, "command"):
                yield command_block(command)
        case "file_change":
            # The line that ends the call repeats the changes, so they are shown from there.
            yield from change_blocks([] if is_start else listed_changes(rest.get("changes")))
        case "mcp_tool_call":
            result, error = mapping(rest.pop("result", None)), mapping(rest.pop("error", None))
            if is_start:
                yield from fields_block("arguments", mapping(rest.get("arguments")))
            else:
                yield from mcp_blocks(result, message_in(error))
        case "web_search":
            yield from search_blocks(rest)
        case "collab_tool_call":
            if prompt := text(rest, "prompt"):
                yield TextBlock("prompt", prompt)
                del rest["prompt"]
            yield from fields_block("arguments" if is_start else "result", rest)
        case _:
            yield from fields_block("arguments" if is_start else "result", rest)


def command_block(command: str) -> Block:
    """Return the whole command, as the agent passes it to the shell."""
    return (
        TextBlock("command", command) if "\n" in command else FieldsBlock("arguments", {"command": command})
    )


def output_block(output: object) -> Iterator[Block]:
    """Yield what a command printed, unless that is nothing."""
    if isinstance(output, str) and output:
        yield OutputBlock("stdout", output)


def change_blocks(changes: list[FileChange]) -> Iterator[Block]:
    """Yield the change of each file, or what happened to a file whose change is not in the line."""
    for change in changes:
        if change.diff is not None or change.after is not None:
            yield ChangeBlock(change.diff, before=change.before, after=change.after)
        else:
            moved = f" to {change.moved_to}" if change.moved_to else ""
            yield TextBlock(change.kind.value, f"{change.path}{moved}")


def search_blocks(fields: dict[str, object]) -> Iterator[Block]:
    """Yield what a web search searched for, and the pages that it found."""
    found = tuple(_reference(mapping(each)) for each in items(fields.pop("results", None)))
    action = mapping(fields.pop("action", None))
    what = {key: value for key, value in action.items() if value not in _PLAIN_ACTIONS}
    yield from fields_block("arguments", fields | what)
    if found:
        yield ReferencesBlock(found)


def _reference(fields: Fields) -> Reference:
    words = text(fields, "snippet") or text(fields, "content") or message_in(mapping(fields.get("error")))
    return Reference(text(fields, "title"), text(fields, "url"), words or "")


def mcp_blocks(result: Fields, error: str | None) -> Iterator[Block]:
    """Yield the result of an MCP tool: its error, its texts and images, and its structured content."""
    if error is not None:
        yield ErrorBlock(error)
    for piece in map(mapping, items(result.get("content"))):
        yield from piece_blocks(piece)
    structured = mapping(result.get("structured_content")) or mapping(result.get("structuredContent"))
    yield from fields_block("result", structured)


def piece_blocks(piece: Fields) -> Iterator[Block]:
    """Yield a piece of a result: a text, or the type and size of an image or of other data."""
    if found := text(piece, "text"):
        yield ContentBlock(found)
        return
    url = text(piece, "image_url") or text(piece, "imageUrl")
    if url is not None:
        yield image_block(url)
    elif data := text(piece, "data"):
        yield binary_block(text(piece, "mimeType"), data)
    else:
        yield from fields_block("result", piece)


def image_block(url: str) -> Block:
    """Return an image: its address, or the type and size of one whose data is in the line."""
    if not url.startswith("data:"):
        return FieldsBlock("image", {"url": url})
    head, _, data = url.removeprefix("data:").partition(",")
    return binary_block(head.partition(";")[0], data)
