"""The lines of opencode become runs, turns, texts and calls."""

from __future__ import annotations

import pytest

from agentwatch.agents import Decoder
from agentwatch.agents.registry import detect
from agentwatch.session.events import LineTime, Outcome
from agentwatch.session.transcript import Kind
from tests.agents.opencode.lines import (
    SESSION,
    begun,
    finished,
    message,
    part_line,
    said,
    session_line,
    stored,
    stored_call,
    streamed,
    used,
)
from tests.builders.lines import event, events, line, session, started
from tests.conftest import case


def test_the_last_step_ends_the_turn() -> None:
    """A step that ends with `stop` ends the turn well, and so the run."""
    found = session(begun(), said("Hello"), finished(), is_over=False)
    assert (found.format, found.run.session_id, found.run.turns) == ("opencode", SESSION, 1)
    assert (found.outcome, found.text, found.run.result) == (Outcome.SUCCEEDED, "Hello", None)


def test_another_reason_leaves_the_turn_open() -> None:
    """After calls the turn continues; of other reasons nothing is known."""
    cases: list[object] = ["tool-calls", "unknown", "other", None, 7, [], {}]
    for reason in cases:
        with case(reason):
            assert session(begun(), finished(reason), is_over=False).outcome == Outcome.RUNNING
            assert session(begun(), finished(reason)).outcome == Outcome.UNFINISHED


@pytest.mark.parametrize("reason", ["length", "content-filter", "error"])
def test_a_model_that_was_cut_off_has_failed(reason: str) -> None:
    """A step that ends at the limit of tokens or at a filter fails, with the reason as the message."""
    found = session(begun(), finished(reason))
    assert (found.outcome, found.run.result) == (Outcome.FAILED, f"the model stopped: {reason}")


def test_a_step_with_calls_does_not_end_the_turn() -> None:
    """Some models end a step with `stop` although it has calls, and another step follows."""
    found = session(begun(), used("glob"), finished(), is_over=False)
    assert found.outcome == Outcome.RUNNING
    found = session(begun(), used("glob"), finished(), begun(), said("x"), finished())
    assert (found.outcome, found.run.turns) == (Outcome.SUCCEEDED, 1)


def test_a_step_after_the_end_begins_another_turn() -> None:
    """The agent continues by itself after it has shortened the conversation."""
    found = session(begun(), said("a"), finished(), begun(), is_over=False)
    assert (found.outcome, found.run.turns, len(found.runs)) == (Outcome.RUNNING, 2, 1)


def test_an_error_ends_the_turn() -> None:
    """An error may be the first and only line of a session."""
    cases: list[tuple[object, Outcome, str]] = [
        ({"name": "APIError", "data": {"message": "no such model"}}, Outcome.FAILED, "no such model"),
        ({"name": "MessageAbortedError", "data": {"message": "Aborted"}}, Outcome.CANCELLED, "Aborted"),
        ({"name": "MessageOutputLengthError", "data": {}}, Outcome.FAILED, "MessageOutputLengthError"),
        ({"message": "plain"}, Outcome.FAILED, "plain"),
        ("text", Outcome.FAILED, "text"),
        ("", Outcome.FAILED, "an error without a message"),
        (None, Outcome.FAILED, "an error without a message"),
        ([1], Outcome.FAILED, "an error without a message"),
    ]
    for error, outcome, words in cases:
        with case((error, outcome)):
            found = session(streamed("error", error=error))
            assert (found.outcome, found.run.result, found.run.turns) == (outcome, words, 1)


def test_another_session_is_another_run() -> None:
    """A file may contain the streams of several sessions."""
    other = line({"type": "text", "sessionID": "ses_2", "part": {"type": "text", "text": "b"}})
    found = session(begun(), said("a", time={"start": 1}), finished("tool-calls"), other)
    assert [run.session_id for run in found.runs] == [SESSION, "ses_2"]
    assert [run.text for run in found.runs] == ["a", "b"]


def test_a_call_appears_once_with_both_times() -> None:
    """The only line of a call in the stream has its start and its end."""
    state = {"input": {"filePath": "/a/b.py"}, "metadata": {"display": {"totalLines": 3}}}
    [call] = session(begun(), used("read", **state)).calls
    assert (call.started_ms, call.ended_ms, call.duration_ms) == (10, 30, 20)
    assert (call.target, call.path, call.group, call.note) == ("/a/b.py", "/a/b.py", "msg_1", "3 lines")
    found = session(begun(), used("read", **state))
    assert (found.completed_without_started, found.never_completed) == (0, 0)


def test_texts_keep_the_order_of_their_lines() -> None:
    """A text may come after a call that followed it; the texts themselves are in order."""
    found = session(begun(), used("glob"), said("First.", "prt_2"), said("Second.", "prt_3"))
    assert found.text == "First.Second."
    assert [entry.kind for entry in found.transcript] == [Kind.CALL, Kind.ANSWER, Kind.ANSWER]


def test_reasoning_is_no_answer() -> None:
    """Reasoning is shown, and is no part of the text."""
    found = session(begun(), part_line("reasoning", "reasoning", text="Hm.", time={"start": 1, "end": 2}))
    assert found.text == ""
    assert [(entry.kind, str(entry.content)) for entry in found.transcript] == [(Kind.REASONING, "Hm.")]


