"""The stream of Pi: turns, texts, calls, retries and compactions."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from agentwatch.agents.pi.agent import AGENT
from agentwatch.session.events import (
    Channel,
    Compaction,
    Notice,
    Outcome,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    ToolProgress,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from tests.agents.pi.lines import (
    HEADER,
    agent_end,
    assistant,
    call,
    delta,
    end,
    ended,
    started,
    text,
    thought,
    update,
    user,
)
from tests.builders.agents.decoded import events_of, ids_in, session_of
from tests.conftest import case
from tests.harness.costs import takes_more

START: dict[str, Any] = {"type": "agent_start"}
STEP: dict[str, Any] = {"type": "turn_start"}
FAILED = assistant(stop="error", errorMessage="529 overloaded")
GOOD = assistant(text("Done."))


def test_nothing_is_said_twice() -> None:
    """A text that comes as deltas and at the end of its block, message, step and turn is one text."""
    message = assistant(thought("Hm."), text("I read."), usage={"input": 5, "cacheRead": 3, "output": 2})
    seen = session_of(
        None,
        *(HEADER, START, STEP, end(user("Go"))),
        *(delta("H", 0, "thinking"), delta("m.", 0, "thinking"), delta("I ", 1), delta("read.", 1)),
        *(update("thinking_end", 0, content="Hm."), update("text_end", 1, content="I read.")),
        end(message),
        {"type": "turn_end", "message": message, "toolResults": []},
        agent_end(user("Go"), message),
    )
    assert (seen.format, seen.text, seen.outcome, seen.run.turns) == ("pi", "I read.", "succeeded", 1)
    assert [(entry.kind.value, entry.text) for entry in seen.transcript][:3] == [
        ("prompt", "Go"),
        ("reasoning", "Hm."),
        ("answer", "I read."),
    ]
    assert (seen.run.tokens.input, seen.run.tokens.cached, seen.run.tokens.output) == (8, 3, 2)
    assert (seen.run.session_id, seen.run.cwd, seen.run.model) == ("s-1", "/w", "acme/m-1")


def test_only_the_delta_of_an_update_is_read() -> None:
    """The snapshots in an update are not looked into: a value there that cannot be read does no harm."""

    class Snapshot(dict[str, Any]):
        """An object that must not be read."""

        def get(self, key: str, default: object = None) -> object:
            raise AssertionError((key, default))

        __getitem__ = __iter__ = keys = values = items = get  # type: ignore[assignment]

    line = update("text_delta", 0, delta="x", partial=Snapshot())
    assert events_of(AGENT, {**line, "message": Snapshot()})[0] == Text(Channel.ANSWER, "x")


@pytest.mark.costs
def test_growing_snapshots_cost_time_by_their_bytes() -> None:
    """A stream of four times the bytes, because twice the deltas repeat twice the text, takes four times as
    long, and not sixteen times."""

    def stream(count: int) -> list[dict[str, Any]]:
        said, lines = "", []
        for number in range(count):
            piece = f"word {number} "
            said += piece
            message = assistant(text(said))
            lines.append({**update("text_delta", 0, delta=piece, partial=message), "message": message})
        return lines

    few, many = stream(250), stream(500)
    times = 3 * len(str(many)) / len(str(few))
    assert not takes_more(partial(session_of, AGENT, *many), times, partial(session_of, AGENT, *few), 0)


def test_a_call_has_its_arguments_its_output_and_its_exit_code() -> None:
    """The output of an open call is whole each time; the exit code is in Pi's own last line."""
    partial = {"type": "tool_execution_update", "toolCallId": "a|b", "toolName": "bash"}
    outputs = [{**partial, "partialResult": {"content": [text(words)]}} for words in ("1\n", "1\n2\n")]
    lines = [HEADER, START, started("a|b", "bash", command="make\ntest"), *outputs]
    events = events_of(AGENT, *lines)
    assert ToolProgress("a|b", None, "1\n2\n", is_whole=True) in events
    failed = ended("a|b", "bash", "1\n2\n\n\nCommand exited with code 3", is_error=True)
    seen = session_of(AGENT, *lines, failed).calls[0]
    assert (seen.target, seen.outcome, seen.exit_code, seen.error) == ("make", "failed", 3, "exit 3")


