"""opencode's calls: targets, outcomes, blocks, and the calls of its store."""

from typing import Any

from agentwatch.agents import Decoder
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, PlanEntry, PlanStatus, Retry, ToolEnded
from agentwatch.session.transcript import Kind
from tests.agents.opencode.lines import begun, message, session_line, stored, stored_call, used
from tests.builders.lines import events, session
from tests.conftest import case

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** Delete File: c.py\n"
ABORTED = "\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"
EXPIRED = "x\n<bash_metadata>\nbash tool terminated command after exceeding timeout 10 ms\n</bash_metadata>\n"


def call(tool: Any, status: str = "completed", **state: Any) -> Call:
    [only] = session(begun(), used(tool, status, **state)).calls
    return only


def test_a_call_has_its_tool_result_and_outcome() -> None:
    """The name, the metadata and the state say what it did."""
    # The kind, the phrase and the target come from the name and the arguments; the first file of a patch
    # is the path.
    cases: list[tuple[Any, dict[str, Any], str, str, Any]] = [
        ("read", {"filePath": "a.py"}, "read", "Read file", "a.py"),
        ("write", {"filePath": "a.py", "content": "x"}, "edit", "Created new file", "a.py"),
        ("edit", {"filePath": "a.py", "oldString": "x"}, "edit", "Edited file", "a.py"),
        ("multiedit", {"filePath": "a.py", "edits": []}, "edit", "Edited file", "a.py"),
        ("apply_patch", {"patchText": PATCH}, "edit", "Edited file", "a.py, b.py, c.py"),
        ("patch", {"patchText": "no patch"}, "edit", "Edited file", None),
        ("bash", {"command": "\nmake\nmake x"}, "execute", "Ran terminal command", "make\nmake x"),
        ("grep", {"pattern": "x.y", "path": "src"}, "search", "Searched files", "x.y"),
        ("glob", {"pattern": "*.py"}, "search", "Found files", "*.py"),
        ("list", {"path": "src"}, "search", "Listed directory", "src"),
        ("codesearch", {"query": "q"}, "search", "Searched codebase", "q"),
        ("websearch", {"query": "q"}, "search", "Searched the web", "q"),
        ("webfetch", {"url": "https://x.org"}, "fetch", "Fetched web page", "https://x.org"),
        ("todowrite", {"todos": []}, "plan", "Updated to-do list", None),
        ("todoread", {}, "other", "Used tool", "todoread"),
        ("task", {"description": "Count", "prompt": "p"}, "delegate", "Ran subagent", "Count"),
        ("question", {"questions": [{"question": "Why?"}]}, "other", "Used tool", "question Why?"),
        ("question", {"questions": []}, "other", "Used tool", "question"),
        ("skill", {"name": "deploy"}, "other", "Used tool", "skill deploy"),
        ("lsp", {"operation": "hover", "filePath": "a"}, "other", "Used tool", "lsp hover"),
        ("weather_forecast", {"city": "Paris"}, "other", "Used tool", "weather_forecast Paris"),
        (7, {}, "other", "Used tool", ""),
    ]
    for tool, arguments, kind, phrase, target in cases:
        with case((tool, arguments, kind)):
            found = call(tool, "error", error="no", input=arguments)
            assert (found.kind, found.phrase, found.target) == (kind, phrase, target)
    found = call("apply_patch", input={"patchText": PATCH})
    assert (found.path, found.more_paths) == ("a.py", ("b.py", "c.py"))
    # The note, the counts of lines and the phrase come from the metadata of the state.
    further: list[tuple[str, dict[str, Any], Any, Any, Any, str]] = [
        ("read", {"metadata": {"display": {"totalLines": 1}}}, "1 line", None, None, "Read file"),
        (
            "read",
            {"metadata": {"display": {"totalLines": 9, "lineStart": 2, "lineEnd": 9}}},
            *("lines 2-9 of 9", None, None, "Read file"),
        ),
        (
            "read",
            {"metadata": {"display": {"totalLines": 9, "lineStart": 1, "lineEnd": 9}}},
            *("9 lines", None, None, "Read file"),
        ),
        ("read", {"metadata": {}}, None, None, None, "Read file"),
        (
            "edit",
            {"metadata": {"filediff": {"additions": 3, "deletions": 1}}, "input": {"oldString": "x"}},
            *(None, 3, 1, "Edited file"),
        ),
        (
            "edit",
            {"metadata": {"filediff": {"additions": 3, "deletions": 0}}, "input": {"oldString": ""}},
            *("3 lines", 3, 0, "Created new file"),
        ),
        (
            "edit",
            {"metadata": {"filediff": {"additions": 3, "deletions": 2}}, "input": {"oldString": ""}},
            *(None, 3, 2, "Edited file"),
        ),
        ("write", {"input": {"content": "a\nb\n"}}, "2 lines", 2, None, "Created new file"),
        ("write", {"input": {"content": 7}}, None, None, None, "Created new file"),
        (
            "write",
            {"input": {"content": "a"}, "metadata": {"exists": True}},
            *(None, None, None, "Edited file"),
        ),
        (
            "write",
            {"input": {"content": "a"}, "metadata": {"filediff": {"additions": 5, "deletions": 0}}},
            *("5 lines", 5, 0, "Created new file"),
        ),
        (
            "multiedit",
            {"metadata": {"results": [{"filediff": {"additions": 1}}, {"filediff": {"additions": 2}}, 7]}},
            *(None, 3, None, "Edited file"),
        ),
        (
            "apply_patch",
            {"metadata": {"files": [{"type": "add", "additions": 2, "deletions": 0}, "odd"]}},
            *("2 lines", 2, 0, "Created new file"),
        ),
        (
            "apply_patch",
            {"metadata": {"files": [{"type": "delete", "additions": 0, "deletions": 4}]}},
            *(None, 0, 4, "Deleted file"),
        ),
        (
            "apply_patch",
            {"metadata": {"files": [{"type": "add", "additions": 2}, {"type": "update", "additions": 1}]}},
            *(None, 3, None, "Edited file"),
        ),
        ("apply_patch", {"metadata": {"files": [{"type": 7}]}}, None, None, None, "Edited file"),
        ("apply_patch", {}, None, None, None, "Edited file"),
        ("grep", {"metadata": {"matches": 2}}, "2 matches", None, None, "Searched files"),
        ("glob", {"metadata": {"count": 1}}, "1 file", None, None, "Found files"),
        ("list", {"metadata": {"count": "x"}}, None, None, None, "Listed directory"),
        ("todowrite", {}, None, None, None, "Updated to-do list"),
    ]
    for tool, state, note, added, removed, phrase in further:
        with case((tool, state, note)):
            found = call(tool, **state)
            assert (found.note, found.lines_added, found.lines_removed, found.phrase) == (
                note,
                added,
                removed,
                phrase,
            )
            assert found.outcome is Outcome.SUCCEEDED
    # The outcome is what the state, the exit code, or opencode's own remark says; in a line that is too
    # large, the head.
    others: list[tuple[str, str, dict[str, Any], str, Any, Any]] = [
        ("bash", "completed", {"metadata": {"exit": 0}}, "succeeded", 0, None),
        ("bash", "completed", {"metadata": {"exit": 3}}, "failed", 3, "exit 3"),
        ("bash", "completed", {"metadata": {"exit": None}}, "returned", None, "no exit code"),
        ("bash", "completed", {"output": "User aborted the command"}, "returned", None, "no exit code"),
        ("bash", "completed", {"output": ABORTED}, "cancelled", None, "aborted"),
        ("bash", "completed", {"output": ABORTED, "metadata": {"exit": 130}}, "cancelled", 130, "aborted"),
        ("bash", "completed", {"output": EXPIRED}, "failed", None, "timed out"),
        ("bash", "completed", {"output": "</metadata>", "metadata": {"exit": 0}}, "succeeded", 0, None),
        ("bash", "error", {"error": "no", "metadata": {"exit": 4}}, "failed", 4, "no"),
        ("bash", "error", {"error": 7}, "failed", None, "the tool says so"),
        ("glob", "completed", {"metadata": {"exit": 3}}, "succeeded", None, None),
        ("task", "completed", {"metadata": {"background": True}}, "returned", None, None),
        ("invalid", "completed", {"input": {"tool": "x", "error": "bad"}}, "failed", None, "bad"),
        ("invalid", "completed", {}, "failed", None, "an invalid call"),
        (
            *("edit", "error", {"error": "The user rejected permission to use this specific tool call."}),
            *("rejected", None, "The user rejected permission to use this specific tool call."),
        ),
        (
            *("bash", "error", {"error": "The user has specified a rule which prevents you from using this"}),
            *("rejected", None, "The user has specified a rule which prevents you from using this"),
        ),
        (
            *("question", "error", {"error": "The user dismissed this question"}),
            *("rejected", None, "The user dismissed this question"),
        ),
        (
            *("read", "error", {"error": "Tool execution aborted"}),
            *("cancelled", None, "Tool execution aborted"),
        ),
        ("read", "error", {"error": "x", "metadata": {"interrupted": True}}, "cancelled", None, "x"),
    ]
    for tool, status, state, outcome, exit_code, error in others:
        with case((tool, status, state)):
            found = call(tool, status, **state)
            assert (found.outcome, found.exit_code, found.error) == (outcome, exit_code, error)
    decoder = Decoder()
    decoder.decode(begun())
    whole = used("read", output="x" * (1 << 17)).rstrip()
    ended = decoder.decode_oversize(whole[:60000], whole[-60000:], len(whole))[-1]
    assert isinstance(ended, ToolEnded)
    assert ended.outcome is Outcome.SUCCEEDED
    head = b'{"type":"tool_use","sessionID":"ses_1","part":{"type":"tool","tool":"read","state":{"input":"'
    ended = decoder.decode_oversize(head + b"x" * 9, b"", 1 << 25)[-1]
    assert isinstance(ended, ToolEnded)
    assert (ended.outcome, ended.error) == (Outcome.RETURNED, "its line is too large to be read")


