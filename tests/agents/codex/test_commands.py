"""The script in a call of a shell is found, and nothing else is taken for one."""

from __future__ import annotations

import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents.codex.stream import script_in, script_of
from tests.builders.lines import PROPERTY
from tests.conftest import case


def test_a_script_is_shown_without_its_shell() -> None:
    """A shell with one word after -c or -lc is left out; any other command is shown as it is."""
    cases: list[tuple[str, str]] = [
        ("/bin/bash -lc 'git status --short'", "git status --short"),
        ("bash -lc ls", "ls"),
        ('/bin/zsh -c "echo \\"$HOME\\" \\`x\\` \\\\ \\n"', 'echo "$HOME" `x` \\ \\n'),
        ("sh -c 'it'\\''s'", "it's"),
        ("bash -lc \"a\"'b'c\\ d", "abc d"),
        ("bash -lc ''", ""),
        ("bash -lc", "bash -lc"),
        ("bash -lc 'ls' extra", "bash -lc 'ls' extra"),
        ("bash -lc 'no end", "bash -lc 'no end"),
        ("bash script.sh", "bash script.sh"),
        ("pytest -q", "pytest -q"),
        ("/bin/bashful -lc ls", "/bin/bashful -lc ls"),
        ("", ""),
    ]
    for command, script in cases:
        with case(command):
            assert script_of(command) == script


@PROPERTY
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_quoted_script_is_found(script: str) -> None:
    """What a shell's quoting wraps is found again."""
    assert script_of(f"/bin/bash -lc {shlex.quote(script)}") == script


def test_the_words_of_a_command_are_joined() -> None:
    """The words of a shell's call are its script, those of another program the command."""
    cases: list[tuple[list[object], str]] = [
        (["bash", "-lc", "ls -la"], "ls -la"),
        (["/usr/bin/zsh", "-c", "x"], "x"),
        (["git", "status"], "git status"),
        (["bash", "-lc", "ls", "x"], "bash -lc ls x"),
        (["bash", "x", "ls"], "bash x ls"),
        ([1, None, "ls"], "ls"),
        ([], ""),
    ]
    for words, script in cases:
        with case(words):
            assert script_in(words) == script


@pytest.mark.costs
def test_a_long_command_is_read_in_linear_time() -> None:
    """A megabyte of quotes or backslashes takes seconds at most."""
    began = time.process_time()
    for piece in ("''", '""', "\\x", "a'b'", '"\\"'):
        script_of(f"bash -lc {piece * 200_000}")
    assert time.process_time() - began < 10
