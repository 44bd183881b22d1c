"""Sessions on a host, and the wait for what a watcher of them shows."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agentwatch.remote.chunk import Chunk
from agentwatch.remote.ssh.host_list import SshHost
from agentwatch.remote.ssh.pieces import SshPieces
from tests.conftest import RECORDINGS
from tests.harness import processes
from tests.remote.ssh.sshd import Sshd

ID = "8f2b9a10-0000-4000-8000-000000000001"
STEM = "20261122-101010-123abcdef"
MESSAGE = {"role": "user", "content": "Fix it"}
LINE = json.dumps({"type": "user", "sessionId": ID, "cwd": "/srv/app", "message": MESSAGE}) + "\n"
KEY = ("ssh://testhost", f"claude/{ID}")
SECONDS = 30.0


def save(host: Sshd, name: str = f"{ID}.jsonl", line: str = LINE, folder: str = "-srv-app") -> None:
    """Save a session of Claude Code on a host."""
    path = host.home / ".claude" / "projects" / folder
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_text(line)


def record(host: Sshd) -> bytes:
    """Save a recording of our own on a host, and return its bytes."""
    folder = host.home / "aw" / "sessions"
    folder.mkdir(parents=True)
    path = folder / f"{STEM}.ndjson"
    shutil.copy(RECORDINGS / "plain.ndjson", path)
    return path.read_bytes()


def greeting(*lines: str) -> str:
    """Return a program that sends lines as `host-rows` would, and waits until it is left."""
    printed = "\n".join(lines)
    return f"#!/bin/sh\ncat <<'END'\n{printed}\nEND\ncat >/dev/null\n"


@contextmanager
def watching(host: Sshd) -> Iterator[SshHost]:
    """Watch a host, and end it."""
    watched = SshHost(host.address)
    try:
        yield watched
    finally:
        watched.close()


@contextmanager
def reading(host: Sshd, session: str, have: int = 0, known: bytes | None = None) -> Iterator[SshPieces]:
    """Read a session of a host, of which bytes are here and may be known."""
    digest = "" if known is None else hashlib.sha256(known).hexdigest()
    pieces = SshPieces(f"{host.address}/{session}", have, digest)
    try:
        yield pieces
    finally:
        pieces.close()


def until(watched: SshHost, condition: Callable[[], object]) -> None:
    """Step until a condition holds."""

    def is_reached() -> object:
        if not (found := condition()):
            watched.step(0)
        return found

    processes.until(is_reached, SECONDS, picture=lambda: str((watched.notes, watched.rows)))


def gone(host: Sshd) -> None:
    """Wait until nothing of ours runs on a host."""
    processes.until(lambda: not host.running(), SECONDS, "nothing runs", lambda: str(host.running()))


def disconnected(host: Sshd) -> None:
    """Wait until no shared connection is left: a master answers `-O exit` before it ends.

    One that nobody ends leaves after the 15 s of `ControlPersist`, so this waits for less.
    """
    processes.until(lambda: not host.masters(), 10, "no master runs", lambda: str(host.masters()))


def whole(pieces: SshPieces, size: int, have: int = 0) -> bytes:
    """Read until so many bytes have arrived after those that are here."""
    data = bytearray()

    def is_read() -> bool:
        if len(data) < size and (stored := pieces.next(1)) is not None:
            assert isinstance(stored.piece, Chunk)
            assert stored.piece.offset == have + len(data)
            data.extend(stored.piece.payload)
        return len(data) >= size

    processes.until(is_read, SECONDS, f"{size} bytes", lambda: str(len(data)))
    return bytes(data)
