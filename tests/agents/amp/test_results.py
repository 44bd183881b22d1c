"""The result of an Amp tool is an object as text, and only its exit code shows that a command failed."""

import json
from typing import Any

from agentwatch.agents.amp.agent import AGENT
from agentwatch.session.blocks import ChangeBlock, ContentBlock, ErrorBlock, OutputBlock
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from tests.builders.agents.decoded import session_of
from tests.conftest import case

SESSION = {"parent_tool_use_id": None, "session_id": "T-1"}
INIT = {"type": "system", "subtype": "init", "cwd": "/w", "session_id": "T-1", "tools": [], "mcp_servers": []}
PATCH = "*** Begin Patch\n*** Add File: a.md\n+x\n*** End Patch"
FILE = {
    "uri": "file:///w/a.md",
    "type": "add",
    "additions": 1,
    "deletions": 0,
    "diff": "Index: /w/a.md\n@@ -0,0 +1 @@\n+x\n",
}


def used(name: str, **arguments: Any) -> dict[str, Any]:
    """Return a message that makes a call, with its usage."""
    usage = {
        "input_tokens": 0,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 2,
        "output_tokens": 3,
    }
    block = {"type": "tool_use", "id": "TU-1", "name": name, "input": arguments}
    return {
        "type": "assistant",
        "message": {"role": "assistant", "content": [block], "usage": usage},
        **SESSION,
    }


def result(content: Any, *, is_error: bool = False) -> dict[str, Any]:
    """Return the line of a result; an object is written as text."""
    words = content if isinstance(content, str) else json.dumps(content)
    block = {"type": "tool_result", "tool_use_id": "TU-1", "content": words, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **SESSION}


def whole(*lines: dict[str, Any]) -> Session:
    """Return the session of these lines after an init."""
    return session_of(AGENT, INIT, *lines)


def test_a_command_has_its_exit_code() -> None:
    """A command that exited with another code than 0 failed, whatever the flag says; the text of another tool
    has no code.
    """
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        ({"output": "x", "exitCode": 0}, (Outcome.SUCCEEDED, 0, None)),
        ({"output": "x", "exitCode": 3}, (Outcome.FAILED, 3, "exit 3")),
        ({"output": "x"}, (Outcome.SUCCEEDED, None, None)),
        ({"output": "x", "exitCode": [3]}, (Outcome.SUCCEEDED, None, None)),
        ("plain", (Outcome.SUCCEEDED, None, None)),
        ('{"exitCode": 3', (Outcome.SUCCEEDED, None, None)),
    ]
    for content, expected in cases:
        for name in ["shell_command", "Bash"]:
            with case((content, name)):
                [call] = whole(used(name, command="ls"), result(content)).calls
                assert (call.outcome, call.exit_code, call.error) == expected
                assert (call.kind, call.target) == (ToolKind.EXECUTE, "ls")
    [call] = whole(used("Read", path="/w/a.json"), result({"exitCode": 3, "files": [FILE]})).calls
    assert (call.outcome, call.exit_code) == (Outcome.SUCCEEDED, None)


def test_a_result_is_shown_as_what_it_is() -> None:
    """Output and changes are shown, not the text of the object. The paths are those of the patch; the tokens
    those of the messages.
    """
    for content, blocks in [
        ({"output": "x\n", "exitCode": 0}, [OutputBlock("stdout", "x\n")]),
        (
            {"stdout": "x", "stderr": "y", "exitCode": 1},
            [ErrorBlock("exit 1"), OutputBlock("stdout", "x"), OutputBlock("stderr", "y")],
        ),
        ({"files": [FILE, {"diff": "none"}]}, [ChangeBlock("@@ -0,0 +1 @@\n+x")]),
        ("plain", [ContentBlock("plain")]),
    ]:
        with case((content, blocks)):
            assert list(AGENT.blocks(result(content), "TU-1")) == blocks
    [call] = whole(used("apply_patch", patchText=PATCH), result({"summary": "add", "files": [FILE]})).calls
    assert (call.phrase, call.target, call.path) == ("Created new file", "a.md", "a.md")
    assert (call.lines_added, call.lines_removed) == (1, 0)
    update = {**FILE, "type": "update", "additions": None}
    [call] = whole(used("apply_patch", patchText=PATCH), result({"files": [update]})).calls
    assert (call.phrase, call.lines_added, call.lines_removed) == ("Edited file", None, 0)
    [call] = whole(used("apply_patch", patchText=PATCH), result({"files": []})).calls
    assert (call.outcome, call.lines_added) == (Outcome.SUCCEEDED, None)
    found = whole(used("Bash", cmd="ls"), result("x"), used("Bash", cmd="ls"), result("x"))
    assert found.run.tokens[:3] == (14, 4, 6)
