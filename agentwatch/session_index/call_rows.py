"""The rows of the calls of a session: each call with its verdict, and each file that a call changed."""

from __future__ import annotations

from agentwatch.analysis.files import FileAction, file_action_of, named
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.analysis.verdicts import Source, Verdict
from agentwatch.analysis.verdicts.programs import main_program
from agentwatch.events import ToolKind
from agentwatch.feed import Feed
from agentwatch.session import Call
from agentwatch.session_index.commands import command_of
from agentwatch.session_index.values import Row, row_of, value_of

_CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)


def call_row(call: Call, verdict: Verdict | None) -> Row:
    """Return the row of a call."""
    command = call.target or "" if call.kind is ToolKind.EXECUTE else None
    return row_of(
        (
            *(call.number, call.tool, call.kind.value),
            None if command is None else main_program(command),
            None if command is None else command_of(command),
            *(call.target, call.path, call.outcome.value, call.error, call.exit_code),
            *(call.started_ms, call.ended_ms, call.duration_ms, call.lines_added, call.lines_removed),
            *(call.agent, *_verdict_values(verdict)),
        )
    )


def verdicts_of(feed: Feed) -> dict[int, Verdict]:
    """Return the verdicts on the calls of a session that was read to its end, by the numbers of the calls.

    The output of each command is read again: 14 % of the time that the session took.
    """
    found = ((call.number, call_verdict(feed, call)) for call in feed.session.calls)
    return {number: verdict for number, verdict in found if verdict is not None}


def edit_rows(call: Call, cwd: str | None, root: str | None) -> list[Row]:
    """Return a row for each file that a call has changed, created or deleted.

    Args:
        call: The call.
        cwd: The folder that a relative path of the call begins at; None if it is unknown.
        root: The folder of the repository. The path of a file inside is relative to it.
    """
    if call.kind not in _CHANGES or file_action_of(call) is FileAction.TRIED:
        return []
    paths = (named(path, cwd)[0] for path in (call.path, *call.more_paths) if path)
    files = dict.fromkeys(value_of(named(path, root)[1]) for path in paths)
    lines = (call.lines_added, call.lines_removed) if len(files) == 1 else (None, None)
    return [row_of((call.number, file, *lines)) for file in files]


def _verdict_values(verdict: Verdict | None) -> tuple[str | int | None, ...]:
    """Return the columns of a verdict. Counts that a tool does not print are unknown."""
    if verdict is None:
        return (None,) * 5
    colour = "red" if verdict.is_red else "green" if verdict.is_green else "none"
    counts, has_counts = verdict.counts, verdict.source is Source.PATTERN or any(verdict.counts)
    passed = counts.passed if has_counts and verdict.is_of_tests else None
    failed = counts.failed + counts.errors if has_counts else None
    return colour, verdict.tool, verdict.source.value, passed, failed
