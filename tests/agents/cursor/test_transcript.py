"""Cursor's transcripts: conversation and calls."""

from typing import Any

from agentwatch.agents import LineRole
from agentwatch.agents.cursor.agent import recognises_transcript, transcript_role
from agentwatch.agents.cursor.transcript import user_words
from agentwatch.agents.registry import agent_named, agent_on_disk, detect
from agentwatch.analysis.block_text import block_text
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Text,
    ToolEnded,
    ToolKind,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from tests.builders.on_disk.cursor_transcript import (
    Line,
    call,
    called,
    decoded,
    ended,
    line,
    returned,
    said,
    session_of,
    text,
    user,
)
from tests.conftest import case


def outcomes(*lines: Line) -> list[tuple[Outcome, str | None]]:
    """Return the outcomes of the calls, and why."""
    return [(each.outcome, each.error) for each in session_of(user("Go"), *lines).calls]


RETURNED = (Outcome.RETURNED, "the file has no result")


def test_a_call_ends() -> None:
    """By its result, or once the agent goes on."""
    # Its outcome is unknown, and never a success. The last call may still run, or be what was broken off;
    # calls of one message are parallel.
    for after in [said("Done."), called(call("Read", path="a")), user("On"), ended()]:
        with case(after):
            assert outcomes(called(), after)[0] == RETURNED
    for lines in [[], [{"type": "weather"}], [line("user", {"type": "image"})]]:
        with case(lines):
            assert outcomes(called(), *lines) == [(Outcome.RUNNING, None)]
    for status in ["error", "aborted"]:
        with case(status):
            assert outcomes(called(), ended(status)) == [(Outcome.UNFINISHED, None)]
            assert outcomes(called(), ended(status), user("On"), said("b")) == [(Outcome.UNFINISHED, None)]
    session = session_of(user("Go"), called(call(), call()), called(call()))
    groups = [each.group for each in session.calls]
    assert len(session.calls) == 3
    assert groups[0] == groups[1] != groups[2]
    assert len(session_of(user("Go"), called(call()), ended("melted")).open_calls) == 1
    # It is matched by its id, or else by its place; only an error says how the call ended.
    first, second = {**call(), "id": "a"}, {**call(), "id": "b"}
    found = [
        each
        for each in decoded(called(first, second), returned("no", is_error=True, tool_use_id="b"), returned())
        if isinstance(each, ToolEnded)
    ]
    assert [(each.call_id, each.outcome, each.error) for each in found] == [
        ("b", Outcome.FAILED, "no"),
        ("a", Outcome.RETURNED, None),
    ]
    failed = returned([], is_error=True)
    assert outcomes(called(call(), call()), failed)[0] == (Outcome.FAILED, None)
    assert decoded(returned("for nobody")) == []


def texts(fields: Line, call_id: str) -> list[str]:
    """Return the blocks of a call in a line, as text."""
    found = agent_on_disk("cursor")
    assert found is not None
    return [block_text(block) for block in found.blocks(fields, call_id)]


def ids(*lines: Line) -> list[str]:
    return [each.call_id for each in session_of(*lines).calls]


