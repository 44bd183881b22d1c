"""The command line knows the formats of other packages, and reports a broken one in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.formats.plugin import STREAM, install
from tests.conftest import ROOT, Saver
from tests.harness.program import PLAIN, watch

OUTPUT = b"Ran terminal command pytest -q (failed: exit 1)\n"


def path_with(folder: Path) -> str:
    """Return a PYTHONPATH with the program and a folder."""
    return f"{ROOT}:{folder}"


@pytest.mark.slow
def test_the_format_of_a_plugin_is_detected(tmp_path: Path, recording: Saver) -> None:
    """A stream in the format of an installed package is printed like any other."""
    done = watch("-p", recording(STREAM), PYTHONPATH=path_with(install(tmp_path)))
    assert (done.returncode, done.stdout, done.stderr) == (0, OUTPUT, b"")


@pytest.mark.system
def test_the_format_of_a_plugin_can_be_named(tmp_path: Path, recording: Saver) -> None:
    """`--format` reads a stream in a plugin's format from its first line, and its help names the format."""
    path = path_with(install(tmp_path))
    done = watch("-p", "--format", "tern", recording(STREAM), PYTHONPATH=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, OUTPUT, b"")
    assert b"tern" in watch("--help", PYTHONPATH=path).stdout
    wrong = watch("-p", "--format", "trn", recording(STREAM), PYTHONPATH=path)
    assert wrong.returncode == 2
    assert wrong.stderr.endswith(b", tern (see agentwatch --help)\n")
    assert wrong.stderr.count(b"\n") == 1


@pytest.mark.system
def test_a_broken_plugin_is_one_line(tmp_path: Path, recording: Saver) -> None:
    """A plugin that cannot be imported is one line on stderr, also for each command that reads a stream."""
    path = path_with(install(tmp_path, "1 / 0"))
    problem = b"agentwatch: format plugin tern: ZeroDivisionError: division by zero\n"
    for command in (["-p"], ["log"], ["drift"]):
        done = watch(*command, recording(STREAM), PYTHONPATH=path)
        assert done.returncode == 2
        assert done.stderr.count(problem) == 1
        assert b"Traceback" not in done.stderr
    assert watch("-p", PLAIN, PYTHONPATH=path).stderr == b""


@pytest.mark.system
def test_a_broken_plugin_cannot_be_named(tmp_path: Path, recording: Saver) -> None:
    """Naming the format of a plugin that fails is wrong use, with the reason in one line."""
    path = path_with(install(tmp_path, "AGENT = 7"))
    done = watch("-p", "--format", "tern", recording(STREAM), PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stderr == (
        b"agentwatch: format plugin tern: tern_format:AGENT is not an agentwatch.agents.Agent"
        b" (see agentwatch --help)\n"
    )


@pytest.mark.system
@pytest.mark.parametrize("words", ["\x1b[31mred", "::error::x"])
def test_the_words_of_a_plugin_are_made_safe(words: str, tmp_path: Path, recording: Saver) -> None:
    """The message of a plugin's exception cannot act on a terminal or on a CI runner."""
    path = path_with(install(tmp_path, f"raise ValueError({words!r})"))
    done = watch("-p", recording(STREAM), PYTHONPATH=path, CI="1", GITHUB_ACTIONS="true")
    assert b"\x1b" not in done.stderr
    assert done.stderr.count(b"\n") == 2
