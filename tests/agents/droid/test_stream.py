"""Droid's stream: turns, calls, and how its lines are recognised."""

from typing import Any

from agentwatch.agents import LineRole
from agentwatch.agents.droid.agent import AGENT
from agentwatch.agents.droid.stream import tool_named
from agentwatch.agents.registry import detect
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus, ToolKind
from agentwatch.session.session import Session
from tests.builders.agents.decoded import outcomes, session_of
from tests.builders.formats.droid import AT, ERROR, INIT, LINES, THOUGHT, USAGE, completion, ended, said, use
from tests.conftest import case


def whole(*lines: dict[str, Any]) -> Session:
    """Return the session of these lines after an init and a prompt."""
    return session_of(AGENT, INIT, said("user", "Do it."), *lines)


def test_a_session_has_its_turns_and_errors() -> None:
    """The published lines make a run, and an error may fail its turn."""
    # The init, the messages, the calls in any order of their ends and the completion make the run; a
    # doubled thought is one.
    found = session_of(AGENT, *LINES)
    run = found.run
    assert (run.session_id, run.model, run.cwd, run.prompt) == (
        "abc-123",
        "claude-sonnet-4-6",
        "/repo",
        "Run ls.",
    )
    assert (found.text, found.outcome, run.turns, run.duration_ms) == (
        "I'll run it.Done.",
        "succeeded",
        1,
        3000,
    )
    assert (run.result, run.text_matches_result) == ("Done.", True)
    assert (run.tokens.input, run.tokens.cached, run.tokens.output) == (16, 4, 3)
    assert run.usage == USAGE
    assert [str(entry.content) for entry in found.transcript if entry.kind == "reasoning"] == ["Hm."]
    assert outcomes(found) == {"c-1": "succeeded", "c-2": "failed"}
    call = found.calls[0]
    assert (call.tool, call.target, call.started_ms, call.exit_code) == ("Execute", "ls -la", AT, None)
    other = [*LINES[:7], LINES[8], LINES[7], *LINES[9:]]
    assert outcomes(session_of(AGENT, *other)) == outcomes(session_of(AGENT, *LINES))
    # An error is why a turn failed if no answer came after it; what follows a completion continues the
    # run. A message with the same id and text is one, an unknown line is counted.
    assert (whole(ERROR).outcome, whole(ERROR).run.result) == ("failed", "No credit")
    found = whole(ERROR, completion(None))
    assert (found.outcome, found.run.result, found.last_error) == ("failed", "No credit", "No credit")
    assert whole(ERROR, completion("Done.")).outcome == "succeeded"
    assert whole(ERROR, said("assistant", "x")).outcome == "unfinished"
    assert whole(completion(None), ERROR).outcome == "succeeded"
    assert whole(completion(None, usage=None, durationMs=None)).run.usage is None
    assert whole(completion(usage={"output_tokens": 1})).run.tokens.input is None
    assert whole({"type": "error", "error": {"message": "x" * 5000}}).run.result == "x" * 4095 + "…"
    assert whole({"type": "error"}).run.result == "error without a message"
    assert (whole(completion(), said("user", "More.", "m-9")).run.turns) == 2
    found = whole(completion(), use("Read"), ended(), completion("x"))
    assert (found.run.turns, found.outcome, len(found.runs)) == (2, "succeeded", 1)
    assert len(session_of(AGENT, *LINES, *LINES).runs) == 2
    assert whole(said("assistant", "A"), THOUGHT, said("assistant", "A"), said("assistant", "B")).text == "AB"
    bare = {"type": "message", "role": "assistant", "text": "A"}
    assert whole(bare, bare).text == "AA"
    lines = [{**{k: v for k, v in line.items() if k != "session_id"}, "sessionId": "abc-9"} for line in LINES]
    assert {detect(line) for line in lines if line["type"] != "error"} == {AGENT}
    assert session_of(AGENT, *lines).run.session_id == "abc-9"
    for odd in [{"type": "weather"}, {"type": "system", "subtype": "x"}, said("user", ""), said("tool", "x")]:
        with case(odd):
            assert whole(odd).lines.unknown == 1


