"""The stream of Cline: texts, calls of several parts, subagents, and the result."""

from typing import Any

from agentwatch.agents import LineRole
from agentwatch.agents.cline.agent import AGENT
from agentwatch.agents.cline.stream import ClineDecoder, line_blocks, output_text, read_output
from agentwatch.session.blocks import ErrorBlock, FieldsBlock, OutputBlock
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    Unknown,
    Usage,
)
from tests.conftest import case

Json = dict[str, Any]
AT, AT_MS = "2026-11-29T23:39:16.620Z", 1_795_995_556_620


def hook(name: str, parent: str | None = None) -> Json:
    return {"ts": AT, "type": "hook_event", "hookEventName": name, "parentAgentId": parent}


def event(kind: Any, content: str | None = None, **fields: Any) -> Json:
    more = {} if content is None else {"contentType": content}
    return {"ts": AT, "type": "agent_event", "event": {"type": kind, **more, **fields}}


def start(name: str, given: Json, key: str = "c") -> Json:
    return event("content_start", "tool", toolName=name, toolCallId=key, input=given)


def end(name: str, output: Any, key: str = "c", **fields: Any) -> Json:
    return event("content_end", "tool", toolName=name, toolCallId=key, output=output, **fields)


def decoded(*lines: Json) -> list[Event]:
    decoder = ClineDecoder()
    return [event for line in lines for event in decoder.decode(line)] + decoder.end()


def test_a_stream_is_recognised() -> None:
    """Its types and its time as a text are its own; a start of the main agent starts a run."""
    for line, is_own, role in (
        (hook("agent_start"), True, LineRole.START),
        (hook("agent_start", "a"), True, LineRole.OTHER),
        (start("editor", {}), True, LineRole.CALL),
        ({"type": "run_result", "ts": AT}, True, LineRole.OTHER),
        ({"type": "run_result", "ts": 7}, False, LineRole.OTHER),
        ({"type": "error", "ts": AT}, False, LineRole.OTHER),
    ):
        with case(line):
            assert (AGENT.recognises(line), AGENT.role(line)) == (is_own, role)


def test_a_run_is_read() -> None:
    """It has texts, thoughts, tokens, and a result with its model."""
    result = {"type": "run_result", "finishReason": "completed", "text": "Done.", "durationMs": 7}
    found = decoded(
        hook("agent_start"),
        hook("tool_call"),
        event("iteration_start"),
        event("content_start", "reasoning", text="Hm"),
        event("content_end", "reasoning"),
        event("content_start", "text", text="Done."),
        event("content_start", "text"),
        event("content_start", "media"),
        event("usage", inputTokens=10, outputTokens=2, cacheReadTokens=5, cost=0.5),
        {**result, "ts": AT, "usage": {"inputTokens": 10}, "model": {"id": "m"}},
    )
    assert found[:4] == [
        RunStarted("cline"),
        Text(Channel.REASONING, "Hm", AT_MS),
        TextEnded(Channel.REASONING, AT_MS),
        Text(Channel.ANSWER, "Done.", AT_MS),
    ]
    assert isinstance(found[4], Usage)
    assert (found[4].tokens.input, found[4].tokens.cost_usd, found[4].tokens.context_used) == (10, 0.5, 10)
    usage = {"inputTokens": 10}
    assert found[5:] == [
        RunInfo(model="m"),
        TurnEnded(Outcome.SUCCEEDED, "Done.", duration_ms=7, usage=usage),
    ]


def test_failures_are_read() -> None:
    """A run ends as it says; an error that is recovered from is not shown."""
    for reason, outcome in (
        ("aborted", Outcome.CANCELLED),
        ("error", Outcome.FAILED),
        (None, Outcome.FAILED),
    ):
        [ended] = decoded({"type": "run_result", "finishReason": reason, "ts": AT})
        assert isinstance(ended, TurnEnded)
        assert ended.outcome is outcome
    assert decoded(event("error", error={"message": "400"}), event("error", recoverable=True)) == [
        Notice("400", AT_MS, is_error=True)
    ]
    assert decoded({"type": "error", "ts": AT}) == [Notice("error", AT_MS, is_error=True)]
    assert decoded(event("new"), {"type": "x"}) == [Unknown("event new"), Unknown("type x")]


