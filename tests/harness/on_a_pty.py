"""Run agentwatch on a real pty, and find the files that it saves."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conftest import RECORDINGS, ROOT
from tests.harness.program import AGENTWATCH, watch
from tests.harness.terminal import Terminal

DEMO = RECORDINGS / "demo.ndjson"
IN_THE_HELP = "next failure in time"
"""Words that only the help shows."""
FIRST_CALLS = re.compile("Found files|Read file|Searched files|Ran terminal command")
"""Matches the screen once the demo's first calls are shown, however far the demo has come since."""


def in_terminal(
    *arguments: str,
    producer: Sequence[str] = (),
    consumer: Sequence[str] = (),
    size: tuple[int, int] = (120, 40),
    env: Mapping[str, str] | None = None,
) -> Terminal:
    """Run `producer | agentwatch ARGUMENTS | consumer` on a pty, with the test's own home."""
    own = {"PYTHONPATH": str(ROOT), "AGENTWATCH_HOME": os.environ["AGENTWATCH_HOME"]}
    argv = [*AGENTWATCH, *arguments]
    return Terminal(argv, producer=producer, consumer=consumer, size=size, env=own | dict(env or {}))


def in_two_parts(go: Path, then: str = "true") -> list[str]:
    """Return a command that writes the first calls of the demo, the rest once a file exists, and goes on."""
    wait = f"while [ ! -e '{go}' ]; do sleep 0.01; done"
    return ["sh", "-c", f"head -n 100 '{DEMO}'; {wait}; tail -n +101 '{DEMO}'; {then}"]


def saved(home: Path, ending: str = "ndjson") -> Path:
    """Return the only saved file with this ending in the test's home."""
    (found,) = (home / "sessions").glob(f"*.{ending}")
    return found


def described(home: Path) -> dict[str, Any]:
    """Return what is saved about the agent's process: its `pid`, its `exit_code`."""
    found: dict[str, Any] = json.loads(saved(home, "json").read_bytes())
    return found


def actions_of(recording: Path) -> list[str]:
    """Return the lines of the text format of a recording."""
    return watch("-p", recording).stdout.decode().splitlines()
