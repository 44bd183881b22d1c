"""The program of the hooks is installed, and known by the command that runs it."""

from __future__ import annotations

from pathlib import Path

from agentwatch.catalog.hooks.program import Program, is_own


def test_the_program_is_written_again_if_it_was_changed(program: Program) -> None:
    """It is the program of this version, which only the user may write."""
    program.path.write_text("#!/bin/sh\nexit 2\n")
    assert not program.is_installed
    program.install()
    assert program.is_installed
    assert program.path.stat().st_mode & 0o777 == 0o700
    program.path.rename(program.path.with_name("moved"))
    program.path.symlink_to("moved")
    assert not program.is_installed


def test_only_our_own_commands_are_ours() -> None:
    """For any folder; another program with a similar name is not ours."""
    assert is_own(Program(Path("/some where/hooks")).command("codex", "Stop"))
    others: list[object] = [None, 1, [], "", "agentwatch-hook", "echo /agentwatch-hook; exit 0"]
    assert not any(map(is_own, [*others, "[ -x a ] && b; exit 0"]))
