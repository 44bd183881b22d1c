"""Divides a line of a rollout that belongs to a call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import fields_block
from agentwatch.agents.changes import patched_files
from agentwatch.agents.codex.blocks import (
    change_blocks,
    command_block,
    mcp_blocks,
    output_block,
    piece_blocks,
    search_blocks,
)
from agentwatch.agents.codex.rollout import command_of, end_of, patch_of, read_output, use_of
from agentwatch.agents.codex.stream import Use, mapped_changes, message_in, plan_entries
from agentwatch.agents.fields import Fields, decoded_size, items, mapping, text
from agentwatch.session.blocks import Block, ContentBlock, ErrorBlock, OutputBlock, PlanBlock, TextBlock
from agentwatch.session.events import Outcome, ToolKind

_COMMAND = ("command", "cmd", "script")
_ANY_TOOL = Use("", ToolKind.OTHER, "")
_OF_A_LINE = frozenset(
    {"id", "type", "call_id", "status", "metadata", "internal_chat_message_metadata_passthrough"}
)


def blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    """Yield the blocks of a line: the arguments of a call, or what an item or an output reports about it."""
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
    """Yield the blocks of an item, or of an event with the same fields."""
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
                rest["result"] = f"{decoded_size(data)} bytes"
            yield from fields_block("result", rest)
        case _:
            yield from fields_block("result", rest)
