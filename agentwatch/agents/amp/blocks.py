"""Divides the arguments and the result of an Amp call into blocks. The result is an object as text."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.claude.blocks import blocks as claudes_blocks
from agentwatch.agents.fields import Fields, items, mapping, number, text
from agentwatch.session.blocks import Block, ChangeBlock, ErrorBlock, OutputBlock

_STREAMS = (("output", "stdout"), ("stdout", "stdout"), ("stderr", "stderr"))


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line: the output of a command, the changes of a patch, or the text."""
    parts = map(mapping, items(mapping(fields.get("message")).get("content")))
    ends = (part for part in parts if text(part, "tool_use_id") == call_id)
    result = mapping(text(next(ends, {}), "content"))
    found = [*_command(result), *_patch(result)]
    yield from found or claudes_blocks(fields, call_id)


def _command(result: Fields) -> Iterator[Block]:
    code = number(result, "exitCode")
    if code is None:
        return
    if code:
        yield ErrorBlock(f"exit {code}")
    for key, stream in _STREAMS:
        if output := text(result, key):
            yield OutputBlock(stream, output)


def _patch(result: Fields) -> Iterator[Block]:
    for file in map(mapping, items(result.get("files"))):
        diff = text(file, "diff") or ""
        begin = diff.find("@@ ")
        if begin >= 0:
            yield ChangeBlock(diff[begin:].removesuffix("\n"))
