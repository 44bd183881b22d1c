"""Divides the arguments and the result of a call into blocks. The form of a structured result depends on
the tool, which the line does not name, so the fields themselves decide."""

from __future__ import annotations

from collections.abc import Iterator
from operator import is_not

from agentwatch.agents.blocks import EMPTY, binary_block, fields_block
from agentwatch.agents.changes import replaced_texts, replacement, unified_diff
from agentwatch.agents.claude.calls import EXIT, plan_entries, reason_of, result_texts
from agentwatch.agents.claude.stream import blocks_of, ends_with
from agentwatch.agents.fields import Fields, decoded_size, items, mapping, number, text
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FilesBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)

_EMPTY = (*EMPTY, False)
_EDIT_KEYS = ("old_string", "new_string", "old_str", "new_str", "edits")
_ECHOES = (
    *("oldString", "newString", "originalFile", "originalFileContents", "edits", "prompt", "oldTodos"),
    *("type", "filePath", "noOutputExpected", "countIsComplete"),
)
"""Fields of a result that repeat the arguments or the content before the change, or describe the result."""
_NUMBER_ENDS = ("→", "\t")
_MOST_DIGITS = 12


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line that starts or ends it; of all its calls, if none is named."""
    found = list(blocks_of(mapping(fields.get("message"))))
    results = [block for block in found if ends_with(block, "tool_result")]
    structured = fields.get("tool_use_result", fields.get("toolUseResult"))
    for block in found:
        if ends_with(block, "tool_use") and call_id in ("", block.get("id")):
            yield from argument_blocks(mapping(block.get("input")))
    for block in results:
        if call_id in ("", block.get("tool_use_id")):
            yield from result_blocks(block, structured if len(results) == 1 else None)


def argument_blocks(arguments: Fields) -> Iterator[Block]:
    rest = dict(arguments)
    if "command" in rest and (description := text(rest, "description")):
        yield TextBlock("description", description)
        del rest["description"]
    if entries := plan_entries(rest.get("todos")):
        yield PlanBlock(entries)
        del rest["todos"]
    if pairs := list(replaced_texts(arguments)):
        for key in _EDIT_KEYS:
            rest.pop(key, None)
    names = [key for key, value in rest.items() if isinstance(value, str) and "\n" in value]
    texts = {name: rest.pop(name) for name in names}
    yield from fields_block("arguments", rest, _EMPTY)
    for old, new in pairs:
        yield ChangeBlock(replacement(old, new).diff)
    for name, value in texts.items():
        yield ContentBlock(value) if name == "content" else TextBlock(name, value)


def result_blocks(block: Fields, structured: object) -> Iterator[Block]:
    if block.get("is_error") is True:
        yield from _error_blocks(block)
        return
    rest = dict(mapping(structured)) if isinstance(structured, dict) else {}
    if not rest:
        yield from _content_blocks(block)
        return
    yield from _change_block(rest)
    yield from _file_block(rest)
    yield from _output_blocks(rest)
    yield from _found_blocks(rest)
    if entries := plan_entries(rest.pop("newTodos", None)):
        yield PlanBlock(entries)
    yield from _answer_blocks(rest)
    for key in _ECHOES:
        rest.pop(key, None)
    yield from fields_block("result", rest, _EMPTY)


def _error_blocks(block: Fields) -> Iterator[Block]:
    reason = reason_of(block)
    first, _, output = reason.partition("\n")
    if first.startswith(EXIT):
        yield ErrorBlock(first)
        if output.strip():
            yield OutputBlock("stdout", output)
    elif reason:
        yield ErrorBlock(reason)


def _content_blocks(block: Fields) -> Iterator[Block]:
    for words in result_texts(block):
        if words:
            yield _numbered(words) or ContentBlock(words)
    for part in map(mapping, items(block.get("content"))):
        source = mapping(part.get("source"))
        if data := text(source, "data"):
            yield binary_block(text(source, "media_type"), data)
        elif part.get("type") != "text":
            yield from fields_block("result", part, _EMPTY)


def _numbered(words: str) -> ContentBlock | None:
    """`    12→text`, or `12<tab>text` in newer versions. What follows is a reminder for the model."""
    lines: list[str] = []
    first: int | None = None
    for line in words.split("\n"):
        number_end = next((end for end in _NUMBER_ENDS if end in line[: _MOST_DIGITS + 1]), "")
        digits, _, content = line.partition(number_end) if number_end else ("", "", "")
        digits = digits.strip()
        if not (digits.isascii() and digits.isdecimal()):
            break
        first = int(digits) if first is None else first
        lines.append(content)
    return None if first is None else ContentBlock("\n".join(lines), first_line=max(first, 1))


def _change_block(rest: dict[str, object]) -> Iterator[Block]:
    if "structuredPatch" not in rest:
        return
    diff = unified_diff(rest.pop("structuredPatch"))
    before, content = rest.get("originalFile"), rest.pop("content", None)
    after = content if isinstance(content, str) else None
    if diff is not None or after is not None:
        yield ChangeBlock(diff, before if isinstance(before, str) else None, after)


def _file_block(rest: dict[str, object]) -> Iterator[Block]:
    file = mapping(rest.get("file"))
    data, content = text(file, "base64"), text(file, "content")
    if data is not None:
        size = number(file, "originalSize")
        media_type = text(file, "type") or text(rest, "type") or "binary"
        yield BinaryBlock(media_type, decoded_size(data) if size is None else size)
    elif content is not None:
        yield ContentBlock(content, first_line=max(number(file, "startLine") or 1, 1))
    else:
        return
    del rest["file"]


def _output_blocks(rest: dict[str, object]) -> Iterator[Block]:
    is_image = rest.pop("isImage", None) is True
    for stream in ("stdout", "stderr"):
        output = text(rest, stream)
        if output and is_image and stream == "stdout":
            head, _, data = output.partition(",")
            media_type = head.removeprefix("data:").partition(";")[0] if data else ""
            yield binary_block(media_type or "image", data or output)
        elif output:
            yield OutputBlock(stream, output)
        rest.pop(stream, None)


def _found_blocks(rest: dict[str, object]) -> Iterator[Block]:
    names = tuple(name for name in items(rest.pop("filenames", None)) if isinstance(name, str))
    if content := text(rest, "content"):
        yield ContentBlock(content)
        del rest["content"]
    if names:
        yield FilesBlock(names)
    parts = items(rest.get("results"))
    pages = [mapping(page) for part in parts for page in items(mapping(part).get("content"))]
    references = tuple(Reference(text(page, "title"), text(page, "url")) for page in pages)
    if found := tuple(reference for reference in references if any(reference)):
        yield ReferencesBlock(found)
        del rest["results"]
    for part in parts:
        if isinstance(part, str) and part:
            yield MarkdownBlock(part)


def _answer_blocks(rest: dict[str, object]) -> Iterator[Block]:
    for piece in items(rest.get("content")):
        if words := text(mapping(piece), "text"):
            yield MarkdownBlock(words)
            rest.pop("content", None)
    if page := text(rest, "result"):
        yield MarkdownBlock(page)
        del rest["result"]


_ID_KEYS = (("tool_use", "id"), ("tool_result", "tool_use_id"))


def transcript_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line that starts or ends it. A progress line contains the line of a
    subagent. A call without an id of its own has that of its line."""
    line = mapping(mapping(fields.get("data")).get("message")) if fields.get("type") == "progress" else fields
    message = mapping(line.get("message"))
    content = items(message.get("content"))
    named = [_with_id(mapping(block), call_id) for block in content]
    if any(map(is_not, named, content)):
        line = {**line, "message": {**message, "content": named}}
    yield from blocks(line, call_id)


def _with_id(block: Fields, call_id: str) -> Fields:
    for kind, key in _ID_KEYS:
        if block.get("type") == kind and not block.get(key):
            return {**block, key: call_id}
    return block
