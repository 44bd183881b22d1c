"""The outcome of a call is what Pi says, and an exit code is only read from Pi's own last line."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.pi.agent import AGENT
from agentwatch.agents.pi.stream import read_result, tool_named
from agentwatch.agents.tool import Facts, Result
from agentwatch.session.events import Outcome
from tests.agents.pi.lines import HEADER, ended, result, started
from tests.builders.agents.decoded import session_of
from tests.conftest import case


def test_a_failure_has_its_reason() -> None:
    """Interruptions and refusals are distinguished by Pi's own words."""
    cases: list[tuple[str, str, Result]] = [
        ("bash", "x\n\nCommand exited with code 3", Result(Outcome.FAILED, "exit 3", 3)),
        ("bash", "Command exited with code -1\n", Result(Outcome.FAILED, "exit -1", -1)),
        (
            "bash",
            "Command exited with code 3\nmore",
            Result(Outcome.FAILED, "Command exited with code 3\nmore"),
        ),
        ("bash", "Command exited with code x", Result(Outcome.FAILED, "Command exited with code x")),
        ("bash", "Command exited with code 99999", Result(Outcome.FAILED, "Command exited with code 99999")),
        ("read", "Command exited with code 3", Result(Outcome.FAILED, "Command exited with code 3")),
        (
            "bash",
            "a\nCommand timed out after 5 seconds",
            Result(Outcome.FAILED, "Command timed out after 5 seconds"),
        ),
        ("bash", "a\n\nCommand aborted", Result(Outcome.CANCELLED, "Command aborted")),
        ("grep", "Operation aborted", Result(Outcome.CANCELLED, "Operation aborted")),
        ("edit", "Tool execution was blocked", Result(Outcome.REJECTED, "Tool execution was blocked")),
        ("edit", "", Result(Outcome.FAILED, "the tool failed")),
    ]
    for name, words, found in cases:
        with case((name, words)):
            assert read_result(tool_named(name), result(words), is_error=True) == found


def test_a_result_without_a_flag_only_returned() -> None:
    """Neither success nor failure is assumed."""
    for flag in (None, "no", 0):
        found = read_result(tool_named("bash"), result("Command exited with code 3"), flag)
        assert (found.outcome, found.exit_code) == (Outcome.RETURNED, None)


def test_a_success_has_its_facts() -> None:
    """Lines are counted if the whole file was read; Pi's remark on lines that it left out is not a line."""
    cases: list[tuple[str, Any, dict[str, Any], Facts]] = [
        ("read", [{"type": "text", "text": "a\nb\n"}], {}, Facts("2 lines")),
        ("read", [{"type": "text", "text": "a\nb"}], {}, Facts("2 lines")),
        ("read", [{"type": "text", "text": "a\n\n[9 more lines in file]"}], {}, Facts()),
        ("read", [{"type": "image", "data": "AAAA"}], {}, Facts("1 image")),
        ("read", "a\n", {}, Facts("1 line")),
        ("read", [], {}, Facts()),
        ("ls", [{"type": "text", "text": "a\nb\n"}], {}, Facts()),
        ("edit", [], {"diff": " 1 a\n-2 b\n+2 c\n+3 d"}, Facts(lines_added=2, lines_removed=1)),
        ("edit", [], {"diff": 7}, Facts()),
    ]
    for name, content, details, facts in cases:
        with case((name, content, details)):
            found = read_result(tool_named(name), {"content": content, "details": details}, is_error=False)
            assert found == Result(Outcome.SUCCEEDED, facts=facts)


def test_a_written_file_has_the_lines_of_its_arguments() -> None:
    """The result only has the number of bytes; a call that failed has no lines."""
    lines = [HEADER, started("a", "write", path="/w/x.md", content="1\n2\n"), ended("a", "write")]
    seen = session_of(AGENT, *lines).calls[0]
    assert (seen.target, seen.path, seen.note) == ("x.md", "/w/x.md", "2 lines")
    failed = session_of(AGENT, *lines[:2], ended("a", "write", "no", is_error=True)).calls[0]
    assert (failed.note, failed.error) == (None, "no")


def test_an_edit_of_several_files_has_all_their_paths() -> None:
    """The target names them, relative to the cwd; tools that are not known show their main argument."""
    edits = [{"path": "/w/a"}, {"path": "b"}, {"path": "/w/a"}, 7]
    seen = session_of(
        AGENT,
        HEADER,
        started("1", "edit", edits=edits),
        started("2", "mine", query="x"),
        started("3", "find"),
    )
    assert [(made.target, made.path, made.more_paths) for made in seen.calls] == [
        ("a, b", "/w/a", ("b",)),
        ("mine x", None, ()),
        (None, None, ()),
    ]


def test_the_written_lines_of_few_open_calls_are_kept() -> None:
    """Of 1,100 calls that never end, the first are forgotten, and one with a huge id is not kept."""
    many = [started(f"c{number}", "write", path="x", content="1\n") for number in range(1100)]
    huge = "h" * 2000
    ends = [ended("c0", "write"), ended("c1099", "write"), ended(huge, "write")]
    seen = session_of(AGENT, *many, started(huge, "write", path="x", content="1\n"), *ends)
    assert [seen.calls[number].note for number in (0, 1099, 1100)] == [None, "1 line", None]


def test_newer_versions_give_the_exit_code() -> None:
    """The exit code of a command is read from the structured content, also if the command succeeded."""
    cases: list[tuple[str, object, bool, tuple[Outcome, int | None], str | None]] = [
        ("bash", 0, False, (Outcome.SUCCEEDED, 0), None),
        ("bash", 7, True, (Outcome.FAILED, 7), "exit 7"),
        ("bash", 0, True, (Outcome.FAILED, 0), "x"),
        ("bash", [7], False, (Outcome.SUCCEEDED, None), None),
        ("read", 7, False, (Outcome.SUCCEEDED, None), None),
    ]
    for name, code, is_error, outcome, error in cases:
        with case((name, code, is_error)):
            given = {**result("x"), "structuredContent": {"output": "x", "exit_code": code}}
            found = read_result(tool_named(name), given, is_error)
            assert ((found.outcome, found.exit_code), found.error) == (outcome, error)
            of_fork = {**result("x"), "details": {"status": "completed", "exitCode": code}}
            assert read_result(tool_named("exec" if name == "bash" else name), of_fork, is_error) == found


def test_a_command_that_exited_with_another_code_than_0_failed() -> None:
    """Agents that are built on Pi may not set the flag."""
    for flag in (False, None):
        found = read_result(tool_named("exec"), {**result("x"), "details": {"exitCode": 7}}, flag)
        assert (found.outcome, found.exit_code, found.error) == (Outcome.FAILED, 7, "exit 7")
