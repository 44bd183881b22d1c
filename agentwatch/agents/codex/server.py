"""The states of threads that the shared server of Codex reports: `app-server-control.sock` in its folder.
Seen in Codex 0.169: JSON-RPC without the member `jsonrpc`, one message in each WebSocket frame.

Two rules: nothing is asked that changes the server or a thread, and nothing is answered. A thread is
never resumed: the server would send its questions here too. Each exchange has a connection of its own for
some milliseconds, because the server subscribes its connections to each thread that an agent starts.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.fields import Fields, mapping, number, parse, text
from agentwatch.agents.state_report import State
from agentwatch.sources.websocket import WebSocket

_MOST_SECONDS = 0.05
"""The longest exchange: a server that hangs costs no more."""
_LEAST_PAUSE = 1.0
_TIMES_AS_LONG = 50
"""A pause is at least this many times as long as the exchange before it: the server serves the terminals."""
_LONGEST_PAUSE = 60.0
_MOST_FAULTS = 6
"""The pause after a fault is 2 s, and twice as long after each further one."""
_KEPT_SECONDS = 10.0
"""A state counts for this time if the server is late, or has more threads than one exchange reads."""
_MOST_READ = 12
"""How many threads one exchange reads, those first that were read longest ago: reading one takes 3 ms."""

_CLIENT = {
    # Any other name becomes part of the User-Agent of the requests of all threads, and the originator of
    # their files if its client is the first. `codex app-server daemon version` asks under this name.
    "clientInfo": {"name": "codex_app_server_daemon", "title": "agentwatch", "version": "1"},
    "capabilities": {
        "experimentalApi": True,
        "optOutNotificationMethods": [
            *("configWarning", "remoteControl/status/changed", "thread/started", "thread/status/changed"),
            *("thread/closed", "turn/started", "turn/completed", "item/started", "item/completed"),
        ],
    },
}
_ABOUT = {"waitingOnApproval": "permission", "waitingOnUserInput": "question"}
_STATES = {"idle": State.YOUR_TURN, "systemError": State.TURN_FAILED}


class Thread(NamedTuple):
    """A loaded thread, as the server reports it."""

    state: State | None
    """None for an unknown status, and for a subagent that does not ask: its turn is the agent's."""
    about: str = ""
    """What it waits for: `permission` or `question`."""


def thread_of(fields: Fields) -> Thread:
    status = mapping(fields.get("status"))
    kind, flags = text(status, "type"), status.get("activeFlags")
    if kind == "active" and isinstance(flags, list):
        for flag, about in _ABOUT.items():
            if flag in flags:
                return Thread(State.ASKS, about)
    if text(fields, "parentThreadId"):
        return Thread(None)
    return Thread(State.WORKING if kind == "active" and flags == [] else _STATES.get(kind or ""))


class CodexServer:
    """Asks a server of Codex for the states of its threads. Nothing is asked before the first `refresh`."""

    def __init__(self, socket: Path, uid: int) -> None:
        self.socket = socket
        self.threads: dict[str, Thread] = {}
        self._uid = uid
        self._read: dict[str, float] = {}
        self._place: tuple[object, ...] | None = None
        """The socket of the last exchange, by its file."""
        self._due = 0.0
        self._faults = 0

    def refresh(self, now: float, wanted: Collection[str]) -> None:
        """Ask the server if it is time, for at most 50 ms. `now` is in seconds. `wanted` are the threads that
        are read if they are loaded. There are others, such as those for a title."""
        place = own_socket(self.socket, self._uid)
        if place != self._place:  # another server has begun
            self._place, self._due, self._faults = place, 0.0, 0
        if place is None:
            self.threads, self._read = {}, {}
        elif not 0 <= self._due - now <= _LONGEST_PAUSE:
            begin = time.monotonic()
            is_answered = self._ask(place[0], now, wanted)
            self._faults = 0 if is_answered else min(self._faults + 1, _MOST_FAULTS)
            pause = _TIMES_AS_LONG * (time.monotonic() - begin) if is_answered else 2.0**self._faults
            self._due = now + min(max(pause, _LEAST_PAUSE), _LONGEST_PAUSE)
        self._forget(key for key, then in self._read.items() if not 0 <= now - then <= _KEPT_SECONDS)

    def _ask(self, path: str, now: float, wanted: Collection[str]) -> bool:
        is_answered = False
        try:
            with _Peer(path, self._uid, _MOST_SECONDS) as peer:
                peer.request("initialize", _CLIENT)
                peer.send(b'{"method": "initialized"}')
                data = peer.request("thread/loaded/list", {}).get("data")
                if not isinstance(data, list):
                    return False
                loaded = dict.fromkeys(each for each in data if isinstance(each, str) and each in wanted)
                self._forget(self._read.keys() - loaded.keys())
                is_answered = True
                due = sorted(loaded, key=lambda key: self._read.get(key, 0.0))[:_MOST_READ]
                asked = {peer.ask("thread/read", {"threadId": key}): key for key in due}
                while asked:
                    answered, result = peer.answer()
                    if (key := asked.pop(answered, None)) is not None:
                        self.threads[key], self._read[key] = thread_of(mapping(result.get("thread"))), now
        except (OSError, ValueError):
            return is_answered
        return True

    def _forget(self, keys: Iterable[str]) -> None:
        for key in [*keys]:
            del self.threads[key], self._read[key]


class _Peer(WebSocket):
    """Sends requests, and reads the answers; what the server asks is dropped."""

    _number = 0

    def ask(self, method: str, params: Fields) -> int:
        self._number += 1
        self.send(json.dumps({"id": self._number, "method": method, "params": params}).encode())
        return self._number

    def answer(self) -> tuple[int, Fields]:
        """Return the next answer's number and result; {} if refused. Raise `ValueError` for invalid JSON."""
        while True:
            message = parse(self.receive())
            if isinstance(message, dict) and "method" not in message:
                return number(message, "id") or 0, mapping(message.get("result"))

    def request(self, method: str, params: Fields) -> Fields:
        asked = self.ask(method, params)
        while True:
            answered, result = self.answer()
            if answered == asked:
                return result


def own_socket(path: Path, uid: int) -> tuple[str, int, int] | None:
    """Return a user's socket, its inode and its time; None if it may be somebody else's. Codex keeps a
    link to it. One link of the user is followed, to a socket in a folder that only the user can change."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode) and found.st_uid == uid:
            path = path.parent / os.readlink(path)
            found = os.lstat(path)
        folder = os.lstat(path.parent)
    except OSError:
        return None
    is_own = found.st_uid == folder.st_uid == uid and not folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not is_own or not stat.S_ISSOCK(found.st_mode) or not stat.S_ISDIR(folder.st_mode):
        return None
    return os.fspath(path), found.st_ino, found.st_mtime_ns
