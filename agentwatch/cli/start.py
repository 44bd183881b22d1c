"""The start of the program: a prompt gets its line of `status` at once, everything else the command line."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the program and exit."""
    if sys.argv[1:2] == ["status"] and "_AGENTWATCH_COMPLETE" not in os.environ:
        from agentwatch.cli.status.quick import quick_status

        code = quick_status(sys.argv[2:])
        if code is not None:
            sys.exit(code)
    from agentwatch.cli import app

    app.main()
