"""Each tool of opencode has a kind, a phrase and a target, and each state an outcome."""

from __future__ import annotations

from typing import Any

from agentwatch.agents import Decoder
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolEnded
from tests.agents.opencode.lines import begun, used
from tests.builders.lines import session
from tests.conftest import case

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** Delete File: c.py\n"
ABORTED = "\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"
EXPIRED = "x\n<bash_metadata>\nbash tool terminated command after exceeding timeout 10 ms\n</bash_metadata>\n"


def call(tool: Any, status: str = "completed", **state: Any) -> Call:
    """Return the only call of a session."""
    [only] = session(begun(), used(tool, status, **state)).calls
    return only


def test_a_tool_is_described() -> None:
    """The kind, the phrase and the target come from the name and the arguments."""
    cases: list[tuple[Any, dict[str, Any], str, str, Any]] = [
        ("read", {"filePath": "a.py"}, "read", "Read file", "a.py"),
        ("write", {"filePath": "a.py", "content": "x"}, "edit", "Created new file", "a.py"),
        ("edit", {"filePath": "a.py", "oldString": "x"}, "edit", "Edited file", "a.py"),
        ("multiedit", {"filePath": "a.py", "edits": []}, "edit", "Edited file", "a.py"),
        ("apply_patch", {"patchText": PATCH}, "edit", "Edited file", "a.py, b.py, c.py"),
        ("patch", {"patchText": "no patch"}, "edit", "Edited file", None),
        ("bash", {"command": "\nmake\nmake x"}, "execute", "Ran terminal command", "make"),
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


def test_a_patch_names_all_its_files() -> None:
    """The first file is the path of the call, the others follow."""
    found = call("apply_patch", input={"patchText": PATCH})
    assert (found.path, found.more_paths) == ("a.py", ("b.py", "c.py"))


def test_a_result_is_summed_up() -> None:
    """The note, the counts of lines and the phrase come from the metadata of the state."""
    cases: list[tuple[str, dict[str, Any], Any, Any, Any, str]] = [
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
    for tool, state, note, added, removed, phrase in cases:
        with case((tool, state, note)):
            found = call(tool, **state)
            assert (found.note, found.lines_added, found.lines_removed, found.phrase) == (
                note,
                added,
                removed,
                phrase,
            )
            assert found.outcome is Outcome.SUCCEEDED


def test_a_state_has_an_outcome() -> None:
    """The outcome is what the state, the exit code, or opencode's own remark says; otherwise unknown."""
    cases: list[tuple[str, str, dict[str, Any], str, Any, Any]] = [
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
    for tool, status, state, outcome, exit_code, error in cases:
        with case((tool, status, state)):
            found = call(tool, status, **state)
            assert (found.outcome, found.exit_code, found.error) == (outcome, exit_code, error)


def test_a_line_that_is_too_large_says_what_its_head_says() -> None:
    """The state is in the head of a line; without it, the outcome is unknown."""
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
