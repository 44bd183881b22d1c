"""Tokens that begin with letters of their vendor."""

from __future__ import annotations

from agentwatch.output.redact.secrets.prefixed import least_run
from tests.conftest import case

PATTERNS: list[tuple[str, int]] = [
    ("[A-Za-z0-9]{25}", 25),
    ("[0-9a-f]{36,40}(?:FFFF)?", 36),
    ("(?:pub_)?[0-9a-f]{31,35}", 31),
    ("[a-z-]{20}", 0),
    ("[A-Za-z0-9_-]{20,60}", 0),
    ("(?:[0-9a-f]{32}|x)", 0),
    ("x[0-9]{20}", 0),
]


def test_the_least_run_of_a_pattern() -> None:
    """It counts letters and digits that every match has in a row; a pattern that may have fewer has none."""
    for pattern, run in PATTERNS:
        with case(pattern):
            assert least_run(pattern) == run
