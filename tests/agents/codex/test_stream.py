"""Codex's stream: turns, items, their blocks, commands and retries."""

import json
import shlex
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents import Decoder
from agentwatch.agents.codex.stream import script_in, script_of
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus, ToolEnded, ToolKind, Unknown
from tests.builders.captures import OURS
from tests.builders.codex.lines import THREAD, TURN, Json, begun, blocks, done, error, notes, only_call, read
from tests.builders.lines import PROPERTY, session
from tests.conftest import case

TEXTS = [{"text": "a"}, {}, {"text": "b"}]
PATCH = [{"path": "/a.py", "kind": "update"}]


def command(status: str | None, code: Any = None, **fields: Any) -> Json:
    return done("command_execution", command="bash -lc x", status=status, exit_code=code, **fields)


def test_lines_are_counted_where_the_change_is_in_the_line() -> None:
    """Kinds and paths describe a call; hunks and contents are counted, unless the patch was not applied. An
    update replaces the changes.
    """
    cases: list[tuple[list[Any], str, ToolKind]] = [
        (["add"], "Created new file", ToolKind.EDIT),
        (["delete", "delete"], "Deleted file", ToolKind.DELETE),
        (["add", "update"], "Edited file", ToolKind.EDIT),
        ([{"type": "add"}], "Created new file", ToolKind.EDIT),
        ([{"type": "update", "move_path": "/moved"}], "Edited file", ToolKind.EDIT),
        (["other"], "Edited file", ToolKind.EDIT),
        ([7], "Edited file", ToolKind.EDIT),
    ]
    for kinds, phrase, kind in cases:
        with case((kinds, phrase)):
            changes = [{"path": f"/{number}.py", "kind": each} for number, each in enumerate(kinds)]
            call = only_call(THREAD, TURN, done("file_change", changes=changes, status="completed"))
            assert (call.phrase, call.kind, call.path) == (phrase, kind, "/0.py")
            moved = ("/moved",) if "move_path" in str(kinds) else ()
            assert call.more_paths == tuple(f"/{number}.py" for number in range(1, len(kinds))) + moved
    further: list[tuple[str, Any, tuple[int | None, int | None]]] = [
        ("update", "@@ -1 +1,2 @@\n-old\n+new\n+er\n", (2, 1)),
        ("update", "@@ -1 +1 @@\n-a\n+b\n\n\nMoved to: /c.py", (1, 1)),
        ("add", "one\ntwo\n", (2, 0)),
        ("delete", "one\n", (0, 1)),
        ("add", "--- /dev/null\n+++ /a\n@@ -0,0 +1 @@\n+x", (1, 0)),
        ("update", None, (None, None)),
    ]
    for name, diff, counts in further:
        with case((name, diff)):
            changes = [{"path": "/a.py", "kind": name, "diff": diff}]
            call = only_call(THREAD, TURN, done("file_change", changes=changes, status="completed"))
            assert (call.lines_added, call.lines_removed) == counts
    for status in ["failed", "declined"]:
        with case(status):
            changes = [{"path": "/a", "kind": "add", "diff": "x"}, {"kind": "add"}]
            call = only_call(THREAD, TURN, done("file_change", changes=changes, status=status))
            outcome = Outcome.FAILED if status == "failed" else Outcome.REJECTED
            assert (call.outcome, call.lines_added, call.is_new_file) == (outcome, None, False)
    more = [*PATCH, {"path": "/b.py", "kind": "add"}]
    update = {"type": "item.updated", "item": {"id": "item_1", "type": "file_change", "changes": more}}
    start = begun("file_change", changes=PATCH, status="in_progress")
    assert only_call(THREAD, TURN, start, update).target == "/a.py, /b.py"


