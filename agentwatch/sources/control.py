"""The socket by which the list of sessions asks a `run` process to interrupt or stop its agent.

Only the process that started an agent signals it: its id cannot be that of another process. The socket is in
a private folder of the user, and both sides check the user id of the other one. A request is one word; the
answer is `done`, or why nothing was done.
"""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agentwatch.base.files import state_folder
from agentwatch.base.local_socket import is_own_peer, listen, reach
from agentwatch.recording.store import private_folder

_SECONDS = 2.0
_MOST_BYTES = 256
_DONE = "done"
ENDED = "its run process has ended, or was started before interrupt was switched on"


def control_path(recording: Path) -> Path:
    """Return the path of the socket of a recording, which may not exist."""
    return state_folder() / "control" / f"{recording.stem}.sock"


class Control:
    """Answers requests on a socket, in a thread, until it is closed."""

    def __init__(self, path: Path, answer: Callable[[str], str]) -> None:
        """Create the socket.

        Args:
            path: Its path; what is there is removed.
            answer: Does what a request asks for, and returns why it could not; called in the thread.

        Raises:
            OSError: The folder or the socket cannot be created.
        """
        private_folder(path.parent)
        self._path, self._answer = path, answer
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            listen(self._socket, os.fspath(path), 4)
        except OSError:
            self._socket.close()
            raise
        threading.Thread(target=self._serve, name="control", daemon=True).start()

    def close(self) -> None:
        """Remove the socket, and end the thread."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
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
                    peer.sendall((self._answer(request) or _DONE).encode())


def ask(path: Path, request: str) -> str:
    """Send a request, and return why it was not done, a foreign text; empty if it was done.

    It waits for 2 s at most for each step.
    """
    try:
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
