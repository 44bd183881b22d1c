"""Recognises repeated shell commands, and commands that run tests."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from agentwatch.analysis.verdicts.programs import READERS, WRAPPERS, Part, decides_exit, only_reads, parts_of

_MOST_CHARACTERS = 2000
_MOST_FILTERS = 4
_MOST_PARTS = 40
"""The exit code of a command with more programs is not interpreted: that takes 4 ms for 600 programs."""
_HINTS = ("test", "jest", "mocha", "spec", "phpunit", "tox", "nox")
"""Each command that runs tests contains one of these. Parsing takes 15 µs, these searches 0.3 µs."""
_RUNNERS = frozenset(
    (
        *("pytest", "py.test", "unittest", "jest", "vitest", "mocha", "ava", "rspec", "phpunit", "ctest"),
        *("tox", "nox", "nextest", "pytest.exe", "trial", "nosetests", "playwright"),
    )
)
_TASK_RUNNERS = frozenset(
    (
        *("go", "cargo", "dotnet", "mvn", "mvnw", "gradle", "gradlew", "node", "deno", "make", "mise"),
        *("just", "swift", "mix", "rake", "bazel", "sbt", "zig", "flutter", "dart", "test"),
    )
)
"""Programs that run tests with certain arguments. After npm, pnpm and yarn the program is `test`."""
_TASK = re.compile(
    r"(?:^|[\s/;&|(])(?:go|cargo|dotnet|mvnw?|gradlew?|node|deno|make|mise|just|swift|mix|rake|bazel|sbt"
    r"|zig|flutter|dart|npm|pnpm|yarn|bun)[ \t]{1,4}(?:-[^\s]{1,40}[ \t]{1,4}){0,3}(?:run[ \t]{1,4})?"
    r"(?:-[^\s]{1,40}[ \t]{1,4}){0,3}(?:--)?(?:test|nextest|verify)(?![a-zA-Z/])"
)


class TestCommand(NamedTuple):
    """A command that runs tests, and the meaning of its exit code."""

    zero_is_green: bool
    """An exit code of 0 means that the tests passed. The exit code of `pytest | tail -3` is that of tail."""
    other_is_red: bool
    """Another exit code means that the tests failed, because nothing else in the command could fail."""


def same_command(command: str, cwd: str | None) -> str | None:
    """Return a key that is equal for two spellings of the same command; None if unknown.

    These parts are ignored: `cd` to the session's own folder, options, redirections, assignments and
    programs such as `npx` or `python -m` before the program, the folder of the program, and filters after
    it. All other words count: `pytest tests/a.py` and `pytest tests/b.py` are two commands. A command with a
    here-document, or whose quotes are still open at the end of its first line, cannot be compared.

    Args:
        command: The command; only its first 2,000 characters are compared.
        cwd: The folder of the session; None if unknown.

    Example:
        >>> same_command("cd /src && python -m pytest -q tests 2>&1 | tail -3", "/src")
        'pytest tests'
    """
    text = command[:_MOST_CHARACTERS]
    if "<<" in text or text[:1] == "#" or text.count('"') % 2 or text.count("'") % 2:
        return None
    if text.startswith("cd "):
        folder, sign, rest = text.partition("&&")
        if sign and cwd and folder[3:].strip(" \"'").rstrip("/\\") == cwd.rstrip("/\\"):
            text = rest
    for sign in (";", *"|" * _MOST_FILTERS):
        before, _, last = text.rpartition(sign)
        if before and last.split(None, 1)[:1] and last.split(None, 1)[0] in READERS:
            text = before.rstrip("|& ")
    words: list[str] = []
    for word in text.split():
        if word[0] == "-" or ">" in word or (not words and (word in WRAPPERS or "=" in word)):
            continue
        words.append(word if words else word.rpartition("/")[2])
    return " ".join(words) or None


def finds_nothing(command: str) -> bool:
    """Return whether an exit code of 1 is no failure of a command: it only searches, compares or prints."""
    words = command[:_MOST_CHARACTERS].split(None, 1)
    return bool(words) and words[0] in READERS and only_reads(parts_of(command))


def test_command(command: str) -> TestCommand | None:
    """Return the meaning of the exit code of a command that runs tests; None if it runs no tests."""
    text = command[:_MOST_CHARACTERS]
    return _test_command(text) if any(hint in text for hint in _HINTS) else None


@lru_cache(maxsize=256)
def _test_command(text: str) -> TestCommand | None:
    parts = parts_of(text)
    tests = frozenset(part.program for part in parts if _runs_tests(part, text))
    if not tests:
        return None
    if len(parts) > _MOST_PARTS:
        return TestCommand(zero_is_green=False, other_is_red=False)
    others = [part for part in parts if part.program not in tests and part.program not in READERS]
    return TestCommand(decides_exit(parts, tests) is not None, not others)


def _runs_tests(part: Part, text: str) -> bool:
    program = part.program
    if program in _RUNNERS:
        return True
    is_task = program in _TASK_RUNNERS or program.startswith("test:")
    return is_task and _TASK.search(text) is not None
