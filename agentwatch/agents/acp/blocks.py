"""Divides the arguments and the result of a tool call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.acp.calls import object_in, plan_in, terminal_output
from agentwatch.agents.acp.stream import asked_call
from agentwatch.agents.blocks import binary_block, fields_block, short_and_long
from agentwatch.agents.fields import Fields, items, mapping, text
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)

_OUTPUTS = ("output", "formatted_output", "aggregated_output", "content")
"""Fields of `rawOutput` with the text that `content` repeats."""


def blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    params = mapping(fields.get("params"))
    call = asked_call(params) if "options" in params else mapping(params.get("update"))
    yield from _arguments(mapping(call.get("rawInput")))
    contents = list(_contents(call))
    yield from contents
    yield from _result(call, has_content=bool(contents))


def _arguments(raw: Fields) -> Iterator[Block]:
    rest = dict(raw)
    if description := text(rest, "description"):
        yield TextBlock("description", description)
        del rest["description"]
    if isinstance(todos := rest.get("todos"), list):
        del rest["todos"]
        yield PlanBlock(plan_in(todos).entries)
    yield from short_and_long(rest, ["content"])


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
        media_type = text(content, "mimeType") or text(resource, "mimeType")
        yield binary_block(media_type, data if isinstance(data, str) else None)
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
    yield from fields_block("result", rest)
