"""The server that is measured, and what its process costs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentwatch.remote.address import parse_engine
from agentwatch.remote.engine import Login
from tests.harness.engine.server import Server, nats_server
from tests.harness.trials.streams import prepare


def is_installed() -> bool:
    """Return whether there is a server to measure; Debian installs it where most users have no PATH."""
    return shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is not None


@contextmanager
def engine(config: str = "") -> Iterator[Server]:
    """Yield a running server with the stream and the bucket, in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, nats_server(Path(folder), config) as server:
        prepare(server)
        yield server


def login(address: str) -> Login:
    """Return the login of a server without users."""
    return Login(parse_engine(address)[0])


def resident_bytes(pid: int) -> int:
    """Return the memory of a process that is in RAM."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
