"""Amp's variant of Claude's grammar, and its tools. The names are those in the init lines of published
captures of Amp. Since 2026 most of its tools are those of Codex: commands and patches."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.changes import patched_files
from agentwatch.agents.claude.blocks import blocks as claudes_blocks
from agentwatch.agents.claude.calls import Dialect, mcp_tool
from agentwatch.agents.claude.stream import ClaudeDecoder
from agentwatch.agents.fields import NO_FIELDS, Fields, items, mapping, number, text
from agentwatch.agents.tool import Facts, Phrase, Tool, command_in, named, other_tool, path_in
from agentwatch.session.blocks import Block, ChangeBlock, ErrorBlock, OutputBlock
from agentwatch.session.counts import complete_sum
from agentwatch.session.events import ToolKind

# The results of the tools. Each is an object as text: `{"output": "…", "exitCode": 0}`.
# The flag `is_error` of a command that failed is false, so that only its exit code shows the failure.


def details_in(tool: Tool, words: str) -> Fields:
    """Return the exit code of a command or the files of a patch, from the text of a result. The text of any
    other tool may be a document of the user.

    Example:
        >>> from agentwatch.agents.amp.stream import tool_named
        >>> details_in(tool_named("shell_command"), '{"output": "x", "exitCode": 3}')
        {'exitCode': 3}
    """
    if tool.kind is ToolKind.EXECUTE:
        code = number(mapping(words), "exitCode")
        return NO_FIELDS if code is None else {"exitCode": code}
    if tool.kind is ToolKind.EDIT:
        files = [mapping(file) for file in items(mapping(words).get("files"))]
        return {"files": files} if files else NO_FIELDS
    return NO_FIELDS


def patch_facts(details: Fields) -> Facts:
    files = [mapping(file) for file in items(details.get("files"))]
    is_new = bool(files) and all(text(file, "type") == "add" for file in files)
    return Facts(
        phrase=Phrase.CREATED if is_new else None,
        is_new_file=is_new,
        lines_added=complete_sum([number(file, "additions") for file in files]),
        lines_removed=complete_sum([number(file, "deletions") for file in files]),
    )


_PATHS = path_in("path", "file_path", "filePath")


def _patched(arguments: Fields) -> list[str]:
    return [change.path for change in patched_files(text(arguments, "patchText") or "")]


TOOLS = {
    "Bash": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("cmd", "command")),
    "shell_command": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command", "cmd")),
    "apply_patch": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_patched, facts=patch_facts),
    "Read": Tool(ToolKind.READ, Phrase.READ, paths=_PATHS),
    "Write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=_PATHS),
    "Edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATHS),
    "create_file": Tool(ToolKind.EDIT, Phrase.CREATED, paths=_PATHS),
    "edit_file": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATHS),
    "undo_edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATHS),
    "Grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("filePattern", "pattern")),
    "finder": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "codebase_search_agent": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "Task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
    "oracle": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("task")),
    "librarian": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("query")),
    "todo_write": Tool(ToolKind.PLAN, Phrase.TODOS),
    "web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query", "objective")),
    "read_web_page": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
}
"""The tools by their name. A tool that is not listed shows its name and one argument."""


def tool_named(name: str) -> Tool:
    return TOOLS.get(name) or mcp_tool(name) or other_tool(name)


AMP = Dialect("amp", tool_named, echoes_prompts=True, has_whole_usage=True, details_in=details_in)


def decoder() -> ClaudeDecoder:
    return ClaudeDecoder(AMP)


# The arguments and the result of a call, divided into blocks.

_STREAMS = (("output", "stdout"), ("stdout", "stdout"), ("stderr", "stderr"))


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
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
