"""Several sessions in one log, subagents and token counts in the Agent Client Protocol."""

from __future__ import annotations

from agentwatch.session.events import Tokens
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.formats.acp import (
    SESSION,
    called,
    changed,
    chunk,
    opening,
    prompt,
    refused,
    request,
    response,
    stopped,
    update,
)
from tests.builders.lines import session

DIRECT = opening() + prompt()


def notices(read: Session) -> list[str]:
    """Return the notices in a transcript."""
    return [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]


def test_the_history_of_a_loaded_session_is_shown_once() -> None:
    """Loading a session replays it: a history that is in the log already is not added again."""
    history = chunk("Do it.", "user_message") + called(status="completed", kind="read") + chunk("Hi.")
    load = request("session/load", 8, sessionId=SESSION, cwd="/srv")
    done = response(8, {"modes": {"currentModeId": "plan"}})
    connect = request("initialize", 0, protocolVersion=1) + response(0, {"protocolVersion": 1})
    first = session(connect, load, history, done)
    assert (first.run.text, first.run.turns, len(first.calls), first.outcome) == ("Hi.", 1, 1, "unfinished")
    assert (first.run.cwd, first.run.permission_mode, first.run.session_id) == ("/srv", "plan", SESSION)
    more = session(connect, load, history, done, prompt("More.", 9), chunk("Yes."), stopped("end_turn", 9))
    assert (more.run.text, more.run.turns, more.outcome) == ("Hi.Yes.", 2, "succeeded")
    again = session(
        DIRECT, called(status="completed", kind="read"), chunk("Hi."), stopped(), load, history, done
    )
    assert (again.run.text, again.run.turns, len(again.calls)) == ("Hi.", 1, 1)
    failed = session(DIRECT, chunk("Hi."), stopped(), load, refused(8, "gone"), chunk("Yes."))
    assert (failed.run.text, failed.last_error) == ("Hi.Yes.", "session/load: gone")


def test_another_session_is_another_run() -> None:
    """A session that is created after a turn begins a run; one that is created before any prompt does not."""
    second = request("session/new", 7, cwd="/b") + response(7, {"sessionId": "ses-2"})
    read = session(DIRECT, chunk("One."), stopped(), second, prompt("Go.", 8, "ses-2"), stopped("refusal", 8))
    assert (len(read.runs), read.run.cwd, read.outcome) == (2, "/b", "failed")
    assert len(session(opening(), second, prompt("Go.", 8, "ses-2")).runs) == 1
    back = session(
        DIRECT, stopped(), second, prompt("Go.", 8, "ses-2"), stopped("end_turn", 8), prompt("x", 9)
    )
    assert [run.session_id for run in back.runs] == [SESSION, "ses-2", SESSION]
    twice = session(DIRECT, stopped(), opening("ses-3"))
    assert [run.session_id for run in twice.runs] == [SESSION, "ses-3"]


def test_sessions_at_the_same_time_do_not_mix() -> None:
    """The text and the calls of another session belong to it, while the turn of the main one is open."""
    read = session(
        DIRECT,
        chunk("One "),
        prompt("Other.", 9, "ses-2"),
        chunk("Again?", "user_message", "ses-2"),
        chunk("Foreign", "agent_message", "ses-2"),
        chunk(" text.", "agent_message", "ses-2"),
        chunk("two."),
        called("c-1", "ses-2", kind="read", status="pending"),
        called("c-1", kind="edit", status="pending"),
        changed("c-1", "ses-2", status="completed"),
        stopped("refusal", 9),
        chunk("Late.", "agent_thought", "ses-2"),
        stopped(),
    )
    assert (read.run.text, read.outcome, len(read.runs)) == ("One two.", "succeeded", 1)
    assert [(call.kind, call.agent, call.outcome) for call in read.calls] == [
        ("read", "ses-2", "succeeded"),
        ("edit", None, "unfinished"),
    ]
    foreign = [entry.text for entry in read.transcript if entry.parent is not None and entry.call is None]
    assert foreign == ["Other.", "Again?", "Foreign text.", "Late."]
    cancel = request("session/cancel", sessionId=SESSION)
    aside = called("c-1", "ses-2", kind="read", status="pending") + changed("c-1", "ses-2", status="failed")
    assert session(DIRECT, aside[: aside.index(b"\n") + 1], cancel, aside).calls[0].outcome == "failed"


