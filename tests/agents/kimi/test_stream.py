"""The stream of Kimi Code: remarks, messages and calls, whose outcome only their words say."""

import json
from typing import Any

from agentwatch.agents import LineRole
from agentwatch.agents.kimi.agent import AGENT
from agentwatch.agents.kimi.stream import KimiDecoder, line_blocks, read_output
from agentwatch.session.blocks import ChangeBlock, ContentBlock, ErrorBlock, OutputBlock
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Plan,
    Retry,
    RunStarted,
    Text,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    Unknown,
)
from tests.conftest import case

Json = dict[str, Any]


def meta(kind: Any, **fields: Any) -> Json:
    return {"role": "meta", "type": kind, **fields}


def calls(*each: tuple[str, Json], content: Any = None, **more: Any) -> Json:
    """Return a message with calls `c0`, `c1` and so on."""
    made = [
        {"type": "function", "id": f"c{number}", "function": {"name": name, "arguments": json.dumps(given)}}
        for number, (name, given) in enumerate(each)
    ]
    return {"role": "assistant", "content": content, "tool_calls": made, **more}


def tool(content: Any, key: str = "c0") -> Json:
    return {"role": "tool", "tool_call_id": key, "content": content}


def decoded(*lines: Json) -> list[Event]:
    decoder = KimiDecoder()
    return [event for line in lines for event in decoder.decode(line)] + decoder.end()


def test_a_stream_is_recognised() -> None:
    """Its remarks and its calls are its own; a message that has only a text may be that of another agent."""
    for line, is_own, role in (
        (meta("system.version"), True, LineRole.START),
        (meta("session.resume_hint"), True, LineRole.OTHER),
        (calls(("Bash", {})), True, LineRole.CALL),
        (tool("x"), True, LineRole.CALL),
        ({"role": "assistant", "content": "x"}, False, LineRole.OTHER),
        ({"role": "meta", "type": 1}, False, LineRole.OTHER),
        ({"role": "tool", "message": {}, "tool_call_id": "c"}, False, LineRole.CALL),
        ({"role": "user", "content": "x"}, False, LineRole.OTHER),
    ):
        with case(line):
            assert (AGENT.recognises(line), AGENT.role(line)) == (is_own, role)


def test_remarks_are_read() -> None:
    """The version starts a run, the hint to resume ends it well, and a retry has its reason."""
    started, done = decoded(meta("system.version", version="2.1.0")), decoded(meta("session.resume_hint"))
    assert started == [RunStarted("kimi", agent_version="2.1.0")]
    assert isinstance(done[-1], TurnEnded)
    assert done[-1].outcome is Outcome.SUCCEEDED
    delays = {550.2: 550, 7: 7, -1.5: None, 1e15: 10**15}
    for delay, shown in delays.items():
        fields = {"error_message": "500", "failed_attempt": 1, "max_attempts": 10, "delay_ms": delay}
        assert decoded(meta("turn.step.retrying", **fields)) == [Retry("500", 1, 10, shown)]
    assert decoded(meta("turn.step.retrying")) == [Retry("the request failed")]
    assert decoded(meta("goal.summary", status="blocked")) == [Notice("goal blocked")]
    assert decoded(meta("new"), {"role": "critic"}) == [Unknown("type new"), Unknown("role critic")]


def test_texts_and_thoughts_are_read() -> None:
    """A message may be a text or a list of parts, and may have a thought."""
    found = decoded({"role": "assistant", "reasoning_content": "Hm", "content": [{"text": "a"}, 1]})
    assert [(e.channel, e.text) for e in found if isinstance(e, Text)] == [
        (Channel.REASONING, "Hm"),
        (Channel.ANSWER, "a"),
    ]


def test_the_words_of_a_result_are_its_outcome() -> None:
    """A command that fails ends with its exit code; words say whether another call has failed or worked."""
    run, edit, read = ToolKind.EXECUTE, ToolKind.EDIT, ToolKind.READ
    for kind, output, outcome, code in (
        (run, "a\n", Outcome.SUCCEEDED, 0),
        (run, "oops\nCommand failed with exit code: 3.", Outcome.FAILED, 3),
        (run, "start\nSession closed", Outcome.CANCELLED, None),
        (run, "x\nCommand killed by timeout (60s)", Outcome.FAILED, None),
        (edit, "Wrote 11 bytes to a", Outcome.SUCCEEDED, None),
        (read, '"a" does not exist.', Outcome.FAILED, None),
        (read, 'Tool "x" not found', Outcome.FAILED, None),
        (read, "1\ttext", Outcome.RETURNED, None),
    ):
        with case(output):
            found = read_output(kind, output)
            assert (found.outcome, found.exit_code) == (outcome, code)


def test_calls_are_read() -> None:
    """A call has its kind, its target and its end; a to-do list is shown once the call has worked."""
    todos = [{"title": "One", "status": "done"}, {"title": "Two", "status": "pending"}]
    edit = {"path": "/w/a", "old_string": "b", "new_string": "c\nd"}
    found = decoded(
        calls(("TodoList", {"todos": todos}), ("mcp__srv__look_up", {}), ("Edit", edit), ("New", {"q": "x"})),
        tool("Todo list updated."),
        tool("1", "c1"),
        tool("Replaced 1 occurrence", "c2"),
        tool([{"type": "text", "text": "1"}], "never"),
    )
    starts = [(e.kind, e.target) for e in found if isinstance(e, ToolStarted)]
    assert starts == [
        (ToolKind.PLAN, None),
        (ToolKind.MCP, "srv look_up"),
        (ToolKind.EDIT, "/w/a"),
        (ToolKind.OTHER, "New x"),
    ]
    [plan] = [e for e in found if isinstance(e, Plan)]
    assert [(e.text, e.status) for e in plan.entries] == [("One", "completed"), ("Two", "pending")]
    ends = [e for e in found if isinstance(e, ToolEnded)]
    assert [(e.outcome, e.lines_added, e.lines_removed) for e in ends] == [
        (Outcome.SUCCEEDED, None, None),
        (Outcome.RETURNED, None, None),
        (Outcome.SUCCEEDED, 2, 1),
        (Outcome.RETURNED, None, None),
    ]


def test_the_detail_of_a_call() -> None:
    """A change is shown as one, and the output of a command by its last line."""
    line = calls(("Edit", {"path": "a", "old_string": "b", "new_string": "c"}), ("Bash", {"command": "ls"}))
    [change, *_] = line_blocks(line, "c0")
    assert isinstance(change, ChangeBlock)
    assert not [*line_blocks(line, "other")]
    assert [*line_blocks(tool("x\nCommand failed with exit code: 1."), "c0")] == [
        OutputBlock("stdout", "x\nCommand failed with exit code: 1.")
    ]
    assert [*line_blocks(tool("x"), "c0")] == [ContentBlock("x")]
    assert ErrorBlock("x") not in [*line_blocks(tool(""), "c0")]