def test_the_end_of_an_item_decides() -> None:
    """Its status, its exit code or its error says how a call ended."""
    # An exit code other than 0 is a failure, declined is rejected; an unknown status, and a line that was
    # partly read, prove no success.
    cases: list[tuple[str | None, int | None, Outcome, int | None, str | None]] = [
        ("completed", 0, Outcome.SUCCEEDED, 0, None),
        ("completed", None, Outcome.SUCCEEDED, None, None),
        ("completed", 3, Outcome.FAILED, 3, "exit 3"),
        ("failed", 42, Outcome.FAILED, 42, "exit 42"),
        ("failed", None, Outcome.FAILED, None, None),
        ("failed", 0, Outcome.FAILED, 0, None),
        ("declined", None, Outcome.REJECTED, None, None),
        ("declined", -1, Outcome.REJECTED, None, None),
        (None, 0, Outcome.SUCCEEDED, 0, None),
        (None, None, Outcome.RETURNED, None, "came back without a status"),
        ("paused", 0, Outcome.RETURNED, 0, "unknown status paused"),
    ]
    for status, code, outcome, exit_code, reason in cases:
        with case((status, code, outcome)):
            call = only_call(
                THREAD, TURN, begun("command_execution", command="bash -lc x"), command(status, code)
            )
            assert (call.outcome, call.exit_code, call.error, call.target) == (
                outcome,
                exit_code,
                reason,
                "x",
            )
    start = begun("command_execution", command="sleep 9", status="in_progress")
    end = done("command_execution", command="sleep 9", status="in_progress")
    assert only_call(THREAD, TURN, start, end, {"type": "turn.completed"}).outcome is Outcome.UNFINISHED
    for kind, outcome in (("command_execution", Outcome.RETURNED), ("web_search", Outcome.SUCCEEDED)):
        decoder = Decoder()
        decoder.decode(json.dumps(THREAD).encode())
        line = json.dumps(done(kind, status="completed", command="x", query="x")).encode()
        ends = [each for each in decoder.decode_oversize(line, b"", 1 << 30) if isinstance(each, ToolEnded)]
        assert [end.outcome for end in ends] == [outcome]
    # The reason is beside the result, or is the result of a tool that says that it failed.
    further: list[tuple[Json, Outcome, str | None]] = [
        ({"status": "completed", "result": {"content": []}}, Outcome.SUCCEEDED, None),
        ({"status": "failed", "error": {"message": "no"}}, Outcome.FAILED, "no"),
        (
            {"status": "failed", "result": {"content": [{"text": "a"}, {}, {"text": "b"}]}},
            Outcome.FAILED,
            "a\nb",
        ),
        ({"status": "completed", "result": {"isError": True}}, Outcome.FAILED, "the tool says so"),
        ({"result": {"is_error": True, "content": [{"text": "x"}]}}, Outcome.FAILED, "x"),
        ({"status": "failed"}, Outcome.FAILED, None),
        (
            {"status": "failed", "error": {"message": "user cancelled MCP tool call"}},
            Outcome.REJECTED,
            "user cancelled MCP tool call",
        ),
    ]
    for fields, outcome, reason in further:
        with case((fields, outcome)):
            start = begun("mcp_tool_call", server="weather", tool="get", arguments={})
            call = only_call(
                THREAD, TURN, start, done("mcp_tool_call", server="weather", tool="get", **fields)
            )
            assert (call.outcome, call.error) == (outcome, reason)
            assert (call.tool, call.kind, call.target) == ("get", ToolKind.MCP, "weather get")


@pytest.mark.parametrize(
    ("fields", "phrase", "target"),
    [
        ({"tool": "spawn_agent", "prompt": "Look\nhere"}, "Ran subagent", "Look ⏎ +1 line"),
        ({"tool": "wait", "receiver_thread_ids": ["t-2", 3]}, "Used tool", "wait t-2"),
        ({}, "Used tool", "collab_tool_call"),
    ],
)
def test_work_with_subagents_is_delegated(fields: Json, phrase: str, target: str) -> None:
    """A call with a prompt runs a subagent; another names its tool and its threads."""
    states = {"t-2": {}, "t-3": {"message": "lost"}}
    start = begun("collab_tool_call", status="in_progress", **fields)
    end = done("collab_tool_call", status="failed", agents_states=states, **fields)
    call = only_call(THREAD, TURN, start, end)
    assert (call.kind, call.phrase, call.target) == (ToolKind.DELEGATE, phrase, target)
    assert (call.outcome, call.error) == (Outcome.FAILED, "lost")


