"""Divides the arguments and the result of a Goose call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import binary_block
from agentwatch.agents.changes import argument_blocks, replacement
from agentwatch.agents.fields import Fields, items, mapping, text
from agentwatch.session.blocks import Block, ChangeBlock, ContentBlock, ErrorBlock, OutputBlock
from agentwatch.session.events import Outcome, ToolKind
from agentwatch_goose.content import Request, request_in, response_in

_REQUESTS = ("toolRequest", "frontendToolRequest")


def call_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a message: of its request, or of its response."""
    for part in map(mapping, items(mapping(fields.get("message")).get("content"))):
        if (text(part, "id") or "") != call_id:
            continue
        if part.get("type") in _REQUESTS:
            yield from _request_blocks(request_in(part))
        elif part.get("type") == "toolResponse":
            yield from _response_blocks(part)


def _request_blocks(request: Request) -> Iterator[Block]:
    before, after = request.arguments.get("before"), request.arguments.get("after")
    rest = request.arguments
    if request.tool.kind is ToolKind.EDIT and isinstance(before, str) and isinstance(after, str):
        yield ChangeBlock(replacement(before, after).diff)
        rest = {key: value for key, value in rest.items() if key not in ("before", "after")}
    yield from argument_blocks(request.tool.kind, rest)
    if request.error:
        yield ErrorBlock(request.error)


def _response_blocks(part: Fields) -> Iterator[Block]:
    """Yield a result. The line does not name the tool, so its fields decide between a command and a file."""
    response = response_in(part)
    if response.outcome is Outcome.FAILED and response.error:
        yield ErrorBlock(response.error)
    structured = mapping(mapping(mapping(part.get("toolResult")).get("value")).get("structuredContent"))
    streams = [(stream, text(structured, stream)) for stream in ("stdout", "stderr")]
    outputs = [OutputBlock(stream, output) for stream, output in streams if output]
    yield from outputs
    for piece in map(mapping, response.content):
        words = text(piece, "text")
        if words and words != response.error and not outputs:
            yield ContentBlock(words)
        data = text(piece, "data")
        if data is not None:
            yield binary_block(text(piece, "mimeType"), data)