def test_tools_have_their_names_and_arguments() -> None:
    """A tool is known by its name, and each call of a line by its arguments."""
    # Another tool shows its name, of 1,000 characters at most, and one argument; a to-do list is a plan.
    # Of 1,100 open calls the oldest are forgotten.
    cases: list[tuple[Line, ToolKind, str | None]] = [
        (call("Shell", command="make\ntest"), ToolKind.EXECUTE, "make\ntest"),
        (call("Read", path="/w/a.py"), ToolKind.READ, "/w/a.py"),
        (call("StrReplace", path="a", old_string="x", new_string="y"), ToolKind.EDIT, "a"),
        (call("Write", path="a", contents="x"), ToolKind.EDIT, "a"),
        (call("Delete", path="a"), ToolKind.DELETE, "a"),
        (call("Glob", glob_pattern="*.py"), ToolKind.SEARCH, "*.py"),
        (call("ReadLints", paths=["a", 1, "b"]), ToolKind.OTHER, "a, b"),
        (call("CallMcpTool", server="git", toolName="log"), ToolKind.MCP, "git log"),
        (call("CallMcpTool", arguments={}), ToolKind.MCP, None),
        (call("mcp__git__log"), ToolKind.MCP, "git log"),
        (call("Task", description="Look"), ToolKind.DELEGATE, "Look"),
        (call("grep", pattern="x"), ToolKind.SEARCH, "x"),
        (call("Teleport", to="Mars"), ToolKind.OTHER, "Teleport Mars"),
        ({"type": "tool_use", "name": [], "input": []}, ToolKind.OTHER, "unknown"),
    ]
    for part, kind, target in cases:
        with case((part, kind)):
            (found,) = session_of(called(part)).calls
            assert (found.kind, found.target) == (kind, target)
    todos = [{"id": "1", "content": "Test", "status": "in_progress"}]
    plans = [
        each
        for each in decoded(called(call("TodoWrite", todos=todos, merge=True), call("TodoWrite", todos=[])))
        if isinstance(each, Plan)
    ]
    assert plans == [Plan((PlanEntry("Test", PlanStatus.IN_PROGRESS),), is_update=True), Plan(())]
    assert not any(isinstance(each, Plan) for each in decoded(called(call("TodoWrite", x=1))))
    (ended,) = [
        each
        for each in decoded(called({**call("x" * 5000), "id": "y" * 5000}), said("b"))
        if isinstance(each, ToolEnded)
    ]
    assert (len(ended.tool), len(ended.call_id)) == (1000, 1000)
    many = called(*[call("Shell", command=f"c{number}") for number in range(1100)])
    seen = [each for each in decoded(many, said("b")) if isinstance(each, ToolEnded)]
    assert len(seen) == 1024
    # A written file is new content, a replacement a diff, a value of another type is data. Results
    # without ids are in the order of their calls.
    first, second = called(call(), call("Shell", command="pwd")), called(call("Shell", command="id"))
    one, two, three = ids(first, second)
    assert "ls" in texts(first, one)[0]
    assert "pwd" in texts(first, two)[0]
    assert "id" in texts(second, three)[0]
    assert texts(second, one) == []
    named = {**call(), "id": "a"}
    assert len(texts(called(named, call()), "a")) == 1
    written = called(call("Write", path="a", contents="x\ny"))
    assert "x\ny" in "\n".join(texts(written, ids(written)[0])).replace("+", "")
    replaced = called(call("StrReplace", path="a", old_string="x", new_string="y"))
    assert "-x" in "\n".join(texts(replaced, ids(replaced)[0]))
    for part in [call("Write", path="a", contents=7), {"type": "tool_use"}]:
        with case(part):
            fields = called(part)
            assert isinstance(texts(fields, ids(fields)[0]), list)

    def results(*words: str, **more: Any) -> Line:
        return line("user", *({"type": "tool_result", "content": each, **more} for each in words))

    one, two = ids(called(call(), call()))
    assert texts(results("only"), two) == ["only"]
    assert [texts(results("a", "b"), each) for each in (one, two)] == [["a"], ["b"]]
    assert texts(results("a", "b", tool_use_id="x"), "x") == ["a", "b"]
    assert texts(results("a"), "x") == ["a"]
    assert texts(results("a", "b"), "#1.9-x") == []
    assert texts(results("a", "b"), "#1.-9-x") == ["a"]


def of_type(kind: type[Event], *lines: Line) -> list[Any]:
    return [event for event in decoded(*lines) if isinstance(event, kind)]


