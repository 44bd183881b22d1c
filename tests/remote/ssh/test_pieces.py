"""Tests of `agentwatch.remote.ssh.pieces`: the bytes of a session, against a real sshd."""

import hashlib
import json
import os
import signal
import threading
import time
from contextlib import suppress

import pytest

from agentwatch.base.faults import Fault
from agentwatch.remote.chunk import Chunk, Ended
from agentwatch.remote.engine import RemoteError, Trouble
from agentwatch.remote.filling import ReplacedError
from agentwatch.remote.ssh.pieces import SshPieces
from tests.conftest import case
from tests.harness.processes import until
from tests.remote.ssh.sessions import ID, LINE, SECONDS, STEM, gone, reading, record, save, whole
from tests.remote.ssh.sshd import Sshd

pytestmark = pytest.mark.system

BOTH = pytest.mark.parametrize("is_there", [True, False], ids=["agentwatch", "tail"])
CUTS = 4


def test_a_recording_arrives_with_its_times_and_its_exit_code(host: Sshd) -> None:
    """The times and gaps are those of the file beside it, each once; the exit code is the agent's."""
    host.install()
    data = record(host)
    folder = host.home / "aw" / "sessions"
    (folder / f"{STEM}.times").write_text("0 1000\n?\n2000 1500\ngap 2000 30\n5000 9000\n99999 1\n")
    described = {"command": ["x"], "pid": 1, "started_ms": 1, "exit_code": 7}
    (folder / f"{STEM}.json").write_text(json.dumps(described))
    with reading(host, STEM) as pieces:
        stored = pieces.next(SECONDS)
        assert stored is not None
        assert stored.piece == Chunk(0, data, ((0, 1000), (2000, 1500), (5000, 9000)), ((2000, 30),))
        assert stored.is_newest
        stored = pieces.next(SECONDS)
        assert stored is not None
        assert isinstance(stored.piece, Ended)
        assert stored.piece.exit_code == 7
    with reading(host, STEM, 2001) as pieces:
        stored = pieces.next(SECONDS)
        assert stored is not None
        assert stored.piece == Chunk(2001, data[2001:], ((5000, 9000),), ())
    # With 2,000 times in 4 KB, several chunks have them all, in order.
    pairs = tuple((2 * at, 1000 + at) for at in range(2000))
    times = "".join(f"{offset} {at_ms}\n" for offset, at_ms in pairs)
    (host.home / "aw" / "sessions" / f"{STEM}.times").write_text(times)
    seen: list[tuple[int, int]] = []
    with reading(host, STEM) as pieces:
        while (stored := pieces.next(SECONDS)) is not None and isinstance(stored.piece, Chunk):
            assert len(stored.piece.seen) <= 512
            assert all(stored.piece.offset <= offset < stored.piece.end for offset, _ in stored.piece.seen)
            seen += stored.piece.seen
            if stored.piece.end == len(data):
                break
    assert tuple(seen) == pairs


@BOTH
def test_cuts_lose_and_repeat_nothing(host: Sshd, is_there: bool) -> None:
    """A session that grows while the connection is cut arrives byte for byte, each byte once."""
    if is_there:
        host.install()
    save(host, line="")
    path = host.home / ".claude/projects/-srv-app" / f"{ID}.jsonl"
    is_over = threading.Event()

    def write() -> None:
        number = 0
        with path.open("ab", buffering=0) as file:
            while not is_over.is_set():
                file.write(f'{{"n":{number},"text":"{"x" * (number % 3000)}"}}\n'.encode())
                number += 1
                time.sleep(0.002)

    writer = threading.Thread(target=write)
    writer.start()
    data = bytearray()
    errors: list[RemoteError] = []
    cuts, cut_at = 0, 5000

    def is_whole() -> bool:
        nonlocal cuts, cut_at
        try:
            stored = pieces.next(0.5)
        except RemoteError as error:
            errors.append(error)
            return False
        if stored is not None:
            assert isinstance(stored.piece, Chunk)
            assert stored.piece.offset == len(data)
            data.extend(stored.piece.payload)
        if cuts < CUTS and len(errors) >= cuts and len(data) >= cut_at:
            for pid in host.masters() if cuts % 2 else host.connections():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            cuts, cut_at = cuts + 1, len(data) + 5000
            if cuts == CUTS:
                is_over.set()
                writer.join()
        return len(errors) >= CUTS and len(data) >= path.stat().st_size

    try:
        with reading(host, ID) as pieces:
            until(is_whole, 4 * SECONDS, "all bytes", lambda: str((cuts, len(errors), len(data))))
    finally:
        is_over.set()
        writer.join()
    assert not [error for error in errors if isinstance(error, ReplacedError)]
    assert data == path.read_bytes()
    gone(host)