def test_tokens_are_summed_over_the_steps() -> None:
    """The cache is added to the input, and the reasoning to the output; the cost is in US dollars."""
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 100, "write": 7}}
    found = session(begun(), *[finished("tool-calls", tokens=tokens, cost=0.25)] * 2).run.tokens
    assert (found.input, found.cached, found.output, found.cost_usd) == (234, 200, 14, 0.5)
    assert found.context_used == 124


def test_what_is_no_cost_is_not_counted() -> None:
    """A cost of another type, or beyond reason, stays unknown."""
    cases: list[object] = [True, "1", -1, 1e300, {"usd": 1}]
    for cost in cases:
        with case(cost):
            assert session(begun(), finished(cost=cost)).run.tokens.cost_usd is None


def test_a_to_do_list_is_the_plan() -> None:
    """The list comes from the metadata, or else from the arguments; an unknown state counts as pending."""
    todos = [{"content": "A", "status": "completed"}, {"content": "B", "status": "odd"}, {"content": ""}, 7]
    found = session(begun(), used("todowrite", metadata={"todos": todos}))
    assert [(entry.text, entry.status) for entry in found.plan] == [("A", "completed"), ("B", "pending")]
    assert found.calls[0].note == "1 of 2 done"
    found = session(begun(), used("todowrite", input={"todos": todos}))
    assert len(found.plan) == 2
    assert session(begun(), used("todowrite", "error", input={"todos": todos}, error="no")).plan == ()


@pytest.mark.parametrize("kind", ["snapshot", "patch", "agent", "file"])
def test_parts_that_repeat_others_are_quiet(kind: str) -> None:
    """They are understood, and report nothing."""
    found = session(session_line(), stored(kind))
    assert (found.lines.unknown, len(found.transcript)) == (0, 0)


def test_a_part_without_a_type_has_that_of_its_line() -> None:
    """Both name the same thing; lines that others have published lack the inner one."""
    call = {"tool": "bash", "callID": "c", "state": {"status": "completed", "metadata": {"exit": 0}}}
    found = session(
        streamed("step_start", part={}),
        streamed("tool_use", part=call),
        streamed("text", part={"text": "Hello"}),
        streamed("step_start", part={}),
        streamed("step_finish", part={"reason": "stop"}),
    )
    assert (found.text, len(found.calls), found.outcome) == ("Hello", 1, Outcome.SUCCEEDED)


def test_an_unknown_part_is_counted() -> None:
    """A part of a type that this version does not know is one unknown line."""
    cases: list[object] = ["weather", "", 7, [], {}, True]
    for kind in cases:
        with case(kind):
            assert session(begun(), streamed("text", part={"type": kind})).lines.unknown == 1


def test_an_unknown_type_and_state_are_counted() -> None:
    """They are reported by name, and the call counts as returned."""
    found = session(begun(), streamed("weather"), used("bash", "paused"))
    assert (found.lines.unknown, found.calls[0].outcome) == (2, Outcome.RETURNED)
    assert found.calls[0].error == "unknown outcome paused"


def test_the_channel_of_a_line_is_closed_by_what_follows() -> None:
    """A text without an end is closed by a call, a prompt, a step, or another session."""
    for closing in (used("glob"), finished("other"), begun(), stored("text", "user", text="x")):
        found = session(begun(), said("a", time={"start": 1}), closing, said("b", "prt_2"), is_over=False)
        assert [str(each.content) for each in found.transcript if each.kind is Kind.ANSWER] == ["a", "b"]


def test_opencode_is_recognised_by_the_spelling_of_its_session() -> None:
    """`sessionID` with one of its types decides; the events of its server are another format."""
    for kind in ("step_start", "text", "reasoning", "tool_use", "error", "session", "message", "part"):
        found = detect({"type": kind, "sessionID": "ses_1"}, is_first=False)
        assert found is not None
        assert found.name == "opencode"
    for fields in (
        {"type": "text", "session_id": "ses_1"},
        {"type": "text", "sessionID": None},
        {"type": [], "sessionID": "ses_1"},
        {"type": "weather", "sessionID": "ses_1"},
        {"type": "message.part.delta", "properties": {"sessionID": "ses_1"}},
    ):
        assert detect(fields, is_first=False) is None


def test_a_line_has_a_role() -> None:
    """The lines that begin a run, and those of calls, are found without the lines before them."""
    cases: list[tuple[bytes, str]] = [
        (begun(), "start"),
        (session_line(), "start"),
        (message(), "start"),
        (stored("text", "user", text="x"), "start"),
        (stored("text", text="x"), "other"),
        (stored_call("running"), "call"),
        (used("bash"), "call"),
        (said("x"), "other"),
    ]
    for data, role in cases:
        with case(data):
            assert Decoder().role(data).value == role


def test_a_run_of_opencode_may_follow_another_agents() -> None:
    """Lines of another agent are not decoded as opencode's, and the other way round."""
    cursor = event("system", "init", apiKeySource="login", cwd="/", model="Auto", permissionMode="default")
    found = session(cursor, started("read"), begun(), said("Hello"))
    assert (found.format, len(found.runs), found.text) == ("opencode", 2, "Hello")


def test_only_stored_lines_have_a_time_that_stands_for_their_arrival() -> None:
    """A stream is recorded as it arrives; the lines of a store have the agent's own clock."""
    assert LineTime(1000) in events(session_line())
    assert LineTime(1000) not in events(begun())
