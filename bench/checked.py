"""Tells in a line of JSON what `agentwatch --print --output-format summary FILE` says of the lines of a file.

A process of its own, for a summary is as large as the session's text: the resident set of who reads it
would be the least that Linux tells of each child that is started afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

from measure import AGENTWATCH, environment, run


class Checked(TypedDict):
    """What was understood of a session."""

    lines: int
    calls: int
    holds: bool
    """Whether nothing was malformed or unknown, each call is paired, and the text is the result's."""


def checked(path: Path) -> Checked:
    """Return what agentwatch understands of a recording."""
    found: Checked = json.loads(run((sys.executable, __file__, str(path)), keep_output=True).stdout)
    return found


def main() -> None:
    """Check the file that the command line names."""
    argv = (*AGENTWATCH, "--print", "--output-format", "summary", sys.argv[1])
    said = subprocess.run(argv, check=True, stdout=subprocess.PIPE, env=environment()).stdout
    summary = json.loads(said)
    found = Checked(
        lines=summary["lines"]["total"],
        calls=len(summary["calls"]),
        holds=summary["integrity"]["holds"],
    )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
