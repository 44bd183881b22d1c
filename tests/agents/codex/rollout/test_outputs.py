"""How a call of a rollout ended is read from its output, which each version writes in another way."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.session.events import Outcome
from tests.builders.codex.lines import META, function, item, only_call, output
from tests.conftest import case

PATCH = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch"
OLD = json.dumps({"output": "a", "metadata": {"exit_code": 3, "duration_seconds": 1.5}})
EXITED = "Process exited with code "
REJECTED = 'exec_command failed: Rejected("no")'
SANDBOX = "failed in sandbox MacosSeatbelt with execution error: denied, exit code: 1, stdout: , stderr: no"


def test_the_output_of_a_command_says_how_it_ended() -> None:
    """The head decides, never what the command printed; without a head the outcome is unknown."""
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


def test_the_output_of_a_script_says_how_it_ended() -> None:
    """Its first line does, if the second line is a part of the head too."""
    cases: list[tuple[str, str, str | None, int | None]] = [
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
    for text, outcome, reason, duration_ms in cases:
        with case((text, outcome, reason)):
            start = item("custom_tool_call", name="exec", input="run()", call_id="c-1")
            call = only_call(META, start, item("custom_tool_call_output", call_id="c-1", output=text))
            assert (call.outcome, call.error, call.measured_ms) == (outcome, reason, duration_ms)
            assert call.exit_code is None


def test_an_output_may_be_an_object_or_a_list() -> None:
    """Its texts are read as one text, and a flag beside them decides."""
    cases: list[tuple[Any, Outcome]] = [
        ({"content": "x", "success": True}, Outcome.SUCCEEDED),
        ({"content": "x", "success": False}, Outcome.FAILED),
        ({"content": [{"type": "input_text", "text": "Exit code: 1\nOutput:\n"}]}, Outcome.FAILED),
        ({"type": "input_text", "text": "Exit code: 0\nOutput:\n"}, Outcome.SUCCEEDED),
        ([{"type": "input_text", "text": "Exit code: 0"}, {"text": "Output:"}, 7], Outcome.SUCCEEDED),
        (None, Outcome.RETURNED),
        (7, Outcome.RETURNED),
    ]
    for value, outcome in cases:
        with case(value):
            assert only_call(META, function("exec_command", {"cmd": "ls"}), output(value)).outcome is outcome


def test_the_output_of_a_patch_is_why_it_failed() -> None:
    """A patch is applied or not; its lines are counted if it was. Its exit code is the one in its output."""
    cases: list[tuple[str, str, str | None, int | None, int | None]] = [
        ("Success. Updated the following files:\nA a.py\n", "succeeded", None, None, 1),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", "succeeded", None, 0, 1),
        ('{"output": "Success.", "metadata": {"exit_code": 0}}', "succeeded", None, 0, 1),
        ('{"output": "no line", "metadata": {"exit_code": 1}}', "failed", "no line", 1, None),
        ("Exit code: 1\nOutput:\nno such line", "failed", "no such line", 1, None),
        ("apply_patch verification failed: no", "failed", "apply_patch verification failed: no", None, None),
        ("patch rejected by user", "rejected", "patch rejected by user", None, None),
        ("Done!", "returned", None, None, None),
    ]
    for text, outcome, reason, code, added in cases:
        with case((text, outcome, reason)):
            calls = [
                item("custom_tool_call", name="apply_patch", input=PATCH, call_id="c-1"),
                function("apply_patch", {"input": PATCH}),
                function("shell", {"command": ["apply_patch", PATCH]}),
                function("exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}),
            ]
            for line in calls:
                call = only_call(META, line, output(text))
                assert (call.outcome, call.error, call.exit_code) == (outcome, reason, code)
                assert (call.lines_added, call.phrase, call.target) == (added, "Created new file", "a.py")
                assert call.is_new_file is (outcome == "succeeded")


def test_other_outputs_prove_what_they_say() -> None:
    """Only a message of Codex itself is a success or a failure; another text is not judged."""
    cases: list[tuple[str, Any, Outcome]] = [
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
    for name, value, outcome in cases:
        with case((name, value)):
            assert only_call(META, function(name), output(value)).outcome is outcome


def test_an_error_is_cut() -> None:
    """The reason of a failure has at most 500 characters: it may repeat the whole patch."""
    call = only_call(
        META, function("apply_patch"), output("apply_patch verification failed: " + "x" * 10_000)
    )
    assert len(call.error or "") == 500
