"""A tool call of Codex, as its events describe it; for both of its formats."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolEnded, ToolKind, ToolStarted
from agentwatch.text.paths import relative_to
from agentwatch.wire.changes.file_change import Changes
from agentwatch.wire.tool import Phrase, first_line

MCP_REFUSALS = ("user rejected MCP tool call", "user cancelled MCP tool call")
"""Beginnings of the error of an MCP call that was refused. `codex exec` refuses what it would have to ask
for, in the name of the user."""


class Use(NamedTuple):
    """The use of a tool: what its arguments say."""

    tool: str
    """The agent's own name of the tool, or the type of its item."""
    kind: ToolKind
    phrase: str
    target: str | None = None
    """Only used if there are no paths."""
    paths: tuple[str, ...] = ()
    limit_ms: int | None = None
    changes: Changes | None = None
    """What a tool that changes files is to do."""


class End(NamedTuple):
    """The end of a call: what its result says."""

    outcome: Outcome
    error: str | None = None
    note: str | None = None
    exit_code: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    is_new_file: bool = False
    at_ms: int | None = None
    started_ms: int | None = None
    duration_ms: int | None = None


def command_use(tool: str, script: str, limit_ms: int | None = None) -> Use:
    """Return the use of a tool that runs a command."""
    return Use(tool, ToolKind.EXECUTE, Phrase.RAN, first_line(script), limit_ms=limit_ms)


def change_use(tool: str, changes: Changes) -> Use:
    """Return the use of a tool that changes files."""
    return Use(tool, changes.kind, changes.phrase, paths=changes.paths, changes=changes)


def mcp_use(tool: str, server: str | None, name: str | None) -> Use:
    """Return the use of a tool of an MCP server."""
    target = " ".join(word for word in (server, name) if word)
    return Use(tool, ToolKind.MCP, Phrase.CALLED_MCP, target or None)


def search_use(tool: str, query: str | None) -> Use:
    """Return the use of a tool that searches the web."""
    return Use(tool, ToolKind.SEARCH, Phrase.SEARCHED_WEB, query)


def agent_use(tool: str, prompt: str | None, threads: list[str]) -> Use:
    """Return the use of a tool that starts a subagent, or works with one.

    Args:
        tool: The tool.
        prompt: What the subagent is asked to do.
        threads: The ids of the subagents' threads.
    """
    if prompt is not None:
        return Use(tool, ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, first_line(prompt))
    return Use(tool, ToolKind.DELEGATE, Phrase.USED, " ".join([tool, *threads]))


def search_query(action: object, query: str | None) -> str | None:
    """Return what a web search searched for: its query, the page that it opened, or a text in it."""
    fields = action if isinstance(action, dict) else {}
    queries = fields.get("queries")
    first = queries[0] if isinstance(queries, list) and queries else None
    found = (query, fields.get("query"), fields.get("url"), fields.get("pattern"), first)
    return next((each for each in found if isinstance(each, str) and each), None)


def change_end(changes: Changes | None, outcome: Outcome, error: str | None = None) -> End:
    """Return the end of a call that changed files. Only one that succeeded has changed lines."""
    if changes is None or outcome is not Outcome.SUCCEEDED:
        return End(outcome, error)
    added, removed = changes.added, changes.removed
    return End(outcome, lines_added=added, lines_removed=removed, is_new_file=changes.is_new)


def command_end(status: str | None, exit_code: int | None) -> End | None:
    """Return the end of a command by its status and exit code; None if it is still running.

    A command that was declined did not run: the exit code that Codex gives it, -1, is no program's.
    """
    match status:
        case "in_progress" | "inProgress":
            return None
        case "declined":
            return End(Outcome.REJECTED)
        case _ if exit_code:
            return End(Outcome.FAILED, f"exit {exit_code}", exit_code=exit_code)
        case "failed":
            return End(Outcome.FAILED, exit_code=exit_code)
        case "completed":
            return End(Outcome.SUCCEEDED, exit_code=exit_code)
        case None if exit_code == 0:
            return End(Outcome.SUCCEEDED, exit_code=exit_code)
    return End(Outcome.RETURNED, unknown_status(status), exit_code=exit_code)


def status_end(status: str | None, error: str | None = None) -> End | None:
    """Return the end of a call by its status; None if it is still running."""
    match status:
        case "in_progress" | "inProgress":
            return None
        case "completed":
            return End(Outcome.SUCCEEDED)
        case "failed":
            return failed_end(error)
        case "declined":
            return End(Outcome.REJECTED, error)
    return End(Outcome.RETURNED, unknown_status(status))


def failed_end(error: str | None) -> End:
    """Return the end of a call that failed. A call of an MCP tool that was refused has this end too."""
    is_refusal = error is not None and error.startswith(MCP_REFUSALS)
    return End(Outcome.REJECTED if is_refusal else Outcome.FAILED, error)


def unknown_status(status: str | None) -> str:
    """Return why the outcome of a call is unknown."""
    return "came back without a status" if status is None else f"unknown status {status[:100]}"


def started(call_id: str, use: Use, cwd: str = "", at_ms: int | None = None) -> ToolStarted:
    """Return the event of a call that started."""
    return ToolStarted(
        call_id=call_id,
        session_id=None,
        tool=use.tool,
        kind=use.kind,
        phrase=use.phrase,
        target=_target(use, cwd),
        path=use.paths[0] if use.paths else None,
        limit_ms=use.limit_ms,
        at_ms=at_ms,
        more_paths=use.paths[1:],
    )


def ended(call_id: str, use: Use, end: End, cwd: str = "") -> ToolEnded:
    """Return the event of a call that ended."""
    return ToolEnded(
        call_id=call_id,
        session_id=None,
        tool=use.tool,
        kind=use.kind,
        outcome=end.outcome,
        phrase=use.phrase,
        target=_target(use, cwd),
        path=use.paths[0] if use.paths else None,
        error=end.error,
        note=end.note,
        exit_code=end.exit_code,
        is_new_file=end.is_new_file,
        lines_added=end.lines_added,
        lines_removed=end.lines_removed,
        at_ms=end.at_ms,
        more_paths=use.paths[1:],
        started_ms=end.started_ms,
        duration_ms=end.duration_ms,
    )


def _target(use: Use, cwd: str) -> str | None:
    if not use.paths:
        return use.target
    return ", ".join(relative_to(path, cwd) or path for path in use.paths)
