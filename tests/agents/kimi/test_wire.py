"""The journal of Kimi Code: prompts, steps, questions, subagents, and the ends of turns."""

from pathlib import Path
from typing import Any

from agentwatch.agents import LineRole
from agentwatch.agents.fields import SUBAGENT
from agentwatch.agents.kimi.agent import WIRE
from agentwatch.agents.kimi.program import PROGRAM
from agentwatch.agents.kimi.stream import KimiWireDecoder, line_blocks
from agentwatch.session.blocks import ErrorBlock, FieldsBlock, OutputBlock
from agentwatch.session.events import (
    Compaction,
    Event,
    Outcome,
    Permission,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
)
from tests.builders.captures import OWN
from tests.conftest import case

Json = dict[str, Any]
AT = 1_795_995_457_614


def record(kind: Any, /, **fields: Any) -> Json:
    return {"type": kind, "agentId": "main", "time": AT, **fields}


def step(kind: Any, /, **event: Any) -> Json:
    return record("context.append_loop_event", event={"type": kind, **event})


def decoded(*lines: Json) -> list[Event]:
    decoder = KimiWireDecoder()
    return [event for line in lines for event in decoder.decode(line)] + decoder.end()


def test_a_journal_is_recognised() -> None:
    """Its lines have a type with a dot, a number as their time, and an agent; the first has a version."""
    for line, is_own, role in (
        ({"type": "metadata", "protocol_version": "1.5", "created_at": AT}, True, LineRole.START),
        (record("turn.prompt"), True, LineRole.START),
        (step("tool.call"), True, LineRole.CALL),
        ({"type": "agent.turn.started", "kind": "event", "time": AT}, True, LineRole.OTHER),
        ({"type": "metadata"}, False, LineRole.START),
        ({"type": "turn.ended", "time": AT}, False, LineRole.OTHER),
        ({"type": "turn.ended", "agentId": "main", "time": "x"}, False, LineRole.OTHER),
    ):
        with case(line):
            assert (WIRE.recognises(line), WIRE.role(line)) == (is_own, role)
    assert WIRE.time_of is not None
    assert WIRE.time_of(record("x.y")) == AT == WIRE.time_of({"type": "metadata", "created_at": AT})


def test_a_turn_is_read() -> None:
    """It has its folder, its mode, its prompt, its text, its tokens and its end."""
    found = decoded(
        {"type": "metadata", "protocol_version": "1.5", "created_at": AT},
        record("profile.bind", modelAlias="k3", environmentDisclosure={"cwd": "/w"}),
        record("permission.set_mode", mode="manual"),
        record("turn.prompt", input=[{"type": "text", "text": "Run ls."}], origin={"kind": "user"}),
        step("content.part", part={"type": "text", "text": "I do."}),
        step("content.part", part={"type": "image"}),
        record("usage.record", model="k3", usage={"inputOther": 10, "output": 2, "inputCacheRead": 5}),
        record("turn.ended", reason="completed", durationMs=7),
    )
    assert found[:3] == [
        RunStarted("kimi-wire"),
        RunInfo(cwd="/w", model="k3"),
        RunInfo(permission_mode="manual"),
    ]
    assert Prompt("Run ls.") in found
    assert [e.text for e in found if isinstance(e, Text)] == ["I do."]
    [usage] = [e for e in found if isinstance(e, Usage)]
    assert (usage.tokens.input, usage.tokens.cached, usage.tokens.output) == (15, 5, 2)
    assert found[-1] == TurnEnded(Outcome.SUCCEEDED, duration_ms=7)


def test_prompts_of_others_are_not_the_users() -> None:
    """A task that has ended begins a turn without a prompt; what steers a turn is one of it."""
    words = [{"type": "text", "text": "x"}]
    task = {"kind": "system_trigger", "name": "task"}
    assert decoded(record("turn.prompt", input=words, origin=task)) == [TurnStarted(is_prompted=False)]
    assert decoded(record("turn.steer", input=words, origin=task)) == []
    assert decoded(record("turn.steer", input=words, origin={"kind": "user"})) == [Prompt("x")]
    assert decoded(record("turn.prompt", input=[], origin={})) == []


def test_turns_end_as_they_say() -> None:
    """A failed turn has its error; a reason that is new counts as a failure."""
    for fields, ended in (
        ({"reason": "cancelled"}, TurnEnded(Outcome.CANCELLED)),
        ({"reason": "failed", "error": {"message": "400"}}, TurnEnded(Outcome.FAILED, "400")),
        ({"reason": "blocked"}, TurnEnded(Outcome.FAILED, "blocked")),
        ({}, TurnEnded(Outcome.FAILED)),
    ):
        with case(fields):
            assert decoded(record("turn.ended", **fields)) == [ended]


