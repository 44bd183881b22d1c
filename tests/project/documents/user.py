"""A user of the pages: agentwatch and an agent are installed, and bash runs the commands, as in a service."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import RECORDINGS, ROOT


def run(
    command: str, folder: Path, *, agent: str = "plain", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, which gets the programs; it ends at the first error."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, line in (
        ("agentwatch", f'exec "{sys.executable}" -m agentwatch "$@"'),
        ("python", f'exec "{sys.executable}" "$@"'),
        ("cursor-agent", f'exec cat "{RECORDINGS}/{agent}.ndjson"'),
        ("pip", "exit 0"),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    found = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],
        env=os.environ | found | environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )
