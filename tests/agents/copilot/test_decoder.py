"""Copilot's lines: turns, texts, subagents, notices, on disk and in the stream."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents.copilot.agent import AGENT
from agentwatch.session.events import (
    Notice,
    Outcome,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    TurnEnded,
    TurnStarted,
)
from tests.agents.copilot.lines import (
    begin,
    delta,
    done,
    ended,
    failed,
    line,
    message,
    passing,
    request,
    start,
    started,
    user,
)
from tests.builders.agents.decoded import events_of, ids_in, session_of


def ends_of(*lines: dict[str, Any]) -> list[TurnEnded]:
    """Return the ends of turns."""
    return [event for event in events_of(AGENT, *lines) if isinstance(event, TurnEnded)]


def test_a_turn_on_disk_ends_with_a_step_that_requests_no_call() -> None:
    """`turn_start` and `turn_end` are steps of the model: only the last of them ends the turn."""
    lines = [
        *(start(), user("Go"), begin("0"), message("I look.", request("c", "bash"))),
        *(
            started("c", "bash", {"command": "ls"}),
            ended("c", "x", shellExecution={"exitCode": 0}),
            done("0"),
        ),
        *(begin("1"), message("Done."), done("1")),
    ]
    seen = session_of(None, *lines)
    assert (seen.format, seen.text, seen.outcome, seen.run.turns) == (
        "copilot",
        "I look.Done.",
        "succeeded",
        1,
    )
    assert (seen.run.session_id, seen.run.model, seen.run.agent_version) == ("s-1", "m-1", "1.0.102")
    assert session_of(None, *lines[:-1], is_closed=False).outcome == "running"
    assert session_of(None, *lines[:-3]).outcome == "unfinished"
    again = session_of(None, *lines, user("More"), begin(), message("", request("d", "view")), done())
    assert (again.outcome, again.run.turns) == ("unfinished", 2)


def test_a_step_without_a_prompt_begins_a_turn() -> None:
    """A stream that is cut has no prompt. Later steps, and those after a prompt, begin no other turn."""
    assert session_of(AGENT, begin(), done(), begin("1"), message("Done."), done("1")).run.turns == 1
    assert session_of(AGENT, start(), user("Go"), begin(), message("Done."), done()).run.turns == 1


def test_a_session_that_was_closed_after_its_answer_has_ended_well() -> None:
    """Older versions write the answer after the end of its step."""
    end = line("session.shutdown", {"shutdownType": "routine"})
    assert ends_of(user("Go"), begin(), done(), message("Done."), end) == [TurnEnded(Outcome.SUCCEEDED)]
    assert ends_of(user("Go"), begin(), message("", request("c", "bash")), end) == []


def test_a_step_of_a_subagent_is_none_of_the_main_agent() -> None:
    """It neither keeps the turn open nor begins one."""
    lines = [start(), user("Go"), begin(), message("Done."), begin("9", agentId="a"), done()]
    assert ends_of(*lines) == [TurnEnded(Outcome.SUCCEEDED)]
    assert session_of(None, *lines, begin("9", agentId="a")).outcome == "succeeded"


def test_a_turn_of_the_stream_ends_with_the_result_line() -> None:
    """The stream has no start line; its result line has the session's id and the exit code."""
    lines = [
        *(passing("session.tools_updated", {"model": "m-2"}), user("Go"), begin(), delta("Do"), delta("ne.")),
        *(message("Done."), done(), passing("assistant.idle")),
    ]
    good = {"type": "result", "timestamp": "2026-11-21T23:00:00Z", "sessionId": "s-9", "exitCode": 0}
    usage = {"premiumRequests": 1, "totalApiDurationMs": 79, "sessionDurationMs": 99}
    seen = session_of(None, *lines, {**good, "usage": usage})
    assert (seen.text, seen.outcome, seen.run.session_id, seen.run.model) == (
        "Done.",
        "succeeded",
        "s-9",
        "m-2",
    )
    assert (seen.run.duration_ms, seen.run.duration_api_ms) == (99, 79)
    assert session_of(None, *lines).outcome == "unfinished"
    assert session_of(None, *lines, {**good, "exitCode": 1}).run.result == "exit code 1"
    assert session_of(None, *lines, {**good, "exitCode": None}).outcome == "unfinished"
    assert session_of(None, good).format == "copilot"


@pytest.mark.parametrize("code", [0, 1])
def test_an_error_fails_the_turn_whatever_follows(code: int) -> None:
    """The result line of a turn that has failed adds only the session's id."""
    error = line("session.error", {"errorType": "query", "message": "400 refused", "statusCode": 400})
    lines = [start(), user("Go"), begin(), done(), error]
    assert ends_of(*lines) == [TurnEnded(Outcome.FAILED, "400 refused")]
    assert Notice("400 refused", session_time(error), is_error=True) in events_of(AGENT, *lines)
    result = {"type": "result", "sessionId": "s-1", "exitCode": code}
    assert ends_of(*lines, result) == [TurnEnded(Outcome.FAILED, "400 refused")]
    assert ends_of(start(), error) == []
    assert ends_of(*lines, begin(), message("Done."), done())[-1] == TurnEnded(Outcome.SUCCEEDED)


