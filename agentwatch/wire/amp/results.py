"""Reads the results of Amp's tools. Each is an object as text: `{"output": "…", "exitCode": 0}`.

The flag `is_error` of a command that failed is false, so that only its exit code shows the failure.
"""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.wire.fields import NO_FIELDS, Fields, items, mapping, number, text
from agentwatch.wire.tool import Facts, Phrase, Tool


def details_in(tool: Tool, words: str) -> Fields:
    """Return the exit code of a command or the files of a patch, from the text of a result.

    Args:
        tool: The tool of the call. The text of any other tool may be a document of the user.
        words: The text.

    Example:
        >>> from agentwatch.wire.amp.dialect import tool_named
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
    """Return the changed lines in the result of a patch."""
    files = [mapping(file) for file in items(details.get("files"))]
    is_new = bool(files) and all(text(file, "type") == "add" for file in files)
    return Facts(
        phrase=Phrase.CREATED if is_new else None,
        is_new_file=is_new,
        lines_added=_sum(files, "additions"),
        lines_removed=_sum(files, "deletions"),
    )


def _sum(files: list[Fields], key: str) -> int | None:
    counts = [count for file in files if (count := number(file, key)) is not None]
    return sum(counts) if counts and len(counts) == len(files) else None
