"""Codex's rollouts: conversation, items, calls and their outputs, forks and limits."""

import json
from typing import Any

import pytest

from agentwatch.agents import Decoder, tool
from agentwatch.agents.agent import LineRole
from agentwatch.agents.codex.agent import recognises as is_stream
from agentwatch.agents.codex.agent import recognises_rollout, rollout_role, time_of
from agentwatch.agents.codex.agent import role as role_in_stream
from agentwatch.agents.registry import agent_named
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)
from agentwatch.session.events import Outcome, Permission, PlanEntry, PlanStatus, ToolKind, Unknown
from agentwatch.session.limits import Reported
from agentwatch.session.session import Session, repeated_calls
from agentwatch.session.transcript import Kind
from tests.builders.codex.lines import (
    BEGAN_MS,
    META,
    MINUTE_MS,
    THREAD,
    Json,
    begun,
    blocks,
    completed,
    copied,
    done,
    event,
    function,
    item,
    message,
    meta,
    name_at,
    notes,
    only_call,
    output,
    read,
    turn,
)
from tests.conftest import case

PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
ADDED = ChangeBlock("--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+x")
UPDATE = {"/a": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"}}
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8="}
PLAN = {"plan": [{"step": "a", "status": "completed"}], "explanation": "why"}
ENTRIES = (PlanEntry("a", PlanStatus.COMPLETED),)
FOUND = [{"title": "T", "url": "u", "snippet": "s"}]


def arguments(**fields: object) -> FieldsBlock:
    """Return the block of short arguments."""
    return FieldsBlock("arguments", fields)


def test_a_line_of_a_call_has_blocks() -> None:
    """Patches are diffs, outputs come without their head, and no image or request is dumped."""
    cases: list[tuple[Json, list[Block]]] = [
        (
            function("exec_command", {"cmd": "ls", "workdir": "/x"}),
            [arguments(command="ls"), arguments(workdir="/x")],
        ),
        (function("shell", {"command": ["bash", "-lc", "a\nb"]}), [TextBlock("command", "a\nb")]),
        (function("apply_patch", {"input": PATCH}), [ADDED]),
        (function("exec_command", {"cmd": f"apply_patch <<EOF\n{PATCH}\nEOF"}), [ADDED]),
        (item("custom_tool_call", name="apply_patch", input=PATCH), [ADDED]),
        (item("custom_tool_call", name="apply_patch", input="no patch"), [TextBlock("input", "no patch")]),
        (item("custom_tool_call", name="apply_patch"), []),
        (item("custom_tool_call", name="exec", input="tools.ls()"), [TextBlock("input", "tools.ls()")]),
        (
            item("local_shell_call", action={"type": "exec", "command": ["ls"]}),
            [arguments(command="ls"), arguments(type="exec")],
        ),
        (function("update_plan", PLAN), [PlanBlock(ENTRIES), arguments(explanation="why")]),
        (
            function("spawn_agent", {"message": "a\nb", "role": "x"}),
            [TextBlock("message", "a\nb"), arguments(role="x")],
        ),
        (function("dial", "not JSON"), [TextBlock("input", "not JSON")]),
        (function("dial"), []),
        (output("Exit code: 0\nOutput:\na\n"), [OutputBlock("stdout", "a\n")]),
        (
            output("Script failed\nWall time 0.1 seconds\nOutput:\na\nScript error:\nno"),
            [OutputBlock("stdout", "a\nScript error:\nno")],
        ),
        (output(json.dumps({"output": "a", "metadata": {}})), [OutputBlock("stdout", "a")]),
        (output("a"), [ContentBlock("a")]),
        (output("unsupported call: x"), [ErrorBlock("unsupported call: x")]),
        (output("patch rejected by user"), [ErrorBlock("patch rejected by user")]),
        (output(""), []),
        (
            output([{"type": "input_text", "text": "a"}, PICTURE]),
            [ContentBlock("a"), BinaryBlock("image/png", 5)],
        ),
        (
            output([{"image_url": "https://x"}, {"image_url": "data:"}]),
            [FieldsBlock("image", {"url": "https://x"}), BinaryBlock("binary", 0)],
        ),
        (completed("CommandExecution", aggregated_output="a"), [OutputBlock("stdout", "a")]),
        (
            event("exec_command_end", stdout="a", stderr="b"),
            [OutputBlock("stdout", "a"), OutputBlock("stderr", "b")],
        ),
        (
            completed("FileChange", changes=UPDATE, stderr=""),
            [ChangeBlock("--- /a\n+++ /a\n@@ -1 +1 @@\n-a\n+b\n")],
        ),
        (
            event("patch_apply_end", changes={"/a": {"delete": {"content": "x"}}}, stderr="e"),
            [ChangeBlock(None, before="x", after=""), OutputBlock("stderr", "e")],
        ),
        (completed("McpToolCall", arguments={"a": 1}, error="x"), [arguments(a=1), ErrorBlock("x")]),
        (
            event(
                "mcp_tool_call_end",
                invocation={"arguments": {"a": 1}},
                result={"Ok": {"content": [{"text": "x"}]}},
            ),
            [arguments(a=1), ContentBlock("x")],
        ),
        (event("mcp_tool_call_end", result={"Err": "x"}), [ErrorBlock("x")]),
        (
            completed("WebSearch", query="q", results=FOUND),
            [arguments(query="q"), ReferencesBlock((Reference("T", "u", "s"),))],
        ),
        (
            completed(
                "DynamicToolCall",
                arguments={"a": 1},
                content_items=[{"type": "inputText", "text": "x"}],
                error="e",
            ),
            [arguments(a=1), ContentBlock("x"), ErrorBlock("e")],
        ),
        (completed("ImageGeneration", result="aGVsbG8="), [FieldsBlock("result", {"result": "5 bytes"})]),
        (completed("DynamicToolCall", contentItems=[{"text": "x"}]), [ContentBlock("x")]),
        (completed("ImageGeneration"), []),
        (completed("Sleep", duration_ms=5), [FieldsBlock("result", {"duration_ms": 5})]),
        ({"type": "session_meta", "payload": 7}, []),
    ]
    for line, expected in cases:
        with case(line):
            assert blocks(line) == expected


LS = function("exec_command", {"cmd": "ls"})
ABORTED = event("turn_aborted", reason="interrupted", duration_ms=9)


def command(code: int | None, status: str = "completed", item_id: str = "c-1", **fields: Any) -> Json:
    """Return the item of a command that ended."""
    return completed("CommandExecution", item_id, command=["ls"], status=status, exit_code=code, **fields)


def test_a_process_that_goes_on_keeps_its_call_open() -> None:
    """The call ends with the process: by an item, which decides before the output, by what `write_stdin`
    returns, or by the `wait` that says that the script ended.
    """
    running = output("Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n12 %")
    found = read(META, LS, running)
    assert [(call.outcome, call.note) for call in found.calls] == [(Outcome.RETURNED, "in the background")]
    assert only_call(META, LS, running, command(0)).outcome is Outcome.SUCCEEDED
    poll = function("write_stdin", {"session_id": 7, "chars": "y\n"}, "c-2")
    later = output("Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n50 %", "c-2")
    over = output("Wall time: 1 seconds\nProcess exited with code 4\nOutput:\n", "c-2")
    first, second = read(META, LS, running, poll, over).calls
    assert (first.outcome, first.exit_code, first.target) == (Outcome.FAILED, 4, "ls")
    assert (second.outcome, second.exit_code, second.target) == (Outcome.FAILED, 4, "write_stdin 7 y")
    first, second = read(META, LS, running, poll, later).calls
    assert [first.outcome, second.outcome] == [Outcome.RETURNED, Outcome.RETURNED]
    elsewhere = function("write_stdin", {"session_id": 8}, "c-2")
    first, second = read(META, LS, running, elsewhere, over).calls
    assert [first.outcome, second.outcome] == [Outcome.RETURNED, Outcome.FAILED]
    for cell in ["66", 66]:
        with case(cell):
            script = item("custom_tool_call", name="exec", input="run()", call_id="c-1")
            other_running = "Script running with cell ID 66\nWall time 1.0 seconds\nOutput:\n"
            lines = [
                META,
                script,
                output(other_running),
                function("wait", {"cell_id": cell}, "c-2"),
                output(other_running, "c-2"),
            ]
            assert [call.outcome for call in read(*lines).calls] == [Outcome.RETURNED, Outcome.RETURNED]
            over = output("Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\nno", "c-3")
            first, _, last = read(*lines, function("wait", {"cell_id": cell}, "c-3"), over).calls
            assert (first.outcome, first.error, first.target) == (Outcome.FAILED, "no", "exec run()")
            assert (last.outcome, last.kind, last.target) == (Outcome.FAILED, "execute", "wait 66")
    end = command(3, "failed", duration={"secs": 1, "nanos": 5_000_000})
    call = only_call(META, LS, end, output("Process exited with code 0\nOutput:\n"))
    assert (call.outcome, call.exit_code, call.duration_ms, call.tool) == ("failed", 3, 1005, "exec_command")
    assert only_call(META, LS, command(None, "inProgress")).outcome is Outcome.UNFINISHED


def test_a_call_may_lack_its_output_or_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call without an output was cancelled, unless it still comes; an item that no line announced is a
    call with its own start. The oldest open call is forgotten first.
    """
    assert only_call(META, LS, output("aborted by user"), ABORTED, command(0)).outcome is Outcome.CANCELLED
    assert only_call(META, LS, ABORTED).outcome is Outcome.CANCELLED
    assert only_call(META, LS, ABORTED, event("task_started")).outcome is Outcome.CANCELLED
    late = output("Exit code: 0\nOutput:\n")
    assert only_call(META, LS, ABORTED, late, event("task_started")).outcome is Outcome.SUCCEEDED
    assert read(META, LS, ABORTED).outcome is Outcome.CANCELLED
    found = read(META, command(0), command(None, "inProgress", "c-2"), output("x", "c-3"))
    assert [(call.tool, call.outcome) for call in found.calls] == [
        ("command_execution", Outcome.SUCCEEDED),
        ("command_execution", Outcome.UNFINISHED),
        ("", Outcome.RETURNED),
    ]
    assert found.completed_without_started == 1
    monkeypatch.setattr(tool, "MOST_OPEN", 2)
    starts = [function("exec_command", {"cmd": "ls"}, f"c-{number}") for number in range(5)]
    found = read(META, *starts, *(output("Exit code: 0\nOutput:\n", f"c-{number}") for number in range(5)))
    assert [call.outcome for call in found.calls] == [Outcome.SUCCEEDED] * 5
    assert [call.phrase for call in found.calls] == ["Used tool"] * 3 + ["Ran terminal command"] * 2
    start = LS | {"timestamp": "2026-01-01T00:00:01.000Z"}
    end = event("item_completed", item=command(0)["payload"]["item"], started_at_ms=1, completed_at_ms=5)
    call = only_call(META, start, end | {"timestamp": "2026-01-01T00:00:09Z"})
    assert (call.started_ms, call.ended_ms) == (1_767_225_601_000, 5)
    assert only_call(META, end).duration_ms == 4
    assert read(META, message("user", "x"), start).calls[0].started_ms == 1_767_225_601_000


def test_what_else_a_call_reports() -> None:
    """A plan counts once its call succeeds, a question is asked until its call ends, and leaving the sandbox
    is noted.
    """
    plan = {"plan": [{"step": "a", "status": "in_progress"}, {"step": "b"}]}
    entries = (PlanEntry("a", PlanStatus.IN_PROGRESS), PlanEntry("b", PlanStatus.PENDING))
    assert read(META, function("update_plan", plan), output("Plan updated")).plan == entries
    assert read(META, function("update_plan", plan), output("unsupported call: update_plan")).plan == ()
    many = [function("update_plan", plan, f"c-{number}") for number in range(66)]
    assert read(META, *many, output("Plan updated", "c-0")).plan == ()
    assert read(META, *many, output("Plan updated", "c-65")).plan == entries
    ask = function("request_user_input", {"questions": [{}, {"question": "Which?"}]})
    assert read(META, ask).questions.count == 1
    assert only_call(META, ask).target == "request_user_input Which?"
    assert read(META, ask, output('{"answers":{}}')).questions.oldest is None
    ask = function("exec_command", {"cmd": "touch x", "sandbox_permissions": "require_escalated"})
    found = read(META, ask)
    assert notes(found) == ["needs permission to run outside the sandbox: touch x"]
    assert found.questions.count == 0


START, END = event("task_started"), event("task_complete", duration_ms=5)
CONTEXT_WORDS = "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"


def said(text: str, key: str | None = None) -> Json:
    own = {} if key is None else {"id": key}
    return item("message", role="assistant", content=[{"type": "output_text", "text": text}], **own)


def heard(text: str) -> Json:
    """Return the event of a message of the model."""
    return event("agent_message", message=text)


def asked(text: str) -> Json:
    return event("user_message", message=text)


def answer(text: str, key: str) -> Json:
    """Return a message of the model in a paginated history."""
    return completed("AgentMessage", key, content=[{"type": "Text", "text": text}])


def entries(found: Session, kind: Kind) -> list[str]:
    """Return the texts of one kind."""
    return [entry.text for entry in found.transcript if entry.kind is kind]


def test_an_answer_is_shown_once() -> None:
    """Whichever copy comes first is shown, and no copy of it: of an answer, a prompt, or the parts of a
    thought.
    """
    cases: list[tuple[list[Json], str]] = [
        ([heard("a"), said("a")], "a"),
        ([said("a"), heard("a")], "a"),
        ([heard("a"), heard("b"), said("a"), said("b")], "ab"),
        ([said("a"), said("a")], "aa"),
        ([heard("a"), said("a"), heard("a"), said("a")], "aa"),
        ([heard("a"), said("a<oai-mem-citation>1</oai-mem-citation>")], "a"),
        ([heard("a"), function("x"), output("y"), said("b")], "ab"),
        ([heard("a"), END, START, said("b")], "ab"),
        ([answer("a", "m-1"), said("a", "m-1")], "a"),
        ([answer("a", "m-1"), said("a and more", "m-1")], "a"),
        ([answer("a", "m-1"), said("b", "m-2")], "ab"),
        ([said("a", "m-1"), answer("a", "m-1")], "a"),
        ([completed("Plan", text="# P"), said("<proposed_plan># P</proposed_plan>")], "# P"),
        (
            [
                heard("a"),
                completed("Plan", text="# P"),
                said("a<proposed_plan># P</proposed_plan>"),
                said("b"),
            ],
            "a# Pb",
        ),
        ([heard(""), said(""), answer("", "m"), completed("Plan")], ""),
    ]
    for lines, text in cases:
        with case(lines):
            assert read(META, START, asked("x"), *lines, END).text == text
    item_asked = completed("UserMessage", content=[{"type": "text", "text": "x"}])
    turn = [item_asked, asked("x"), answer("a", "m-1"), heard("a"), said("a", "m-1")]
    found = read(META, START, *turn, END, START, *turn, END)
    assert (found.runs[-1].turns, found.text) == (2, "aa")
    found = read(META, START, asked("x"), item_asked, heard("a"), said("a", "m-1"), answer("a", "m-1"), END)
    assert (found.runs[-1].turns, found.text) == (1, "a")
    assert read(META, START, asked("x"), heard("a"), asked("x"), heard("a"), END).runs[-1].turns == 2
    parts = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}, 7]
    events = [
        event("agent_reasoning", text="a"),
        event("agent_reasoning", text="b"),
        event("agent_reasoning"),
    ]
    for lines in (
        [*events, item("reasoning", summary=parts)],
        [item("reasoning", summary=parts)],
        [completed("Reasoning", "r", summary_text=["a", "b"]), item("reasoning", summary=parts, id="r")],
        [completed("Reasoning", "r", raw_content=["a", "b"]), item("reasoning", content=parts, id="r")],
    ):
        assert entries(read(META, *lines), Kind.REASONING) == ["a", "b"]


def test_only_messages_of_the_user_are_prompts() -> None:
    """An event proves a prompt; without one, an item is a prompt unless Codex wrote it for the user."""
    cases: list[tuple[list[Json], list[str]]] = [
        ([message("user", "x"), asked("x"), heard("y")], ["x"]),
        ([asked("x"), message("user", "x"), heard("y")], ["x"]),
        (
            [message("user", CONTEXT_WORDS), message("user", "# AGENTS.md instructions for /x"), heard("y")],
            [],
        ),
        ([message("user", "[redacted]"), message("user", "[x]"), asked("x"), heard("y")], ["x"]),
        ([message("user", "x"), said("y"), message("user", "z"), function("f")], ["x", "z"]),
        ([message("user", "x"), said("y"), asked("x")], ["x"]),
        ([message("user", "x")], ["x"]),
        ([message("user", "x"), END], ["x"]),
        ([message("user", "<x>"), heard("y")], ["<x>"]),
        ([asked("x"), heard("y"), message("user", "<x>"), message("user", "z"), heard("y")], ["x", "z"]),
        ([START, message("user", "the summary"), END], []),
        ([START, message("user", "x"), heard("y"), END], ["x"]),
        ([message("user", "a", "b"), heard("y")], ["a", "b"]),
        ([message("developer", "x"), message("system", "x"), heard("y")], []),
        ([asked("")], ["[image]"]),
        ([completed("UserMessage", content=[{"text": "x"}, {"type": "image"}])], ["x"]),
        (
            [
                message(
                    "user",
                    "x",
                    internal_chat_message_metadata_passthrough={"content_item_kinds": ["generic.y"]},
                )
            ],
            [],
        ),
        (
            [
                message(
                    "user",
                    "x",
                    internal_chat_message_metadata_passthrough={"content_item_kinds": ["user.text"]},
                )
            ],
            ["x"],
        ),
        ([item("message", role="user", content=[{"type": "input_image"}]), heard("y")], []),
    ]
    for lines, prompts in cases:
        with case(lines):
            assert entries(read(META, *lines), Kind.PROMPT) == prompts


def test_turns_are_those_of_the_user() -> None:
    """A turn has its prompt, and an end that may be a failure."""
    # The start of a turn may come after its prompt; a compaction is not a turn. Turns that were rolled back
    # are not part of the text; their calls stay.
    assert read(META, START, asked("x"), said("y"), END).run.turns == 1
    assert read(META, asked("x"), START, said("y"), END).run.turns == 1
    assert read(META, START, said("y"), END, START, said("z")).run.turns == 2
    review = event("entered_review_mode", user_facing_hint="changes")
    found = read(
        META, START, review, event("exited_review_mode", review_output={"overall_explanation": "ok"})
    )
    assert (found.run.turns, notes(found)) == (1, ["review: changes", "review ended: ok"])
    compacted = {"type": "compacted", "payload": {"message": ""}}
    lines = [START, compacted, event("context_compacted"), completed("ContextCompaction"), END]
    found = read(META, START, asked("x"), said("y"), event("task_complete", error={"message": "no"}), *lines)
    assert (found.run.turns, found.outcome, notes(found)) == (1, Outcome.FAILED, ["context compacted"])
    assert notes(read(META, *lines, START, asked("x"), said("y"), END, *lines)) == ["context compacted"] * 2
    failed = event("task_complete", error={"message": "no room"})
    assert read(META, START, asked("x"), said("y"), END, START, failed).outcome is Outcome.FAILED
    turns = [asked("x"), said("a"), function("f"), output("x"), END, asked("y"), said("b"), END]
    found = read(META, *turns, event("thread_rolled_back", num_turns=1))
    assert (found.text, found.run.turns, len(found.calls)) == ("a", 1, 1)
    assert read(META, *turns, event("thread_rolled_back")).run.turns == 2
    # A turn that failed is complete too, with an error or after one; one that has an answer went on.
    # Newer sources name turns otherwise.
    cases: list[tuple[Json, Outcome, str | None]] = [
        (event("task_complete", last_agent_message="y"), Outcome.SUCCEEDED, None),
        (event("task_complete", error=None), Outcome.SUCCEEDED, None),
        (event("task_complete", error={}), Outcome.SUCCEEDED, None),
        (event("task_complete", error={"message": '{"error": {"message": "no"}}'}), Outcome.FAILED, "no"),
        (event("task_complete", error="no"), Outcome.FAILED, "no"),
        (event("task_complete", error=[7]), Outcome.FAILED, "the turn failed"),
        (event("turn_aborted", reason="interrupted"), Outcome.CANCELLED, None),
        (said("y"), Outcome.UNFINISHED, None),
    ]
    for end, outcome, result in cases:
        with case((end, outcome)):
            found = read(META, START, asked("x"), said("y"), end)
            assert (found.outcome, found.run.result) == (outcome, result)
    other_failed = [
        asked("x"),
        event("error", message="no quota"),
        event("task_complete", last_agent_message=None),
    ]
    found = read(META, START, *other_failed)
    assert (found.outcome, found.runs[-1].result) == (Outcome.FAILED, "no quota")
    assert read(META, START, *other_failed, START, asked("x"), END).outcome is Outcome.SUCCEEDED
    answered = [heard("a"), event("task_complete", last_agent_message="a")]
    assert read(META, START, asked("x"), other_failed[1], *answered).outcome is Outcome.SUCCEEDED
    aborted = [START, asked("x"), other_failed[1], event("turn_aborted"), START, asked("y"), END]
    assert read(META, *aborted).outcome is Outcome.SUCCEEDED
    found = read(META, event("turn_started"), asked("x"), heard("a"), event("turn_complete"))
    assert (found.runs[-1].turns, found.outcome, found.lines.unknown) == (1, Outcome.SUCCEEDED, 0)


PARENT, FORK = name_at(BEGAN_MS, 1), name_at(BEGAN_MS + 10 * MINUTE_MS, 2)
FORKED_MS = BEGAN_MS + 10 * MINUTE_MS


def parent(*, has_id: bool = True) -> list[Json]:
    """Return a thread with two turns."""
    first, second = BEGAN_MS + MINUTE_MS, BEGAN_MS + 2 * MINUTE_MS
    return [
        meta(PARENT, BEGAN_MS),
        *turn(PARENT, first, 11, 1000, 1000, is_paginated=False, has_id=has_id),
        *turn(PARENT, second, 12, 3100, 2100, is_paginated=False, has_id=has_id),
    ]


def test_a_fork_counts_its_own_requests() -> None:
    """The copied lines, or the inherited totals, count in the session in which they were made; a total
    smaller than the inherited one counts whole.
    """
    for has_id in (True, False):
        with case(has_id):
            begin = [meta(FORK, FORKED_MS, forked_from_id=PARENT), *copied(parent(has_id=has_id), FORKED_MS)]
            found = read(*begin)
            assert (found.run.tokens.input, repeated_calls(found), len(found.calls)) == (0, 2, 2)
            own = turn(FORK, FORKED_MS + MINUTE_MS, 13, 6300, 3200, is_paginated=False, has_id=has_id)
            found = read(*begin, *own)
            assert (found.run.tokens.input, found.run.tokens.cached) == (3200, 1600)
            assert (repeated_calls(found), len(found.calls), found.run.turns) == (2, 3, 3)
    kept = [meta(FORK, FORKED_MS, forked_from_id=PARENT), *parent(has_id=False)]
    own = turn(FORK, FORKED_MS + 100, 13, 6300, 3200, is_paginated=False, has_id=False)
    assert read(*kept, *own).run.tokens.input == 3200
    lines = [{**line, "timestamp": None} for line in parent(has_id=False)]
    assert read(meta(FORK, FORKED_MS, forked_from_id=PARENT), *lines).run.tokens.input == 0
    strange = turn(FORK, FORKED_MS + MINUTE_MS, 13, 6300, 3200, is_paginated=False, has_id=False)
    for number, name in enumerate(("x", "1" * 36, f"zzzzzzzz-zzzz-7{'z' * 21}")):
        with case(name):
            named = [{**line, "payload": line["payload"] | {"turn_id": name}} for line in strange]
            found = read(meta(FORK, FORKED_MS, forked_from_id=PARENT), *copied(parent(), FORKED_MS), *named)
            assert (number, found.run.tokens.input) == (number, 0)
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 9, "end_byte_offset": 100}
    other_begin = meta(FORK, FORKED_MS, forked_from_id=PARENT, history_base=base)
    at_ms = FORKED_MS + MINUTE_MS
    for before in (1000, 0):
        with case(before):
            lines = [
                *turn(FORK, at_ms, 31, before + 500, 500),
                *turn(FORK, at_ms + MINUTE_MS, 32, before + 1200, 700),
            ]
            found = read(other_begin, *lines)
            assert (found.run.tokens.input, found.run.tokens.output) == (1200, 120)
            assert (repeated_calls(found), len(found.calls)) == (0, 2)
    copied_lines = [meta(FORK, FORKED_MS, forked_from_id=PARENT), *copied(parent(), FORKED_MS)]
    own = turn(FORK, FORKED_MS + MINUTE_MS, 13, 300, 300, is_paginated=False)
    assert read(*copied_lines, *own).run.tokens.input == 300


MCP: Json = {"server": "s", "tool": "t"}
NEW = {"/home/ada/app/a": {"add": {"content": "x"}}}

ITEMS: list[tuple[Json, str]] = [
    (completed("WebSearch", query="q", action={}), "web_search|q|succeeded"),
    (completed("Extension", kind="web", query="", action={"queries": ["a"]}), "web|a|succeeded"),
    (completed("Extension", kind="clock"), "clock|clock|returned"),
    (completed("McpToolCall", status="completed", **MCP), "t|s t|succeeded"),
    (completed("McpToolCall", result={"isError": True}, **MCP), "t|s t|failed"),
    (completed("McpToolCall", status="failed", error="x", **MCP), "t|s t|failed"),
    (
        completed("McpToolCall", status="failed", error={"message": "user rejected MCP tool call"}, **MCP),
        "t|s t|rejected",
    ),
    (
        completed("CollabAgentToolCall", tool="spawnAgent", prompt="Look", status="completed"),
        "spawn_agent|Look|succeeded",
    ),
    (
        completed("CollabAgentToolCall", tool="wait", receiverThreadIds=["t-2"], status="failed"),
        "wait|wait t-2|failed",
    ),
    (completed("CollabAgentToolCall", status="failed"), "collab_tool_call|collab_tool_call|failed"),
    (completed("DynamicToolCall", tool="dial", arguments={"to": "x"}, success=True), "dial|dial x|succeeded"),
    (completed("DynamicToolCall", tool="dial", status="failed", error="busy"), "dial|dial|failed"),
    (completed("ImageView", path="file:///a.png"), "view_image|/a.png|succeeded"),
    (completed("ImageView"), "view_image||succeeded"),
    (
        completed("ImageGeneration", status="completed", revised_prompt="A cat"),
        "image_generation|image_generation A cat|succeeded",
    ),
    (completed("ImageGeneration"), "image_generation|image_generation|returned"),
    (completed("Sleep", duration_ms=5), "sleep|sleep|succeeded"),
    (completed("FileChange", changes=NEW, status="completed"), "file_change|a|succeeded"),
    (completed("FileChange", changes={"/b": {}}, status="declined"), "file_change|/b|rejected"),
]
EVENTS: list[tuple[Json, str]] = [
    (event("exec_command_end", call_id="c", command="ls", exit_code=1), "command_execution|ls|failed"),
    (event("patch_apply_end", call_id="c", success=False, changes={"/b": 7}), "file_change|/b|failed"),
    (event("mcp_tool_call_end", call_id="c", invocation=MCP, result={"Err": "x"}), "t|s t|failed"),
    (
        event(
            "mcp_tool_call_end", call_id="c", invocation=MCP, result={"Err": "user cancelled MCP tool call"}
        ),
        "t|s t|rejected",
    ),
    (
        event("mcp_tool_call_end", call_id="c", invocation=MCP, result={"Ok": {"isError": True}}),
        "t|s t|failed",
    ),
    (event("mcp_tool_call_end", call_id="c", result={}), "mcp_tool_call||returned"),
    (
        event("collab_agent_spawn_end", call_id="c", new_thread_id="t-2"),
        "spawn_agent|spawn_agent t-2|succeeded",
    ),
    (event("collab_agent_spawn_end", call_id="c", prompt="Look"), "spawn_agent|Look|failed"),
    (item("web_search_call", id="ws", status="failed", action={"query": "q"}), "web_search|q|failed"),
    (item("web_search_call", action={"query": "q"}), "web_search|q|succeeded"),
    (item("image_generation_call", id="ig", status="failed"), "image_generation|image_generation|failed"),
]


def test_what_ended_is_a_call() -> None:
    """It has its tool, its target, its outcome and, although no line announced it, both ends. A search
    without an id, or reported twice, is one call.
    """
    for line, facts in ITEMS + EVENTS:
        with case(line):
            found = read(META, line)
            (call,) = found.calls
            assert f"{call.tool}|{call.target or ''}|{call.outcome}" == facts
            assert found.completed_without_started == 0
    search = item("web_search_call", action={"query": "q"})
    assert [call.call_id for call in read(META, search, search).calls] == ["web_search_1", "web_search_2"]
    start = item("tool_search_call", call_id="c-1", arguments={"query": "mail"})
    call = only_call(META, start, item("tool_search_output", call_id="c-1", tools=[]))
    assert (call.target, call.phrase, call.outcome) == ("tool_search mail", "Used tool", Outcome.SUCCEEDED)
    end, again = (
        event("web_search_end", call_id=each, query="q", action={"type": "search", "query": "q"})
        for each in ("ws-1", "ws-2")
    )
    seen = item("web_search_call", status="completed", action={"type": "search", "query": "q"})
    for lines in ([end, seen, again, seen], [seen, end, seen, again]):
        assert len(list(read(META, *lines).calls)) == 2
    assert only_call(META, end, seen).call_id == "ws-1"
    own = item("web_search_call", id="ws-1", status="completed", action={"type": "search", "query": "q"})
    assert only_call(META, end, own).call_id == "ws-1"


RESET_S = 1_771_890_497
SHORT = {"used_percent": 7.0, "window_minutes": 300, "resets_at": RESET_S}
WEEK = {"used_percent": 11.0, "window_minutes": 10_080, "resets_at": RESET_S}


def windows(**limits: Any) -> list[tuple[str, float | None, int | None]]:
    """Return the windows that are known after a token count."""
    found = read(META, event("token_count", info=None, rate_limits=limits)).limits.windows
    return [(each.name, each.used_percent, each.resets_ms) for each in found]


def test_the_windows_of_the_account_are_read() -> None:
    """A window needs a length and a share. A refusal lasts until the full window is empty, which the token
    count before it says.
    """
    both = [("5h", 7.0, RESET_S * 1000), ("7d", 11.0, RESET_S * 1000)]
    assert windows(limit_id="codex", primary=SHORT, secondary=WEEK) == both
    assert windows(primary=SHORT, secondary=WEEK) == both
    assert windows(limit_id="codex", primary=WEEK, secondary=None) == both[1:]
    assert windows(limit_id="codex_bengalfox", primary=SHORT) == []
    for minutes, name in ((60, "1h"), (90, "90m"), (1440, "1d"), (43_200, "30d")):
        assert windows(primary={**SHORT, "window_minutes": minutes})[0][0] == name
    for change in (
        {"window_minutes": 0},
        {"used_percent": None},
        {"window_minutes": 1 << 40},
        {"used_percent": "7"},
    ):
        with case(change):
            assert windows(primary={**SHORT, **change}) == []
    others: list[object] = [None, [], "x", 7]
    for other in others:
        with case(other):
            assert windows(primary=other) == []
            assert read(META, event("token_count", rate_limits=other)).limits.windows == ()
    assert windows(primary={**SHORT, "resets_at": 0}) == [("5h", 7.0, None)]
    full = event("token_count", rate_limits={"primary": {**SHORT, "used_percent": 100.0}, "secondary": WEEK})
    error = {"message": "You've hit your usage limit.", "codex_error_info": "usage_limit_exceeded"}
    other = {"message": "overloaded", "codex_error_info": "server_overloaded"}
    cases: list[tuple[list[Json], bool]] = [
        ([event("task_complete", error=error)], True),
        ([event("error", **error), event("task_complete")], True),
        ([event("task_complete", error=other)], False),
        ([event("error", message="x", codex_error_info={"a": 1}), event("task_complete")], False),
    ]
    for ends, is_refused in cases:
        with case(ends):
            session = read(META, event("task_started"), event("user_message", message="Go"), full, *ends)
            assert session.limits.is_refused == is_refused
            assert session.limits.until_ms == (RESET_S * 1000 if is_refused else None)
            assert session.run.outcome is Outcome.FAILED
            assert session.limits.windows[0] == Reported(
                "5h", 100.0, RESET_S * 1000, session.limits.windows[0].said_ms
            )


ADDED_FILE = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch"
OLD = json.dumps({"output": "a", "metadata": {"exit_code": 3, "duration_seconds": 1.5}})
EXITED = "Process exited with code "
REJECTED = 'exec_command failed: Rejected("no")'
SANDBOX = "failed in sandbox MacosSeatbelt with execution error: denied, exit code: 1, stdout: , stderr: no"


def test_outputs_say_how_a_call_ended() -> None:
    """The head of an output decides, or what it proves."""
    # The head decides, never what the command printed; without a head the outcome is unknown.
    cases: list[tuple[str, str, int | None, str | None, int | None]] = [
        (
            "Chunk ID: 1\nWall time: 0.5 seconds\nProcess exited with code 0\nOutput:\nx",
            "succeeded",
            0,
            None,
            500,
        ),
        ("Wall time: 2 seconds\nProcess exited with code 42\nOutput:\n", "failed", 42, "exit 42", 2000),
        (
            "Exit code: 124\nWall time: 10 seconds\nTotal output lines: 9\nOutput:\nx",
            "failed",
            124,
            "exit 124",
            10000,
        ),
        ("Exit code: 0\nWall time: 0.0000 seconds\nOutput:\nExit code: 9", "succeeded", 0, None, None),
        (OLD, "failed", 3, "exit 3", 1500),
        ('{"output": "a", "metadata": {}}', "returned", None, None, None),
        ('{"output": "a"}', "returned", None, None, None),
        ("Wall time: 4.5 seconds\naborted by user", "cancelled", None, None, 4500),
        ("aborted by user after 4.5s", "cancelled", None, None, None),
        ("exec command rejected by user", "rejected", None, "exec command rejected by user", None),
        (
            'exec_command failed: Rejected("no\nwhy")',
            "rejected",
            None,
            'exec_command failed: Rejected("no',
            None,
        ),
        (
            'exec_command failed for `rm x`: CreateProcess { message: "Rejected(\\"no\\")" }',
            "rejected",
            None,
            'exec_command failed for `rm x`: CreateProcess { message: "Rejected(\\"no\\")" }',
            None,
        ),
        ("unsupported call: shell", "failed", None, "unsupported call: shell", None),
        (SANDBOX, "failed", 1, "exit 1", None),
        ("failed in sandbox", "failed", None, "failed in sandbox", None),
        ("a.txt\nProcess exited with code 7", "returned", None, None, None),
        ("Exit code: many\nOutput:\nx", "returned", None, None, None),
        ("Wall time: long\nx", "returned", None, None, None),
        ("Chunk ID: 1", "returned", None, None, None),
        ("Chunk ID: 1\n" * 20 + "Exit code: 1", "returned", None, None, None),
        ("", "returned", None, None, None),
    ]
    for text, outcome, exit_code, reason, duration_ms in cases:
        with case((text, outcome, exit_code)):
            call = only_call(META, function("shell", {"command": ["ls"]}), output(text))
            assert (call.outcome, call.exit_code, call.error, call.measured_ms) == (
                outcome,
                exit_code,
                reason,
                duration_ms,
            )
    further: list[tuple[str, str, str | None, int | None]] = [
        ("Script completed\nWall time 0.9 seconds\nOutput:\nScript failed", "succeeded", None, 900),
        ("Script completed\nOutput:\n", "succeeded", None, None),
        ("Script completed\nOutput:\nrejected by user", "succeeded", None, None),
        ("Script failed\nWall time: 2 seconds\nOutput:\na\nScript error:\nNo b", "failed", "No b", 2000),
        ("Script failed\nScript error:\nNo b", "failed", "No b", None),
        ("Script failed\nWall time 0.1 seconds\nOutput:\n", "failed", None, 100),
        ("Script terminated\nWall time 0.1 seconds\nOutput:\n", "cancelled", None, 100),
        ("Script completed\nAll is well", "returned", None, None),
        ("Script running with cell ID 7\nand more", "returned", None, None),
    ]
    for text, outcome, reason, duration_ms in further:
        with case((text, outcome, reason)):
            start = item("custom_tool_call", name="exec", input="run()", call_id="c-1")
            call = only_call(META, start, item("custom_tool_call_output", call_id="c-1", output=text))
            assert (call.outcome, call.error, call.measured_ms) == (outcome, reason, duration_ms)
            assert call.exit_code is None
    # A patch is applied or not; a flag beside the texts decides, and a message of Codex itself. The
    # reason of a failure has at most 500 characters.
    rest: list[tuple[str, Any, Outcome]] = [
        ("update_plan", "Plan updated", Outcome.SUCCEEDED),
        ("view_image", "attached local image path", Outcome.SUCCEEDED),
        (
            "view_image",
            [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}],
            Outcome.SUCCEEDED,
        ),
        ("view_image", "unable to locate image at `x`", Outcome.FAILED),
        ("mcp__a__b", [{"type": "input_image", "image_url": "data:"}], Outcome.RETURNED),
        ("spawn_agent", '{"agent_id":"t-2"}', Outcome.RETURNED),
        ("mcp__a__b", "tool call error: lost", Outcome.FAILED),
        ("mcp__a__b", "user rejected MCP tool call", Outcome.REJECTED),
    ]
    for name, value, outcome in rest:
        with case((name, value)):
            assert only_call(META, function(name), output(value)).outcome is outcome
    remaining: list[tuple[Any, Outcome]] = [
        ({"content": "x", "success": True}, Outcome.SUCCEEDED),
        ({"content": "x", "success": False}, Outcome.FAILED),
        ({"content": [{"type": "input_text", "text": "Exit code: 1\nOutput:\n"}]}, Outcome.FAILED),
        ({"type": "input_text", "text": "Exit code: 0\nOutput:\n"}, Outcome.SUCCEEDED),
        ([{"type": "input_text", "text": "Exit code: 0"}, {"text": "Output:"}, 7], Outcome.SUCCEEDED),
        (None, Outcome.RETURNED),
        (7, Outcome.RETURNED),
    ]
    for value, outcome in remaining:
        with case(value):
            assert only_call(META, function("exec_command", {"cmd": "ls"}), output(value)).outcome is outcome
    others: list[tuple[str, str, str | None, int | None, int | None]] = [
        ("Success. Updated the following files:\nA a.py\n", "succeeded", None, None, 1),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", "succeeded", None, 0, 1),
        ('{"output": "Success.", "metadata": {"exit_code": 0}}', "succeeded", None, 0, 1),
        ('{"output": "no line", "metadata": {"exit_code": 1}}', "failed", "no line", 1, None),
        ("Exit code: 1\nOutput:\nno such line", "failed", "no such line", 1, None),
        ("apply_patch verification failed: no", "failed", "apply_patch verification failed: no", None, None),
        ("patch rejected by user", "rejected", "patch rejected by user", None, None),
        ("Done!", "returned", None, None, None),
    ]
    for text, expected, reason, code, added in others:
        with case((text, expected, reason)):
            calls = [
                item("custom_tool_call", name="apply_patch", input=ADDED_FILE, call_id="c-1"),
                function("apply_patch", {"input": ADDED_FILE}),
                function("shell", {"command": ["apply_patch", ADDED_FILE]}),
                function("exec_command", {"cmd": f"apply_patch <<'EOF'\n{ADDED_FILE}\nEOF"}),
            ]
            for line in calls:
                call = only_call(META, line, output(text))
                assert (call.outcome, call.error, call.exit_code) == (expected, reason, code)
                assert (call.lines_added, call.phrase, call.target) == (added, "Created new file", "a.py")
                assert call.is_new_file is (expected == "succeeded")
    call = only_call(
        META, function("apply_patch"), output("apply_patch verification failed: " + "x" * 10_000)
    )
    assert len(call.error or "") == 500


CONTEXT: Json = {"type": "turn_context", "payload": {"cwd": "/b/", "model": "m", "approval_policy": "never"}}


def test_the_first_meta_line_is_the_session() -> None:
    """A second one is that of the session from which the file was forked. Settings and totals replace the
    earlier ones.
    """
    second: Json = {"type": "session_meta", "payload": {"id": "t-2", "cwd": "/other", "cli_version": "0.1"}}
    found = read(META, second, CONTEXT)
    assert (len(found.runs), found.run.session_id, found.run.cwd) == (1, "t-1", "/b/")
    assert (found.run.model, found.run.permission_mode) == ("m", "never")
    (call,) = read(META, CONTEXT, function("view_image", {"path": "/b/x.png"})).calls
    assert call.target == "x.png"
    origins: list[tuple[Json, str]] = [
        ({"parent_thread_id": "t-0"}, "subagent of session t-0"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "t-9"}}}}, "subagent of session t-9"),
        ({"forked_from_id": "t-0"}, "forked from session t-0"),
    ]
    for fields, note in origins:
        with case((fields, note)):
            assert notes(read({"type": "session_meta", "payload": {"id": "t-1"} | fields})) == [note]
    settings = event("thread_settings_applied", thread_settings={"model": "n"})
    found = read(META, CONTEXT, settings, {"type": "turn_context", "payload": {}})
    assert (found.run.model, found.run.cwd) == ("n", "/b/")
    last = {"input_tokens": 5, "total_tokens": 7}
    info = {"total_token_usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}}
    counts = info | {"last_token_usage": last, "model_context_window": 100}
    record: Json = {
        "type": "token_usage_record",
        "payload": {"thread_token_usage": {"input_tokens": 12}, "usage": {"total_tokens": 8}},
    }
    start = event("task_started", model_context_window=50)
    assert read(META, start).run.tokens.context_size == 50
    found = read(META, start, event("token_count", info=counts), event("token_count", info=None))
    assert found.run.tokens[:6] == (9, 4, 2, None, 7, 100)
    found = read(META, start, event("token_count", info=counts), record)
    assert found.run.tokens[:6] == (12, 4, 2, None, 8, 100)


def test_an_event_beside_the_turn_is_a_notice() -> None:
    """Events beside the turn are noted, and unknown ones counted."""
    # Errors, warnings and reviews are noted; what a second model decides is not a question to the user, and
    # older versions write after how long a question answers itself.
    cases: list[tuple[Json, str]] = [
        (event("error", message='{"detail": "no"}'), "no"),
        (event("stream_error", message="Reconnecting... 2/5 (lost)"), "retry 2 of 5: lost"),
        (event("stream_error"), "stream error"),
        (event("warning", message="low"), "low"),
        (event("deprecation_notice", summary="old"), "old"),
        (event("undo_completed", success=False), "undo completed"),
        (event("model_reroute", from_model="a", to_model="b"), "model changed: a → b"),
        (event("exited_review_mode"), "review ended"),
        (item("agent_message", author="a", recipient="b", content=[{"text": "hi"}]), "a → b: hi"),
        (
            event(
                "guardian_assessment", id="g", status="denied", rationale="risky", action={"type": "command"}
            ),
            "command denied: risky",
        ),
    ]
    for line, note in cases:
        with case(line):
            assert notes(read(META, line)) == [note]
    found = read(META, event("guardian_assessment", id="g", status="in_progress", action={"command": "ls"}))
    assert (found.questions.count, notes(found)) == (0, [])
    further: list[tuple[object, int | None]] = [
        *(
            (60_000, 60_000),
            ("60000", 60_000),
            (None, None),
            (0, None),
            (-5, None),
            (1 << 40, None),
            ([], None),
        ),
    ]
    for limit, expected in further:
        with case(limit):
            arguments = {"questions": [{"question": "Which port?"}], "autoResolutionMs": limit}
            asked = Decoder(agent_named("codex-rollout")).decode(
                json.dumps(function("request_user_input", arguments)).encode()
            )
            assert [each.limit_ms for each in asked if isinstance(each, Permission)] == [expected]
    # Lines of the context report nothing; unknown types of lines, items and events are named.
    others: list[Json] = [
        event("thread_name_updated"),
        event("task_started"),
        event("token_count"),
        item("ghost_snapshot"),
        item("compaction", encrypted_content="x"),
        item("agent_message"),
        completed("HookPrompt"),
        completed("SubAgentActivity"),
        {"type": "world_state", "payload": {}},
        {"type": "inter_agent_communication_metadata", "payload": {}},
        message("developer", "x"),
    ]
    for line in others:
        with case(line):
            found = read(META, line)
            assert (found.lines.unknown, len(found.transcript), len(found.calls)) == (0, 0, 0)
    rest: list[tuple[Json, str]] = [
        ({"type": "weather", "payload": {}}, "type weather"),
        (item("teleport"), "item teleport"),
        ({"type": "response_item", "payload": {"type": 7}}, "item 7"),
        (event("teleported"), "event teleported"),
        ({"type": "event_msg", "payload": {}}, "event None"),
        (completed("Teleport"), "item Teleport"),
    ]
    for line, what in rest:
        with case(line):
            found = read(META, line)
            assert [odd.event for odd in found.lines.odd] == [Unknown(what)]
            assert len(found.calls) == 0


def test_the_time_and_the_role_of_a_line() -> None:
    """A time in ISO format is read, in any zone. Only the meta line, or the thread's, starts a session;
    calls are found without it.
    """
    cases: list[tuple[Any, int | None]] = [
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-01T01:00:01+01:00", 1000),
        ("2199-12-31T23:59:59Z", 7258118399000),
        ("9999-12-31T23:59:59.999999Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ("1970-01-01T00:00:01.5Z" * 9, None),
        (1500, None),
        (None, None),
    ]
    for written, at_ms in cases:
        with case(written):
            assert time_of({"timestamp": written}) == at_ms
    further: list[tuple[Json, LineRole]] = [
        (META, LineRole.START),
        (function("x"), LineRole.CALL),
        (output("x"), LineRole.CALL),
        (completed("CommandExecution"), LineRole.CALL),
        (completed("AgentMessage"), LineRole.OTHER),
        (event("exec_command_end"), LineRole.CALL),
        (event("token_count"), LineRole.OTHER),
        ({"type": "event_msg", "payload": {"type": 7}}, LineRole.OTHER),
        ({"type": "event_msg", "payload": 7}, LineRole.OTHER),
        ({"type": "event_msg", "payload": {"type": "item_completed"}}, LineRole.OTHER),
    ]
    for line, expected in further:
        with case(line):
            assert rollout_role(line) is expected
            assert recognises_rollout(line) is isinstance(line["payload"], dict)
    others: list[tuple[Json, LineRole]] = [
        (THREAD, LineRole.START),
        (begun("command_execution"), LineRole.CALL),
        (done("agent_message"), LineRole.OTHER),
        ({"type": "item.completed"}, LineRole.OTHER),
        ({"type": "turn.started"}, LineRole.OTHER),
    ]
    for line, expected in others:
        with case(line):
            assert role_in_stream(line) is expected
            assert is_stream(line)
            assert not is_stream({"type": "error", "message": "x"})
            assert not is_stream({"type": 7})
            assert not recognises_rollout(line)


EDITS = """*** Begin Patch
*** Update File: a.py
*** Move to: b.py
@@
-a
+b
*** Delete File: c.py
*** End Patch"""


def test_a_tool_is_described_by_its_arguments() -> None:
    """The target is what the call acts on; a namespace is its server. The limit has two names, and the
    arguments may be a text that is no JSON.
    """
    cases: list[tuple[str, Any, str, ToolKind]] = [
        ("shell", {"command": ["bash", "-lc", "ls -la"]}, "Ran terminal command ls -la", ToolKind.EXECUTE),
        ("container.exec", {"command": ["git", "log"]}, "Ran terminal command git log", ToolKind.EXECUTE),
        ("shell_command", {"command": "\na\nb"}, "Ran terminal command a\nb", ToolKind.EXECUTE),
        ("exec_command", {"cmd": "ls"}, "Ran terminal command ls", ToolKind.EXECUTE),
        ("exec_command", {}, "Ran terminal command ", ToolKind.EXECUTE),
        ("shell", {"command": ["apply_patch", 7]}, "Ran terminal command apply_patch", ToolKind.EXECUTE),
        ("apply_patch", {"patch": EDITS}, "Edited file a.py, b.py, c.py", ToolKind.EDIT),
        ("apply_patch", {}, "Edited file ", ToolKind.EDIT),
        ("update_plan", {}, "Updated to-do list ", ToolKind.PLAN),
        ("view_image", {"path": "/home/ada/app/a.png"}, "Read file a.png", ToolKind.READ),
        ("view_image", {}, "Read file ", ToolKind.READ),
        ("read_file", {"file_path": "/b"}, "Read file /b", ToolKind.READ),
        ("list_dir", {"dir_path": "/home/ada/app"}, "Listed directory .", ToolKind.SEARCH),
        ("grep_files", {"pattern": "x"}, "Searched files x", ToolKind.SEARCH),
        ("web_search", {"query": "x"}, "Searched the web x", ToolKind.SEARCH),
        ("spawn_agent", {"message": "Look\nhere"}, "Ran subagent Look ⏎ +1 line", ToolKind.DELEGATE),
        ("send_input", {"id": "t-2", "prompt": "More"}, "Ran subagent More", ToolKind.DELEGATE),
        ("wait", {"ids": ["t-2", "t-3"]}, "Used tool wait t-2 t-3", ToolKind.DELEGATE),
        ("close_agent", {"id": "t-2"}, "Used tool close_agent t-2", ToolKind.DELEGATE),
        ("write_stdin", {"session_id": 7, "chars": ""}, "Used tool write_stdin 7", ToolKind.EXECUTE),
        ("write_stdin", {}, "Used tool write_stdin", ToolKind.EXECUTE),
        ("js_repl", {"code": "a\nb"}, "Used tool js_repl a\nb", ToolKind.EXECUTE),
        ("mcp__git_hub__get_it", {}, "Called MCP tool git_hub get_it", ToolKind.MCP),
        ("mcp__alone", {}, "Called MCP tool alone", ToolKind.MCP),
        ("tool_search", {}, "Used tool tool_search", ToolKind.SEARCH),
        ("request_user_input", {}, "Used tool request_user_input", ToolKind.OTHER),
        ("teleport", {"to": "Mars"}, "Used tool teleport Mars", ToolKind.OTHER),
    ]
    for name, arguments, action, kind in cases:
        with case((name, arguments, action)):
            call = only_call(META, function(name, arguments))
            assert (f"{call.phrase} {call.target or ''}", call.kind, call.tool) == (action, kind, name)
    for namespace, name, target in [
        ("mcp__weather", "forecast", "weather forecast"),
        ("mcp__weather__", "forecast", "weather forecast"),
        ("mcp__", "x", "x"),
    ]:
        with case((namespace, name, target)):
            call = only_call(META, function(name, namespace=namespace))
            assert (call.target, call.kind) == (target, ToolKind.MCP)
    assert only_call(META, function("shell", {"command": ["x"], "timeout_ms": 9})).limit_ms == 9
    assert only_call(META, function("shell", {"command": ["x"], "timeout": 0})).limit_ms == 0
    script = only_call(META, item("custom_tool_call", name="exec", input="tools.ls()\n", call_id="c"))
    assert script.target == "exec tools.ls()"
    shell = only_call(META, item("custom_tool_call", name="shell", input='{"command":["ls"]}', call_id="c"))
    assert shell.target == "ls"
    local = only_call(META, item("local_shell_call", id="c", action={"command": ["bash", "-c", "ls"]}))
    assert (local.call_id, local.target, local.tool) == ("c", "ls", "local_shell")
    assert only_call(META, item("custom_tool_call", input=7)).tool == "custom_tool_call"


def test_a_spawned_thread_counts_its_own_requests() -> None:
    """It may repeat the lines of the thread that has spawned it, and name that thread only in its source."""
    source = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    cases = {
        "with their times": (parent(has_id=False), 2),
        "with the ids of their turns": (copied(parent(), FORKED_MS)[1:], 2),
        "with its first line": (copied(parent(has_id=False), FORKED_MS), 2),
        "none of them": ([], 0),
    }
    for name, (before, copies) in cases.items():
        with case(name):
            at_ms = FORKED_MS + (MINUTE_MS if before else 100)
            own = turn(FORK, at_ms, 13, 6300, 3200, is_paginated=False, has_id="ids" in name)
            found = read(meta(FORK, FORKED_MS, source=source), *before, *own)
            assert (found.run.tokens.input, repeated_calls(found)) == (3200, copies)
            assert (len(found.calls), found.run.turns) == (copies + 1, copies + 1)