DIFF = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n"


def blocks(data: bytes) -> list[Block]:
    decoder = Decoder()
    decoder.decode(begun())
    return decoder.blocks(data.rstrip())


def of(tool: str, status: str = "completed", **state: Any) -> list[Block]:
    return blocks(used(tool, status, **state))


def test_a_result_has_its_blocks() -> None:
    """Output, texts and lists are blocks, and an edit is its diff."""
    # Output, the text of a file without its frame, pages as Markdown, lists, and a subagent's answer; an
    # image is named. What a stopped command had printed is shown.
    state: dict[str, Any] = {
        "input": {"command": "make", "description": "Build"},
        "output": "done\n",
        "metadata": {"exit": 0},
    }
    assert of("bash", **state) == [
        TextBlock("description", "Build"),
        FieldsBlock("arguments", {"command": "make"}),
        OutputBlock("stdout", "done\n"),
    ]
    assert blocks(stored_call("running")) == [FieldsBlock("arguments", {"command": "make"})]
    assert blocks(stored_call("completed", output="done")) == [OutputBlock("stdout", "done")]
    assert blocks(stored_call("pending", input={})) == []
    display = {"text": "banana", "lineStart": 7}
    assert of("read", output="<path>", metadata={"display": display}) == [ContentBlock("banana", 7)]
    assert of("read", output="<path>", metadata={"display": {"text": "x"}}) == [ContentBlock("x", 1)]
    assert of("read", output="<path>") == [ContentBlock("<path>")]
    assert of("webfetch", output="# A") == [MarkdownBlock("# A")]
    assert of("websearch", output="# A") == [MarkdownBlock("# A")]
    assert of("glob", output="a\nb") == [FilesBlock(("a", "b"))]
    assert of("grep", output="a:1") == [ContentBlock("a:1")]
    todos = [{"content": "A", "status": "pending"}]
    plan = PlanBlock((PlanEntry("A", PlanStatus.PENDING),))
    assert of("todowrite", input={"todos": todos}, output="[]", metadata={"todos": todos}) == [plan]
    assert of("todowrite", input={}) == []
    arguments = {"description": "Count", "subagent_type": "general"}
    found = of("task", input=arguments, output="3", metadata={"sessionId": "ses_2", "truncated": False})
    assert found == [
        TextBlock("subagent", "general"),
        FieldsBlock("arguments", {"description": "Count"}),
        MarkdownBlock("3"),
        FieldsBlock("result", {"sessionId": "ses_2"}),
    ]
    urls = ["data:image/png;base64,AAAA", "data:image/png;base64,AAA=", "https://x.org/a.png", None]
    found = of("read", attachments=[{"mime": "image/png", "url": url} for url in urls] + [{}])
    assert [(block.media_type, block.size) for block in found if isinstance(block, BinaryBlock)] == [
        ("image/png", 3),
        ("image/png", 2),
        ("image/png", None),
        ("image/png", None),
        ("binary", None),
    ]
    found = of("bash", "error", error="Tool execution aborted", metadata={"output": "half"})
    assert found == [ErrorBlock("Tool execution aborted"), OutputBlock("stdout", "half")]
    # The metadata has the diff of each file; without one the texts are shown. A new file is a content,
    # diagnostics are shown.
    arguments = {"filePath": "a", "oldString": "x\n1", "newString": "y"}
    found = of(
        "edit", input=arguments, output="Edit applied.", metadata={"diff": DIFF, "filediff": {"file": "a"}}
    )
    assert found == [FieldsBlock("arguments", {"filePath": "a"}), ChangeBlock(DIFF)]
    found = of("edit", input=arguments, metadata={"filediff": {"patch": DIFF, "before": "x", "after": "y"}})
    assert found[1:] == [ChangeBlock(DIFF, "x", "y")]
    assert of("edit", metadata={"diff": f"Index: a\n====\n{DIFF}"}) == [ChangeBlock(DIFF)]
    assert of("edit", metadata={"diff": "Index: a"}) == [ChangeBlock("Index: a")]
    assert of("edit", "error", input=arguments, error="no match") == [
        FieldsBlock("arguments", {"filePath": "a", "newString": "y"}),
        TextBlock("oldString", "x\n1"),
        ErrorBlock("no match"),
    ]
    files = [{"patch": "1"}, {"diff": "2"}, {"before": "", "after": "x"}, {"additions": 1}, 7]
    found = of(
        "apply_patch", input={"patchText": "*** Begin Patch\n"}, metadata={"files": files, "diff": "all"}
    )
    assert found == [ChangeBlock("1"), ChangeBlock("2"), ChangeBlock(None, "", "x")]
    found = of("multiedit", input={"edits": [1]}, metadata={"results": [{"filediff": {"patch": DIFF}}]})
    assert found == [ChangeBlock(DIFF)]
    assert of("write", output="Wrote file.") == []
    assert of("write", output="Wrote file.\n\nLSP errors") == [
        TextBlock("output", "Wrote file.\n\nLSP errors")
    ]
    found = of("write", input={"filePath": "a", "content": "x\ny", "note": "1\n2"})
    assert found == [
        FieldsBlock("arguments", {"filePath": "a"}),
        ContentBlock("x\ny"),
        TextBlock("note", "1\n2"),
    ]


