"""Every payload, printed: it does not act on a terminal, and is no command to a CI runner."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.builders.lines import init, result, session
from tests.builders.packed import all_of
from tests.builders.payloads import PAYLOADS
from tests.conftest import case
from tests.harness.on_a_pty import in_terminal
from tests.harness.program import ran
from tests.harness.runners import commands
from tests.harness.terminal_oracle import acting, driving

FORMATS = (["log"], ["drift"], ["-p"], ["-p", "--brief"], ["--output-format", "summary"])


@pytest.mark.slow
def test_nothing_acts_in_what_is_printed(tmp_path: Path) -> None:
    """With every payload in every field, no output contains a byte that acts, on stdout or stderr."""
    path = tmp_path / "case.ndjson"
    path.write_bytes(all_of(list(PAYLOADS.values())))
    for arguments in FORMATS:
        with case(" ".join(arguments)):
            done = ran(*arguments, path)
            assert done.stdout.count(b"\n") >= 1
            printed = done.stdout.decode()
            assert (driving(printed) if "summary" in arguments else acting(printed)) == []
            assert acting(done.stderr.decode()) == []


@pytest.mark.slow
@pytest.mark.parametrize("output_format", ["json", "summary"])
def test_nothing_acts_in_the_json_on_a_terminal(tmp_path: Path, output_format: str) -> None:
    """On a terminal, result line and summary contain nothing that acts, and decode to the same values."""
    texts = [text for text in PAYLOADS.values() if not re.search("[\ud800-\udfff]", text)]
    path = tmp_path / "case.ndjson"
    path.write_bytes(init() + result("\n".join(texts)))
    with in_terminal("--output-format", output_format, str(path), size=(200, 24)) as terminal:
        assert terminal.wait_exit() == 0
        printed = terminal.raw.decode()
    assert driving(printed.replace("\r\n", "\n")) == []
    assert json.loads(printed)["result"] == session(init(), result("\n".join(texts))).run.result


@pytest.mark.slow
def test_invalid_utf8_does_not_act_in_the_json_on_a_terminal(tmp_path: Path) -> None:
    """On a terminal, the result line contains no invalid UTF-8, which could be a control character."""
    path = tmp_path / "case.ndjson"
    path.write_bytes(init() + result("a@b").replace(b"@", b"\x9b31m\x9d0;x\x9c\xff"))
    with in_terminal("--output-format", "json", str(path), size=(200, 24)) as terminal:
        assert terminal.wait_exit() == 0
        assert acting(terminal.raw.decode("utf-8", "surrogateescape").replace("\r\n", "\n")) == []


@pytest.mark.system
def test_nothing_printed_is_a_runners_command(tmp_path: Path) -> None:
    """With every payload in every field, nothing printed under a CI runner is a command."""
    path = tmp_path / "case.ndjson"
    path.write_bytes(all_of(list(PAYLOADS.values())))
    for runner in ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI"):
        for arguments in (*FORMATS, ["--output-format", "json"]):
            with case(f"{runner}, {' '.join(arguments)}"):
                done = ran(*arguments, path, **{runner: "true"})  # type: ignore[arg-type]
                assert commands((done.stdout + done.stderr).decode()) == []


def test_a_cut_result_is_no_runners_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result line cut by raw line ends is printed as one line, without a command in it."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    path = tmp_path / "case.ndjson"
    path.write_bytes(init() + result("a@b").replace(b"@", b"\n::error::x\r::warning::y "))
    assert commands(ran("--output-format", "json", path).stdout.decode()) == []


def test_a_failure_is_reported_in_one_line(tmp_path: Path) -> None:
    """A failed result is reported on stderr in one line, so its text cannot pass for agentwatch's own."""
    path = tmp_path / "case.ndjson"
    path.write_bytes(init() + result(PAYLOADS["forged word of ours"], is_error=True))
    assert ran("--output-format", "json", path).stderr.count(b"\n") == 1