def test_the_last_message_decides_how_a_turn_ends() -> None:
    """The process of Pi exits with 0 even if the model has failed."""
    cases: list[tuple[str, Outcome, str | None]] = [
        ("stop", Outcome.SUCCEEDED, None),
        ("toolUse", Outcome.SUCCEEDED, None),
        ("error", Outcome.FAILED, "the model's request failed"),
        ("length", Outcome.FAILED, "the model's answer was cut at its length limit"),
        ("aborted", Outcome.CANCELLED, None),
    ]
    for stop, outcome, why in cases:
        with case((stop, outcome)):
            ended_turn = events_of(AGENT, HEADER, START, end(assistant(stop=stop)), agent_end())[-1]
            assert ended_turn == TurnEnded(outcome, why)
            alone = events_of(AGENT, START, agent_end(assistant(stop=stop, errorMessage="why")))[-1]
            assert alone == TurnEnded(outcome, "why" if stop not in ("stop", "toolUse") else None)


def test_a_turn_that_is_tried_again_is_one_turn() -> None:
    """A failure that the next line retries ends no turn, whether or not the failure says so."""
    retry = {
        "type": "auto_retry_start",
        "attempt": 1,
        "maxAttempts": 3,
        "delayMs": 2000,
        "errorMessage": "529",
    }
    ways: list[dict[str, Any]] = [{}, {"willRetry": True}]
    for more in ways:
        lines = [
            *(HEADER, START, end(user("Go")), end(FAILED), agent_end(FAILED, **more), retry),
            *(START, end(GOOD), agent_end(GOOD), {"type": "auto_retry_end", "success": True, "attempt": 1}),
        ]
        events = events_of(AGENT, *lines)
        assert [event for event in events if isinstance(event, TurnEnded | TurnStarted)] == [
            TurnStarted(),
            TurnEnded(Outcome.SUCCEEDED),
        ]
        assert Retry("529", 1, 3, 2000) in events
        assert (session_of(AGENT, *lines).run.turns, session_of(AGENT, *lines).outcome) == (1, "succeeded")


def test_a_failure_that_nothing_retries_ends_the_turn() -> None:
    """It ends at the next line that is about something else, or at the end of the stream."""
    over = TurnEnded(Outcome.FAILED, "529 overloaded")
    lines = [HEADER, START, end(FAILED), agent_end(FAILED)]
    assert events_of(AGENT, *lines)[-1] == over
    assert events_of(AGENT, *lines, {"type": "auto_compaction_start", "reason": "threshold"})[-2] == over
    assert session_of(AGENT, *lines, is_closed=False).outcome == "running"
    assert session_of(AGENT, *lines, {"type": "queue_update"}, is_closed=False).outcome == "failed"
    at_once = session_of(AGENT, *lines[:-1], agent_end(FAILED, willRetry=False), is_closed=False)
    assert at_once.outcome == "failed"


@pytest.mark.parametrize("prefix", ["", "auto_"])
def test_a_request_that_was_too_large_is_tried_again_after_a_compaction(prefix: str) -> None:
    """The compaction says whether the turn continues."""
    failed = [HEADER, START, end(FAILED), agent_end(FAILED)]
    start = {"type": f"{prefix}compaction_start", "reason": "overflow"}
    done = {"type": f"{prefix}compaction_end", "result": {"tokensBefore": 9, "estimatedTokensAfter": 4}}
    events = events_of(AGENT, *failed, start, {**done, "willRetry": True}, START, end(GOOD), agent_end(GOOD))
    assert [event for event in events if isinstance(event, TurnEnded)] == [TurnEnded(Outcome.SUCCEEDED)]
    assert Compaction(is_over=False, trigger="overflow") in events
    assert Compaction(is_over=True, tokens_before=9, tokens_after=4) in events
    given_up = events_of(AGENT, *failed, start, {**done, "willRetry": False})
    assert TurnEnded(Outcome.FAILED, "529 overloaded") in given_up


def test_a_compaction_that_failed_says_why() -> None:
    """It has no result, but an error, or it was interrupted."""
    line = {"type": "compaction_end", "willRetry": False}
    words: list[dict[str, Any]] = [{"errorMessage": "too long"}, {"aborted": True}, {}]
    found = [events_of(AGENT, {**line, **more})[1] for more in words]
    assert found == [Notice(f"compaction failed: {why}") for why in ("too long", "aborted", "no result")]


def test_a_retry_that_was_given_up_ends_the_turn() -> None:
    """The turn waits for the retry, which is cancelled or fails; `agent_settled` ends what is left open."""
    waiting = [HEADER, START, end(FAILED), agent_end(FAILED, willRetry=True)]
    given_up = {"type": "auto_retry_end", "success": False, "attempt": 1, "finalError": "Retry cancelled"}
    settled = {"type": "agent_settled"}
    assert events_of(AGENT, *waiting, given_up, settled)[-1] == TurnEnded(Outcome.FAILED, "Retry cancelled")
    assert events_of(AGENT, *waiting, settled)[-1] == TurnEnded(Outcome.FAILED, "529 overloaded")
    assert events_of(AGENT, START, settled)[-1] == TurnEnded(Outcome.SUCCEEDED)
    assert events_of(AGENT, given_up) == events_of(AGENT, settled) == []


