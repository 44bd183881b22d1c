"""Starts the process that ships a recording, and reads what it has noted."""

import os
import signal
from pathlib import Path

from agentwatch.recording.store import SessionFiles
from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login, SessionName
from agentwatch.remote.publish.publication import Target, is_running, start_shipping
from agentwatch.remote.publish.sidecar import Shipped, ShipState, read_shipped
from tests.harness.processes import until

PUBLISHER = "bench"


def ship(recording: Path, address: str) -> int:
    """Start to ship a recording to a server without users, as `run --publish` does; return the process id."""
    return start_shipping(recording, Target(Login(parse_engine(address)[0]), PUBLISHER, os.environ))


def shipped(recording: Path) -> Shipped | None:
    """Return what the engine has of a recording, as far as its shipper knows."""
    return read_shipped(SessionFiles(recording).shipped)


def session_of(recording: Path) -> SessionName:
    """Return the name of a recording on the engine, once its shipper has chosen it."""
    until(lambda: shipped(recording) is not None)
    found = shipped(recording)
    assert found is not None
    return found.session


def is_done(recording: Path) -> bool:
    """Return whether the engine has all of a recording, its end included."""
    found = shipped(recording)
    return found is not None and found.state is ShipState.DONE


def end(pid: int) -> None:
    """Kill a shipper that was started here, and wait for it."""
    if is_running(pid):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
