"""A run that did not succeed is reported with its best reason, in one line, in every printed format."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.builders.lines import completed, final, init, result, segment, session, started, user
from tests.builders.packed import all_of
from tests.builders.payloads import PAYLOADS
from tests.conftest import Saver, case
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import in_terminal
from tests.harness.program import PLAIN, ran, watch
from tests.harness.runners import commands
from tests.harness.terminal_oracle import acting, driving

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
    # Half an event, and what came before the last run, are not a reason; a long line is cut and made safe
    cases = [
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
    # Cursor prints it instead of a stream
    done = ran("-p", recording(NOTICE, b"To proceed, pass --trust\n"))
    assert (done.returncode, done.stderr.decode()) == (2, f"agentwatch: {UNTRUSTED}\n")
    # A run that succeeds with all of its edits rejected names the flag; one edit that was made is enough
    no: dict[str, Any] = {"rejected": {"reason": ""}}
    yes: dict[str, Any] = {"success": {}}
    why = "rejected: without --force, Cursor proposes changes and does not write them"
    cases = [
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
def test_an_agent_without_a_result_is_reported(recording: Saver) -> None:
    """Its code is the exit code, and a line has the reason.

    Without a better one it is the last line of stderr, which is then not printed a second time. An agent that
    fails after a good result is reported too.
    """
    done = watch("run", "--", "sh", "-c", "exit 4")
    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr == b"agentwatch: the agent wrote nothing, exit 4\n"
    done = watch("run", "-p", "--", "sh", "-c", "kill -9 $$")
    assert done.stderr == b"agentwatch: the agent wrote nothing, exit 137 (SIGKILL)\n"
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
    for code, said in (
        (3, "agentwatch: the run failed, exit 3 · result says ✓\n".encode()),
        (0, b""),
    ):
        done = watch("run", "-p", "--", *command(PLAIN, "--exit", str(code)))
        assert (done.returncode, done.stderr) == (code, said)


def test_final_is_the_text_after_the_last_call(recording: Saver) -> None:
    """The final format prints the text after the last call, with a line end, and nothing else. A run that
    failed, or has no result, has no final answer, whatever it has written.
    """
    read = completed("read", "a", {"success": {}})
    path = recording(init(), user(), segment("I look."), read, final("Done.\nAll 3 pass."), result("x"))
    done = ran(path, "--output-format", "final")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Done.\nAll 3 pass.\n", b"")
    whole = recording(init(), user(), final("caf\u00e9\x1b[1m\n"), result("x"))
    assert ran(whole, "--output-format", "final").stdout == "caf\u00e9\x1b[1m\n".encode()
    for last in (result("no", is_error=True), b""):
        done = ran(recording(init(), user(), final("Almost."), last), "--output-format", "final")
        assert (done.returncode, done.stdout) == (1, b"")


WAYS = (["-p", "--times"], ["doctor"], ["-p"], ["-p", "--brief"], ["--output-format", "summary"])


@pytest.mark.slow
def test_nothing_acts_in_what_is_printed(tmp_path: Path) -> None:
    """With every payload in every field, no output contains a byte that acts, on stdout or stderr."""
    path = tmp_path / "case.ndjson"
    path.write_bytes(all_of(list(PAYLOADS.values())))
    for arguments in WAYS:
        with case(" ".join(arguments)):
            done = ran(*arguments, path)
            assert done.stdout.count(b"\n") >= 1
            text = done.stdout.decode()
            assert (driving(text) if "summary" in arguments else acting(text)) == []
            assert acting(done.stderr.decode()) == []
    # On a terminal, result line and summary contain nothing that acts, and decode to the same values. Invalid
    # UTF-8, which could be a control character, does not reach it

    def printed(output_format: str, data: bytes) -> str:
        path.write_bytes(data)
        with in_terminal("--output-format", output_format, str(path), size=(200, 24)) as terminal:
            assert terminal.wait_exit() == 0
            return terminal.raw.decode("utf-8", "surrogateescape").replace("\r\n", "\n")

    texts = [text for text in PAYLOADS.values() if not re.search("[\ud800-\udfff]", text)]
    data = init() + result("\n".join(texts))
    for output_format in ("json", "summary"):
        with case(output_format):
            found = printed(output_format, data)
            assert driving(found) == []
            assert json.loads(found)["result"] == session(data).run.result
    assert acting(printed("json", init() + result("a@b").replace(b"@", b"\x9b31m\x9d0;x\x9c\xff"))) == []


@pytest.mark.system
def test_nothing_printed_is_a_runners_command(tmp_path: Path) -> None:
    """With every payload in every field, nothing printed under a CI runner is a command."""
    path = tmp_path / "case.ndjson"
    path.write_bytes(all_of(list(PAYLOADS.values())))
    for runner in ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI"):
        for arguments in (*WAYS, ["--output-format", "json"]):
            with case(f"{runner}, {' '.join(arguments)}"):
                done = ran(*arguments, path, **{runner: "true"})  # type: ignore[arg-type]
                assert commands((done.stdout + done.stderr).decode()) == []


def test_a_cut_result_is_no_runners_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result line cut by raw line ends is printed as one line, without a command in it.

    A failed result is reported on stderr in one line, so its text cannot pass for agentwatch's own.
    """
    path = tmp_path / "case.ndjson"
    path.write_bytes(init() + result(PAYLOADS["forged word of ours"], is_error=True))
    assert ran("--output-format", "json", path).stderr.count(b"\n") == 1
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    path.write_bytes(init() + result("a@b").replace(b"@", b"\n::error::x\r::warning::y "))
    assert commands(ran("--output-format", "json", path).stdout.decode()) == []
