"""Tests of `agentwatch.remote.ssh.pieces`: the bytes of a session, against a real sshd."""

from __future__ import annotations

import hashlib
import shutil
import time

import pytest

from agentwatch.engine.chunk import Chunk, Ended
from agentwatch.remote.ssh.pieces import SshPieces
from tests.conftest import RECORDINGS
from tests.remote.ssh.sshd import Sshd

STEM = "20261122-101010-123abcdef"
SECONDS = 20.0


def whole(pieces: SshPieces, size: int) -> bytes:
    """Read so many bytes."""
    data = b""
    end = time.monotonic() + SECONDS
    while len(data) < size:
        assert time.monotonic() < end, len(data)
        stored = pieces.next(1)
        if stored is not None:
            assert isinstance(stored.piece, Chunk)
            assert stored.piece.offset == len(data)
            data += stored.piece.payload
    return data


def record(host: Sshd) -> bytes:
    """Save a recording on a host, and return its bytes."""
    folder = host.home / "aw" / "sessions"
    folder.mkdir(parents=True)
    path = folder / f"{STEM}.ndjson"
    shutil.copy(RECORDINGS / "plain.ndjson", path)
    return path.read_bytes()


@pytest.mark.parametrize("is_there", [True, False], ids=["agentwatch", "tail"])
def test_the_bytes_of_a_recording_arrive(host: Sshd, is_there: bool) -> None:
    """A recording is read byte for byte; with agentwatch there, its end is known too."""
    if is_there:
        host.install()
    data = record(host)
    pieces = SshPieces(f"{host.address}/{STEM}", 0)
    assert whole(pieces, len(data)) == data
    if is_there:
        stored = pieces.next(SECONDS)
        assert stored is not None
        assert stored.piece == Ended(len(data), None, hashlib.sha256(data).hexdigest())
    pieces.close()