def test_a_search_is_described_when_it_has_ended() -> None:
    """The line that starts it has no query yet, and the key `id` twice: the last counts."""
    cases: list[tuple[Json, str | None]] = [
        ({"query": "tides"}, "tides"),
        ({"query": "", "action": {"type": "search", "queries": ["a", "b"]}}, "a"),
        ({"query": "", "action": {"type": "open_page", "url": "https://x"}}, "https://x"),
        ({"action": {"type": "find_in_page", "pattern": "p"}}, "p"),
        ({"query": "", "action": "other"}, None),
    ]
    for fields, target in cases:
        with case(fields):
            start = begun("web_search", query="", action={"type": "other"})
            for lines in (
                (THREAD, TURN, done("web_search", **fields)),
                (THREAD, start, done("web_search", **fields)),
            ):
                call = only_call(*lines)
                assert (call.target, call.outcome, call.phrase) == (
                    target,
                    Outcome.SUCCEEDED,
                    "Searched the web",
                )
    item = '"item":{"id":"item_8","type":"web_search","id":"ws_1","query":"q"}}'
    rows = [json.dumps(THREAD), '{"type":"item.started",' + item, '{"type":"item.completed",' + item]
    (call,) = session("\n".join(rows).encode()).calls
    assert (call.call_id, call.outcome) == ("ws_1", Outcome.SUCCEEDED)


def test_what_is_no_call_is_reported_or_counted() -> None:
    """Other items have events of their own, or are named."""
    # A to-do list is the plan, an error a warning, a question a permission, and a plan in words a text. A
    # resumed thread is another run.
    items = [{"text": "a", "completed": True}, {"text": "b", "completed": False}]
    found = read(THREAD, TURN, begun("todo_list", items=items))
    assert found.plan == (PlanEntry("a", PlanStatus.COMPLETED), PlanEntry("b", PlanStatus.PENDING))
    assert len(found.calls) == 0
    found = read(THREAD, done("error", message="old model"), TURN, {"type": "turn.completed"})
    assert (found.outcome, notes(found), found.run.turns) == (Outcome.SUCCEEDED, ["old model"], 1)
    assert found.last_error == ""
    asked = {"type": "request_user_input", "call_id": "c", "questions": [{}, {"question": "Which?"}]}
    found = read(THREAD, TURN, asked)
    assert notes(found) == ["asks: request_user_input Which?"]
    delta = {"type": "item.plan.delta", "item_id": "p", "delta": "# Pl"}
    found = read(THREAD, TURN, delta, done("plan", text="# Plan"), begun("plan", text="# Plan"))
    assert (found.text, found.lines.unknown) == ("# Plan", 0)
    usage = {"input_tokens": 5, "cached_input_tokens": 3, "output_tokens": 2}
    end = {"type": "turn.completed", "usage": usage}
    found = read(THREAD, TURN, end, THREAD, TURN, end | {"usage": usage | {"input_tokens": 9}})
    assert (len(found.runs), found.run.tokens[:3]) == (2, (9, 3, 2))
    found = read(THREAD, TURN, end, TURN, end | {"usage": usage | {"input_tokens": 9}})
    assert (len(found.runs), found.run.tokens[:3]) == (1, (9, 3, 2))
    # Unknown lines and items are named; one with a status is a call.
    cases: list[tuple[Json, str]] = [
        ({"type": "thread.renamed"}, "type thread.renamed"),
        ({"type": "error"}, "error without a message"),
        (done("error"), "error without a message"),
        (done("agent_message"), "agent_message without text"),
        (done("future_item"), "item future_item"),
        ({"type": "item.completed", "item": {"type": 7}}, "item 7"),
        ({"type": "item.completed", "item": {"type": "web_search"}}, "web_search without an id"),
    ]
    for line, what in cases:
        with case(line):
            found = read(THREAD, TURN, line)
            assert [odd.event for odd in found.lines.odd] == [Unknown(what)]
            assert len(found.calls) == 0
    found = read(THREAD, TURN, done("teleport", status="completed", to="Mars"))
    (call,) = found.calls
    assert (call.target, call.outcome, found.lines.unknown) == ("teleport Mars", Outcome.SUCCEEDED, 1)


def fact(call: Call) -> tuple[object, ...]:
    """Return what both formats say of a call."""
    target = (call.target or "").replace("/home/dev/project/", "")
    return call.kind, target, call.outcome, call.exit_code