def session_time(of_line: dict[str, Any]) -> int | None:
    """Return the time of a line."""
    assert AGENT.time_of is not None
    return AGENT.time_of(of_line)


def test_a_good_turn_fails_with_a_bad_exit_code() -> None:
    """The result line has the last word; without an error line its code is the reason."""
    lines = [start(), user("Go"), begin(), message("Done."), done()]
    bad = {"type": "result", "sessionId": "s-1", "exitCode": 3}
    assert [each.outcome for each in ends_of(*lines, bad)] == [Outcome.SUCCEEDED, Outcome.FAILED]
    assert ends_of(*lines, {**bad, "exitCode": 0}) == [TurnEnded(Outcome.SUCCEEDED)]


def test_an_abort_and_an_idle_session_end_a_turn() -> None:
    """An abort cancels, with its reason; an idle session says whether it was aborted."""
    turn = [start(), user("Go"), begin()]
    abort = line("abort", {"reason": "user_initiated"})
    assert ends_of(*turn, abort, abort) == [TurnEnded(Outcome.CANCELLED, "user initiated")]
    assert ends_of(*turn, line("abort")) == [TurnEnded(Outcome.CANCELLED)]
    assert ends_of(*turn, passing("session.idle")) == [TurnEnded(Outcome.SUCCEEDED)]
    assert ends_of(*turn, passing("session.idle", {"aborted": True})) == [TurnEnded(Outcome.CANCELLED)]
    of_subagents = (line(kind, agentId="a") for kind in ("abort", "session.idle"))
    assert ends_of(*turn, *of_subagents) == []
    died = line("session.shutdown", {"shutdownType": "error", "errorReason": "heap"})
    assert ends_of(*turn, died) == [TurnEnded(Outcome.FAILED, "heap")]
    assert ends_of(*turn, line("session.shutdown", {"shutdownType": "routine"})) == []


def test_a_subagent_is_shown_below_its_call() -> None:
    """Its lines have its id, which its start gives to a call; its text is no part of the run's."""
    begun = line("subagent.started", {"toolCallId": "t", "agentName": "general"}, agentId="a-1")
    own = {"agentId": "a-1"}
    lines = [
        *(start(), user("Go"), begin(), message("I ask.", request("t", "task"))),
        *(
            started("t", "task", {"description": "Count files"}),
            begun,
            user("Count.", "a-1", source="agent-s-1"),
        ),
        line("session.model_change", {"newModel": "m-9"}, **own),
        begin(**own),
        message("", request("c", "bash"), agent="a-1"),
        {**started("c", "bash", {"command": "ls | wc -l"}), **own},
        {**ended("c", "2", shellExecution={"exitCode": 0}), **own},
        *(
            done(**own),
            {**delta("Th", agentId="a-1"), "ephemeral": False},
            message("Three.", agent="a-1"),
            done(**own),
        ),
        line("subagent.completed", {"toolCallId": "t"}, **own),
        *(ended("t", "Three."), done(), begin("1"), message("Done."), done("1")),
    ]
    seen = session_of(None, *lines)
    assert (seen.text, seen.run.turns, seen.run.model, seen.outcome) == ("I ask.Done.", 1, "m-1", "succeeded")
    assert [(call.call_id, call.agent, call.parent, call.target) for call in seen.calls] == [
        ("t", None, None, "Count files"),
        ("c", "t", 1, "ls | wc -l"),
    ]
    below = [entry.text for entry in seen.transcript if entry.parent == 1 and entry.text]
    assert below == ["Count.", "Three."]


def test_a_subagent_without_a_start_is_not_the_main_agent() -> None:
    """In a file that was cut, the subagent's id replaces that of its call; older lines name the call."""
    seen = session_of(AGENT, message("Sub.", agent="a-1"), {**started("c", "ls"), "agentId": "a-1"})
    assert (seen.text, seen.calls[0].agent) == ("", "a-1")
    older = session_of(AGENT, message("Sub.", parentToolCallId="t"), started("c", "ls", parentToolCallId="t"))
    assert (older.text, older.calls[0].agent) == ("", "t")


