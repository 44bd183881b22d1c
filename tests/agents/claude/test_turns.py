"""Inits, prompts and results divide a stream into runs and turns."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.session.events import Usage
from agentwatch.session.session import Session
from tests.builders.claude_lines import (
    CWD,
    Json,
    answer,
    assistant,
    call,
    delta,
    events,
    init,
    line,
    result,
    say,
    user,
    written,
)
from tests.builders.lines import session
from tests.conftest import case

USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 10,
    "cache_read_input_tokens": 100,
    "output_tokens": 7,
}


def read(*lines: Json) -> Session:
    """Return the session of lines."""
    return session(written(*lines))


def test_an_init_of_the_same_session_is_a_turn() -> None:
    """After a result, an init of the same session continues the run, and closes no call."""
    background = (call("Bash", command="make"), result("One"), init(model="claude-opus-5"), answer("done"))
    found = read(init(), *background, say("Two"), result("Two"))
    assert (len(found.runs), found.run.turns, found.run.model) == (1, 2, "claude-opus-5")
    assert (found.calls[0].outcome, found.never_completed) == ("succeeded", 0)
    assert (found.run.outcome, found.run.text_matches_result) == ("succeeded", True)


def test_an_init_without_a_result_before_it_is_a_run() -> None:
    """A process that was killed has no result; the one that continues its session is another run."""
    found = read(init(), call("Bash", command="make"), init(), say("Two"), result("Two"))
    assert (len(found.runs), found.runs[0].outcome) == (2, "unfinished")
    assert (found.calls[0].outcome, found.never_completed) == ("unfinished", 1)
    assert len(read(init(), result(), init(session_id="s-2"), result()).runs) == 2


def test_a_compaction_may_have_an_init_within_its_turn() -> None:
    """While the conversation is shortened, an init continues the present turn."""
    compacting = line("system", "status", status="compacting")
    boundary = line("system", "compact_boundary", compact_metadata={"pre_tokens": 9, "post_tokens": 5})
    found = read(init(), say("a"), compacting, init(), boundary, say("b"), result("b"))
    assert (len(found.runs), found.run.turns, found.text) == (1, 1, "ab")
    assert len(read(init(), say("a"), compacting, boundary, init(), result()).runs) == 2


def test_lines_of_hooks_come_before_the_init() -> None:
    """Hooks, and a status, before the init are no run."""
    hook = line("system", "hook_started", hook_id="h")
    found = read(hook, line("system", "status", status="requesting"), init(), say("a"), result("a"))
    assert (len(found.runs), found.run.turns, found.run.cwd, found.lines.unknown) == (1, 1, CWD, 0)


def test_a_turn_may_start_without_an_init() -> None:
    """What the agent writes after a result, or before any init, is a turn."""
    found = read(init(), say("One"), result("One"), say("Two"), result("Two"))
    assert (len(found.runs), found.run.turns, found.run.outcome) == (1, 2, "succeeded")
    found = read(line("system", "hook_started"), delta("One"), say("One"), say("Two"))
    assert (found.run.turns, found.run.session_id, found.text) == (1, "s-1", "OneTwo")
    own = assistant({"type": "text", "text": "API Error"}, model="<synthetic>")
    assert read(line("system", "hook_started"), own).run.model is None
    written_by = assistant({"type": "text", "text": "a"}, model="claude-opus-5")
    assert read(line("system", "hook_started"), written_by).run.model == "claude-opus-5"
    found = read(line("system", "hook_started"), line("stream_event", event={"type": "message_start"}))
    assert found.run.turns == 1
    found = read(init(), result("One"), result("Two", local_command="compact"))
    assert (len(found.runs), found.run.turns) == (1, 2)


def test_a_result_alone_is_a_whole_run() -> None:
    """The agent's `json` format is one line."""
    found = read(result("Done.", total_cost_usd=0.5, usage=USAGE))
    assert (found.format, found.outcome, found.run.result) == ("claude-code", "succeeded", "Done.")
    assert found.run.text_matches_result is None


def test_prompts_that_the_agent_repeats_are_prompts() -> None:
    """An echoed prompt is that of its turn; in the midst of a turn it starts another."""
    found = read(
        init(), user("Go on.", isReplay=True), say("a"), user("Stop.", isReplay=True), say("b"), result("b")
    )
    assert (found.run.prompt, found.run.turns) == ("Go on.", 2)
    found = read(init(), user("Go on."), say("a"), result("a"), user("More."), say("b"), result("b"))
    assert (found.run.prompt, found.run.turns) == ("Go on.", 2)


@pytest.mark.parametrize(
    "own",
    [
        user("This session is being continued.", isSynthetic=True),
        user("<local-command-stdout>Compacted</local-command-stdout>", isReplay=True),
        user("<task-notification>x</task-notification>"),
    ],
)
def test_texts_of_the_agent_are_no_prompts(own: Json) -> None:
    """A summary, the output of a command and a notification are the agent's own."""
    found = read(init(), own, say("a"), result("a"))
    assert (found.run.prompt, found.run.turns) == (None, 1)
    found = read(init(), say("a"), user("Base directory for this skill: /x"), result("a"))
    assert (found.run.prompt, found.run.turns) == (None, 1)


