"""Divides the arguments and the result of a tool call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.wire.acp.calls.open_calls import plan_in
from agentwatch.wire.acp.calls.results import object_in, terminal_output
from agentwatch.wire.acp.permissions import asked_call
from agentwatch.wire.acp.text import binary_size
from agentwatch.wire.fields import Fields, items, mapping, text

_EMPTY: tuple[object, ...] = ("", None, [], {})
_OUTPUTS = ("output", "formatted_output", "aggregated_output", "content")
"""Fields of `rawOutput` with the text that `content` repeats."""


def blocks(fields: Fields) -> Iterator[Block]:
    """Yield the blocks of a line about a tool call: its arguments, its content and its result."""
    params = mapping(fields.get("params"))
    call = asked_call(params) if "options" in params else mapping(params.get("update"))
    yield from _arguments(mapping(call.get("rawInput")))
    contents = list(_contents(call))
    yield from contents
    yield from _result(call, has_content=bool(contents))


def _arguments(raw: Fields) -> Iterator[Block]:
    """Yield the description, the to-do list, all short arguments in one block, and each multi-line text."""
    rest = dict(raw)
    if description := text(rest, "description"):
        yield TextBlock("description", description)
        del rest["description"]
    if isinstance(todos := rest.get("todos"), list):
        del rest["todos"]
        yield PlanBlock(plan_in(todos).entries)
    names = [key for key, value in rest.items() if isinstance(value, str) and "\n" in value]
    texts = {name: rest.pop(name) for name in names}
    yield from _fields("arguments", rest)
    for name, value in texts.items():
        yield ContentBlock(value) if name == "content" else TextBlock(name, value)


def _contents(call: Fields) -> Iterator[Block]:
    """Yield the content of a call: texts, diffs and images. A terminal is shown by its output."""
    for block in map(mapping, items(call.get("content"))):
        if block.get("type") == "diff":
            yield ChangeBlock(None, before=text(block, "oldText"), after=text(block, "newText") or "")
        elif block.get("type") == "content":
            yield from _content(mapping(block.get("content")), call)
    if output := terminal_output(call):
        yield OutputBlock("stdout", output)


def _content(content: Fields, call: Fields) -> Iterator[Block]:
    resource = mapping(content.get("resource"))
    if found := text(content, "text") or text(resource, "text"):
        yield _text(found, call)
    elif data := content.get("data") or resource.get("blob"):
        media = text(content, "mimeType") or text(resource, "mimeType") or "binary"
        yield BinaryBlock(media, binary_size(data))
    elif uri := text(content, "uri") or text(resource, "uri"):
        yield TextBlock(text(content, "name") or "resource", uri)


def _text(found: str, call: Fields) -> Block:
    if call.get("status") == "failed":
        return ErrorBlock(found)
    match call.get("kind"):
        case "execute":
            return OutputBlock("stdout", found)
        case "fetch":
            return MarkdownBlock(found)
    return ContentBlock(found)


def _result(call: Fields, *, has_content: bool) -> Iterator[Block]:
    """Yield `rawOutput` without the text that `content` repeats."""
    output = call.get("rawOutput")
    if isinstance(output, str) and output:
        if not has_content:
            yield _text(output, call)
        return
    if isinstance(output, list):
        for block in map(mapping, output):
            yield from () if has_content else _content(block, call)
        return
    rest = dict(object_in(output))
    error = text(rest, "error") or text(mapping(rest.get("error")), "message")
    if error and not has_content:
        yield ErrorBlock(error)
    if error:
        del rest["error"]
    for stream in ("stdout", "stderr"):
        if printed := text(rest, stream):
            yield OutputBlock(stream, printed)
            del rest[stream]
    metadata = dict(mapping(rest.get("metadata")))
    if diff := text(metadata, "diff"):
        yield ChangeBlock(diff)
        del metadata["diff"]
        rest["metadata"] = metadata
    for key in _OUTPUTS:
        if printed := text(rest, key):
            if not has_content:
                yield _text(printed, call)
                has_content = True
            del rest[key]
    yield from _fields("result", rest)


def _fields(name: str, fields: Fields) -> Iterator[Block]:
    """Yield the fields that are not empty."""
    if present := {key: value for key, value in fields.items() if value not in _EMPTY}:
        yield FieldsBlock(name, present)
