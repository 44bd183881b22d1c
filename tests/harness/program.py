"""Run agentwatch to its end without a terminal, as a script does; and three recordings for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import RECORDINGS, ROOT

PLAIN = RECORDINGS / "plain.ndjson"
PLAIN_TEXT = b"Read file lantern/settings.py (6 lines)\nEdited file lantern/settings.py (+1 -1)\n"
FAILED = RECORDINGS / "failed-run.ndjson"
UNFINISHED = RECORDINGS / "unfinished.ndjson"
AGENTWATCH = [sys.executable, "-W", "error", "-m", "agentwatch"]

HURRIED = """
import sys
from agentwatch.cli import app
from agentwatch.sources import agent
from agentwatch.sources.started import process
agent.LATE_EXIT_MS, process._STOP_SECONDS = 300, 0.5
sys.argv[0] = "agentwatch"
sys.exit(app.main())
"""
"""Agentwatch with a grace period of 0.3 s instead of 30, and 0.5 s instead of 10 between TERM and KILL."""


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which agentwatch can be imported, with a fixed TERM and time zone."""
    return os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "TZ": "Asia/Tokyo"} | more


def watch(
    *arguments: str | Path,
    stdin: bytes | None = None,
    cwd: Path | None = None,
    umask: int = -1,
    late: int = 20,
    **env: str,
) -> subprocess.CompletedProcess[bytes]:
    """Run agentwatch to its end without a terminal; stdin is a pipe with these bytes, or /dev/null."""
    return subprocess.run(
        [*AGENTWATCH, *map(str, arguments)],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        env=environment(**env),
        cwd=cwd,
        umask=umask,
        timeout=late,
        check=False,
        start_new_session=True,
    )


def files(folder: Path) -> set[str]:
    """Return the relative paths of all files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}