def test_the_stream_and_the_rollout_of_a_run_agree() -> None:
    """The same run has the same text, commands, exit codes and changes in both formats."""
    stream = OURS.root / "agents/codex/own-0.169-commands-patch-websearch.jsonl"
    rollout = OURS.root / "agents/codex-rollout/own-0.169-full.jsonl"
    live, kept = session(stream.read_bytes()), session(rollout.read_bytes())
    assert live.text == kept.text
    assert (live.outcome, live.run.tokens[:3]) == (kept.outcome, kept.run.tokens[:3])
    facts = [set(map(fact, each.calls)) for each in (live, kept)]
    # The rollout also has the calls that Codex refused before it ran them.
    assert facts[0] <= facts[1]
    assert {outcome for *_, outcome, _ in facts[1] - facts[0]} == {Outcome.FAILED}


def test_a_script_is_shown_without_its_shell() -> None:
    """A shell with one word after -c or -lc is left out; the words of any other command are joined."""
    cases: list[tuple[str, str]] = [
        ("/bin/bash -lc 'git status --short'", "git status --short"),
        ("bash -lc ls", "ls"),
        ('/bin/zsh -c "echo \\"$HOME\\" \\`x\\` \\\\ \\n"', 'echo "$HOME" `x` \\ \\n'),
        ("sh -c 'it'\\''s'", "it's"),
        ("bash -lc \"a\"'b'c\\ d", "abc d"),
        ("bash -lc ''", ""),
        ("bash -lc", "bash -lc"),
        ("bash -lc 'ls' extra", "bash -lc 'ls' extra"),
        ("bash -lc 'no end", "bash -lc 'no end"),
        ("bash script.sh", "bash script.sh"),
        ("pytest -q", "pytest -q"),
        ("/bin/bashful -lc ls", "/bin/bashful -lc ls"),
        ("", ""),
    ]
    for command, script in cases:
        with case(command):
            assert script_of(command) == script
    further: list[tuple[list[object], str]] = [
        (["bash", "-lc", "ls -la"], "ls -la"),
        (["/usr/bin/zsh", "-c", "x"], "x"),
        (["git", "status"], "git status"),
        (["bash", "-lc", "ls", "x"], "bash -lc ls x"),
        (["bash", "x", "ls"], "bash x ls"),
        ([1, None, "ls"], "ls"),
        ([], ""),
    ]
    for words, script in further:
        with case(words):
            assert script_in(words) == script


@PROPERTY
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_quoted_script_is_found(script: str) -> None:
    """What a shell's quoting wraps is found again."""
    assert script_of(f"/bin/bash -lc {shlex.quote(script)}") == script


@pytest.mark.costs
def test_a_long_command_is_read_in_linear_time() -> None:
    """A megabyte of quotes or backslashes takes seconds at most."""
    began = time.process_time()
    for piece in ("''", '""', "\\x", "a'b'", '"\\"'):
        script_of(f"bash -lc {piece * 200_000}")
    assert time.process_time() - began < 10


CUT = error("Reconnecting... 1/5 (stream disconnected)")


def say(text: str) -> Json:
    return done("agent_message", text=text)


def think(text: str) -> Json:
    """Return the model's reasoning."""
    return done("reasoning", text=text)


def test_a_retry_is_no_failure() -> None:
    """A lost connection is a retry, after which the texts of the same answer come again, in order, until a
    call follows. Other errors are kept as the reason.
    """
    again = error("Reconnecting... 2/5 (stream disconnected)")
    found = read(THREAD, TURN, again, {"type": "turn.completed"})
    assert (found.outcome, notes(found)) == (Outcome.SUCCEEDED, ["retry 2 of 5: stream disconnected"])
    assert notes(read(THREAD, error("Reconnecting... soon"))) == ["retry"]
    failed = read(THREAD, TURN, error('{"error": {"message": "no model"}}'))
    assert (failed.outcome, failed.last_error) == (Outcome.UNFINISHED, "no model")
    end = {"type": "turn.failed", "error": {"message": '{"detail": "late"}'}}
    over = read(THREAD, TURN, error("x"), end)
    assert (over.outcome, over.run.result) == (Outcome.FAILED, "late")
    plain = read(THREAD, TURN, {"type": "turn.failed", "error": "late"})
    assert (plain.outcome, plain.run.result) == (Outcome.FAILED, "late")
    cases: list[tuple[list[Json], str]] = [
        ([say("a"), CUT, say("a")], "a"),
        ([say("a"), say("a")], "aa"),
        ([think("r"), say("a"), CUT, think("r"), say("a"), say("a")], "aa"),
        ([say("a"), say("b"), CUT, say("b"), say("a")], "aba"),
        ([say("a"), CUT, CUT, say("a"), CUT, say("a")], "a"),
        ([say("a"), CUT, begun("web_search", query=""), say("a")], "aa"),
        ([say("a"), CUT, TURN, say("a")], "aa"),
    ]
    for lines, text in cases:
        with case(lines):
            assert read(THREAD, TURN, *lines).text == text


