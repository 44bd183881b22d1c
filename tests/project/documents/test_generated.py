"""What docs/reference.py writes is up to date: pages, the man page, completions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

from agentwatch.cli.app import agentwatch as program
from tests.conftest import ROOT
from tests.project.documents.doc_claims import commands_of

MAN_PAGE = ROOT / "docs" / "man" / "agentwatch.1"


def every_command(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Yield each command below a group with its name: `engine init`."""
    for name, command in commands_of(group).items():
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", found) for below, found in every_command(command))
        else:
            yield name, command


def test_what_is_generated_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python docs/reference.py` has nothing to write."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    generated = import_module("reference").generated()
    old = [f"docs/{name}" for name, text in generated.items() if (ROOT / "docs" / name).read_text() != text]
    assert not old, f"not up to date: {', '.join(old)}: run .venv/bin/python docs/reference.py"


@pytest.mark.system
def test_a_file_that_is_not_up_to_date_is_named(tmp_path: Path) -> None:
    """`--check` names a file that another version has written, and leaves it alone."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("site", ".cache"))
    old = tmp_path / "docs" / "man" / "agentwatch.1"
    old.write_text("old\n")
    for arguments, code, content in ((["--check"], 1, "old\n"), ([], 0, MAN_PAGE.read_text())):
        ran = subprocess.run(
            [sys.executable, tmp_path / "docs" / "reference.py", *arguments],
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, ran.stdout, old.read_text()) == (code, "man/agentwatch.1\n", content)


def test_the_man_page_is_complete() -> None:
    """It has each command and option, and sections for what is not in `--help`; mandoc reports nothing."""
    text = MAN_PAGE.read_text()
    assert text.isascii()
    plain = text.replace("\\-", "-")
    for section in ("NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"):
        assert f"\n.SH {section}\n" in plain
    for name, command in every_command(program):
        assert (f".SS agentwatch {name}\n" in plain) is not command.hidden
        for param in command.params:
            is_hidden = isinstance(param, click.Option) and param.hidden
            for option in (option for option in param.opts if option[0] == "-"):
                assert (f"\\fB{option}\\fR" in plain) is not is_hidden, (name, option)
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    linted = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "all", MAN_PAGE], capture_output=True, text=True, check=False
    )
    assert (linted.returncode, linted.stdout) == (0, "")


def test_text_of_a_page_is_safe_in_the_man_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backslashes, dots and quotes, and characters beyond ASCII, are shown as they are."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    lines = import_module("generating.man_page")._lines
    assert [*lines(".SH 'a' \\e `b\\|c` – [words](page.md#x)")] == [
        "\\&.SH \\(aqa\\(aq \\ee \\fBb|c\\fR \\[u2013] words"
    ]
