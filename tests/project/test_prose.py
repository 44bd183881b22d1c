"""Docstrings and comments are plain technical English, without phrases that a reader stumbles over."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, case

ROOMS = (
    *("analysis", "api", "base", "catalog", "cli", "feed", "output", "recording", "remote", "rules"),
    *("session", "sources", "text"),
)
"""The rooms whose texts were rewritten."""
PATTERNS = {
    "is not a": re.compile(r"(?<!there )(?<!There )\b(?:is|are) no (?!longer\b)[a-z]+"),
    "say whose it is where it is named": re.compile(r"(?:^|[.:;] )Of [^.]*?,"),
    "continues, or name the activity": re.compile(r"\b(?:goes|go|went|going) on\b(?! with\b)"),
    "received, or reported": re.compile(r"\b(?:heard|hears)\b"),
    "does not exist, or was removed": re.compile(r"\b(?:is|are|was|be) gone\b"),
    "poll, or view": re.compile(r"\b(?:looks?|looked|looking) at\b"),
}
"""The patterns, by the words to write instead."""


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring and comment of a module, each on one line."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, " ".join(text.split())
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def faults(source: str) -> list[str]:
    """Return the line, the words and the advice for each pattern that a module's prose contains."""
    return [
        f"{line}: {found[0]!r}: write {advice!r}"
        for line, text in prose(source)
        for advice, pattern in PATTERNS.items()
        for found in pattern.finditer(text)
    ]


def modules() -> list[Path]:
    """Return the modules of the rooms."""
    return [path for room in ROOMS for path in sorted((ROOT / "agentwatch" / room).rglob("*.py"))]


@pytest.mark.system
def test_the_prose_has_none_of_the_patterns() -> None:
    """No docstring and no comment of the rooms below the screen has one of the patterns."""
    paths = modules()
    assert len(paths) > 200
    for path in paths:
        with case(path.relative_to(ROOT)):
            assert faults(path.read_text("utf-8")) == []


def test_each_pattern_is_found() -> None:
    """A sentence with a pattern is found in a docstring and in a comment; a similar plain one is not."""
    for words, is_fault in (
        ("A mask is no secret.", True),
        ("There is no file, and it is no longer kept.", False),
        ("Of a larger folder, the rest is not listed.", True),
        ("The rest of a larger folder is not listed.", False),
        ("The session goes on.", True),
        ("Its machine was not heard for 90 s.", True),
        ("The file is gone.", True),
        ("The rule looks at calls.", True),
        ("A thread looks up the time.", False),
    ):
        with case(words):
            assert bool(faults(f'"""{words}"""\n')) is is_fault
            assert bool(faults(f"x = 1  # {words}\n")) is is_fault
