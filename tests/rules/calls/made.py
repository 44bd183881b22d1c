"""Sessions of made events, and which of their calls a rule selects."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.fields import LIVE
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.language.parser import parse
from agentwatch.session.events import Event, Outcome, RunStarted, ToolEnded, ToolKind, ToolStarted
from tests.builders.made_agent import MadeSession

CWD = "/home/me/project"


def run(cwd: str | None = CWD) -> RunStarted:
    """Return the start of a run."""
    return RunStarted("made-format", "s1", "claude-opus", cwd)


def starts(
    call_id: str,
    tool: str = "Bash",
    kind: ToolKind = ToolKind.EXECUTE,
    target: str | None = None,
    *,
    path: str | None = None,
    at_ms: int | None = None,
    more_paths: tuple[str, ...] = (),
) -> ToolStarted:
    """Return the start of a call."""
    return ToolStarted(
        call_id, None, tool, kind, "Ran", target, path=path, at_ms=at_ms, more_paths=more_paths
    )


def ends(
    call_id: str,
    tool: str = "Bash",
    kind: ToolKind = ToolKind.EXECUTE,
    outcome: Outcome = Outcome.SUCCEEDED,
    *,
    at_ms: int | None = None,
    error: str | None = None,
    exit_code: int | None = None,
    is_new_file: bool = False,
    added: int | None = None,
) -> ToolEnded:
    """Return the end of a call."""
    return ToolEnded(
        call_id,
        None,
        tool,
        kind,
        outcome,
        "Ran",
        at_ms=at_ms,
        error=error,
        exit_code=exit_code,
        is_new_file=is_new_file,
        lines_added=added,
    )


def called(call_id: str, tool: str, kind: ToolKind, target: str, *, path: str | None = None) -> list[Event]:
    """Return the start and the end of a call."""
    return [starts(call_id, tool, kind, target, path=path), ends(call_id, tool, kind)]


def feed_of(events: Iterable[Event], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Return a feed that has read a recording with these events, one line a second."""
    made = MadeSession([*events])
    made.use(monkeypatch)
    feed = Feed(open_saved(made.save(folder / "made.ndjson"), follow=True))
    feed.advance()
    return feed


def selected(rule: str, feed: Feed, facts: CallFacts | None = None) -> list[int]:
    """Return the numbers of the calls for which a rule is true."""
    test = parse(rule, LIVE, allows_patterns=True).bind(call_readers(facts or CallFacts(feed)))
    return [call.number for call in feed.session.calls if test(call) is True]


def unknown(rule: str, feed: Feed) -> list[int]:
    """Return the numbers of the calls for which a rule is neither true nor false."""
    test = parse(rule, LIVE).bind(call_readers(CallFacts(feed)))
    return [call.number for call in feed.session.calls if test(call) is None]