@BOTH
def test_a_file_that_grows_is_followed(host: Sshd, is_there: bool) -> None:
    """Each line that is appended arrives, with the time of its arrival."""
    if is_there:
        host.install()
    save(host)
    path = host.home / ".claude/projects/-srv-app" / f"{ID}.jsonl"
    with reading(host, ID) as pieces:
        whole(pieces, len(LINE))
        have = len(LINE)
        for number in range(5):
            line = b'{"n":%d}\n' % number
            before = time.time_ns() // 10**6
            with path.open("ab") as file:
                file.write(line)
            stored = pieces.next(SECONDS)
            assert stored is not None
            assert isinstance(stored.piece, Chunk)
            assert (stored.piece.offset, stored.piece.payload) == (have, line)
            ((offset, at_ms),) = stored.piece.seen
            assert offset == have
            assert before - 50 <= at_ms <= time.time_ns() // 10**6 + 50
            have += len(line)


@BOTH
@pytest.mark.parametrize("how", ["cut", "replaced", "away"])
def test_a_file_that_is_written_again_begins_again(host: Sshd, is_there: bool, how: str) -> None:
    """A file that was cut or replaced, also while nobody read it, is not a continuation of the bytes here."""
    if is_there:
        host.install()
    save(host)
    path = host.home / ".claude/projects/-srv-app" / f"{ID}.jsonl"
    with reading(host, ID) as pieces:
        whole(pieces, len(LINE))
        if how == "away":
            for pid in host.connections():
                os.kill(pid, signal.SIGKILL)
            with pytest.raises(RemoteError):
                pieces.next(SECONDS)
        if how == "cut":
            os.truncate(path, 3)
        else:
            (host.home / "new").write_text(LINE.upper() * 2)
            (host.home / "new").replace(path)
        with pytest.raises(ReplacedError):
            whole(pieces, 1 << 20, len(LINE))
        pieces.restart()
        data = path.read_bytes()
        assert whole(pieces, len(data)) == data


def test_other_bytes_here_than_there_are_found_by_their_digest(host: Sshd) -> None:
    """With the digest of the bytes that are here, a host with agentwatch finds that they are not its own."""
    host.install()
    save(host)
    known = LINE.encode()[:10]
    with reading(host, ID, 10, known) as pieces:
        assert whole(pieces, len(LINE) - 10, 10) == LINE.encode()[10:]
    with reading(host, ID, 11, known) as pieces, pytest.raises(ReplacedError):
        pieces.next(SECONDS)


