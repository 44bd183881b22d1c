"""Divides the arguments and the result of a Cursor tool call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import fields_block, short_and_long
from agentwatch.agents.cursor.stream import plan_entries
from agentwatch.agents.cursor.tools import (
    REASONS,
    SUBAGENT_STEPS,
    TOOLS,
    UNFAILED,
    VARIANTS,
    ToolUse,
    mcp_texts,
    read_arguments,
    read_result,
    read_tool,
)
from agentwatch.agents.fields import Fields, items, mapping, number, text
from agentwatch.agents.tool import IDS, other_tool
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
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
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.amounts import one_line
from agentwatch.text.durations import duration_words

_ECHOES = IDS | {"parsingResult"}
"""Fields that are not shown: ids, and the parsed form of the command."""
_OF_OTHER_TOOLS = frozenset(
    ("content", "markdown", "todos", "references", "files", "workspaceResults", "durationMs", SUBAGENT_STEPS)
)


def blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    call = mapping(fields.get("tool_call"))
    use = read_tool(call)
    if "result" in use.body:
        yield from _result_blocks(use)
    else:
        yield from _argument_blocks(use, beside=text(call, "description"))


def _argument_blocks(use: ToolUse, *, beside: str | None) -> Iterator[Block]:
    """The description may be among the arguments, or beside them."""
    rest = {key: value for key, value in read_arguments(use.body).items() if key not in _ECHOES}
    if use.tool.kind is ToolKind.EXECUTE:
        if description := text(rest, "description") or text(use.body, "description") or beside:
            yield TextBlock("description", description)
        rest.pop("description", None)
    if use.tool.kind is ToolKind.DELEGATE and (words := _subagent(rest)):
        yield TextBlock("subagent", words)
    yield from _plan_block(rest)
    yield from short_and_long(rest, ["fileText"])


def _subagent(arguments: dict[str, object]) -> str:
    """Remove the kind and the model: `{"explore": {}}`, or the name in `{"custom": {"name": "reviewer"}}`."""
    given = arguments.pop("subagentType", None)
    names = [text(mapping(value), "name") or key for key, value in mapping(given).items()]
    kind = given if isinstance(given, str) else names[0] if names else None
    words = (kind if kind != "unspecified" else None, arguments.pop("model", None))
    return " · ".join(word for word in words if isinstance(word, str) and word)


def _result_blocks(use: ToolUse) -> Iterator[Block]:
    variants = mapping(use.body["result"])
    if not variants or (use.is_function and VARIANTS.isdisjoint(variants)):
        yield from _plain_blocks(use.body["result"], variants)
        return
    for name, value in variants.items():
        if isinstance(value, str):
            yield ContentBlock(value) if name in UNFAILED else ErrorBlock(value)
        yield from _body_blocks(mapping(value), failed=name not in UNFAILED)


def _plain_blocks(result: object, fields: Fields) -> Iterator[Block]:
    """Yield a result without a variant: the text or the fields that a documented `function` returned."""
    if fields:
        yield from _body_blocks(fields, failed=False)
    elif isinstance(result, str) and result:
        yield ContentBlock(result)
    else:
        yield from fields_block("result", {"result": result})


def _body_blocks(fields: Fields, *, failed: bool) -> Iterator[Block]:
    body = {key: value for key, value in fields.items() if key not in _ECHOES}
    yield from _known_blocks(body, failed=failed)
    yield from fields_block("result", body)


def _known_blocks(body: dict[str, object], *, failed: bool) -> Iterator[Block]:
    for key in REASONS[:-1] if failed else ():
        if reason := text(body, key):
            yield ErrorBlock(reason)
            del body[key]
    if "diffString" in body or "afterFullFileContent" in body:
        yield from _change_block(body)
    for stream in ("stdout", "stderr"):
        if output := text(body, stream):
            yield OutputBlock(stream, output)
        body.pop(stream, None)
    body.pop("interleavedOutput", None)
    if _OF_OTHER_TOOLS.isdisjoint(body):  # of a command: a comparison reads 30,000 of them
        return
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
    duration_ms = number(body, "durationMs")
    if duration_ms is not None:
        yield TextBlock("duration", duration_words(duration_ms))
        del body["durationMs"]


def _change_block(body: dict[str, object]) -> Iterator[Block]:
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
    found = (
        Reference(text(page, "title"), text(page, "url"), text(page, "chunk") or "")
        for page in map(mapping, items(body.get("references")))
    )
    if references := tuple(reference for reference in found if any(reference)):
        yield ReferencesBlock(references)
        del body["references"]


def _search_blocks(body: dict[str, object]) -> Iterator[Block]:
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
    target = one_line(", ".join(tool.paths(arguments)) or tool.target(arguments) or "") or None
    if "result" not in body:
        return SubagentCall(tool.phrase, target, Outcome.UNFINISHED)
    result = read_result(tool, body["result"])
    return SubagentCall(tool.phrase, target, result.outcome, result.error or result.facts.note)


def _plan_block(body: dict[str, object]) -> Iterator[Block]:
    entries = plan_entries(body.pop("todos", None))
    if entries:
        yield PlanBlock(entries)


def _strings(value: object) -> tuple[str, ...]:
    return tuple(item for item in items(value) if isinstance(item, str))
