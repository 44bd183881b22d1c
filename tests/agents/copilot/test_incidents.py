"""Copilot's lines about incidents, its to-do list, and the lines that report nothing."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.copilot.agent import AGENT
from agentwatch.session.events import Compaction, Notice, Plan, PlanEntry, PlanStatus, Retry, Unknown
from tests.agents.copilot.lines import line, started
from tests.builders.agents.decoded import events_of
from tests.conftest import case


def test_incidents_are_notices() -> None:
    """Each with its words; lines that are known and report nothing are silent, others are unknown."""
    at = 0
    time = {"timestamp": "1970-01-01T00:00:00Z"}
    expected: list[tuple[str, dict[str, Any], object]] = [
        ("session.info", {"message": "trusted"}, Notice("trusted", at)),
        ("session.warning", {"message": "careful"}, Notice("careful", at)),
        (
            "session.truncation",
            {"tokensRemovedDuringTruncation": 1234},
            Notice("context truncated: 1,234 tokens removed", at),
        ),
        ("session.truncation", {}, Notice("context truncated", at)),
        ("session.compaction_start", {"trigger": "manual"}, Compaction(False, "manual", at_ms=at)),
        ("model.call_failure", {"errorMessage": "529"}, Retry("529", at_ms=at)),
        (
            "model.call_failure",
            {"statusCode": 529},
            Retry("the model's request failed with status 529", at_ms=at),
        ),
        ("model.call_failure", {}, Retry("the model's request failed", at_ms=at)),
        (
            "hook.end",
            {"success": False, "hookType": "preToolUse", "error": {"message": "no"}},
            Notice("hook preToolUse failed: no", at),
        ),
        ("hook.end", {"success": False}, Notice("hook None failed: no reason given", at)),
        ("system.notification", {"content": "\nShell 1\nx"}, Notice("notification: Shell 1", at)),
        ("system.notification", {"kind": {"description": "Count"}}, Notice("notification: Count", at)),
        ("subagent.failed", {"agentName": "explore", "error": "boom"}, Notice("explore failed: boom", at)),
        ("subagent.failed", {}, Notice("subagent failed: no reason given", at)),
        ("subagent.completed", {"agentDisplayName": "x", "cancelled": True}, Notice("x was cancelled", at)),
    ]
    for kind, data, event in expected:
        assert events_of(AGENT, line(kind, data, **time)) == [event], kind
    compacted = {"success": False, "error": "no", "preCompactionTokens": 9, "postCompactionTokens": 4}
    assert events_of(AGENT, line("session.compaction_complete", compacted, **time)) == [
        Compaction(True, None, 9, 4, at),
        Notice("compaction failed: no", at),
    ]
    assert events_of(AGENT, line("session.compaction_complete", **time)) == [Compaction(True, at_ms=at)]
    of_subagent = line("session.error", {"errorType": "query"}, agentId="a", **time)
    assert events_of(AGENT, of_subagent) == [Notice("query", at)]
    bare = line("session.error", **time)
    assert events_of(AGENT, bare) == [Notice("an error without a message", at, is_error=True)]


def test_a_known_line_without_content_is_silent() -> None:
    """It is understood, and reports nothing."""
    cases: list[str] = [
        *(
            "session.info",
            "session.title_changed",
            "assistant.intent",
            "assistant.message_delta",
            "hook.start",
        ),
        *(
            "tool.user_requested",
            "subagent.configured",
            "system.message",
            "system.notification",
            "skill.invoked",
        ),
        *("subagent.started", "assistant.reasoning", "assistant.reasoning_delta", "session.usage_info"),
    ]
    for kind in cases:
        with case(kind):
            assert events_of(AGENT, line(kind)) == []


def test_an_unknown_type_is_counted() -> None:
    """A type that this version does not know is unknown, in every family."""
    cases: list[str] = [
        *("session.weather", "assistant.weather", "tool.weather", "subagent.weather", "permission.weather"),
        *("weather", "weather.rain", "user.weather"),
    ]
    for kind in cases:
        with case(kind):
            assert events_of(AGENT, line(kind)) == [Unknown(f"type {kind}")]
            assert events_of(AGENT, line("x.y") | {"type": 7}) == [Unknown("type 7")]


def test_a_to_do_list_is_a_plan() -> None:
    """Its boxes say how far each entry is; a list without boxes is no plan."""
    todos = "# Plan\n- [x] Read\n - [>] Write\n- [ ] Check\n- [~] Wait\n- note"
    events = events_of(AGENT, started("c", "update_todo", {"todos": todos}))
    assert events[1] == Plan(
        (
            PlanEntry("Read", PlanStatus.COMPLETED),
            PlanEntry("Write", PlanStatus.IN_PROGRESS),
            PlanEntry("Check", PlanStatus.PENDING),
            PlanEntry("Wait", PlanStatus.IN_PROGRESS),
        )
    )
    assert len(events_of(AGENT, started("c", "update_todo", {"todos": "x"}))) == 1
