"""Write pages of the reference, the man page and completions: `python docs/reference.py [--check]`.

With `--check` it writes nothing, names the files that are not up to date, and exits with 1 if there is one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from generating import agents, commands, keys, python, rules, schemas
from generating.man_page import man_page

from agentwatch.cli.app import agentwatch
from agentwatch.cli.subcommands import script

FOLDER = Path(__file__).parent


def generated() -> dict[str, str]:
    """Return the content of each generated file, by its path."""
    return {
        "reference/commands.md": commands.page(),
        "reference/json.md": schemas.page(),
        "reference/keys.md": keys.page(),
        "reference/python.md": python.page(),
        "agents.md": agents.page(FOLDER),
        "rules.md": rules.page(FOLDER),
        "man/agentwatch.1": man_page(FOLDER),
        "completions/agentwatch.bash": script(agentwatch, "bash"),
        "completions/_agentwatch": script(agentwatch, "zsh"),
        "completions/agentwatch.fish": script(agentwatch, "fish"),
    }


def main() -> int:
    """Write the files, or compare them, and return the exit code."""
    old = {name for name, text in generated().items() if _content(FOLDER / name) != text}
    for name in sorted(old):
        print(name)
        if "--check" not in sys.argv:
            (FOLDER / name).parent.mkdir(exist_ok=True)
            (FOLDER / name).write_text(generated()[name])
    return 1 if old and "--check" in sys.argv else 0


def _content(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