OUTCOMES: list[tuple[dict[str, Any], str, str | None]] = [
    ({}, "succeeded", "Done."),
    ({"is_error": True, "result": "API Error: 500"}, "failed", "API Error: 500"),
    ({"subtype": "error_max_turns", "errors": ["Reached 10"]}, "failed", "Reached 10"),
    (
        {"subtype": "error_during_execution", "error": {"type": "FatalError", "message": "Too many turns"}},
        "failed",
        "Too many turns",
    ),
    ({"subtype": "error_max_turns"}, "failed", "reached the maximum number of turns"),
    ({"subtype": "error_of_a_new_kind"}, "failed", "error of a new kind"),
    ({"is_error": None, "subtype": "paused"}, "failed", "paused"),
    ({"is_error": None, "subtype": None}, "failed", None),
    ({"is_error": None}, "succeeded", "Done."),
    ({"is_error": True, "error": "No login"}, "failed", "No login"),
    ({"subtype": "error_during_execution", "terminal_reason": "aborted_tools"}, "cancelled", "interrupted"),
    (
        {"subtype": "error_during_execution", "terminal_reason": "aborted", "errors": ["[ede_diagnostic] x"]},
        "cancelled",
        "interrupted",
    ),
    ({"terminal_reason": "aborted_streaming", "errors": ["x"]}, "cancelled", "x"),
    ({"result": 5}, "succeeded", None),
]


def test_a_result_has_an_outcome_and_a_reason() -> None:
    """`success` with an error failed, an abort was cancelled, and a reason is in words."""
    for fields, outcome, text in OUTCOMES:
        with case((fields, outcome)):
            words = "Done." if outcome == "succeeded" else ""
            end = {**result(words), **fields}
            found = read(init(), say("Done."), end)
            assert (found.outcome, found.run.result) == (outcome, text)


def test_an_interruption_is_cancelled() -> None:
    """A turn that the user interrupted was cancelled, if its result says that it failed."""
    stop = user("[Request interrupted by user for tool use]")
    end = result(subtype="error_during_execution", is_error=True)
    assert read(init(), say("a"), stop, end).outcome == "cancelled"
    assert read(init(), say("a"), stop, result("a")).outcome == "succeeded"
    assert read(init(), say("a"), stop, end, init(), say("b"), end).outcome == "failed"


def test_tokens_are_those_of_the_results() -> None:
    """The usage of each turn is added; the cost and the context are the latest."""
    models = {"claude-sonnet-5": {"contextWindow": 200_000}, "claude-haiku-4-5": {"contextWindow": 100_000}}
    lines = [init(model="claude-sonnet-5[1m]")]
    for cost in (0.25, 0.75):
        lines += [say("a", message_id=f"m-{cost}", usage=USAGE), call("Bash"), answer("x"), init()]
        lines[-1] = result("a", usage=USAGE, total_cost_usd=cost, modelUsage=models)
        lines.append(init(model="claude-sonnet-5[1m]"))
    tokens = read(*lines[:-1]).run.tokens
    assert tokens == (226, 200, 14, 0.75, 113, 200_000)


def test_a_run_without_a_result_has_the_tokens_of_its_messages() -> None:
    """All lines of a message have the same usage: it counts once. Its output is not final."""
    found = read(
        init(), say("a", usage=USAGE), say("b", usage=USAGE), say("c", message_id="m-2", usage=USAGE)
    )
    assert found.run.tokens == (226, 200, None, None, 113, None)
    written_so_far = line("stream_event", event={"type": "message_delta", "usage": {"output_tokens": 9}})
    assert read(init(), written_so_far).run.tokens.output == 9
    more = line("stream_event", event={"type": "message_delta", "usage": {"output_tokens": 12}})
    start = line("stream_event", event={"type": "message_start"})
    lines = (written_so_far, more, written_so_far, start, more)
    assert read(init(), *lines).run.tokens.output == 24
    inner = say("a", usage=USAGE, parent_tool_use_id="t-1")
    assert read(init(), inner, line("stream_event", event={"type": "ping"})).run.tokens == (
        113,
        100,
        None,
        None,
        None,
        None,
    )


def test_the_requests_of_subagents_are_added_to_the_turn() -> None:
    """A result line counts only those of the main agent; each message of a subagent counts once."""
    inner = say("a", message_id="m-2", usage=USAGE, parent_tool_use_id="t-1")
    lines = [init(), say("a", usage=USAGE), inner, inner, result("a", usage=USAGE)]
    assert read(*lines).run.tokens[:3] == (226, 200, 14)
    assert read(*lines, init(), result("b", usage=USAGE)).run.tokens[:3] == (339, 300, 21)


def test_the_subagents_of_other_agents_are_not_added() -> None:
    """It is not known whether their results contain them."""
    inner = say("a", usage=USAGE, parent_tool_use_id="t-1")
    assert not any(isinstance(event, Usage) for event in events(inner, agent="amp"))
    assert any(isinstance(event, Usage) for event in events(init(), inner))


def test_an_odd_cost_is_unknown() -> None:
    """A cost that is no number, negative or absurd is not shown."""
    cases: list[object] = ["1", True, -1.0, 1e300, None]
    for cost in cases:
        with case(cost):
            assert read(init(), result("a", total_cost_usd=cost)).run.tokens.cost_usd is None


def test_the_only_models_context_counts() -> None:
    """Without the main model's name, the context is that of the only model."""
    one = {"claude-x": {"contextWindow": 5}}
    assert read(init(), result("a", modelUsage=one)).run.tokens.context_size == 5
    two = {**one, "claude-y": {"contextWindow": 6}}
    assert read(init(), result("a", modelUsage=two)).run.tokens.context_size is None


def test_facts_of_the_run_are_in_its_init() -> None:
    """Model, folder, mode, source of the key and version are shown; the usage is the agent's own."""
    found = read(init(permissionMode="plan", apiKeySource="none"), result("a", usage={"a": 1, "b": []}))
    run = found.run
    assert (run.permission_mode, run.api_key_source, run.agent_version) == ("plan", "none", "2.1.330")
    assert (run.usage, found.agent_name) == ({"a": 1}, "claude")
    assert read(init(), result("a", usage=None)).run.usage is None