def test_a_call_has_its_tool_outcome_and_blocks() -> None:
    """The fields of its lines say what it did."""
    # Only `isError` decides, and the exit code below the output; a call that did not run has a message,
    # and the end names the tool.
    ends: list[tuple[dict[str, Any], Outcome, str | None]] = [
        ({"is_error": False}, Outcome.SUCCEEDED, None),
        ({"is_error": True, "value": "No."}, Outcome.FAILED, "No."),
        ({"is_error": True, "value": 1}, Outcome.FAILED, None),
        ({"is_error": None}, Outcome.RETURNED, "came back without a status"),
    ]
    for fields, outcome, error in ends:
        with case((fields, outcome, error)):
            [call] = whole(use("Read", file_path="/repo/a"), ended(**fields)).calls
            assert (call.outcome, call.error, call.target, call.path) == (outcome, error, "a", "/repo/a")
    [call] = whole(ended(name="Grep")).calls
    assert (call.tool, call.kind) == ("Grep", ToolKind.SEARCH)
    assert whole(ended(name="")).calls[0].tool == "unknown"
    cases: list[tuple[str, dict[str, Any], tuple[Outcome, int | None, str | None]]] = [
        ("Execute", {"value": "x\n\n[Process exited with code 0]"}, (Outcome.SUCCEEDED, 0, None)),
        ("Execute", {"value": "[Process exited with code 3]\n"}, (Outcome.FAILED, 3, "exit 3")),
        ("Execute", {"value": "[Process exited with code x]"}, (Outcome.SUCCEEDED, None, None)),
        ("Execute", {"value": "[Process exited with code 3] or so"}, (Outcome.SUCCEEDED, None, None)),
        ("Read", {"value": "[Process exited with code 3]"}, (Outcome.SUCCEEDED, None, None)),
        ("Execute", {"value": ERRED, "is_error": True}, (Outcome.CANCELLED, None, ERRED)),
    ]
    for name, fields, expected in cases:
        with case((name, fields)):
            [call] = whole(use(name, command="ls"), ended(name=name, **fields)).calls
            assert (call.outcome, call.exit_code, call.error) == expected
    other_error = {"type": "tool_error", "message": ERRED}
    line_ = {key: value for key, value in ended(name="", is_error=True).items() if key != "value"}
    [call] = whole(use("Execute", command="ls"), {**line_, "error": other_error}).calls
    assert (call.tool, call.outcome, call.error) == ("Execute", Outcome.CANCELLED, ERRED)
    assert list(AGENT.blocks({**line_, "error": other_error}, "c-1")) == [ErrorBlock(ERRED)]
    # Each of the agent's tools is described by its arguments; a to-do list is the plan. Of 1,001 open
    # calls, the arguments of the oldest are forgotten.
    further: list[tuple[str, dict[str, Any], str, str]] = [
        ("Read", {"file_path": "a"}, "read", "Read file a"),
        ("Edit", {"file_path": "a"}, "edit", "Edited file a"),
        ("Create", {"file_path": "a"}, "edit", "Created new file a"),
        (
            "ApplyPatch",
            {"input": "*** Begin Patch\n*** Update File: a\n*** Add File: b"},
            "edit",
            "Edited file a, b",
        ),
        ("ApplyPatch", {}, "edit", "Edited file None"),
        ("Execute", {"command": "ls\npwd"}, "execute", "Ran terminal command ls\npwd"),
        ("Grep", {"pattern": "x"}, "search", "Searched files x"),
        ("Glob", {"patterns": ["*.a", "*.b"]}, "search", "Found files *.a *.b"),
        ("Glob", {"patterns": "*"}, "search", "Found files *"),
        ("LS", {"directory_path": "/"}, "search", "Listed directory /"),
        ("FetchUrl", {"url": "u"}, "fetch", "Fetched web page u"),
        ("WebSearch", {"query": "q"}, "search", "Searched the web q"),
        ("Task", {"description": "d"}, "delegate", "Ran subagent d"),
        ("cua___click", {}, "mcp", "Called MCP tool cua click"),
        ("Skill", {"name": "n"}, "other", "Used tool Skill n"),
    ]
    for name, arguments, kind, action in further:
        with case((name, arguments, kind)):
            tool = tool_named(name)
            target = ", ".join(tool.paths(arguments)) or tool.target(arguments)
            assert (tool.kind, f"{tool.phrase} {target}") == (ToolKind(kind), action)
    entries = (PlanEntry("A", PlanStatus.PENDING), PlanEntry("B", PlanStatus.IN_PROGRESS))
    as_text = "1. [pending] A\n 2. [in_progress] B\n[x]\n3. x]\n4. [a"
    assert whole(use("TodoWrite", todos=as_text), ended()).plan == entries
    as_list = [{"content": "A", "status": "?"}, {"content": "B", "status": "in_progress"}]
    assert whole(use("TodoWrite", todos=as_list), ended()).plan == entries
    found = whole(*(use("Read", f"c-{number}") for number in range(1001)), ended(key="c-0"))
    assert found.calls[0].outcome == "succeeded"
    # Changes are diffs, what a command printed is output, and a failure has its reason.
    others: list[tuple[dict[str, Any], list[Block]]] = [
        (use("Edit", old_str="a", new_str="b"), [ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b")]),
        (use("Read", file_path="a"), [FieldsBlock("arguments", {"file_path": "a"})]),
        (use("TodoWrite", todos="1. [pending] A"), [PlanBlock((PlanEntry("A", PlanStatus.PENDING),))]),
        (ended("x", name="Execute"), [OutputBlock("stdout", "x")]),
        (ended("x", name="FetchUrl"), [MarkdownBlock("x")]),
        (ended("x", name="Edit"), [TextBlock("message", "x")]),
        (ended("x", name="Read"), [ContentBlock("x")]),
        (ended("x", is_error=True), [ErrorBlock("x")]),
        (ended(""), []),
        (ended(None), []),
        (ended([1]), [FieldsBlock("result", {"value": [1]})]),
    ]
    for of, other_expected in others:
        with case(of):
            assert list(AGENT.blocks(of, "")) == other_expected


def test_a_line_is_recognised_and_has_its_role() -> None:
    """Each type has its own keys; a line without Droid's fields is not Droid's. The init and the prompt
    start a run, calls are calls.
    """
    cases: list[dict[str, Any]] = [
        *LINES[:3],
        *LINES[5:8],
        completion(),
        {key: INIT[key] for key in INIT if key != "reasoning_effort"},
    ]
    for each in cases:
        with case(each):
            found = detect(each, is_first=False)
            assert found is not None
            assert found.name == "droid"
    further: list[dict[str, Any]] = [
        INIT | {"permissionMode": "default"},
        INIT | {"uuid": "u"},
        INIT | {"session_id": "T-1"},
        INIT | {"session_id": 1},
        INIT | {"subtype": "x"},
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "tool_call", "subtype": "started", "call_id": "c", "toolName": "x"},
        {"type": "tool_call", "id": "t", "parameters": {}},
        {"type": "message", "role": "user", "content": "x"},
        {"type": "weather"},
        ERROR,
    ]
    for other in further:
        with case(other):
            assert not AGENT.recognises(other)
    start, call, none = LineRole.START, LineRole.CALL, LineRole.OTHER
    roles = [start, start, none, none, none, call, call, call, call, none, none, none]
    assert [AGENT.role(each) for each in LINES] == roles


ERRED = "Error: tool execution cancelled"
