"""A span names the first program of a command, and never its arguments."""

from __future__ import annotations

from agentwatch.output.export.otlp.spans import first_program
from tests.conftest import case

COMMANDS: list[tuple[str, str | None]] = [
    ("pytest -q tests", "pytest"),
    ("cd web && CI=1 npx tsc", "npx"),
    ("cd web; ls", "ls"),
    ("cd web\nmake all", "make"),
    ("cd web", "cd"),
    ("(cd web && ./run.sh)", "run.sh"),
    ("/usr/bin/python3.11 -c 'import x'", "python3.11"),
    ("TOKEN='a secret b' make", "make"),
    ("echo hidden | cat", "echo"),
    ("$(hidden) x", None),
    ("'my hidden' x", None),
    ("'hidden", None),
    ("A=hidden", None),
    ("", None),
    ("&& ||", None),
    ("a" * 100, None),
    ("\ud800 x", None),
]


def test_the_first_program_is_found() -> None:
    """Folders, assignments and signs before the program are skipped; what is no plain name is unknown."""
    for command, program in COMMANDS:
        with case(command):
            assert first_program(command) == program