COMPACTION = {"role": "assistant", "summary": True}


def test_a_stored_session_is_read() -> None:
    """It has its facts, prompts, open calls, ends of turns and summaries."""
    # The session and its messages name the folder, the model and the version; each prompt is a turn.
    info = {"directory": "/home/ada/app/", "version": "1.18.33", "model": {"id": "m"}}
    found = session(
        session_line(**info),
        message("user"),
        stored("text", "user", text="Do it"),
        stored("text", "user", text="The content of a file", synthetic=True),
        stored("text", "user", text="Not for the model", ignored=True),
        stored("text", "user", text="and that"),
        message(modelID="other"),
        stored_call("running"),
        stored_call("completed", metadata={"exit": 0}, time={"start": 10, "end": 40}),
        stored("step-finish", reason="tool-calls"),
        stored("step-start"),
        stored("step-finish", reason="stop"),
        stored("text", "user", message_id="msg_5", text="Again"),
        is_over=False,
    )
    run = found.run
    assert (run.cwd, run.agent_version, run.model) == ("/home/ada/app", "1.18.33", "other")
    assert (run.prompt, run.turns, found.outcome) == ("Do it", 2, Outcome.RUNNING)
    prompts = [str(entry.content) for entry in found.transcript if entry.kind is Kind.PROMPT]
    notices = [str(entry.content) for entry in found.transcript if entry.kind is Kind.NOTICE]
    assert (prompts, notices) == (["Do it", "Again"], ["and that"])
    assert (len(found.calls), found.calls[0].exit_code) == (1, 0)
    # A pending call gets its arguments later, a running one its output. The folder comes from the
    # session, a message, or its text.
    lines = [
        stored_call("pending", input={}),
        stored_call("running", input={"command": "make\nall", "timeout": 5000}, metadata={"output": "…"}),
    ]
    [call] = session(session_line(), *lines, is_over=False).calls
    assert (call.command, call.output, call.limit_ms) == ("make\nall", "…", 5000)
    [call] = session(session_line(), *lines, stored_call("error", error="gone"), is_over=False).calls
    assert (call.outcome, call.error, call.target) == (Outcome.FAILED, "gone", "make")
    made = used("read", input={"filePath": "/home/ada/app/x.py"})
    assert session(session_line(directory="/home/ada/app"), made).calls[0].target == "x.py"
    assert session(message(path={"cwd": "/home/ada/app"}), made).calls[0].target == "x.py"
    assert session(message(path="/home/ada/app"), made).calls[0].target == "x.py"
    # Its calls have a parent; its texts, prompts, steps and context are not the main agent's.
    found = session(
        session_line(),
        stored_call("running", "call_task"),
        message("user", "call_task"),
        stored("text", "user", "call_task", message_id="msg_7", text="Count"),
        message("assistant", "call_task"),
        stored("step-start", agent="call_task"),
        stored("text", agent="call_task", id="prt_8", text="3 files", time={"start": 1, "end": 2}),
        stored_call("completed", "call_2", "call_task", metadata={"exit": 0}),
        stored("compaction", agent="call_task", auto=True),
        stored("step-finish", agent="call_task", reason="stop", tokens={"input": 5}),
        message("assistant", "call_task", error={"name": "APIError", "data": {"message": "no"}}),
        is_over=False,
    )
    assert (found.text, found.run.turns, found.run.prompt, len(found.runs)) == ("", 0, None, 1)
    assert (found.outcome, found.run.tokens[::4], found.compacting) == (Outcome.RUNNING, (5, None), None)
    assert [(call.parent_call, call.parent) for call in found.calls] == [(None, None), ("call_task", 1)]
    assert str(found.transcript[-1].content) == "subagent: no"
    assert [entry.parent for entry in found.transcript if entry.kind in (Kind.PROMPT, Kind.ANSWER)] == [1, 1]
    # An error in it ends the turn; a retry is shown, a subtask is a prompt. The turns from which the user
    # went back are not part of the text; their calls were made.
    failed = message(error={"name": "APIError", "data": {"message": "no such model"}})
    found = session(session_line(), failed)
    assert (found.outcome, found.run.result) == (Outcome.FAILED, "no such model")
    assert session(session_line(), message(error={}), is_over=False).outcome == Outcome.RUNNING
    error = {"name": "APIError", "data": {"message": "overloaded"}}
    assert Retry("overloaded", 2) in events(session_line(), stored("retry", attempt=2, error=error))
    assert Retry("", None) in events(session_line(), stored("retry"))
    assert session(session_line(), stored("subtask", "user", prompt="Review it")).run.prompt == "Review it"
    lines = [session_line()]
    for number in (1, 2, 3):
        lines.append(stored("text", "user", message_id=f"msg_{number}", text=f"Prompt {number}"))
        lines.append(stored("text", id=f"prt_{number}", text=f"Answer {number}. "))
    back = session_line(revert={"messageID": "msg_2"})
    seen = session(*lines, back, back, is_over=False)
    assert (seen.text, seen.run.turns) == ("Answer 1. ", 1)
    assert [str(entry.content) for entry in seen.transcript].count("rewound by 2 turns") == 1
    for other in ({"messageID": "msg_9"}, {"messageID": None}, 7, None):
        assert session(*lines, session_line(revert=other), is_over=False).run.turns == 3
    # While opencode shortens the conversation, the model writes a summary, which neither ends nor begins
    # a turn.
    lines = [
        session_line(),
        stored("text", "user", text="Do it"),
        stored("compaction", "user", auto=True),
        stored("text", text="So far …", message=COMPACTION, time={"start": 1, "end": 2}),
        stored("step-finish", reason="stop", message=COMPACTION),
    ]
    found = session(*lines, is_over=False)
    assert (found.text, found.outcome) == ("", Outcome.RUNNING)
    assert found.compacting is not None
    assert found.compacting[0].trigger == "auto"
    ended = message(summary=True, time={"completed": 5})
    assert session(*lines, ended, is_over=False).compacting is None
    assert session(*lines, message(summary=True, time={}), is_over=False).compacting is not None
    manual = session(session_line(), stored("compaction", "user", auto=False), is_over=False)
    assert manual.compacting is not None
    assert manual.compacting[0].trigger == "manual"
    found = session(
        session_line(),
        stored("text", "user", text="Do it"),
        stored("step-finish", reason="stop"),
        stored("compaction", "user", message_id="msg_2", auto=False),
        stored("step-start", message=COMPACTION),
        stored("step-finish", reason="stop", message=COMPACTION),
        is_over=False,
    )
    assert (found.outcome, found.run.turns) == (Outcome.SUCCEEDED, 1)
