"""The programs and the paths in a shell command, as far as its words show them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from agentwatch.rules.calls.shell_words import SUBSTITUTED, Kind, shell_tokens

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "su"})
"""Programs that run the text after `-c`."""
WRAPPERS: Final = frozenset(
    (
        *("sudo", "doas", "env", "command", "exec", "nice", "nohup", "timeout", "builtin", "time", "stdbuf"),
        *("xargs", "setsid", "ionice", "watch", "npx", "bunx", "uvx"),
    )
)
"""Programs that start the program in their arguments."""
_RUN = frozenset({"run"})
_EXEC = frozenset({"exec", "dlx"})
RUNNERS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "hatch", "pdm", "pipx", "rye"), _RUN),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bundle"), _EXEC),
    "bun": frozenset({"x"}),
}
"""Programs that start another program after a subcommand: `uv run pytest`."""
OPTIONS_WITH_VALUE: Final[Mapping[str, frozenset[str]]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-T", "-U", "-R", "-D", "--user", "--group"}),
    "doas": frozenset({"-u", "-C"}),
    "env": frozenset({"-u", "-C", "--unset", "--chdir"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "ionice": frozenset({"-c", "-n"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "time": frozenset({"-f", "-o"}),
    "watch": frozenset({"-n", "--interval"}),
    "exec": frozenset({"-a"}),
    "xargs": frozenset({"-I", "-n", "-P", "-d", "-L", "-s", "-a", "-E"}),
    "npx": frozenset({"-p", "--package"}),
    "uvx": frozenset({"--from", "--with", "-p", "--python"}),
    "uv": frozenset({"--with", "--from", "-p", "--python", "--directory", "--project", "--extra", "--group"}),
    "poetry": frozenset({"-C", "-P", "--directory", "--project"}),
    "pnpm": frozenset({"-C", "--dir", "--filter", "-F"}),
}
"""Options whose next word is a value, not a program."""
RUNS_NEXT: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
"""Options of `find` before a program."""
HEADS: Final = frozenset({"for", "case", "select", "function"})
"""Keywords before words that are not programs."""
KEYWORDS: Final = HEADS | {
    *("then", "do", "else", "elif", "if", "while", "until", "!", "{", "}", "done", "fi", "esac", "in"),
}
"""Keywords in the place of a program."""


_MOST_CHARACTERS = 4096
_MOST_READ = 512
"""Commands whose words are kept. One of 4,096 characters may take 20 KB; 4,096 of them took 60 MB more."""
_MOST_DEPTH = 3
"""Shells within shells: `sh -c "bash -c '…'"`."""
_NO_FILES = frozenset({"", SUBSTITUTED, "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_HOMES = ("${HOME}", "$HOME")
_SCRIPT = re.compile(r"-[a-z]{0,8}c")
"""The option of a shell before the text of a script: `-c`, `-lc`."""


class Command(NamedTuple):
    """The programs and possible paths in a command."""

    programs: tuple[str, ...]
    """Each program of a compound command, in order, without its folder."""
    words: tuple[str, ...]
    """The words that may be paths: arguments without blanks, and targets of redirections.

    A relative one after `cd FOLDER` begins with the folder.
    """


@lru_cache(maxsize=_MOST_READ)
def read_command(command: str) -> Command:
    """Return the programs and possible paths in the first 4,096 characters of a command, in linear time.

    The programs include those of pipes, lists, substitutions and groups, those that `sudo`, `xargs` or
    `find -exec` start, and those in the text of `sh -c`. A here-document is data, unless a shell reads it.

    Example:
        >>> read_command("cd web && sudo rm -rf build | tee log").programs
        ('cd', 'sudo', 'rm', 'tee')
        >>> read_command("sh -c 'curl x.io | bash' > /tmp/out").programs
        ('sh', 'curl', 'bash')
    """
    found = _Found({}, {})
    _read(command[:_MOST_CHARACTERS], found, 0)
    return Command(tuple(found.programs), tuple(found.words))


class _Found(NamedTuple):
    """The programs and words that were found, in order."""

    programs: dict[str, None]
    words: dict[str, None]


def _read(text: str, found: _Found, depth: int) -> None:
    """Add the programs and words of a command."""
    outer: list[_SimpleCommand] = []
    command = _SimpleCommand(found, "", depth)
    has_shell = False
    """Whether a shell was started in this line, which may run a here-document of the line."""
    for kind, word in shell_tokens(text):
        has_shell = has_shell or command.program in SHELLS
        match kind:
            case Kind.WORD:
                command.add(word)
            case Kind.FILE:
                command.add_path(word)
            case Kind.DOCUMENT if has_shell and depth < _MOST_DEPTH:
                _read(word, found, depth + 1)
            case Kind.OPEN:
                outer.append(command)
                if word != "(" or not command.is_test:
                    command = _SimpleCommand(found, command.folder, depth)
            case Kind.CLOSE:
                command = outer.pop()
            case Kind.SEPARATOR if word in (";", "\n") or not command.is_test:
                command = _SimpleCommand(found, command.folder, depth)
                has_shell = has_shell and word != "\n"


class _SimpleCommand:
    """One program with its arguments. Its words are added in order."""

    def __init__(self, found: _Found, folder: str, depth: int) -> None:
        self.folder = folder
        """The folder of the command, relative to that of the whole text."""
        self.program = ""
        """The last program that was found."""
        self._found = found
        self._depth = depth
        self._wants_program = True
        self._run_words: frozenset[str] = frozenset()
        """If not empty, one of these words must come before the program: `run` after `uv`."""
        self._before = ""

    @property
    def is_test(self) -> bool:
        """Whether the command is `[[ … ]]`, in which `&&` and `(` begin no command."""
        return self.program == "[[" and self._before != "]]"

    def add(self, word: str) -> None:
        """Add a word."""
        before, self._before = self._before, word
        if self._wants_program:
            if before not in OPTIONS_WITH_VALUE.get(self.program, ()) and not self._is_no_program(word):
                self._begin(word.rpartition("/")[2], word)
        elif self._depth < _MOST_DEPTH and self._is_script(before):
            _read(word, self._found, self._depth + 1)
        elif before in RUNS_NEXT or (before == "-m" and self.program.startswith("python")):
            self._found.programs.setdefault(word.rpartition("/")[2])
        else:
            self.add_path(word)
            if self.program == before == "cd":
                self.folder = posixpath.join(self.folder, word)

    def add_path(self, word: str) -> None:
        """Add a word that may be a path: `x` of `--out=x` and of `of=x`."""
        word = word.rpartition("=")[2]
        if word in _NO_FILES or word.startswith("-") or "://" in word or any(map(str.isspace, word)):
            return
        for home in _HOMES:
            if word.startswith(home) and word[len(home) : len(home) + 1] in ("", "/"):
                word = "~" + word[len(home) :]
        self._found.words.setdefault(word if word[0] in "~$" else posixpath.join(self.folder, word))

    def _begin(self, name: str, word: str) -> None:
        """Add the program, or a word before it."""
        if self._run_words:
            self._wants_program, self._run_words = name in self._run_words, frozenset()
            if not self._wants_program:
                self.add_path(word)
            return
        if name in KEYWORDS:
            self._wants_program = name not in HEADS
            return
        self._found.programs.setdefault(name)
        self.program = name
        self._run_words = RUNNERS.get(name, frozenset())
        self._wants_program = name in WRAPPERS or bool(self._run_words)

    def _is_no_program(self, word: str) -> bool:
        """Return whether a word before the program is an option, an assignment or a number of `timeout`."""
        if not word or word[0] == "-" or "=" in word.partition("/")[0]:
            return True
        return bool(self.program) and word[0].isdigit()

    def _is_script(self, before: str) -> bool:
        """Return whether the next word is the text of a script."""
        return self.program == "eval" or (self.program in SHELLS and bool(_SCRIPT.fullmatch(before)))
