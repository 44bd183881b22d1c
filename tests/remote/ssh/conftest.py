"""Fixtures: a host that ssh reaches."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.base.local_socket import short_folder
from agentwatch.remote.ssh.shared_connection import close_all
from tests.remote.ssh.sshd import Sshd, sshd_server


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """A host without agentwatch, whose address is `ssh://testhost`."""
    folder = tmp_path / "ssh"
    folder.mkdir()
    sockets = Path(short_folder())
    monkeypatch.setenv("TMPDIR", str(sockets))
    try:
        with sshd_server(folder, sockets) as server:
            monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
            yield server
            close_all()
            assert list(sockets.iterdir()) == []
    finally:
        shutil.rmtree(sockets, ignore_errors=True)
