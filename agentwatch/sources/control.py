"""The socket by which the list of sessions asks a `run` process to interrupt or stop its agent. Only the
process that started an agent signals it: its id cannot be that of another one. The socket is in a private
folder, named after the whole path of the recording, and both sides check the user id of the other one. A
request is the act, and the device and inode of the recording; the answer is `done`, or why nothing was done.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from agentwatch.base.files import state_folder
from agentwatch.base.local_socket import is_own_peer, listen, reach
from agentwatch.recording.store import private_folder

_SECONDS = 2.0
_MOST_BYTES = 256
_DONE = "done"
ENDED = "its run process has ended, or was started before interrupt was switched on"
OTHER = "its run process records another file"
_NAME_CHARACTERS = 32
_MOST_SOCKETS = 256


def control_path(recording: Path) -> Path:
    """Recordings of the same name in different folders have different sockets."""
    name = sha256(os.fsencode(os.path.realpath(recording))).hexdigest()[:_NAME_CHARACTERS]
    return state_folder() / "control" / f"{name}.sock"


class Control:
    """Answers requests on a socket, in a thread. `answer` does what one asks for, and returns why it could
    not. Creating it raises `OSError` if the folder or the socket cannot be created, or another process
    listens there."""

    def __init__(self, recording: Path, answer: Callable[[str], str]) -> None:
        self._recording, self._answer = _identity(recording), answer
        self._path = path = control_path(recording)
        private_folder(path.parent)
        _forget_killed(path.parent)
        if _is_served(path, _SECONDS):
            raise OSError(errno.EADDRINUSE, "another run records a file at the same path")
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            listen(self._socket, os.fspath(path), 4)
            self._place = _identity(path)
        except OSError:
            self._socket.close()
            raise
        threading.Thread(target=self._serve, name="control", daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            if _identity(self._path) == self._place:
                self._path.unlink()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # otherwise the thread would still wait
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with peer, suppress(OSError):
                peer.settimeout(_SECONDS / 4)  # a client that says nothing must not hold up the next one
                if is_own_peer(peer):
                    request = peer.recv(_MOST_BYTES).decode("utf-8", "replace")
                    act, _, recording = request.rpartition(" ")
                    problem = self._answer(act) if recording == self._recording else OTHER
                    peer.sendall((problem or _DONE).encode())


def _identity(path: Path) -> str:
    status = os.stat(path)
    return f"{status.st_dev}:{status.st_ino}"


def _forget_killed(folder: Path) -> None:
    """Remove sockets at which nobody listens any more: a run that was killed cannot. A run makes its socket
    under another name, and moves it here once it listens."""
    for path in [*folder.glob("*.sock")][:_MOST_SOCKETS]:
        with suppress(OSError):
            made = _identity(path)
            is_socket = stat.S_ISSOCK(path.lstat().st_mode)
            if is_socket and not _is_served(path, 0.0) and _identity(path) == made:
                path.unlink()


def _is_served(path: Path, seconds: float) -> bool:
    """Return whether a process listens at a path, or may listen and is too busy to answer."""
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return False
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(seconds)
            reach(peer, os.fspath(path))
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    except (TimeoutError, BlockingIOError):
        pass
    return True


def ask(recording: Path, act: str) -> str:
    """Return why the recording process did not act, a foreign text; empty if it did. A step takes 2 s."""
    path = control_path(recording)
    try:
        request = f"{act} {_identity(recording)}"
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return ENDED
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(_SECONDS)
            reach(peer, os.fspath(path))
            if not is_own_peer(peer):
                return "its socket belongs to another user"
            peer.sendall(request.encode())
            answer = peer.recv(_MOST_BYTES).decode("utf-8", "replace")
            return "" if answer == _DONE else answer or "its run process does not answer"
    except (FileNotFoundError, ConnectionRefusedError):
        return ENDED
    except OSError as error:
        return f"its run process does not answer: {error.strerror or error}"
