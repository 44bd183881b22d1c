"""The programs of a compound command."""

from __future__ import annotations

from agentwatch.analysis.verdicts import decides_exit, parts_of
from tests.conftest import case


def test_programs_are_named_without_wrappers() -> None:
    """Each program is named once, without assignments, wrappers, folders and arguments."""
    cases: list[tuple[str, list[str]]] = [
        ("pytest -q", ["pytest"]),
        ("cd web && CI=1 npx tsc --noEmit 2>&1 | tail -3", ["cd", "tsc", "tail"]),
        ("uv run python -m mypy src; ls", ["mypy", "ls"]),
        ("./node_modules/.bin/eslint 'a; make b'", ["eslint"]),
        ("(cd a && make)", ["cd", "make"]),
        ("timeout -k 5 2m make; nice -n 10 tsc", ["make", "tsc"]),
        ('echo "x && make" || true', ["echo", "true"]),
        ("", []),
        ("&& | ;", []),
        ('"unclosed', ["unclosed"]),
    ]
    for command, programs in cases:
        with case(command):
            assert [part.program for part in parts_of(command)] == programs


def test_an_exit_code_belongs_to_what_had_to_succeed() -> None:
    """An exit code of 0 means that a program succeeded if only `&&` follow it."""
    cases: list[tuple[str, bool]] = [
        *(("make", True), ("a && make && b", True), ("a; make", True), ("make\n", True)),
        *(("make | b", False), ("make & b", False), ("a || make", False), ("make && b; c", False)),
    ]
    for command, decides in cases:
        with case(command):
            assert (decides_exit(parts_of(command), frozenset({"make"})) == "make") is decides