DIFF = "@@ -1 +1 @@\n-a\n+b"
PICTURE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}


def change(**fields: object) -> Json:
    return done("file_change", changes=[{"path": "/a"} | fields], status="completed")


def test_an_item_has_blocks() -> None:
    """Commands are whole, changes are diffs, and an image is only named with its size."""
    cases: list[tuple[Json, list[Block]]] = [
        (
            begun("command_execution", command="bash -lc ls"),
            [FieldsBlock("arguments", {"command": "bash -lc ls"})],
        ),
        (begun("command_execution", command="bash -lc 'a\nb'"), [TextBlock("command", "bash -lc 'a\nb'")]),
        (begun("command_execution"), []),
        (done("command_execution", command="ls", aggregated_output="a\n"), [OutputBlock("stdout", "a\n")]),
        (done("command_execution", aggregated_output=""), []),
        (change(kind="update", diff=DIFF), [ChangeBlock(f"--- /a\n+++ /a\n{DIFF}")]),
        (change(kind="add", diff="x\n"), [ChangeBlock(None, after="x\n")]),
        (change(kind="delete", diff="x\n"), [ChangeBlock(None, before="x\n", after="")]),
        (change(kind="add"), [TextBlock("add", "/a")]),
        (change(kind={"type": "update", "move_path": "/b"}), [TextBlock("update", "/a to /b")]),
        (begun("mcp_tool_call", arguments={"city": "Paris"}), [FieldsBlock("arguments", {"city": "Paris"})]),
        (
            done(
                "mcp_tool_call",
                result={"content": [{"text": "Sunny"}, PICTURE], "structured_content": {"t": 21}},
            ),
            [ContentBlock("Sunny"), BinaryBlock("image/png", 5), FieldsBlock("result", {"t": 21})],
        ),
        (done("mcp_tool_call", error={"message": "lost"}), [ErrorBlock("lost")]),
        (
            done("mcp_tool_call", result={"content": [{"type": "link", "uri": "x"}, {"data": "AA=="}]}),
            [FieldsBlock("result", {"type": "link", "uri": "x"}), BinaryBlock("binary", 1)],
        ),
        (
            begun("collab_tool_call", tool="spawn_agent", prompt="Look"),
            [TextBlock("prompt", "Look"), FieldsBlock("arguments", {"tool": "spawn_agent"})],
        ),
        (done("collab_tool_call", tool="wait", agents_states={}), [FieldsBlock("result", {"tool": "wait"})]),
        (
            done(
                "web_search",
                query="q",
                results=[{"title": "T", "url": "u", "snippet": "s"}, {"error": {"message": "m"}}],
            ),
            [
                FieldsBlock("arguments", {"query": "q"}),
                ReferencesBlock((Reference("T", "u", "s"), Reference(None, None, "m"))),
            ],
        ),
        (done("web_search", query="q"), [FieldsBlock("arguments", {"query": "q"})]),
        (
            done("web_search", query="", action={"type": "open_page", "url": "u", "pattern": None}),
            [FieldsBlock("arguments", {"type": "open_page", "url": "u"})],
        ),
        (
            done("web_search", query="q", action={"type": "search", "query": "q"}),
            [FieldsBlock("arguments", {"query": "q"})],
        ),
        (begun("file_change", changes=[{"path": "/a", "kind": "add"}]), []),
        (done("teleport", to="Mars"), [FieldsBlock("result", {"to": "Mars"})]),
        ({"type": "turn.started"}, []),
    ]
    for line, expected in cases:
        with case(line):
            assert blocks(line) == expected
