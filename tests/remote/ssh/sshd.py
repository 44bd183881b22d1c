"""A real sshd on a free port of this machine, and the program `ssh` with a configuration of its own.

The host that it plays has its own home folder and PATH. `ssh` in PATH is a wrapper that adds `-F CONFIG`, so
the configuration of the user is not read.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.harness.processes import end, start_with_us, until

HOST = "testhost"
_SYSTEM = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_START_SECONDS = 10.0


class Sshd:
    """A host that ssh reaches as `testhost`."""

    def __init__(self, folder: Path, sshd: str, sockets: Path) -> None:
        self.sockets = sockets
        """The temporary folder of the client, in which the socket of its master is."""
        self.folder = folder
        self.home = folder / "home"
        self.bin = folder / "bin-there"
        self.address = f"ssh://{HOST}"
        self._sshd = sshd
        self._process: subprocess.Popen[bytes] | None = None
        for each in (self.home, self.bin, folder / "bin"):
            each.mkdir()
        for name in _KEYS:
            for path, content in _key(name).items():
                (folder / path).write_bytes(content)
                (folder / path).chmod(0o600)
        shutil.copy(folder / "user.pub", folder / "authorized_keys")
        self.port = _free_port()
        self._write_sshd_config()
        self.write_config()
        self._write_wrapper()
        self.start()
        until(lambda: not self.connections(), what="the end of the process that has answered")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def write_config(self, key: str = "user", port: int | None = None, *more: str) -> None:
        """Write the configuration of the client."""
        lines = [
            f"Host {HOST}",
            "HostName 127.0.0.1",
            f"Port {port or self.port}",
            f"IdentityFile {self.folder / key}",
            "IdentitiesOnly yes",
            "IdentityAgent none",
            f"UserKnownHostsFile {self.folder / 'known_hosts'}",
            *more,
            "StrictHostKeyChecking yes",
        ]
        (self.folder / "config").write_text("\n".join(lines) + "\n")
        public = " ".join((self.folder / "host.pub").read_text().split()[:2])
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {public}\n")

    def install(self, script: str | None = None) -> None:
        """Install agentwatch on the host: this tree's, or another program of that name."""
        text = script or (f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m agentwatch "$@"\n')
        program = self.bin / "agentwatch"
        program.write_text(text)
        program.chmod(0o755)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        argv = [self._sshd, "-f", str(self.folder / "sshd_config"), "-D", "-e"]
        with (self.folder / "sshd.log").open("ab") as log:
            self._process = start_with_us(argv, log)
        until(self._answers, _START_SECONDS, "an answer of sshd", (self.folder / "sshd.log").read_text)

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as probe:
            return probe.recv(4) == b"SSH-"
        return False

    def stop(self) -> None:
        """End the server and the connections that it serves, as when the machine goes away."""
        if self._process is not None:
            for pid in children(self._process.pid):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            end(self._process)
            self._process = None

    def connections(self) -> list[int]:
        """Return the processes of the server that serve a connection."""
        return children(self.pid)

    def masters(self) -> list[int]:
        """Return the processes of ssh that hold a shared connection to this host."""
        return [int(entry.name) for entry in _entries() if self._is_master(entry)]

    def _is_master(self, entry: Path) -> bool:
        """Return whether a process is a master whose socket is in our folder."""
        with suppress(OSError):
            words = os.fsdecode((entry / "cmdline").read_bytes()).split("\0")
            return "-M" in words and any(word.startswith(f"{self.sockets}/") for word in words)
        return False

    def running(self) -> list[str]:
        """Return the command lines of all processes on the host: those with its home folder."""
        return _processes(f"HOME={self.home}\0".encode())

    def _write_sshd_config(self) -> None:
        lines = [
            f"Port {self.port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {self.folder / 'host'}",
            f"PidFile {self.folder / 'sshd.pid'}",
            f"AuthorizedKeysFile {self.folder / 'authorized_keys'}",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PrintMotd no",
            "MaxStartups 100",
            f"SetEnv PATH={self.bin}:{_SYSTEM} HOME={self.home} AGENTWATCH_HOME={self.home / 'aw'}",
        ]
        (self.folder / "sshd_config").write_text("\n".join(lines) + "\n")

    def _write_wrapper(self) -> None:
        wrapper = self.folder / "bin" / "ssh"
        wrapper.write_text(f'#!/bin/sh\nexec "{shutil.which("ssh")}" -F "{self.folder / "config"}" "$@"\n')
        wrapper.chmod(0o755)


_KEYS = ("host", "user", "other")


@cache
def _key(name: str) -> dict[str, bytes]:
    """Return the two files of a new key, the same ones for all tests of this process."""
    with tempfile.TemporaryDirectory() as folder:
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"]
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=20)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _processes(mark: bytes) -> list[str]:
    """Return the command lines of the processes whose environment contains some bytes."""
    found = []
    for entry in _entries():
        with suppress(OSError):
            if mark in (entry / "environ").read_bytes():
                found.append(os.fsdecode((entry / "cmdline").read_bytes()).replace("\0", " ").strip())
    return [words for words in found if words]


def _entries() -> list[Path]:
    own = str(os.getpid())
    return [each for each in Path("/proc").iterdir() if each.name.isdigit() and each.name != own]


@contextmanager
def sshd_server(folder: Path, sockets: Path) -> Iterator[Sshd]:
    """Start a host; skip the test where no sshd is installed."""
    sshd = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if sshd is None or shutil.which("ssh") is None:
        reason = "sshd is not installed: apt-get install openssh-server"
        if os.environ.get("AGENTWATCH_REQUIRE_SSHD") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
    server = Sshd(folder, sshd, sockets)
    try:
        yield server
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
