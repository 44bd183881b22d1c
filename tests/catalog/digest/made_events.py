"""Events for digests."""

from typing import Any

from agentwatch.catalog.digest.digest import Digest
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolStarted,
)


def started(call_id: str = "c", **more: Any) -> ToolStarted:
    given = {"tool": "Bash", "kind": ToolKind.EXECUTE, "phrase": "Ran", "target": "ls", **more}
    return ToolStarted(call_id, None, **given)


def ended(call_id: str = "c", outcome: Outcome = Outcome.SUCCEEDED, **more: Any) -> ToolEnded:
    return ToolEnded(call_id, None, "Bash", ToolKind.EXECUTE, outcome, "Ran", **more)


def after(*events: Event, at_ms: int | None = 1000) -> Digest:
    """Return the digest after events, each in a line of its own."""
    digest = Digest()
    for event in events:
        digest.apply([event], at_ms)
    return digest


def said(words: str, channel: Channel = Channel.ANSWER, **more: Any) -> list[Event]:
    events: list[Event] = [Text(channel, words, **more)]
    return [*events, TextEnded(channel, parent_call=more.get("parent_call"))]
