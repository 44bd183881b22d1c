"""A run that did not succeed is reported with its best reason, in one line, in every printed format."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders.lines import completed, final, init, result, segment, started, user
from tests.conftest import Saver, case
from tests.harness.fake_agent import command
from tests.harness.program import PLAIN, ran, watch

FORMATS = (
    ["-p"],
    ["-p", "--brief"],
    ["--output-format", "json"],
    ["--output-format", "stream-json"],
    ["--output-format", "final"],
    ["--output-format", "summary"],
    ["--tee"],
)
NOTICE = "⚠ Workspace Trust Required\n".encode()
UNTRUSTED = "Cursor does not trust this folder: add --trust"
REFUSED = b"RetriableError: [invalid_argument] unknown option '--x'\n"


def test_every_format_gives_the_reason(recording: Saver) -> None:
    """The reason is on stderr, in one line, whatever is printed on stdout; the exit code is 1."""
    cases: list[tuple[list[bytes], str]] = [
        ([init(), result("No more\ncredit", is_error=True)], "the run failed: No more␊credit"),
        ([init(), NOTICE, result("", is_error=True)], "the run failed: ⚠ Workspace Trust Required"),
        ([init(), result(None, is_error=True)], "the run failed: no reason given"),
        ([init(), user()], "the stream ended without a result"),
        ([init(), NOTICE, REFUSED], f"the stream ended without a result: {REFUSED.decode().strip()}"),
    ]
    for lines, reason in cases:
        for options in FORMATS:
            with case(f"{reason}, {' '.join(options)}"):
                source = recording(*lines)
                arguments = [*options, "-"] if "--tee" in options else [*options, source]
                done = ran(*arguments, stdin=source.read_bytes() if "--tee" in options else None)
                assert (done.returncode, done.stderr.decode()) == (1, f"agentwatch: {reason}\n")


def test_what_is_no_reason(recording: Saver) -> None:
    """Half an event, and what came before the last run, are no reason; a long line is cut and made safe."""
    cases: list[tuple[list[bytes], str]] = [
        ([init(), NOTICE, started("read")[:60]], f": ⚠ Workspace Trust Required: {UNTRUSTED}"),
        ([init(), b'{"type":"tool_call","subt'], ""),
        ([NOTICE, init()], ""),
        ([init(), NOTICE, init(), user()], ""),
        ([init(), b"x" * 5000], ": " + "x" * 400),
        ([init(), b"\x1b]0;a\x07\n"], ": ␛]0;a␇"),
    ]
    for lines, reason in cases:
        with case(lines):
            said = ran("-p", recording(*lines)).stderr.decode()
            assert said == f"agentwatch: the stream ended without a result{reason}\n"


def test_a_folder_that_is_not_trusted_is_the_cause(recording: Saver) -> None:
    """Cursor prints it instead of a stream."""
    done = ran("-p", recording(NOTICE, b"To proceed, pass --trust\n"))
    assert (done.returncode, done.stderr.decode()) == (2, f"agentwatch: {UNTRUSTED}\n")


def test_rejected_edits_have_a_cause(recording: Saver) -> None:
    """A run that succeeds with all of its edits rejected names the flag; one edit that was made is enough."""
    no: dict[str, Any] = {"rejected": {"reason": ""}}
    yes: dict[str, Any] = {"success": {}}
    why = "rejected: without --force, Cursor proposes changes and does not write them"
    cases: list[tuple[list[bytes], str]] = [
        ([completed("edit", "a", no)], f"agentwatch: the only edit was {why}\n"),
        ([completed("edit", "a", no), completed("edit", "b", no)], f"agentwatch: all edits were {why}\n"),
        ([completed("edit", "a", no), completed("edit", "b", yes)], ""),
        ([completed("shell", "a", no)], ""),
        ([completed("edit", "a", yes)], ""),
    ]
    for lines, words in cases:
        with case(words):
            done = ran("-p", recording(init(), *lines, result("")))
            assert (done.returncode, done.stderr.decode()) == (0, words)


@pytest.mark.slow
def test_an_agent_that_says_nothing_is_reported() -> None:
    """An agent that fails without a word ends with its code and a line that says so."""
    done = watch("run", "--", "sh", "-c", "exit 4")
    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr == b"agentwatch: the stream ended without a result, exit 4\n"
    done = watch("run", "-p", "--", "sh", "-c", "kill -9 $$")
    assert done.stderr == b"agentwatch: the stream ended without a result, exit 137 (SIGKILL)\n"


@pytest.mark.slow
def test_the_last_line_of_stderr_is_the_reason_of_last_resort(recording: Saver) -> None:
    """Without a better reason it is the last line of stderr, which is then not printed a second time."""
    switches = ("--stderr", "loading\n\nno login", "--exit", "1")
    done = watch("run", "-p", "--", *command(recording(init()), *switches))
    assert done.stderr.decode().splitlines() == [
        "agentwatch: the agent's stderr: loading",
        "agentwatch: the stream ended without a result, exit 1: no login",
    ]
    done = watch("run", "-p", "--", *command(recording(init(), NOTICE), *switches))
    assert done.stderr.decode().splitlines()[-2:] == [
        "agentwatch: the agent's stderr: no login",
        f"agentwatch: the stream ended without a result, exit 1: ⚠ Workspace Trust Required: {UNTRUSTED}",
    ]


@pytest.mark.system
@pytest.mark.slow
def test_a_result_that_the_exit_code_contradicts_is_reported() -> None:
    """An agent that fails after a good result is reported; one that succeeds is not."""
    done = watch("run", "-p", "--", *command(PLAIN, "--exit", "3"))
    assert done.returncode == 3
    assert done.stderr == b"agentwatch: the result says success, but the agent ended with exit 3\n"
    assert watch("run", "-p", "--", *command(PLAIN)).stderr == b""


def test_final_is_the_text_after_the_last_call(recording: Saver) -> None:
    """The final format prints the text after the last call, with a line end, and nothing else."""
    read = completed("read", "a", {"success": {}})
    path = recording(init(), user(), segment("I look."), read, final("Done.\nAll 3 pass."), result("x"))
    done = ran(path, "--output-format", "final")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Done.\nAll 3 pass.\n", b"")
    whole = recording(init(), user(), final("caf\u00e9\x1b[1m\n"), result("x"))
    assert ran(whole, "--output-format", "final").stdout == "caf\u00e9\x1b[1m\n".encode()


def test_final_prints_nothing_for_a_run_that_failed(recording: Saver) -> None:
    """A run that failed, or has no result, has no final answer, whatever it has written."""
    for last in (result("no", is_error=True), b""):
        done = ran(recording(init(), user(), final("Almost."), last), "--output-format", "final")
        assert (done.returncode, done.stdout) == (1, b"")
