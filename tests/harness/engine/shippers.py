"""The processes that ship recordings to engines: they outlive `run`, and must not outlive a test."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.harness.processes import is_alive, until

_MODULE = b"agentwatch.remote.publish.process"
_LEAVING_SECONDS = 10.0
"""How long a shipper may take to end by itself: the engine has everything, and it writes the last card."""


def shippers_below(folder: Path) -> set[int]:
    """Return the processes that ship a recording below a folder; none without /proc."""
    below = os.fsencode(folder) + b"/"
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if any(_MODULE in word for word in words) and any(word.startswith(below) for word in words):
                found.add(int(path.parent.name))
    return found


def agent_until_trouble(recording: Path, code: int = 0) -> list[str]:
    """Return an agent that writes a recording, and ends when its shipper has noted a problem."""
    noted = """grep -qs '"problem":"[^"]' "$AGENTWATCH_HOME"/sessions/*.ship"""
    return ["sh", "-c", f'cat "$0"; until {noted}; do sleep 0.01; done; exit {code}', str(recording)]


def end_shippers(pids: set[int]) -> None:
    """Kill shippers, and wait until they are gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, pids)))


@pytest.fixture(autouse=True)
def no_shipper_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail a test that leaves a shipper behind. What is left is ended all the same."""
    folder = tmp_path_factory.getbasetemp()
    before = shippers_below(folder)
    yield

    def left() -> set[int]:
        return {pid for pid in shippers_below(folder) - before if is_alive(pid)}

    try:
        until(lambda: not left(), _LEAVING_SECONDS, "no shipper is left; `ended_shippers` ends them")
    finally:
        end_shippers(left())


@pytest.fixture
def ended_shippers(no_shipper_is_left: None, tmp_path: Path) -> Iterator[None]:
    """End the shippers of a test whose engine does not take everything."""
    yield
    end_shippers(shippers_below(tmp_path))
