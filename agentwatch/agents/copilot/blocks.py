"""Divides the arguments and the result of a Copilot tool call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import EMPTY, binary_block, short_and_long
from agentwatch.agents.changes import argument_blocks, changed_lines
from agentwatch.agents.copilot.calls import is_diff, plan_entries, read_arguments, tool_of
from agentwatch.agents.fields import Fields, items, mapping, number, text
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
)
from agentwatch.session.events import ToolKind

_CONTENTS = ("file_text", "content")
"""Arguments that are the content of a file."""
_SHOWN = frozenset({"content", "detailedContent", "contents", "binaryResultsForLlm"})
_DATA = ("data", "blob")


def blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    """Yield the blocks of a line that starts or ends a call."""
    data = mapping(fields.get("data"))
    if fields.get("type") == "tool.execution_complete":
        yield from _result_blocks(data)
    else:
        yield from _argument_blocks(data)


def _argument_blocks(data: Fields) -> Iterator[Block]:
    """Yield the arguments. Those of an edit are texts, because its result contains the diff."""
    arguments = read_arguments(data.get("arguments"))
    kind = tool_of(text(data, "toolName") or "", arguments, text(data, "mcpServerName"), None).kind
    if kind is not ToolKind.EDIT:
        yield from argument_blocks(kind, arguments, plan_entries(arguments))
        return
    yield from short_and_long(arguments, _CONTENTS)


def _result_blocks(data: Fields) -> Iterator[Block]:
    """Yield the result: a change of a file as a diff, the output of a command, or a text.

    The line does not repeat the tool's name. Only a command has an exit code.
    """
    result = mapping(data.get("result"))
    content = text(result, "content") or text(data, "result") or ""
    detailed = text(result, "detailedContent") or ""
    error = mapping(data.get("error"))
    if message := text(error, "message") or text(data, "error"):
        yield ErrorBlock(message)
    if is_diff(detailed) and any(changed_lines(detailed)):
        yield ChangeBlock(detailed.lstrip("\n"))
    elif "shellExecution" in data or content.rstrip().endswith(">"):
        yield from [OutputBlock("stdout", content)] if content else []
    elif content and not is_diff(detailed) and "\n#" in f"\n{detailed}":
        yield MarkdownBlock(detailed)
    elif content:
        yield ContentBlock(content)
    for part in (*items(result.get("contents")), *items(result.get("binaryResultsForLlm"))):
        yield from _binary_blocks(mapping(part))
    rest = {key: value for key, value in result.items() if key not in _SHOWN and value not in EMPTY}
    if edits := data.get("fileEdits"):
        rest["fileEdits"] = edits
    if rest:
        yield FieldsBlock("result", rest)


def _binary_blocks(part: Fields) -> Iterator[Block]:
    """Yield an image or another binary result, by its type and size."""
    inner = mapping(part.get("resource")) or part
    encoded = next((found for key in _DATA if (found := text(inner, key))), None)
    media_type = text(inner, "mimeType")
    if encoded is not None:
        yield binary_block(media_type, encoded)
    elif media_type is not None and "byteLength" in part:
        yield BinaryBlock(media_type, number(part, "byteLength"))
