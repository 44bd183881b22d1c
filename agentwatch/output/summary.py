"""The summary format: the state of a session as one JSON object on one line; and its final answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from agentwatch.analysis.integrity import integrity
from agentwatch.feed.feed import Feed
from agentwatch.session.actions import TARGET_COLUMNS, action, target
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind
from agentwatch.session.runs import Run
from agentwatch.session.session import Session, calls_by_outcome
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.safe import cut, safe_line
from agentwatch.text.safe_json import encoded

if TYPE_CHECKING:
    from agentwatch.analysis.verdict_history import CommandVerdict

_CALLS_AT_ONCE = 1000
_TEXTS_AT_ONCE = 100
_CHARACTERS_AT_ONCE = 1 << 16
_LINES = ("total", "events", "malformed", "unknown", "repaired", "oversize")
_COUNTS = 6
"""The first fields of `Tokens`. What was written to the cache only decides what the input costs."""


def whole_summary(feed: Feed, more: Mapping[str, object] | None = None) -> Iterator[bytes]:
    """Yield the summary of the session of a feed, with its `tests`, and with `more` at the end."""
    return summary(feed.session, {"tests": _tests(feed), **(more or {})})


def _tests(feed: Feed) -> dict[str, object] | None:
    """Return the member `tests`; a session without commands has none."""
    if not feed.session.has_commands:
        return None
    from agentwatch.analysis.verdict_history import final_verdicts  # 7 ms

    found = final_verdicts(feed)
    if not found.commands:
        return None
    return {
        "state": found.state,
        "commands": [command_members(command) for command in found.commands],
        "complete": found.is_complete,
    }


def summary(session: Session, more: Mapping[str, object] | None = None) -> Iterator[bytes]:
    """Yield the summary of a session alone, with `more` at the end and without a line end. It is in pieces,
    because its text may be long. Characters that could control a terminal become JSON escapes."""
    run, checks = session.run, integrity(session)
    yield _members(
        b"{",
        version=1,
        format=run.format or session.format,
        session_id=run.session_id,
        model=run.model,
        cwd=run.cwd,
        permission_mode=run.permission_mode,
        api_key_source=run.api_key_source,
        outcome=session.outcome,
        exit_code=session.exit_code,
        result_outcome=session.result_outcome,
        prompt=run.prompt,
    )
    yield b',"text":"'
    for earlier in session.runs[:-1]:
        yield from _texts(earlier)
    is_repeated = checks.text_matches_result and not session.traits.result_is_last_text
    text = [*_result(run)] if is_repeated else _texts(run)  # a result is printed twice, and has at most 16 MB
    yield from text
    yield b'"'
    if is_repeated:
        yield b',"result":"'
        yield from text
        yield b'"'
    else:
        yield _members(b",", result=run.result)
    yield _members(
        b",",
        text_matches_result=checks.text_matches_result,
        duration_ms=session.duration_ms,
        duration_api_ms=run.duration_api_ms,
        request_id=run.request_id,
        usage=run.usage,
        runs=len(session.runs),
        turns=session.turns,
        tokens=dict(islice(session.tokens._asdict().items(), _COUNTS)),
        cost_estimated_usd=_estimate(session),
    )
    yield b',"calls":['
    for start in range(0, len(session.calls), _CALLS_AT_ONCE):
        calls = session.calls[start : start + _CALLS_AT_ONCE]
        yield (b"," if start else b"") + encoded([call_members(call) for call in calls])[1:-1]
    yield b"]"
    yield _members(
        b",",
        calls_by_outcome={outcome.value: count for outcome, count in calls_by_outcome(session).items()},
        lines={name: getattr(session.lines, name) for name in _LINES},
        orphans={
            "completed_without_started": session.completed_without_started,
            "never_completed": session.never_completed,
        },
        integrity={"holds": checks.passes, "line": checks.line(), "difference_at": checks.difference_at},
        **(more or {}),
    )
    yield b"}"


def _estimate(session: Session) -> float | None:
    if session.uses is None:
        return None
    from agentwatch.catalog.kept_prices import cost_of_session

    return cost_of_session(session)


def _texts(run: Run) -> Iterator[bytes]:
    """Yield the assistant's text of a run as the content of a JSON string, without its quotes."""
    for start in range(0, len(run.answer), _TEXTS_AT_ONCE):
        yield encoded("".join(map(str, run.answer[start : start + _TEXTS_AT_ONCE])))[1:-1]


def _result(run: Run) -> Iterator[bytes]:
    """Yield the text of a result as JSON, in a tenth of the pieces of `_texts`, and in half of its time."""
    for start in range(0, run.result_length, _CHARACTERS_AT_ONCE):
        yield encoded(run.result_part(start, start + _CHARACTERS_AT_ONCE))[1:-1]


def _members(lead: bytes, **members: object) -> bytes:
    """Return members of an object as JSON, preceded by `lead`: `{` or a comma."""
    return lead + encoded(members)[1:-1]


def call_members(call: Call) -> dict[str, object]:
    return {
        "number": call.number,
        "call_id": call.call_id,
        "agent": call.parent_call,
        "tool": call.tool or None,
        "kind": call.kind,
        "target": (shown := target(call)) or None,
        "command": call.target if call.kind is ToolKind.EXECUTE else None,
        "action": action(call, shown),
        "outcome": call.outcome,
        "error": call.error,
        "exit_code": call.exit_code,
        "lines_added": call.lines_added,
        "lines_removed": call.lines_removed,
        "started_ms": call.started_ms,
        "ended_ms": call.ended_ms,
        "duration_ms": call.duration_ms,
    }


def command_members(command: CommandVerdict) -> dict[str, object]:
    """Return the members of a command. What an absent verdict would say is null."""
    verdict = command.verdict
    counts = None if verdict is None else verdict.counts
    return {
        "command": cut(safe_line(command.command), TARGET_COLUMNS),
        "call": command.call.number,
        "tool": command.tool,
        "of_tests": command.is_of_tests,
        "verdict": command.colour,
        "source": verdict and verdict.source,
        "words": verdict and verdict.words,
        "passed": counts and counts.passed,
        "failed": counts and counts.failed,
        "errors": counts and counts.errors,
        "skipped": counts and counts.skipped,
        "changed_by": command.changed_by,
    }


def final_answer(session: Session) -> str:
    """Return the assistant's text after the last call and the last prompt, or the text of the result if there
    is no other. Thoughts, notices and subagents' entries are left out."""
    if session.run.is_bare:
        return session.run.result or ""
    return "".join(entry.text for entry in final_entries(session))


def final_entries(session: Session) -> list[Entry]:
    """Return the entries of the transcript whose texts are the final answer, in order."""
    entries: list[Entry] = []
    for entry in reversed(session.transcript):
        if entry.parent is not None:
            continue
        is_of_earlier_turn = entry.result is not None and entry.result is not session.run.turn_result
        if entry.kind in (Kind.CALL, Kind.PROMPT) or is_of_earlier_turn:
            break
        if entry.kind is Kind.ANSWER:
            entries.append(entry)
    entries.reverse()
    return entries
