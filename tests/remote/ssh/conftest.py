"""Fixtures: a host that ssh reaches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.remote.ssh.connection import close_all
from tests.remote.ssh.sshd import Sshd, sshd_server


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """A host without agentwatch, whose address is `ssh://testhost`."""
    folder = tmp_path / "ssh"
    folder.mkdir()
    with sshd_server(folder) as server:
        monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
        yield server
        close_all()
