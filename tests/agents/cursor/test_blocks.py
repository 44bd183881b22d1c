"""The blocks of a call's line for the detail pane: most useful first, and nothing twice."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents import Decoder
from agentwatch.agents.cursor.known_fields import unknown_fields
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    FieldsBlock,
    FoundFile,
    FoundLine,
    MatchesBlock,
    PlanBlock,
)
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus, ToolEnded, ToolStarted
from tests.builders.blocks import blocks
from tests.builders.lines import completed, event, events, init, result, session, started, user
from tests.conftest import case


def test_arguments_are_listed_one_per_line() -> None:
    """Short arguments share a part, long ones have their own, and empty or internal ones are left out."""
    line = started("shell", command="cat <<E\nx\nE", timeout=5, toolCallId="x", description="", deep={"a": 1})
    assert blocks(line) == [("arguments", 'timeout: 5\ndeep: {\n  "a": 1\n}'), ("command", "cat <<E\nx\nE")]


def test_text_to_write_is_a_content() -> None:
    """The text of a file that a call writes is a content block."""
    assert blocks(started("write", path="/a", fileText="x\ny\n")) == [
        ("arguments", "path: /a"),
        ("content", "x\ny\n"),
    ]


def test_todos_are_a_list_with_signs() -> None:
    """Each to-do has the sign of its status, in arguments and result; the remaining fields follow."""
    names = ("COMPLETED", "IN_PROGRESS", "CANCELLED", "PENDING")
    todos: list[Any] = [{"status": f"TODO_STATUS_{name}", "content": name[:1]} for name in names]
    shown = "✓ C\n◐ I\n✗ C\n○ P\n○ "
    assert blocks(started("updateTodos", todos=[*todos, 7], merge=True)) == [
        ("plan", shown),
        ("arguments", "merge: true"),
    ]
    assert blocks(completed("updateTodos", result={"success": {"todos": [*todos, {}]}})) == [("plan", shown)]


COUNTED = 'workspaceResults: {\n  "/a": {\n    "count": {\n      "a.py": 3\n    }\n  }\n}'


def test_a_result_is_split_into_blocks() -> None:
    """Errors, output, changes, contents and lists have blocks of their own; the rest is listed in lines."""
    cases: list[tuple[Any, list[tuple[str, str]]]] = [
        ({"error": {"errorMessage": "gone", "path": "/a"}}, [("error", "gone"), ("result", "path: /a")]),
        ({"rejected": {"reason": "no"}}, [("error", "no")]),
        ({"error": "as it is"}, [("error", "as it is")]),
        ({"failure": {"exitCode": 2, "stderr": "e"}}, [("stderr", "e"), ("result", "exitCode: 2")]),
        ({"success": {"stdout": "o", "stderr": "", "interleavedOutput": "o"}}, [("stdout", "o")]),
        ({"success": {"message": "fine"}}, [("result", "message: fine")]),
        (
            {"success": {"diffString": "+a", "afterFullFileContent": "a", "linesAdded": 1}},
            [("diff", "+a"), ("result", "linesAdded: 1")],
        ),
        ({"success": {"content": "text"}}, [("content", "text")]),
        (
            {"success": {"content": [{"text": {"text": "a"}}, {"text": "b"}, {}, {"text": {"text": "c"}}]}},
            [("content", "a\nb\nc")],
        ),
        (
            {"success": {"files": ["a", 7, "b"], "totalFiles": 2}},
            [("files", "a\nb"), ("result", "totalFiles: 2")],
        ),
        (
            {"success": {"conversationSteps": [{"assistantMessage": {"text": "I looked"}}, {}]}},
            [("steps", "› I looked")],
        ),
        ({"success": {"conversationSteps": [{}, 7]}}, []),
        (
            {"success": {"afterFullFileContent": "a", "beforeFullFileContent": "b"}},
            [("change", "a")],
        ),
        ({"success": {"workspaceResults": {"/a": {"count": {"a.py": 3}}}}}, [("result", COUNTED)]),
        ({"success": {}, "isBackground": True}, []),
        ({"success": "as it is"}, [("content", "as it is")]),
        ({"partialResult": {"stdout": "o"}}, [("stdout", "o")]),
        (
            {"success": {"durationMs": "42310", "isCut": True}},
            [("duration", "42.3 s"), ("result", "isCut: true")],
        ),
        ("...", [("content", "...")]),
        ([1, 2], [("result", "result: [\n  1,\n  2\n]")]),
        (None, []),
        ({}, []),
    ]
    for outcome, expected in cases:
        with case(outcome):
            assert blocks(completed("read", result=outcome)) == expected


def test_parts_keep_their_structure() -> None:
    """Arguments keep their JSON, changes the file before and after, contents their first line number."""
    decoder = Decoder()
    decoder.decode(init())

    def pieces(line: bytes) -> list[Block]:
        return decoder.blocks(line.rstrip())

    [given] = pieces(started("await", taskId="t", deep={"a": [1]}, empty=[]))
    assert given == FieldsBlock("arguments", {"taskId": "t", "deep": {"a": [1]}})
    edit = {"success": {"beforeFullFileContent": "old\n", "afterFullFileContent": "new\n"}}
    assert pieces(completed("edit", result=edit)) == [ChangeBlock(None, before="old\n", after="new\n")]
    made = {"success": {"afterFullFileContent": ""}}
    assert pieces(completed("edit", result=made)) == [ChangeBlock(None, after="")]
    drawn = {"success": edit["success"] | {"diffString": "-old\n+new"}}
    assert pieces(completed("edit", result=drawn)) == [
        ChangeBlock("-old\n+new", before="old\n", after="new\n")
    ]
    for start, first in ((41, 41), (0, 1), ("x", 1)):
        read = {"success": {"content": "x", "readRange": {"startLine": start}}}
        assert pieces(completed("read", result=read))[0] == ContentBlock("x", first_line=first)
    todos = [{"content": "a\nb", "status": "TODO_STATUS_COMPLETED"}]
    [plan] = pieces(completed("updateTodos", result={"success": {"todos": todos}}))
    assert plan == PlanBlock((PlanEntry("a\nb", PlanStatus.COMPLETED),))
    found = {"content": {"matches": [{"file": "a.py", "matches": [{"lineNumber": 1, "content": "x"}]}]}}
    [matches] = pieces(completed("grep", result={"success": {"workspaceResults": {"/w": found}}}))
    assert matches == MatchesBlock((FoundFile("a.py", (FoundLine("x", number=1),)),))


def test_matches_are_listed_below_their_file() -> None:
    """A search lists each file with its numbered lines, context and cuts, and then the remaining fields."""
    lines = [
        {"lineNumber": 11, "content": "def f():\n", "isContextLine": True},
        {"lineNumber": 12, "content": "a\nb", "contentTruncated": True},
        {"content": "x"},
    ]
    found = {"matches": [{"file": "a.py", "matches": lines}, {"matches": 7}], "totalLines": 3}
    names = {"files": ["b.py", 7], "totalLines": 1}
    result = {"success": {"workspaceResults": {"/w": {"content": found, "files": names}}}}
    assert blocks(completed("grep", result=result)) == [
        ("matches", "a.py\n11-def f():\n12:a␊b…\n:x\n?"),
        ("files", "b.py"),
        ("result", 'content: {\n  "totalLines": 3\n}\nfiles: {\n  "totalLines": 1\n}'),
    ]


def test_an_undecodable_line_is_shown_unchanged() -> None:
    """A line that is not an object, or of no known agent, is shown unchanged."""
    assert blocks(b"oops \xff") == [("content", "oops \ufffd")]
    assert blocks(b"[1]") == [("content", "[1]")]
    assert blocks(started("read", path="a"), b'{"a":1}') == [
        ("content", started("read", path="a").decode().rstrip()),
    ]
    assert Decoder().blocks(b"{}") == [ContentBlock("{}")]


def test_a_variant_that_is_not_an_object_has_no_outcome() -> None:
    """A result whose only variant is a plain value has no outcome."""
    [ended] = events(init(), completed("read", result={"later": 7, "isBackground": False}))
    assert isinstance(ended, ToolEnded)
    assert (ended.outcome, ended.error) == (Outcome.RETURNED, "came back without a result")


def test_fields_of_a_tool_known_by_name_are_not_listed() -> None:
    """For a tool without known fields, no argument and no field of a success is reported as unknown."""
    line = completed("await", result={"success": {"anything": 1}}, whatever=2)
    assert list(unknown_fields(json.loads(line))) == []
    bare = event(
        "tool_call", "started", call_id="c", tool_call={"function": {"name": "x", "arguments": "{}"}}
    )
    assert list(unknown_fields(json.loads(bare))) == []


def test_the_seen_duration_needs_two_reads() -> None:
    """The duration by arrival times needs two lines that arrived in different reads."""
    call = Call(1, 1, "c", "read", "Read file")
    assert call.seen_duration_ms is None
    call.started = Place(0, 1, 1000)
    assert call.seen_duration_ms is None
    for seen_ms, duration in ((3000, 2000), (1000, None), (None, None), (500, None)):
        call.ended = Place(2, 1, seen_ms)
        assert call.seen_duration_ms == duration


def test_a_path_without_a_cwd_stays_whole() -> None:
    """In a recording without its head, paths are shown as the agent wrote them."""
    read = session(
        started("read", path="/home/ada/app/a"), init("/"), started("read", path="/home/ada/app/a"), user()
    )
    assert [call.target for call in read.calls] == ["/home/ada/app/a"] * 2


def test_the_outcome_of_an_empty_stream() -> None:
    """A stream without a run is running until it ends, and then unfinished."""
    assert (session(is_over=False).outcome, session().outcome) == (Outcome.RUNNING, Outcome.UNFINISHED)
    assert session(result("x")).outcome is Outcome.SUCCEEDED


def test_a_change_without_its_text_is_listed_by_its_fields() -> None:
    """The result of an edit may lack the diff and the new content; then its other members are shown."""
    success = {"path": "a.py", "linesAdded": 3, "diffString": ""}
    shown = blocks(completed("edit", result={"success": success}, path="a.py"))
    assert "change" not in dict(shown)
    assert "linesAdded: 3" in "\n".join(words for _, words in shown)


def test_the_paths_of_a_call_are_relative_at_its_start_and_its_end() -> None:
    """Each path is made relative once, and shown twice."""
    paths = ["/w/a.py", "/w/b.py"]
    begun = [init(cwd="/w"), started("readLints", paths=paths)]
    ended = completed("readLints", result={"success": {}}, paths=paths)
    for lines in (begun, [*begun, ended]):
        (call,) = events(*lines)
        assert isinstance(call, (ToolStarted, ToolEnded))
        assert call.target == "a.py, b.py"
