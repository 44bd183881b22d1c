"""Divides the arguments and the result of a call in a transcript of Cursor into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.claude.blocks import argument_blocks, result_blocks
from agentwatch.agents.cursor.agent import parts_of_type
from agentwatch.agents.cursor.transcript import place_id, tool_named
from agentwatch.agents.fields import Fields, mapping, number, text
from agentwatch.session.blocks import Block, ChangeBlock
from agentwatch.session.events import ToolKind

_CONTENTS = ("contents", "content", "file_text")


def transcript_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """The message that ends a call is usually the next one, and says nothing about it."""
    place = call_id.rpartition(".")[2]
    for position, part in enumerate(parts_of_type(fields, "tool_use")):
        if call_id == text(part, "id") or place == place_id(part, position):
            yield from _transcript_arguments(text(part, "name") or "", mapping(part.get("input")))
    results = parts_of_type(fields, "tool_result")
    own = [part for part in results if text(part, "tool_use_id") == call_id]
    for part in own or _at(place, results):
        yield from result_blocks(part, None)


def _at(place: str, results: list[Fields]) -> list[Fields]:
    position = number({"position": place.partition("-")[0]}, "position") or 0
    return results if len(results) == 1 else results[position : position + 1]


def _transcript_arguments(name: str, arguments: Fields) -> Iterator[Block]:
    rest = dict(arguments)
    if tool_named(name).kind is ToolKind.EDIT:
        for key in _CONTENTS:
            if isinstance(rest.get(key), str):
                yield ChangeBlock(None, after=rest.pop(key))
    yield from argument_blocks(rest)
