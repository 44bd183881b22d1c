"""Calls of the same command are recognised, however its words are written."""

from __future__ import annotations

from agentwatch.analysis.verdict_history import command_key
from tests.conftest import case

CWD = "/home/me/app"


def test_the_same_command() -> None:
    """Blanks, the cwd, time limits, stderr and what only prints the result make no other command."""
    cases: list[str] = [
        *(
            "pytest -q",
            "  pytest   -q ",
            "pytest -q 2>&1",
            "pytest -q | tail -3",
            "pytest -q 2>&1 | tee a | tail",
        ),
        *("pytest -q || true", "pytest -q; echo $?", "pytest -q && echo done", "timeout 60 pytest -q"),
        *("timeout -k 5 2m pytest -q", "time pytest -q", "pytest -q 2>/dev/null", "pytest -q 2> /dev/null"),
        *("cd /home/me/app && pytest -q", "cd /home/me/app; pytest -q", "cd . && pytest -q"),
        *("cd /home/me/app/\npytest -q", "cd '/home/me/app' && pytest -q", "cd web && cd .. && pytest -q"),
    ]
    for command in cases:
        with case(command):
            assert command_key(command, CWD) == "pytest -q"


def test_other_commands() -> None:
    """Another folder, other arguments, and another command before it make another command."""
    cases: list[tuple[str, str]] = [
        ("cd web && npm test", "cd web && npm test"),
        ("cd /home/me/app/web && npm test | tail", "cd web && npm test"),
        ("cd web && cd js && npm test", "cd web/js && npm test"),
        ("cd /other && pytest", "cd /other && pytest"),
        ("cd ~/app && pytest", "cd ~/app && pytest"),
        ("CI=1 npx  tsc && pytest", "CI=1 npx tsc && pytest"),
        ("pytest -k 'a  b'", "pytest -k 'a  b'"),
        ("ruff check .\npytest", "ruff check . ; pytest"),
        ("pytest -x", "pytest -x"),
        ("cd web", "cd web"),
        ("", ""),
    ]
    for command, key in cases:
        with case(command):
            assert command_key(command, CWD) == key


def test_without_a_cwd_each_folder_counts() -> None:
    """If the cwd is unknown, `cd` remains."""
    assert command_key("cd /home/me/app && pytest", None) == "cd /home/me/app && pytest"