def test_calls_are_read() -> None:
    """Their outcome is a flag; the exit code is in the words of a command that failed."""
    for name, result, outcome, code in (
        ("Bash", {"output": "a", "durationMs": 3}, Outcome.SUCCEEDED, 0),
        ("Bash", {"output": "x\nCommand failed with exit code: 3.", "isError": True}, Outcome.FAILED, 3),
        ("Bash", {"output": "x\nSession closed", "isError": True}, Outcome.CANCELLED, None),
        ("Read", {"output": [{"text": "no"}], "isError": True}, Outcome.FAILED, None),
        ("Read", {}, Outcome.SUCCEEDED, None),
    ):
        with case((name, result)):
            found = decoded(
                step("tool.call", toolCallId="c", name=name, args={"command": "ls"}),
                step("tool.result", toolCallId="c", result=result),
            )
            [ended] = [e for e in found if isinstance(e, ToolEnded)]
            assert (ended.outcome, ended.exit_code, ended.at_ms) == (outcome, code, AT)
    assert decoded(step("step.begin"), step("new")) == [Unknown("event new")]


def test_a_question_has_its_answer() -> None:
    """The answer repeats the id of the question, and names no tool."""
    request = {"toolName": "Bash", "action": "Running: ls", "display": {"command": "ls"}}
    asked = record("interaction.request", id="q", kind="approval", toolCallId="c", request=request)
    answer = record("interaction.resolved", id="q", response={"decision": "approved"})
    assert decoded(asked, answer) == [
        Permission("Bash", None, at_ms=AT, key="q", call_id="c", target="ls"),
        Permission("Bash", "approved", at_ms=AT, key="q"),
    ]
    assert decoded(record("interaction.request"), record("interaction.resolved")) == [
        Permission("question", None, at_ms=AT),
        Permission("question", "answered", at_ms=AT),
    ]


def test_other_records_are_read() -> None:
    """Retries, compactions and steps back are shown; what repeats other lines is not."""
    fields = {"failedAttempt": 1, "maxAttempts": 10, "delayMs": 550.2, "errorMessage": "500"}
    assert decoded(record("turn.step.retrying", **fields)) == [Retry("500", 1, 10, 550, AT)]
    assert decoded(record("full_compaction.begin"), record("full_compaction.complete", tokensAfter=5)) == [
        Compaction(is_over=False, at_ms=AT),
        Compaction(is_over=True, tokens_after=5, at_ms=AT),
    ]
    assert decoded(record("context.undo", count=2), record("context.undo")) == [Rewound(2), Rewound(0)]
    assert decoded(record("llm.request"), record("new.kind")) == [Unknown("type new.kind")]


def test_a_subagent_belongs_to_its_call() -> None:
    """Its lines are joined to those of its session, below the call that has started it."""
    below = {SUBAGENT: "agent-0"}
    found = decoded(
        record("subagent.spawned", subagentId="agent-0", parentToolCallId="c"),
        record("subagent.spawned"),
        {**step("tool.call", toolCallId="d", name="Bash", args={}), **below},
        {**record("usage.record", usage={"output": 2}), **below},
        {**record("turn.ended", reason="completed"), **below},
    )
    assert [(e.call_id, e.parent_call) for e in found if isinstance(e, ToolStarted)] == [("d", "c")]
    assert not [e for e in found if isinstance(e, TurnEnded)]
    # The store of a session has the lines of its subagents, in the order of their times.
    [path] = OWN.glob("real/kimi-2.1.0/sessions/sessions/*/*fd564f8e*/agents/main/wire.jsonl")
    store = PROGRAM.stores[0](path, b"{")
    assert store is not None
    joined = store.new_lines()
    store.close()
    assert sum(b"joinedSubagent" in line for line in joined) == len(
        (path.parents[1] / "agent-0/wire.jsonl").read_bytes().splitlines()
    )
    assert b"joinedSubagent" not in joined[0]
    assert b"joinedSubagent" not in joined[-1]
    assert PROGRAM.stores[0](Path("/w/other.jsonl"), b"{") is None


def test_the_detail_of_a_call() -> None:
    """A start has its arguments, an end its output; a failed command has its exit code first."""
    start = step("tool.call", toolCallId="c", name="Bash", args={"command": "ls"})
    assert [*line_blocks(start, "c")] == [FieldsBlock("arguments", {"command": "ls"})]
    words = "x\nCommand failed with exit code: 3."
    end = step("tool.result", toolCallId="c", result={"output": words, "isError": True})
    assert [*line_blocks(end, "c")] == [ErrorBlock("exit 3"), OutputBlock("stdout", words)]
    assert [*line_blocks(step("tool.result", result={"output": "no", "isError": True}), "c")] == [
        ErrorBlock("no")
    ]
    assert [*line_blocks(step("step.end"), "c")] == []