def test_a_message_of_the_program_is_no_prompt() -> None:
    """A notification that wakes the agent begins a turn without a prompt; while the agent works, none."""
    own = user("<note>Shell 1 has ended</note>\n", source="system")
    ended_turn = [start(), user("Go"), begin(), message("Done."), done()]
    assert events_of(AGENT, *ended_turn, own)[-2:] == [
        TurnStarted(),
        Notice("system: <note>Shell 1 has ended</note>"),
    ]
    assert TurnStarted() not in events_of(AGENT, *ended_turn[:-1], own)
    went_on = user("go on", isAutopilotContinuation=True)
    assert events_of(AGENT, *ended_turn, went_on)[-1] == Notice("autopilot: go on")
    prompts = (user("a", source="user"), user("b", source="command-review"), user(""))
    assert events_of(AGENT, *prompts) == [Prompt("a"), Prompt("b"), Prompt("")]


def test_a_rewind_takes_back_its_prompt_and_what_came_after() -> None:
    """An event that is no prompt, or that the file does not contain, takes nothing back."""
    first, second = user("One"), user("Two")
    lines = [start(), first, begin(), message("A."), done(), second, begin(), message("B."), done()]
    back = line("session.snapshot_rewind", {"upToEventId": first["id"], "eventsRemoved": 8})
    assert events_of(AGENT, *lines, back)[-1] == Rewound(2)
    assert session_of(AGENT, *lines, back, user("Three"), begin(), message("C."), done()).text == "C."
    targets: tuple[object, ...] = ("e0", None, [], lines[3]["id"])
    for target in targets:
        assert events_of(AGENT, *lines, line("session.snapshot_rewind", {"upToEventId": target}))[
            -1
        ] != Rewound(1)


def test_the_facts_of_the_run_are_said_when_they_change() -> None:
    """The model and the folder may change; another session in the same file is another run."""
    changed = line("session.model_change", {"newModel": "m-2", "previousModel": "m-1"})
    moved = line("session.context_changed", {"cwd": "/w/sub"})
    resumed = line("session.resume", {"context": {"cwd": "/w"}, "selectedModel": "m-3"})
    lines = [
        changed,
        changed,
        moved,
        started("c", "view", {"path": "/w/sub/a"}),
        resumed,
        line("session.resume"),
    ]
    events = events_of(AGENT, start(), *lines)
    assert [event for event in events if isinstance(event, RunStarted | RunInfo)] == [
        RunStarted("copilot", "s-1", "m-1", "/w", agent_version="1.0.102"),
        RunInfo(model="m-2"),
        RunInfo(cwd="/w/sub"),
        RunInfo(cwd="/w"),
        RunInfo(model="m-3"),
    ]
    assert session_of(AGENT, start(), *lines).calls[0].target == "a"
    of_subagent = (line(kind, {"cwd": "/", "newModel": "x"}, agentId="a") for kind in _OF_MAIN)
    assert events_of(AGENT, *of_subagent) == []
    assert len(session_of(AGENT, start(), user("a"), start(), user("b")).runs) == 2
    assert events_of(AGENT, line("session.auto_mode_resolved", {"chosenModel": "m-4"})) == [
        RunInfo(model="m-4")
    ]


_OF_MAIN = (
    *("session.start", "session.resume", "session.context_changed", "session.model_change"),
    *("session.tools_updated", "session.usage_info"),
)


def test_many_subagents_and_prompts_are_forgotten() -> None:
    """Of 1,100 subagents and 10,100 prompts the first are forgotten; huge ids are not kept."""
    huge = "h" * 2000
    begun = [line("subagent.started", {"toolCallId": f"t{n}"}, agentId=f"a{n}") for n in range(1100)]
    odd = line("subagent.started", {"toolCallId": huge}, agentId="a-huge")
    calls = [{**started(f"c{n}", "ls"), "agentId": f"a{n}"} for n in (0, 1099)]
    seen = session_of(AGENT, *begun, odd, *calls, {**started("c", "ls"), "agentId": "a-huge"})
    assert [call.agent for call in seen.calls] == ["a0", "t1099", "a-huge"]
    prompts = [{**user("x"), "id": f"p{n}"} for n in range(10_100)]
    back = [line("session.snapshot_rewind", {"upToEventId": target}) for target in ("p0", huge, "p10099")]
    events = events_of(AGENT, *prompts, {**user("x"), "id": huge}, *back)
    assert [event for event in events if isinstance(event, Rewound)] == [Rewound(1)]


def test_a_call_without_a_start_is_known_from_its_request() -> None:
    """Older files have no line for the start; the message announces the call."""
    seen = session_of(AGENT, start(), message("", request("c", "bash", {"command": "ls"})), ended("c", "x"))
    assert ids_in(seen) == ["c"]
    assert (seen.calls[0].target, seen.calls[0].tool, seen.calls[0].outcome) == ("ls", "bash", "succeeded")
    bare = session_of(AGENT, failed("c", "no"))
    assert (bare.calls[0].tool, bare.calls[0].error) == ("", "no")
