"""Makes the blocks that several formats have: the fields of a call, its texts, and binary data."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from agentwatch.agents.fields import Fields, decoded_size
from agentwatch.agents.tool import Phrase
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ContentBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
    TextBlock,
)
from agentwatch.session.events import ToolKind

EMPTY: tuple[object, ...] = ("", None, [], {})


def fields_block(name: str, fields: Fields, empty: tuple[object, ...] = EMPTY) -> Iterator[Block]:
    if present := {key: value for key, value in fields.items() if value not in empty}:
        yield FieldsBlock(name, present)


def short_and_long(arguments: Fields, contents: Collection[str] = ()) -> Iterator[Block]:
    """Yield the short arguments in one block, then each text of several lines in a block of its own.
    `contents` names those that are the content of a file."""
    texts = {key: value for key, value in arguments.items() if isinstance(value, str) and "\n" in value}
    yield from fields_block("arguments", {key: arguments[key] for key in arguments if key not in texts})
    for name, value in texts.items():
        yield ContentBlock(value) if name in contents else TextBlock(name, value)


def binary_block(media_type: str | None, data: str | None) -> BinaryBlock:
    return BinaryBlock(media_type or "binary", None if data is None else decoded_size(data))


def returned_block(kind: ToolKind, output: str, phrase: str = "", first_line: int = 1) -> Block:
    """Return the block of a text that a call returned. `phrase` is that of its tool."""
    match kind:
        case ToolKind.EXECUTE:
            return OutputBlock("stdout", output)
        case ToolKind.FETCH:
            return MarkdownBlock(output)
        case ToolKind.EDIT | ToolKind.PLAN:
            return TextBlock("message", output)
    if phrase == Phrase.SEARCHED_WEB:
        return MarkdownBlock(output)
    return ContentBlock(output, first_line=first_line)
