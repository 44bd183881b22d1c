"""Two spellings of one command are the same; what cannot be compared is never the same."""

from __future__ import annotations

from agentwatch.analysis.episodes import same_command
from tests.conftest import case


def test_spellings_of_a_command() -> None:
    """What does not change what is run is left out; an incomplete command cannot be compared."""
    cases: list[tuple[str, str | None, str | None]] = [
        ("make  all", None, "make all"),
        ("cd web && npm test", None, "cd web && npm test"),
        ("cd '/src/' && CI=1 npx jest a --watch=false", "/src", "jest a"),
        ("./node_modules/.bin/jest a 2>&1 || true", "/src", "jest a"),
        ("make all; echo $?", "/src", "make all"),
        ("make | grep error | tail -3", "/src", "make"),
        ("make | ./deploy", "/src", "make | ./deploy"),
        ("python - <<EOF", "/src", None),
        ("python -c 'print(1)", "/src", None),
        ('git commit -m "one', "/src", None),
        ("# Build it", "/src", None),
        ("-x", "/src", None),
        ("", None, None),
    ]
    for command, cwd, same in cases:
        with case((command, cwd)):
            assert same_command(command, cwd) == same
