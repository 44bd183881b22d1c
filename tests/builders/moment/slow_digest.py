"""A digest computed from all events of a recording: slow, and with nothing kept between two moments."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.analysis.unread import Digest
from agentwatch.feed.feed import DecodedLine, LineJoiner
from agentwatch.session.events import Outcome, RunStarted, ToolEnded, ToolKind, ToolStarted
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.text.paths import named
from tests.builders.lines import physical_lines

Changed = dict[str, tuple[int, int]]


@dataclass
class SlowDigest:
    """What happened between two moments."""

    events: int = 0
    ended: list[tuple[str | None, str]] = field(default_factory=list)
    """The target and the outcome of each call that ended or can no longer end, in order."""
    kinds: Counter[ToolKind] = field(default_factory=Counter)
    changed: Changed = field(default_factory=dict)
    """The changed files with their added and removed lines."""
    read: set[str] = field(default_factory=set)
    """The files that were read and not changed."""
    still_open: dict[tuple[Any, ...], int] = field(default_factory=dict)
    """How often each call failed that has not succeeded since, by kind, tool and target or path."""
    running: list[str] = field(default_factory=list)
    """The ids of the calls that run at the later moment, in the order of their starts."""


def decoded(data: bytes) -> list[DecodedLine]:
    decoder = Decoder()
    joiner = LineJoiner(decoder)
    found = [line for piece in physical_lines(data) for line in joiner.take(piece)]
    return [*found, *joiner.rest()]


def session_at(lines: list[DecodedLine], moment: int) -> Session:
    """Return the session as it is after the first lines."""
    session = Session()
    for line in lines[:moment]:
        apply_line(session, *line)
    return session


def complete(digest: Digest) -> Digest:
    """Return a digest that has read everything, a call at a time."""
    while digest.update(most=1):
        pass
    return digest


def slow_digest(lines: list[DecodedLine], start: int, end: int) -> SlowDigest:
    """Return what happened in the lines from `start` up to `end`."""
    found = SlowDigest(events=sum(line.physical_lines for line in lines[start:end]))
    calls: dict[tuple[Any, ...], dict[str, Any]] = {}
    cwds: list[str | None] = []
    for at, (events, *_) in enumerate(lines[:end]):
        for event in events:
            if isinstance(event, RunStarted):
                for call in calls.values():
                    if call["run"] == len(cwds) and call["outcome"] is None:
                        call["outcome"] = Outcome.UNFINISHED
                        _end(found, call, is_new=at >= start)
                cwds.append(event.cwd)
            elif isinstance(event, ToolStarted | ToolEnded):
                _apply(found, calls, cwds, event, is_new=at >= start)
    is_over = session_at(lines, end).outcome is not Outcome.RUNNING
    if not is_over:
        found.running = [
            call["id"] for call in calls.values() if call["run"] == len(cwds) and call["outcome"] is None
        ]
    return found


def _apply(
    found: SlowDigest,
    calls: dict[tuple[Any, ...], dict[str, Any]],
    cwds: list[str | None],
    event: ToolStarted | ToolEnded,
    *,
    is_new: bool,
) -> None:
    key = (len(cwds), event.session_id, event.call_id)
    call = calls.setdefault(
        key,
        {"id": event.call_id, "run": len(cwds), "cwd": cwds[-1] if cwds else None, "outcome": None}
        | {"tool": event.tool, "kind": event.kind, "target": None, "path": None, "has_start": False},
    )
    if call["outcome"] is not None:
        return
    if isinstance(event, ToolStarted) or event.has_arguments or not call["has_start"]:
        call["target"] = call["target"] if event.target is None else event.target
        call["path"] = call["path"] if event.path is None else event.path
    call["has_start"] |= isinstance(event, ToolStarted)
    if isinstance(event, ToolEnded):
        call |= {"outcome": event.outcome, "added": event.lines_added, "removed": event.lines_removed}
        _end(found, call, is_new=is_new)


def _end(found: SlowDigest, call: dict[str, Any], *, is_new: bool) -> None:
    if not is_new:
        return
    outcome, kind = call["outcome"], call["kind"]
    found.ended.append((call["target"], str(outcome)))
    found.kinds[kind] += 1
    key = (kind, call["tool"], call["target"] or call["path"] or "")
    if outcome is Outcome.FAILED:
        found.still_open[key] = found.still_open.pop(key, 0) + 1
    if outcome is not Outcome.SUCCEEDED:
        return
    found.still_open.pop(key, None)
    if not call["path"]:
        return
    shown = named(call["path"], call["cwd"])[1]
    if kind in (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE):
        before = found.changed.get(shown, (0, 0))
        found.changed[shown] = before[0] + (call["added"] or 0), before[1] + (call["removed"] or 0)
        found.read.discard(shown)
    elif kind is ToolKind.READ and shown not in found.changed:
        found.read.add(shown)
