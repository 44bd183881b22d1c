"""The words by which calls of the same command are counted together."""

from __future__ import annotations

import re
from itertools import pairwise

from agentwatch.analysis.verdicts.programs import READERS, main_program, segments_of

_GROUPED = frozenset(
    (
        *("git", "gh", "cargo", "go", "dotnet", "mvn", "gradle", "gradlew", "mvnw", "make", "just", "task"),
        *("docker", "podman", "docker-compose", "kubectl", "helm", "terraform", "aws", "gcloud", "az"),
        *("pip", "pip3", "apt", "apt-get", "brew", "systemctl", "bundle", "rake", "rails", "composer"),
        *("mix", "swift", "flutter", "dart", "deno", "nx", "turbo", "nix", "bazel", "conda", "rustup"),
    )
)
"""Programs whose first argument says what they do."""
_RUNNERS = frozenset({"npm", "pnpm", "yarn", "bun"})
"""Programs that run the scripts of a package: `npm run build`, `npm test`."""
_MANAGERS = frozenset({*_RUNNERS, "uv", "poetry", "pipenv", "hatch", "pdm"})
_STARTERS = frozenset({"run", "exec", "dlx", "x"})
"""Words after a manager, before the program that it starts."""
_INTERPRETERS = frozenset({"python", "python3"})
_BEFORE = frozenset({"cd", "echo", "printf", "true"})
"""Programs that are the purpose of a command only if it has no other."""
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "(", "time", "nice"})
_NO_PROGRAMS = frozenset(
    (
        *("", "for", "in", "case", "esac", "fi", "done", "}", ")", "set", "export", "unset", "local"),
        *("source", ".", "[", "[[", "exit", "return", "trap", "wait", "read", "shift", "break", "continue"),
    )
)
"""Words of the shell's language."""
_NAME = re.compile(r"[a-z][a-z0-9:._-]{0,40}")
_LIMIT = re.compile(r"timeout (?:-\S{1,20} ){0,4}[0-9.]{1,9}[smhd]? ")
_NUMBER = re.compile(r"[0-9]{4,40}|(?=[0-9a-f]{0,7}[0-9])[0-9a-f]{8,64}")
"""A number, a date or a hash in the name of a script."""
_HEREDOC = re.compile(r"<<-?[ \t]{0,8}['\"]?([A-Za-z_][A-Za-z0-9_]{0,60})")
_MOST_READ = 2000
_MOST_SHOWN = 60


def command_of(command: str) -> str | None:
    """Return what a command runs, without its arguments: equal for calls that do the same with other files.

    Args:
        command: The command as the shell got it; only its first 2,000 characters are read.

    Returns:
        The program that the command is about, with its first argument if that says what the program does;
        None if no program is found.

    Example:
        >>> command_of("cd web && npm run build 2>&1 | tail -3"), command_of("git push origin main")
        ('npm run build', 'git push')
        >>> command_of("uv run pytest -q tests/api | tail -1"), command_of("python -c 'import sys'")
        ('pytest', 'python -c')
    """
    parts = [_Run(part.words) for part in segments_of(_without_heredocs(command[:_MOST_READ]))]
    named = [part for part in parts if part.is_named]
    for passed_over in (READERS | _INTERPRETERS, READERS, _BEFORE):
        for part in named:
            if part.program not in passed_over:
                return part.name()[:_MOST_SHOWN]
    return named[0].name()[:_MOST_SHOWN] if named else None


class _Run:
    """A program of a command, with its arguments."""

    def __init__(self, words: str) -> None:
        self._words = _LIMIT.sub("", words).split(" ")
        while len(self._words) > 1 and self._words[0] in _KEYWORDS:
            del self._words[0]
        bare = self._words[0] if self._words[0] in _INTERPRETERS else ""
        self.program = main_program(" ".join(self._words)) or bare

    @property
    def is_named(self) -> bool:
        """Whether the words show which program it is."""
        return self.program not in _NO_PROGRAMS and not self.program.startswith(("#", "$", "`"))

    def name(self) -> str:
        """Return the program, with the words that say what it does."""
        words, program = self._words, self.program
        at = next((at for at, word in enumerate(words) if program in word), len(words))
        for word, following in pairwise(words[: at + 1]):
            if word in _INTERPRETERS and following == "-c":
                return f"{word} -c"
        before, after = words[:at], words[at + 1 :]
        name = _NUMBER.sub("N", program)
        manager = next((at for at, word in enumerate(before) if word in _MANAGERS), None)
        if manager is not None:
            return _managed(before[manager], before[manager + 1 :], name)
        first = _first_argument(after) if program in _GROUPED else None
        return f"{name} {first}" if first else name


def _managed(manager: str, between: list[str], name: str) -> str:
    """Return the words of a command that a package manager runs: a program, or a script of the package."""
    starter = next((word for word in between if word in _STARTERS), None)
    if starter is None:
        return f"{manager} {name}"
    return f"{manager} run {name}" if starter == "run" and manager in _RUNNERS else name


def _first_argument(after: list[str]) -> str | None:
    """Return the first argument if it is a word. Long options before it are skipped."""
    first = next((word for word in after if not word.startswith("--")), "")
    return first if _NAME.fullmatch(first) else None


def _without_heredocs(command: str) -> str:
    """Return a command without the texts that it contains for the stdin of its programs."""
    kept, start = [], 0
    while (found := _HEREDOC.search(command, start)) is not None:
        line_end = command.find("\n", found.end())
        if line_end < 0:
            break
        kept.append(command[start : found.start()] + command[found.end() : line_end])
        text_end = command.find(f"\n{found[1]}", line_end)
        start = len(command) if text_end < 0 else text_end + 1 + len(found[1])
    return "".join((*kept, command[start:]))
