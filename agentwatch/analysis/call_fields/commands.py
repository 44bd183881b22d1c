"""The programs and the paths in a shell command, as far as its words show them."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import NamedTuple

_MOST_CHARACTERS = 4096
_MOST_DEPTH = 3
"""Shells within shells: `sh -c "bash -c '…'"`."""
_TOKEN = re.compile(
    r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[0-9]?[<>]&[0-9-]|&>|&&|\|\||\$\(|[;|&\n()`]|[<>]+|[^\s'"\\;|&<>()`$]+|\s+|.""",
    re.DOTALL,
)
_OPERATORS = frozenset({"&&", "||", ";", "|", "&", "\n", "(", ")", "$(", "`"})
_WRAPPERS = frozenset(
    (
        *("sudo", "doas", "env", "time", "command", "exec", "nice", "nohup", "xargs", "timeout", "builtin"),
        *("npx", "bunx", "uvx", "pipx", "uv", "poetry", "pipenv", "hatch", "pdm", "run", "dlx"),
        *("then", "do", "else", "elif", "if", "while", "until", "!", "{"),
    )
)
"""Words after which another program is named."""
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
_SCRIPT = re.compile(r"-[a-z]{0,8}c")
"""The option of a shell before the text of a script: `-c`, `-lc`."""
_RUNS_NEXT = frozenset({"-exec", "-execdir", "-ok"})
"""Options of `find` before a program."""
_KEYWORDS = frozenset(
    (
        *("then", "do", "else", "elif", "if", "while", "until", "!", "{", "}", "run", "dlx"),
        *("for", "case", "in", "done", "fi", "esac", "function"),
    )
)
"""Words in the place of a program that are none."""
_NO_FILES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})


class Command(NamedTuple):
    """What the words of a command name."""

    programs: tuple[str, ...]
    """Each program of a compound command, in order, without its folder."""
    words: tuple[str, ...]
    """The words that may be paths: arguments without blanks, and targets of redirections.

    A relative one after `cd FOLDER` begins with the folder.
    """


@lru_cache(maxsize=4096)
def read_command(command: str) -> Command:
    """Return what a command names, from its first 4,096 characters. The cost is linear.

    The programs include those of pipes, lists, substitutions and groups, those that `sudo`, `xargs` or
    `find -exec` start, and those in the text of `sh -c`.

    Example:
        >>> read_command("cd web && sudo rm -rf build | tee log").programs
        ('cd', 'sudo', 'rm', 'tee')
        >>> read_command("sh -c 'curl x.io | bash' > /tmp/out").programs
        ('sh', 'curl', 'bash')
    """
    programs: dict[str, None] = {}
    words: dict[str, None] = {}
    _read(command[:_MOST_CHARACTERS], programs, words, 0)
    return Command(tuple(programs), tuple(words))


def _read(command: str, programs: dict[str, None], words: dict[str, None], depth: int) -> None:
    """Add the programs and words of a command."""
    folder = ""
    for simple in _simple_commands(command):
        wants_program, before, program = True, "", ""
        for word in simple:
            name = word.rpartition("/")[2]
            if wants_program:
                if not _is_no_program(word):
                    if name not in _KEYWORDS:
                        programs.setdefault(name)
                    wants_program, program = name in _WRAPPERS, name
            elif program in _SHELLS and _SCRIPT.fullmatch(before) and depth < _MOST_DEPTH:
                _read(word, programs, words, depth + 1)
            elif before in _RUNS_NEXT or (before == "-m" and program.startswith("python")):
                programs.setdefault(name)
            elif _may_be_path(word):
                words.setdefault(word if word[0] in "~$" else posixpath.join(folder, word))
                if program == before == "cd":
                    folder = posixpath.join(folder, word)
            if "$(" in word and depth < _MOST_DEPTH:
                _read(word.partition("$(")[2], programs, words, depth + 1)
            before = word


def _may_be_path(word: str) -> bool:
    if not word or word.startswith("-") or word in _NO_FILES:
        return False
    return not any(map(str.isspace, word))


def _is_no_program(word: str) -> bool:
    """Return whether a word before the program is an option, an assignment or a number of `timeout`."""
    return not word or word[0] in "-<>" or "=" in word.partition("/")[0] or word[0].isdigit()


def _simple_commands(command: str) -> list[list[str]]:
    """Return the words of each command between two operators, without quotes and redirection signs."""
    found: list[list[str]] = [[]]
    word: str | None = None
    for token in [*_TOKEN.findall(command), ";"]:
        if token in _OPERATORS or token.isspace() or token[0] in "<>" or token[1:2] in ("<", ">"):
            if word is not None:
                found[-1].append(word)
                word = None
            if token in _OPERATORS or "\n" in token:
                found.append([])
        else:
            word = (word or "") + _unquoted(token)
    return [words for words in found if words]


def _unquoted(token: str) -> str:
    if len(token) >= 2 and token[0] in "'\"" and token[-1] == token[0]:
        inner = token[1:-1]
        return inner if token[0] == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")
    return token[1:] if len(token) == 2 and token[0] == "\\" else token
