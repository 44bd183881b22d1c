"""The program on a real pty: what only a terminal, a pipe and processes can show."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.conftest import RECORDINGS, ROOT
from tests.harness.program import AGENTWATCH, watch
from tests.harness.terminal import Terminal

DEMO = RECORDINGS / "demo.ndjson"
FIRST_CALLS = re.compile("Found files|Read file|Searched files|Ran terminal command")
"""On the screen from the demo's first calls on, however far it has come meanwhile."""


def in_terminal(
    *arguments: str,
    producer: Sequence[str] = (),
    consumer: Sequence[str] = (),
    size: tuple[int, int] = (120, 40),
    env: Mapping[str, str] | None = None,
) -> Terminal:
    """Run `producer | agentwatch ARGUMENTS | consumer` on a pty; the home is that of the test."""
    own = {"PYTHONPATH": str(ROOT), "AGENTWATCH_HOME": os.environ["AGENTWATCH_HOME"]}
    argv = [*AGENTWATCH, *arguments]
    return Terminal(argv, producer=producer, consumer=consumer, size=size, env=own | dict(env or {}))


def saved(home: Path, ending: str = "ndjson") -> Path:
    """Return the one saved file of the test's home that ends so."""
    (found,) = (home / "sessions").glob(f"*.{ending}")
    return found


def actions_of(recording: Path) -> list[str]:
    """Return the text format of a recording."""
    return watch("-p", recording).stdout.decode().splitlines()
