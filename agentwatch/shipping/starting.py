"""Starts the process that ships a recording. It is light to import: `run` does so before its agent starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import agentwatch
from agentwatch.shipping.target import PLAINTEXT, Target

_START = (
    "import sys; sys.path[0] = sys.argv.pop(1); from agentwatch.shipping.process import main; "
    "main(sys.argv[1:])"
)
"""The first entry of the path is the present folder, which is `/`."""


def start_shipping(recording: Path, target: Target) -> subprocess.Popen[bytes]:
    """Start a process that ships a recording, and return it.

    Args:
        recording: The recording.
        target: The engine.

    Raises:
        OSError: The process cannot be started.
    """
    login = target.login
    return subprocess.Popen(
        [
            *(sys.executable, "-c", _START, str(Path(agentwatch.__file__).parent.parent)),
            *(str(login.address), target.publisher, PLAINTEXT if login.allows_plaintext else "tls"),
            os.path.abspath(recording),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=dict(target.environ),
        start_new_session=True,
    )


def is_running(child: int) -> bool:
    """Return whether a child process of ours runs; it is reaped if it does not."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] == 0
    except ChildProcessError:  # it was reaped before
        return False