@BOTH
def test_a_session_goes_on_at_the_bytes_that_are_here(host: Sshd, is_there: bool) -> None:
    """With a part of the bytes only the others arrive; with all of them a piece without bytes says so."""
    # The host says that it has no such session, and trying again soon is of no use.
    if is_there:
        host.install()
    with reading(host, ID) as pieces:
        with pytest.raises(RemoteError) as error:
            pieces.next(SECONDS)
        assert error.value.trouble is Trouble.REFUSED
        assert str(error.value) == f"ssh://testhost has no session {ID}"
        assert pieces.has_none
    save(host)
    with reading(host, ID, 10) as pieces:
        assert whole(pieces, len(LINE) - 10, 10) == LINE.encode()[10:]
    with reading(host, ID, len(LINE)) as pieces:
        stored = pieces.next(SECONDS)
        assert stored is not None
        assert stored == (Chunk(len(LINE), b""), True)
    # A recording is read byte for byte; with agentwatch there, its end is known too.
    data = record(host)
    with reading(host, STEM) as pieces:
        assert whole(pieces, len(data)) == data
        if is_there:
            stored = pieces.next(SECONDS)
            assert stored is not None
            assert stored.piece == Ended(len(data), None, hashlib.sha256(data).hexdigest())
            assert pieces.next(0) is None
    gone(host)


def test_a_malformed_frame_is_an_error(host: Sshd) -> None:
    """What is not a frame, announces too many bytes or is of another place is not taken for bytes."""
    # Pieces are those of one session.
    with pytest.raises(Fault, match="name a session"):
        SshPieces("ssh://testhost", 0)
    for frames in (
        "garbage",
        "[]",
        '{"length": -1}',
        '{"length": 99999999, "Aw-Offset": "0"}',
        '{"length": "5", "Aw-Offset": "0"}',
        '{"length": 2, "Aw-Offset": "-1"}',
        '{"length": 2, "Aw-Offset": "9007199254740992"}',
        '{"length": 2, "Aw-Offset": "7"}',
        '{"length": 0, "Aw-End": "1 2"}',
        '{"length": 0, "x": "y"}',
    ):
        with case(frames):
            host.install(f"#!/bin/sh\ncat <<'END'\n{frames}\nxx\nEND\ncat >/dev/null\n")
            with reading(host, ID) as pieces, pytest.raises(RemoteError, match="the host"):
                pieces.next(SECONDS)
    # Its words are foreign: control characters are shown, and the line has a bound.
    problem = json.dumps({"problem": "\x1b[31m" + "long " * 500 + "\nsecond"})
    host.install(f"#!/bin/sh\ncat <<'END'\n{problem}\nEND\ncat >/dev/null\n")
    with reading(host, ID) as pieces:
        with pytest.raises(RemoteError) as error:
            pieces.next(SECONDS)
        assert "\x1b" not in str(error.value)
        assert "\n" not in str(error.value)
        assert len(str(error.value)) <= 200
    # A host cannot fill our memory with the line of a frame.
    host.install("#!/bin/sh\nexec tr '\\0' x </dev/zero\n")
    with reading(host, ID) as pieces, pytest.raises(RemoteError, match="does not end"):
        pieces.next(SECONDS)
    # One that has no `host-pieces` exits with 2, and the file is read without it.
    host.install("#!/bin/sh\necho usage >&2\nexit 2\n")
    save(host)
    with reading(host, ID) as pieces:
        assert whole(pieces, len(LINE)) == LINE.encode()


def test_a_session_of_a_store_is_read_from_its_start(host: Sshd) -> None:
    """A chat that is one JSON document is sent as lines; earlier ones count only if they are the same."""
    host.install()
    folder = host.home / ".gemini" / "tmp" / "slug" / "chats"
    folder.mkdir(parents=True)
    message = {"id": "1", "timestamp": "2026-11-22T10:00:00.000Z", "type": "user", "content": "Fix it"}
    chat = {"sessionId": ID, "projectHash": "x", "startTime": message["timestamp"], "messages": [message]}
    (folder / "session-2026-11-22T10-00-8f2b9a10.json").write_text(json.dumps(chat))
    with reading(host, ID) as pieces:
        stored = pieces.next(SECONDS)
        assert stored is not None
        assert isinstance(stored.piece, Chunk)
        data = stored.piece.payload
        assert b"Fix it" in data
    with reading(host, ID, 5) as pieces, pytest.raises(ReplacedError):
        pieces.next(SECONDS)
    with reading(host, ID, 5, data[:5]) as pieces:
        assert whole(pieces, len(data) - 5, 5) == data[5:]
