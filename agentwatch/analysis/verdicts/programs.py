"""The programs that a shell command runs, as far as its words show them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

_MOST_CHARACTERS = 2000
_MOST_CACHED = 256
"""Commands whose parts are kept: finding them takes 20 µs, and each is asked for twice or more."""
_TOKEN = re.compile(
    r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[0-9]?[<>]&[0-9-]|&>|&&|\|\||[;|&\n]|[^\s'"\\;|&<>]+|\s+|.""", re.DOTALL
)
_OPERATORS = frozenset({"&&", "||", ";", "|", "&", "\n"})
WRAPPERS = frozenset(
    (
        *("npx", "npm", "pnpm", "yarn", "bun", "bunx", "uv", "poetry", "pipenv", "hatch", "pdm"),
        *("env", "time", "command", "exec", "nice", "sudo", "run", "dlx", "python", "python3", "-m"),
        *("timeout", "gtimeout", "stdbuf", "unbuffer", "xvfb-run"),
    )
)
"""Words before the program proper: `uv run`, `python -m`, `npx`."""
_NUMBER = re.compile(r"[0-9.]{1,12}[smhd]?$")
"""The value of an option of a wrapper, such as the seconds of `timeout`."""
_ASKS = frozenset(
    (
        *("--version", "--help", "-h", "-v", "-V", "--init", "--showConfig", "--print-config"),
        *("-n", "--dry-run", "--just-print", "--env-info"),
    )
)
"""Options with which tsc, eslint and make check and build nothing."""
READERS = frozenset(
    (
        *("cat", "head", "tail", "less", "more", "bat", "grep", "rg", "ag", "sed", "awk", "cut", "sort"),
        *("ls", "find", "fd", "wc", "diff", "echo", "printf", "jq", "git", "gh", "cd", "true", "tee"),
    )
)
"""Programs that print text which exists already. A closing line in their output is no test of this call."""


class Part(NamedTuple):
    """One program of a compound command."""

    program: str
    before: str
    """The operator before it; empty for the first program."""
    after: str
    """The operator after it; empty for the last program."""
    words: str
    """The program and its arguments, with one blank between two words."""


@lru_cache(_MOST_CACHED)
def parts_of(command: str) -> tuple[Part, ...]:
    """Return the programs of a command with the operators between them, from its first 2,000 characters.

    Wrappers such as `npx` and `python -m`, assignments and options before a program are skipped.

    Example:
        >>> [part.program for part in parts_of("cd web && CI=1 npx tsc --noEmit | tail -3")]
        ['cd', 'tsc', 'tail']
    """
    return _parts_of(command[:_MOST_CHARACTERS])


@lru_cache(_MOST_CACHED)
def _parts_of(command: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for part in segments_of(command):
        if part.program:
            parts.append(part)
        elif parts:
            parts[-1] = parts[-1]._replace(after=part.after)
    return tuple(parts)


@lru_cache(_MOST_CACHED)
def segments_of(command: str) -> tuple[Part, ...]:
    """Return the parts of a command as `parts_of` does, also those that name no program, such as `CI=1`."""
    segments: list[Part] = []
    program, before = "", ""
    word = ""
    words: list[str] = []
    for token in [*_TOKEN.findall(command[:_MOST_CHARACTERS]), ";"]:
        if not (token in _OPERATORS or token.isspace()):
            word += token
            continue
        program = program or _program(word)
        words.append(word)
        word = ""
        if token in _OPERATORS:
            if said := " ".join(filter(None, words)):
                segments.append(Part(program, before, token, said))
                program, before = "", token
            elif not token.isspace() and segments:
                segments[-1], before = segments[-1]._replace(after=token), token
            words.clear()
    if segments:
        segments[-1] = segments[-1]._replace(after="")
    return tuple(segments)


def main_program(command: str) -> str:
    """Return the program that a command is about: the first that does not only print what exists already.

    Example:
        >>> main_program("cd web && CI=1 npx tsc --noEmit | tail -3"), main_program("ls -l | head")
        ('tsc', 'ls')
    """
    programs = [part.program for part in parts_of(command)]
    return next((each for each in programs if each not in READERS), programs[0] if programs else "")


def only_reads(parts: Sequence[Part]) -> bool:
    """Return whether all programs of a command only print text that exists already."""
    return bool(parts) and {part.program for part in parts} <= READERS


def decides_exit(parts: Sequence[Part], programs: frozenset[str]) -> str | None:
    """Return which of some programs succeeded if the command exited with 0; None if no such program did.

    For `tsc && echo done` it is tsc. For `tsc | tail -3`, `tsc || true` and `tsc; echo done` it is None, and
    for `tsc --version`, which checks nothing.
    """
    for at, part in enumerate(parts):
        if part.program not in programs or not _ASKS.isdisjoint(part.words.split(" ")):
            continue
        follow = [other.after for other in parts[at:-1]]
        if part.before != "||" and all(sign == "&&" for sign in follow):
            return part.program
    return None


def _program(word: str) -> str:
    """Return the program that a word names; empty for a wrapper, an option or an assignment."""
    name = word.strip("'\"()").rpartition("/")[2]
    is_other = word.startswith("-") or "=" in word or name in WRAPPERS or word[:1] in "<>&"
    is_other = is_other or _NUMBER.match(name) is not None
    return "" if is_other else name
