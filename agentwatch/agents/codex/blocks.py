"""Divides an item of `codex exec --json`, or a line of a rollout, into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import binary_block, fields_block
from agentwatch.agents.changes import FileChange, patched_files
from agentwatch.agents.codex.rollout import command_of, end_of, patch_of, read_output, use_of
from agentwatch.agents.codex.stream import Use, listed_changes, mapped_changes, message_in, plan_entries
from agentwatch.agents.fields import Fields, decoded_size, items, mapping, text
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)
from agentwatch.session.events import Outcome, ToolKind

_SHOWN = frozenset({"id", "type", "status", "aggregated_output", "exit_code"})
_PLAIN_ACTIONS = ("search", "other", None)


def blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
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
    return (
        TextBlock("command", command) if "\n" in command else FieldsBlock("arguments", {"command": command})
    )


def output_block(output: object) -> Iterator[Block]:
    if isinstance(output, str) and output:
        yield OutputBlock("stdout", output)


def change_blocks(changes: list[FileChange]) -> Iterator[Block]:
    for change in changes:
        if change.diff is not None or change.after is not None:
            yield ChangeBlock(change.diff, before=change.before, after=change.after)
        else:
            moved = f" to {change.moved_to}" if change.moved_to else ""
            yield TextBlock(change.kind.value, f"{change.path}{moved}")


def search_blocks(fields: dict[str, object]) -> Iterator[Block]:
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
    if not url.startswith("data:"):
        return FieldsBlock("image", {"url": url})
    head, _, data = url.removeprefix("data:").partition(",")
    return binary_block(head.partition(";")[0], data)


_COMMAND = ("command", "cmd", "script")
_ANY_TOOL = Use("", ToolKind.OTHER, "")
_OF_A_LINE = frozenset(
    {"id", "type", "call_id", "status", "metadata", "internal_chat_message_metadata_passthrough"}
)


def rollout_blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    payload = mapping(fields.get("payload"))
    match payload.get("type"):
        case "function_call" | "tool_search_call":
            yield from _arguments(text(payload, "name") or "", payload.get("arguments"))
        case "custom_tool_call":
            yield from _arguments(text(payload, "name") or "", payload.get("input"))
        case "local_shell_call":
            yield from _arguments("local_shell", mapping(payload.get("action")))
        case "function_call_output" | "custom_tool_call_output":
            yield from _output(payload.get("output"))
        case "item_completed":
            yield from _item(mapping(payload.get("item")))
        case "mcp_tool_call_end":
            result = mapping(payload.get("result"))
            yield from fields_block("arguments", mapping(mapping(payload.get("invocation")).get("arguments")))
            yield from mcp_blocks(mapping(result.get("Ok")), text(result, "Err"))
        case _:
            yield from _item(payload)


def _arguments(name: str, given: object) -> Iterator[Block]:
    arguments = mapping(given)
    whole = given if isinstance(given, str) else ""
    use = use_of(name, None, given)
    if use.changes is not None:
        changes = patched_files(patch_of(name, arguments, whole) or "")
        yield from change_blocks(changes)
        if not changes and whole:
            yield TextBlock("input", whole)
        return
    if not arguments and whole.strip() not in {"", "{}"}:
        yield TextBlock("input", whole)
        return
    rest = dict(arguments)
    if use.kind is ToolKind.EXECUTE and (command := command_of(arguments)):
        yield command_block(command)
        rest = {key: value for key, value in rest.items() if key not in _COMMAND}
    if entries := plan_entries(rest.get("plan")):
        yield PlanBlock(entries)
        del rest["plan"]
    for key, value in list(rest.items()):
        if isinstance(value, str) and "\n" in value:
            yield TextBlock(key, value)
            del rest[key]
    yield from fields_block("arguments", rest)


def _output(value: object) -> Iterator[Block]:
    output = read_output(value)
    end = end_of(_ANY_TOOL, output)
    if output.pieces:
        for piece in output.pieces:
            yield from piece_blocks(piece)
    elif output.has_head:
        yield from output_block(output.text)
    elif output.text:
        is_error = end.outcome in {Outcome.FAILED, Outcome.REJECTED}
        yield ErrorBlock(output.text) if is_error else ContentBlock(output.text)


def _item(item: Fields) -> Iterator[Block]:
    rest = {key: value for key, value in item.items() if key not in _OF_A_LINE}
    match item.get("type"):
        case "CommandExecution" | "exec_command_end":
            yield from output_block(item.get("aggregated_output") or item.get("stdout"))
            if not text(item, "aggregated_output") and (errors := text(item, "stderr")):
                yield OutputBlock("stderr", errors)
        case "FileChange" | "patch_apply_end":
            yield from change_blocks(mapped_changes(item.get("changes")))
            if errors := text(item, "stderr"):
                yield OutputBlock("stderr", errors)
        case "McpToolCall":
            error = message_in(mapping(item.get("error"))) or text(item, "error")
            yield from fields_block("arguments", mapping(item.get("arguments")))
            yield from mcp_blocks(mapping(item.get("result")), error)
        case "WebSearch" | "Extension" | "web_search_end" | "web_search_call":
            yield from search_blocks(rest)
        case "DynamicToolCall" | "dynamic_tool_call_response":
            yield from fields_block("arguments", mapping(item.get("arguments")))
            for piece in items(item.get("content_items")) or items(item.get("contentItems")):
                yield from piece_blocks(mapping(piece))
            if error := text(item, "error"):
                yield ErrorBlock(error)
        case "ImageGeneration" | "image_generation_end" | "image_generation_call":
            if data := text(rest, "result"):
                rest["result"] = f"{decoded_size(data):,} bytes"
            yield from fields_block("result", rest)
        case _:
            yield from fields_block("result", rest)