def test_a_line_is_recognised_and_has_its_role() -> None:
    """The role stands beside the message; a line with a type or without parts may be another agent's. A
    prompt begins a run.
    """
    found = agent_on_disk("cursor")
    assert found is not None
    assert found is agent_named("cursor-transcript")
    assert (found.agent, found.traits.has_times, found.traits.has_result) == ("cursor", False, False)
    for words in [user("Go"), said("Done."), called(), returned()]:
        with case(words):
            found = detect(words)
            assert found is not None
            assert found.name == "cursor-transcript"
    cases: list[Line] = [
        {**said("Done."), "type": "assistant"},
        line("system", text("x")),
        line([], text("x")),
        {"role": "user", "content": [text("x")]},
        {"role": "user", "message": {"content": "x"}},
        {"role": "user", "message": []},
        ended(),
    ]
    for fields in cases:
        with case(fields):
            assert not recognises_transcript(fields)
    further: list[tuple[Line, LineRole]] = [
        (user("Go"), LineRole.START),
        (said("Done."), LineRole.OTHER),
        (called(), LineRole.CALL),
        (returned(), LineRole.CALL),
        (ended(), LineRole.OTHER),
    ]
    for fields, expected in further:
        with case(fields):
            assert transcript_role(fields) is expected


def test_prompts_and_ends_of_turns() -> None:
    """A prompt is what the user typed, and newer versions write the end of its turn."""
    # Texts are joined without what Cursor writes around them; reasoning that was left out has a mark,
    # which is not shown.
    cases: list[tuple[str, str]] = [
        ("List.", "List."),
        ("<user_query>\nList.\n</user_query>", "List."),
        ("<timestamp>Monday</timestamp>\n<user_query>\nList.\n</user_query>", "List."),
        ("<user_query>\nWhat is </user_query>?\n</user_query>\n<x>", "What is </user_query>?"),
        ("<user_query>\ncut", "cut"),
        ("<timestamp>Monday</timestamp>\nList.", "List."),
        ("<timestamp>Monday", "<timestamp>Monday"),
    ]
    for given, expected in cases:
        with case(given):
            assert user_words(given) == expected
            assert of_type(Prompt, line("user", text(given))) == [Prompt(expected)]
    assert of_type(Prompt, line("user", text("a"), {"type": "image"}, text("b"))) == [Prompt("a\nb")]
    assert of_type(Prompt, {"role": "user", "message": {"content": "a"}}) == [Prompt("a")]
    assert decoded(line("user", {"type": "image"})) == []
    thought = {"type": "thinking", "thinking": "Hm."}
    found = of_type(Text, line("assistant", thought, {"type": "reasoning", "text": "So."}, text("Done.")))
    assert [(each.channel, each.text) for each in found] == [
        (Channel.REASONING, "Hm."),
        (Channel.REASONING, "So."),
        (Channel.ANSWER, "Done."),
    ]
    assert [each.text for each in of_type(Text, said("Done.\n\n[REDACTED]", "[REDACTED]", "a ", ""))] == [
        "Done.",
        "a ",
    ]
    # The line says how it ended, and why it failed; an unknown status ends none, and older versions say
    # nothing. A turn may begin without a prompt.
    others: list[tuple[str, Outcome]] = [
        ("success", Outcome.SUCCEEDED),
        ("completed", Outcome.SUCCEEDED),
        ("error", Outcome.FAILED),
        ("aborted", Outcome.CANCELLED),
        ("cancelled", Outcome.CANCELLED),
    ]
    for status, outcome in others:
        with case(status):
            assert decoded(user("Go"), ended(status, error="no quota"))[1:] == [
                TurnEnded(outcome, "no quota")
            ]
    session = session_of(user("Go"), said("Done."))
    assert session.run.turn_result is None
    assert session.run.text == "Done."
    assert session.run.turns == 1
    assert session_of(user("Go"), said("a"), user("On"), said("b")).run.turns == 2
    found = decoded(user("Go"), ended(), said("More."), ended(), user("On"), said("b"))
    assert [type(each) for each in found if not isinstance(each, Text)].count(TurnStarted) == 1
    assert session_of(user("Go"), ended(), said("More."), ended(), user("On"), said("b")).run.turns == 3
    further: list[tuple[Line, str]] = [
        ({"type": "weather"}, "type weather"),
        ({}, "type None"),
        (line("system", text("x")), "role system"),
        (line(["user"]), "role an array"),
        (ended("melted"), "status melted"),
        (ended([]), "status an array"),
        (line("user", {"type": "video"}), "content video"),
        (line("assistant", {"type": []}), "content an array"),
        (line("assistant", "x"), "content None"),
    ]
    for fields, what in further:
        with case(fields):
            assert decoded(fields) == [Unknown(what)]
