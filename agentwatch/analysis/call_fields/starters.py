"""The words of shell commands that come before another program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