def test_a_subagents_lines_belong_to_its_call() -> None:
    """The lines of a subagent belong to its call, or to its session; its text waits until it is complete."""
    claude = {"_meta": {"claudeCode": {"parentToolUseId": "c-1"}}}
    read = session(
        DIRECT,
        called(rawInput={"description": "Look", "prompt": "x", "subagent_type": "explore"}, status="pending"),
        chunk("Sub ", **claude, messageId="m-1"),
        called("c-2", kind="read", status="pending", **claude),
        chunk("text", **claude, messageId="m-1"),
        chunk("next", **claude, messageId="m-2"),
        changed("c-1", status="completed"),
        chunk("Main."),
        stopped(),
    )
    assert [(call.kind, call.agent, call.target) for call in read.calls] == [
        ("delegate", None, "Look"),
        ("read", "c-1", None),
    ]
    assert read.run.text == "Main."
    assert [each.text for each in read.transcript if each.parent == 1 and each.kind is Kind.ANSWER] == [
        "Sub ",
        "text",
        "next",
    ]
    native = session(
        DIRECT,
        update("subagent_update", sessionId="kid", title="Plan it"),
        update("subagent_update", sessionId="kid", state={"state": "idle"}),
        chunk("Sub.", "agent_message", "kid"),
        update("plan", "kid", entries=[{"content": "x"}]),
        update("usage_update", "kid", used=1, size=2),
        stopped(),
    )
    assert (native.run.text, native.plan, native.run.tokens.context_used) == ("", (), None)
    assert notices(native) == ["subagent started: Plan it"]


def test_usage_is_that_of_the_session() -> None:
    """The tokens of a response and the cost count the whole session; other currencies are no dollars."""
    first = {
        "inputTokens": 10,
        "outputTokens": 5,
        "totalTokens": 118,
        "thoughtTokens": 3,
        "cachedReadTokens": 100,
    }
    second = {"inputTokens": 200, "outputTokens": 9, "totalTokens": 209, "cachedReadTokens": 150}
    read = session(
        DIRECT,
        update("usage_update", used=7, size=100, cost={"amount": 0.5, "currency": "USD"}),
        stopped(usage=first),
    )
    assert read.run.tokens == Tokens(110, 100, 8, 0.5, 7, 100)
    assert read.run.usage == first
    read = session(DIRECT, stopped(usage=first), prompt("x", 3), stopped("end_turn", 3, usage=second))
    assert read.run.tokens == Tokens(200, 150, 9)
    quota = {"quota": {"token_count": {"input_tokens": 3, "output_tokens": 4}}}
    gemini = session(DIRECT, stopped(_meta=quota), prompt("x", 3), stopped("end_turn", 3, _meta=quota))
    assert gemini.run.tokens == Tokens(6, None, 8)
    for cost in ({"amount": 1, "currency": "EUR"}, {"amount": "1", "currency": "USD"}, {"amount": -1}, {}):
        assert session(DIRECT, update("usage_update", used=-1, cost=cost)).run.tokens == Tokens()


def test_other_updates_are_understood() -> None:
    """Plans, notices and compactions are shown; commands and titles are known and silent."""
    entry = {"content": "Measure", "status": "in_progress", "priority": "high"}
    read = session(
        DIRECT,
        update("plan", entries=[entry]),
        update("available_commands_update", availableCommands=[]),
        update("session_info_update", title="x"),
        update("_vendor/thing", x=1),
        update("notice", severity="warning", title="Rate limited", description="wait"),
        update("notice", severity="error"),
        update("compaction_update", compactionId="c", status="in_progress"),
        update("compaction_summary_chunk", compactionId="c"),
        update("compaction_update", compactionId="c", status="failed", error="too long"),
        update("compaction_update", compactionId="c", status="completed"),
        update("terminal_update", terminalId="t"),
    )
    assert [(each.text, each.status) for each in read.plan] == [("Measure", "in_progress")]
    assert read.lines.unknown == 0
    assert notices(read) == [
        "Rate limited: wait",
        "notice",
        "compaction failed: too long",
        "context compacted",
    ]
    plan = {"type": "items", "entries": [{"content": "Ship", "status": "completed"}]}
    assert session(DIRECT, update("plan_update", plan=plan)).plan[0].text == "Ship"
    assert session(DIRECT, update("plan_update", plan={})).plan == ()
