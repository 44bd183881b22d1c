"""Prints, as a line of JSON, the line count, call count and integrity that agentwatch finds in a file.

The summary is as large as the text of the session, so it is parsed in a process of its own. Otherwise it
would raise the resident set of the bench, which Linux reports as the minimum for every child started
afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

from measure import AGENTWATCH, environment, run


class Checked(TypedDict):
    """What agentwatch found in a session."""

    lines: int
    calls: int
    holds: bool
    """Whether no line is malformed or unknown, every call is paired, and the text equals the result."""


def checked(path: Path) -> Checked:
    """Return what agentwatch finds in a recording."""
    found: Checked = json.loads(run((sys.executable, __file__, str(path)), keep_output=True).stdout)
    return found


def main() -> None:
    """Check the file named on the command line."""
    argv = (*AGENTWATCH, "--print", "--output-format", "summary", sys.argv[1])
    printed = subprocess.run(argv, check=True, stdout=subprocess.PIPE, env=environment()).stdout
    summary = json.loads(printed)
    found = Checked(
        lines=summary["lines"]["total"],
        calls=len(summary["calls"]),
        holds=summary["integrity"]["holds"],
    )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
