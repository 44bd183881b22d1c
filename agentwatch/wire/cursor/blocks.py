"""Divides the arguments and the result of a Cursor tool call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    FoundFile,
    FoundLine,
    MarkdownBlock,
    MatchesBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    Remark,
    StepsBlock,
    SubagentCall,
    TextBlock,
)
from agentwatch.events import Outcome
from agentwatch.wire.cursor.decoder import read_arguments, read_tool
from agentwatch.wire.cursor.plans import plan_entries
from agentwatch.wire.cursor.results import REASONS, mcp_texts, read_result
from agentwatch.wire.cursor.tools import SUBAGENT_STEPS, TOOLS, other_tool
from agentwatch.wire.fields import Fields, items, mapping, number, text

_ECHOES = frozenset({"toolCallId", "conversationId", "requestId", "parsingResult"})
"""Fields that are not shown: ids, and the parsed form of the command."""
_EMPTY: tuple[object, ...] = ("", None, [], {})


def blocks(fields: Fields) -> Iterator[Block]:
    """Yield the blocks of a tool call's line: of its result, or of its arguments if it has no result."""
    _, _, body = read_tool(fields)
    if "result" in body:
        yield from _result_blocks(body["result"])
    else:
        yield from _argument_blocks(read_arguments(body))


def _argument_blocks(arguments: Fields) -> Iterator[Block]:
    """Yield the arguments: the to-do list, then all short fields in one block, then each multi-line text."""
    rest = {key: value for key, value in arguments.items() if key not in _ECHOES}
    yield from _plan_block(rest)
    names = [key for key, value in rest.items() if isinstance(value, str) and "\n" in value]
    texts = {name: rest.pop(name) for name in names}
    yield from _fields_block("arguments", rest)
    for name, value in texts.items():
        yield ContentBlock(value) if name == "fileText" else TextBlock(name, value)


def _result_blocks(result: object) -> Iterator[Block]:
    """Yield the result: first the fields that have their own type of block, then the remaining fields."""
    for name, value in mapping(result).items():
        if isinstance(value, str):
            yield ErrorBlock(value)
        body = {key: inner for key, inner in mapping(value).items() if key not in _ECHOES}
        yield from _known_blocks(body, failed=name != "success")
        yield from _fields_block("result", body)


def _known_blocks(body: dict[str, object], *, failed: bool) -> Iterator[Block]:
    """Yield the fields that have their own type of block, and remove them from `body`."""
    for key in REASONS[:-1] if failed else ():
        if reason := text(body, key):
            yield ErrorBlock(reason)
            del body[key]
    yield from _change_block(body)
    for stream in ("stdout", "stderr"):
        if output := text(body, stream):
            yield OutputBlock(stream, output)
        body.pop(stream, None)
    body.pop("interleavedOutput", None)
    content = text(body, "content") or "\n".join(mcp_texts(body))
    if content:
        first = number(mapping(body.get("readRange")), "startLine")
        yield ContentBlock(content, first_line=max(first or 1, 1))
        del body["content"]
    if page := text(body, "markdown"):
        yield MarkdownBlock(page)
        del body["markdown"]
    yield from _plan_block(body)
    yield from _references_block(body)
    yield from _search_blocks(body)
    yield from _steps_block(body)


def _change_block(body: dict[str, object]) -> Iterator[Block]:
    """Yield the change of a file, and remove its fields from `body`."""
    diff = text(body, "diffString")
    before, after = (
        value if isinstance(value := body.get(f"{when}FullFileContent"), str) else None
        for when in ("before", "after")
    )
    if diff or after is not None:
        yield ChangeBlock(diff, before=before, after=after)
        for key in ("diffString", "beforeFullFileContent", "afterFullFileContent"):
            body.pop(key, None)


def _references_block(body: dict[str, object]) -> Iterator[Block]:
    """Yield the pages that a web search found, and remove them from `body`."""
    found = (
        Reference(text(page, "title"), text(page, "url"), text(page, "chunk") or "")
        for page in map(mapping, items(body.get("references")))
    )
    if references := tuple(reference for reference in found if any(reference)):
        yield ReferencesBlock(references)
        del body["references"]


def _search_blocks(body: dict[str, object]) -> Iterator[Block]:
    """Yield the matches of a search, as files and as lines per file, and remove them from `body`."""
    if files := _strings(body.get("files")):
        yield FilesBlock(files)
        del body["files"]
    found: list[FoundFile] = []
    names: tuple[str, ...] = ()
    rest: dict[str, object] = {}
    for workspace in mapping(body.get("workspaceResults")).values():
        for mode, value in mapping(workspace).items():
            fields = dict(mapping(value))
            found += map(_found_file, items(fields.pop("matches", None)))
            names += _strings(fields.pop("files", None))
            rest[mode] = fields
    if found or names:
        del body["workspaceResults"]
        body.update(rest)
    if found:
        yield MatchesBlock(tuple(found))
    if names:
        yield FilesBlock(names)


def _found_file(value: object) -> FoundFile:
    found = mapping(value)
    lines = tuple(
        FoundLine(
            text(match, "content") or "",
            number=number(match, "lineNumber"),
            is_context=match.get("isContextLine") is True,
            is_cut=match.get("contentTruncated") is True,
        )
        for match in map(mapping, items(found.get("matches")))
    )
    return FoundFile(text(found, "file"), lines)


def _steps_block(body: dict[str, object]) -> Iterator[Block]:
    """Yield the messages and calls of a subagent, and remove them from `body`."""
    values = items(body.pop(SUBAGENT_STEPS, None))
    if steps := tuple(step for value in values for step in _steps(mapping(value))):
        yield StepsBlock(steps)


def _steps(fields: Fields) -> Iterator[Remark | SubagentCall]:
    for key, is_thought in (("assistantMessage", False), ("thinkingMessage", True)):
        if remark := text(mapping(fields.get(key)), "text"):
            yield Remark(remark, is_thought)
    for key, value in (mapping(fields.get("toolCall")) or fields).items():
        name = key.removesuffix("ToolCall")
        if name not in {"", key}:
            yield _subagent_call(name, mapping(value))


def _subagent_call(name: str, body: Fields) -> SubagentCall:
    tool = TOOLS.get(name) or other_tool(name)
    arguments = mapping(body.get("args"))
    target = ", ".join(tool.paths(arguments)) or tool.target(arguments)
    if "result" not in body:
        return SubagentCall(tool.phrase, target, Outcome.UNFINISHED)
    result = read_result(tool, body["result"])
    return SubagentCall(tool.phrase, target, result.outcome, result.error or result.facts.note)


def _plan_block(body: dict[str, object]) -> Iterator[Block]:
    entries = plan_entries(body.pop("todos", None))
    if entries:
        yield PlanBlock(entries)


def _fields_block(name: str, fields: Fields) -> Iterator[Block]:
    """Yield the fields that are not empty."""
    if present := {key: value for key, value in fields.items() if value not in _EMPTY}:
        yield FieldsBlock(name, present)


def _strings(value: object) -> tuple[str, ...]:
    return tuple(item for item in items(value) if isinstance(item, str))
