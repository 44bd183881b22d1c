"""Finds the script in a command that Codex passes to a shell."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
_FLAGS = frozenset({"-c", "-lc", "-ic", "-lic"})
_PIECE = re.compile(
    r"""'(?P<raw>[^']*+)'|"(?P<quoted>(?:[^"\\]++|\\.)*+)"|\\(?P<escaped>.)|(?P<bare>[^\s'"\\]++)""",
    re.DOTALL,
)
"""Matches one piece of a shell word. Each kind of piece is matched in linear time."""
_ESCAPE = re.compile(r'\\([$`"\\\n])')
"""The escapes that a shell resolves between double quotes."""


def script_of(command: str) -> str:
    """Return the script in a command line, or the command itself if it starts no shell.

    Codex wraps each command in a call of the user's shell and quotes it.

    Example:
        >>> script_of("/bin/bash -lc 'git status --short'")
        'git status --short'
    """
    shell, _, rest = command.partition(" ")
    flag, _, word = rest.partition(" ")
    if not _is_shell(shell) or flag not in _FLAGS or not word:
        return command
    script = _unquoted(word)
    return command if script is None else script


def script_in(arguments: Sequence[object]) -> str:
    """Return the script in the arguments of a program, or all arguments as one line if it is no shell.

    Example:
        >>> script_in(["bash", "-lc", "ls -la"]), script_in(["git", "status"])
        ('ls -la', 'git status')
    """
    words = [word for word in arguments if isinstance(word, str)]
    if len(words) == 3 and _is_shell(words[0]) and words[1] in _FLAGS:
        return words[2]
    return " ".join(words)


def _is_shell(program: str) -> bool:
    return program.rpartition("/")[2] in _SHELLS


def _unquoted(word: str) -> str | None:
    """Return a quoted word without its quotes; None if there is no closing quote, or another word follows."""
    pieces, end = [], 0
    while end < len(word):
        piece = _PIECE.match(word, end)
        if piece is None:
            return None
        end = piece.end()
        quoted = piece["quoted"]
        pieces.append(
            _ESCAPE.sub(r"\1", quoted)
            if quoted is not None
            else piece["raw"] or piece["escaped"] or piece["bare"] or ""
        )
    return "".join(pieces)