def test_a_prompt_while_the_agent_works_is_a_turn_of_the_same_run() -> None:
    """A message that steers the agent is a second prompt, without a second end."""
    seen = session_of(
        AGENT, HEADER, START, end(user("Go")), end(user([text("Stop")])), end(GOOD), agent_end()
    )
    assert (seen.run.turns, seen.outcome, len(seen.runs)) == (2, "succeeded", 1)


def test_a_second_header_begins_a_second_run() -> None:
    """Two streams in one file are two runs, whose calls may have the same ids."""
    one = [HEADER, START, end(user("Go")), started("c", "ls"), ended("c", "ls"), end(GOOD), agent_end()]
    seen = session_of(None, *one, *one)
    assert (len(seen.runs), ids_in(seen), seen.text) == (2, ["c", "c"], "Done.Done.")
    assert [made.target for made in seen.calls] == [".", "."]


def test_other_lines_report_what_they_contain_and_nothing_else() -> None:
    """Errors of extensions and the user's commands are notices; other lines are silent or unknown."""
    assert events_of(AGENT, {"type": "extension_error", "error": "boom"}) == [Notice("boom", is_error=True)]
    assert events_of(AGENT, {"type": "notice", "message": "hi"}) == [Notice("hi")]
    assert events_of(AGENT, {"type": "notice"}) == [Notice("an extension failed")]
    own = {"role": "bashExecution", "command": "ls -la\n", "exitCode": 1}
    assert events_of(AGENT, end(own)) == [Notice("! ls -la (exit 1)")]
    assert events_of(AGENT, end({**own, "cancelled": True})) == [Notice("! ls -la (cancelled)")]
    assert events_of(AGENT, end({"role": "bashExecution"})) == [Notice("! ")]
    assert events_of(AGENT, end({"role": "toolResult"}), {"type": "entry_appended"}) == []
    assert events_of(AGENT, {"type": "weather"}, {"type": 7}) == [Unknown("type weather"), Unknown("type 7")]
    assert events_of(AGENT, update("start"), update("done"), update("toolcall_delta", delta="{")) == []
    assert events_of(AGENT, update("text_delta"), update("text_end", content="")) == []


def test_the_model_is_said_when_it_changes() -> None:
    """A message without a provider has the model's name alone."""
    other = {"role": "assistant", "content": [], "model": "m-2"}
    events = events_of(AGENT, HEADER, end(GOOD), end(GOOD), end(other))
    assert [event for event in events if isinstance(event, RunInfo | RunStarted)] == [
        RunStarted("pi", session_id="s-1", cwd="/w"),
        RunInfo(model="acme/m-1"),
        RunInfo(model="m-2"),
    ]


def test_a_message_that_was_cut_ends_its_text() -> None:
    """A text without an end does not go on in the next message."""
    events = events_of(AGENT, delta("Hal"), {"type": "message_start"}, delta("Hello"), HEADER)
    assert events[:3] == [
        Text(Channel.ANSWER, "Hal"),
        TextEnded(Channel.ANSWER),
        Text(Channel.ANSWER, "Hello"),
    ]
    assert events[3] == TextEnded(Channel.ANSWER)


def test_calls_of_one_step_have_one_group() -> None:
    """The calls that one model step requests run in parallel."""
    lines = [STEP, started("a", "ls"), started("b", "ls"), STEP, started("c", "ls")]
    seen = session_of(AGENT, START, *lines)
    assert [made.group for made in seen.calls] == ["1", "1", "2"]


def test_a_tool_call_in_a_message_is_no_call_of_its_own() -> None:
    """Only its execution is."""
    seen = session_of(AGENT, START, end(assistant(call("c", "ls"), stop="toolUse")))
    assert ids_in(seen) == []


def test_the_answers_to_commands_have_the_id_and_the_failures() -> None:
    """In the mode rpc, a command that failed is a notice, and the state has the id of the session."""
    state = {"type": "response", "id": "1", "command": "get_state", "success": True}
    failed = {"type": "response", "command": "compact", "success": False, "error": "too small"}
    found = events_of(
        AGENT,
        {**state, "data": {"sessionId": "s-9"}},
        {**state, "data": None},
        {**state, "command": "prompt", "data": {"sessionId": "s-8"}},
        failed,
        {"type": "response", "success": False},
    )
    assert found == [
        RunInfo(session_id="s-9"),
        Notice("compact failed: too small", is_error=True),
        Notice("a command failed: no reason given", is_error=True),
    ]
