"""Starts nats-server on a free loopback port, with JetStream in a folder of the test."""

import json
import os
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.harness.processes import end, start_with_us, until

_DEBIAN = "/usr/sbin/nats-server"
"""Debian installs it there, which is not in the PATH of most users."""
ABSENT = "nats-server is not installed: apt-get install nats-server"
REQUIRED = "AGENTWATCH_REQUIRE_NATS"


class Server:
    """A running server. After `kill` it is started again, on the same port and store, by `restart`."""

    def __init__(self, program: str, folder: Path, config: str) -> None:
        self._program = program
        self.store = folder / "store"
        self._ports = folder / "ports"
        self._config = folder / "server.conf"
        self._config.write_text(config)
        self._ports.mkdir()
        self._output = (folder / "server.log").open("ab")
        self.port = -1
        self._start()

    @property
    def address(self) -> str:
        """The address: `nats://127.0.0.1:PORT`."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def kill(self) -> None:
        """Kill the server with SIGKILL, and wait until it is gone."""
        end(self._process)

    def restart(self) -> None:
        """Start the server again, on the same port and with what it has stored; kill it first if it runs."""
        self.kill()
        self._start()

    def suspend(self) -> None:
        """Stop the server's process, which then answers nothing, until `resume`."""
        os.kill(self.pid, signal.SIGSTOP)
        threads = Path(f"/proc/{self.pid}/task")
        until(lambda: all(_state(each) == "T" for each in threads.iterdir()))

    def resume(self) -> None:
        """Continue the server's process."""
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        self.kill()
        self._output.close()

    def _start(self) -> None:
        for path in self._ports.iterdir():
            path.unlink()
        argv = [
            self._program,
            *("-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.store)),
            *("--ports_file_dir", str(self._ports), "-c", str(self._config)),
        ]
        self._process = start_with_us(argv, self._output)
        until(self._is_ready, what="an answer of nats-server")

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, (self._config.parent / "server.log").read_text()[-2000:]
        if self.port < 0:
            for path in self._ports.iterdir():
                with suppress(ValueError):  # the file is being written
                    self.port = int(json.loads(path.read_bytes())["nats"][0].rpartition(":")[2])
        if self.port < 0:
            return False
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
            return connection.recv(4) == b"INFO"
        return False


@contextmanager
def nats_server(tmp_path: Path, config: str = "") -> Iterator[Server]:
    """Yield a server that was started for a test; the test is skipped if none is installed."""
    if (program := _program()) is None:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(ABSENT)
        pytest.skip(ABSENT)
    number = len([*tmp_path.glob("nats-*")])
    folder = tmp_path / f"nats-{number}"
    folder.mkdir()
    server = Server(program, folder, config)
    try:
        yield server
    finally:
        server.close()


def _state(thread: Path) -> str:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0]


def _program() -> str | None:
    return shutil.which("nats-server") or (_DEBIAN if os.access(_DEBIAN, os.X_OK) else None)