def test_calls_are_read() -> None:
    """A call has several parts, of which the first that fails decides."""
    run, edit, other = ToolKind.EXECUTE, ToolKind.EDIT, ToolKind.OTHER
    good, bad = {"result": "a", "success": True}, {"error": "Command exited with code 4", "success": False}
    for kind, output, is_error, outcome, code in (
        (run, [good, bad, good], False, Outcome.FAILED, 4),
        (run, [good], False, Outcome.SUCCEEDED, 0),
        (edit, {"result": "File created successfully at: a"}, False, Outcome.SUCCEEDED, None),
        (edit, '{"result": "Edited a", "success": true}', False, Outcome.SUCCEEDED, None),
        (edit, {"error": 'Tool "editor" requires approval in a TTY'}, True, Outcome.REJECTED, None),
        (other, "Red", False, Outcome.SUCCEEDED, None),
        (other, None, False, Outcome.RETURNED, None),
        (other, [], False, Outcome.RETURNED, None),
        (edit, [], False, Outcome.RETURNED, None),
        (other, "broken", True, Outcome.FAILED, None),
        (run, [{"success": False}], False, Outcome.FAILED, None),
    ):
        with case(output):
            found = read_output(kind, output, is_error=is_error)
            assert (found.outcome, found.exit_code) == (outcome, code)
    assert read_output(edit, {"result": "File created x"}, is_error=False).facts.is_new_file
    assert output_text([good, {"text": "b"}, {}]) == "a\nb"


def test_a_call_has_its_target_and_its_output() -> None:
    """Its commands are lines, and what it prints is shown while it runs."""
    commands = {"commands": ["ls", {"command": "pwd"}, 7]}
    found = decoded(
        start("run_commands", commands),
        event("content_update", "tool", toolCallId="c", update={"chunk": "a\n"}),
        event("content_update", "tool", toolCallId="c", update={"chunk": ""}),
        end("run_commands", [{"result": "a\n", "success": True}], durationMs=5),
        start("read_files", {"files": [{"path": "/w/a"}, {"path": "/w/b"}]}, "d"),
        start("editor", {"path": "/w/a", "old_text": "a", "new_text": "b"}, "e"),
        end("editor", {"result": "Edited", "success": True}, "e"),
        start("search_codebase", {"queries": ["x", "y"]}, "f"),
        start("fetch_web_content", {"requests": [{"url": "http://x"}]}, "g"),
        start("run_commands", {}, "h"),
    )
    starts = [each for each in found if isinstance(each, ToolStarted)]
    assert [each.target for each in starts] == ["ls\npwd", "/w/a, /w/b", "/w/a", "x y", "http://x", None]
    assert [each.output for each in found if isinstance(each, ToolProgress)] == ["a\n"]
    ran, edited = [each for each in found if isinstance(each, ToolEnded)]
    assert (ran.duration_ms, ran.exit_code, edited.lines_added) == (5, 0, 1)


def test_a_subagent_belongs_to_its_call() -> None:
    """What follows its start is its own until it is done; its tokens count in the session."""
    found = decoded(
        hook("agent_start"),
        start("spawn_agent", {"task": "Look"}),
        hook("agent_start", "a"),
        start("run_commands", {"commands": ["ls"]}, "d"),
        event("usage", outputTokens=2),
        event("done"),
        event("content_start", "text", text="Mine."),
    )
    starts = [(each.call_id, each.parent_call) for each in found if isinstance(each, ToolStarted)]
    assert starts == [("c", None), ("d", "c")]
    assert [each.tokens.context_used for each in found if isinstance(each, Usage)] == [None]
    assert [each.parent_call for each in found if isinstance(each, Text)] == [None]
    deep = decoded(*[hook("agent_start", "a")] * 200, *[event("done")] * 100, start("editor", {}, "z"))
    assert [each.parent_call for each in deep if isinstance(each, ToolStarted)] == [None]


def test_the_detail_of_a_call() -> None:
    """A start has its arguments, an end its output and why it failed."""
    given = {"commands": ["ls"]}
    assert [*line_blocks(start("run_commands", given), "c")] == [FieldsBlock("arguments", given)]
    failed = [{"result": "x", "error": "Command exited with code 4", "success": False}]
    assert [*line_blocks(end("run_commands", failed), "c")] == [
        ErrorBlock("exit 4"),
        OutputBlock("stdout", "x"),
    ]
    assert [*line_blocks(event("usage"), "c")] == []
