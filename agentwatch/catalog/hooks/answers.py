"""Takes the questions of hooks on a socket of the user's, and gives them the answers of the user.

A hook asks while the agent's own dialog is on the agent's screen, and ends when that was answered. An answer
belongs to the id of one question, which the hook chose; a question takes one answer.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import now_ms
from agentwatch.base.files import state_folder
from agentwatch.base.json_fields import object_of
from agentwatch.base.local_socket import (
    BEAT_SECONDS,
    GREETING,
    MOST_BYTES,
    NAME,
    is_own_peer,
    listen,
    require_private,
)
from agentwatch.catalog.hooks.program import answer_folder
from agentwatch.recording.acts import Act, ActRecord, acts_file
from agentwatch.recording.store import private_folder

_MOST_HOOKS = 64
_MOST_KEPT = 64 << 20
"""The bytes of all questions. A hook beyond them is sent away: the agent's own dialog is on its screen."""
_ASKING_SECONDS = 10.0
"""How long a hook may be connected without a question, or after its answer."""
_MOST_ID = 64
_CHUNK = 1 << 18
_ENDS = frozenset(("sent", "elsewhere", "refused", "unknown"))
_OWNER_SECONDS = 2.0
"""How often a list tries to become the one that is asked."""
_END_SECONDS = 1.0
_SWITCH_SECONDS = 0.001
"""How long another thread may run before this one, which has to greet each hook in time. A list of 10,000
sessions in which keys were pressed missed the time of 6 % of the hooks with Python's 5 ms, now of 1 %."""


class PermissionQuestion(NamedTuple):
    """Its texts are foreign."""

    id: str
    key: Key
    tool: str
    input: Mapping[str, str]
    """A value that is not a text is written as JSON."""
    cwd: str
    at_ms: int


class Ended(NamedTuple):
    question: PermissionQuestion
    act: str
    """`allow` or `deny`; empty if the user has not answered it in the list."""
    receipt: str
    """The receipt that is in the acts; `expired` if the hook ended without one before it got an answer."""


class _Hook:
    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.buffer = bytearray()
        self.size = 0
        self.question: PermissionQuestion | None = None
        self.act = ""
        self.receipt = ""
        self.is_recorded = False
        self.until = time.monotonic() + _ASKING_SECONDS


class Answers:
    """Takes the questions of hooks in a thread; only one list of a user does. `changed` is called after
    `questions` has changed, `ended` with each question that is over, both in the thread."""

    def __init__(
        self, environ: Mapping[str, str], changed: Callable[[], object], ended: Callable[[Ended], object]
    ) -> None:
        self.questions: Mapping[str, PermissionQuestion] = {}
        """The questions by their ids, the oldest first. A change replaces the mapping by a new one."""
        self.problem = ""
        """Why no hook can ask; empty if one can, or another list is asked."""
        self._environ = environ
        self._folder = answer_folder(state_folder(environ)).absolute()
        self._changed, self._ended = changed, ended
        self._hooks: dict[int, _Hook] = {}
        self._ids: set[str] = set()
        """The ids of all questions that are not over, also of those that the user has answered."""
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = os.pipe()
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._lock = threading.Lock()
        self._given: list[tuple[str, str, str]] = []
        """The answers that the thread has not sent yet: id, act, message."""
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="answers", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Send the hooks away: nothing is decided."""
        self._is_closed = True
        os.write(self._woken, b"x")
        if self._thread.is_alive():
            self._thread.join(_END_SECONDS)

    def answer(self, question: PermissionQuestion, act: str, message: str = "") -> bool:
        """Return whether the question was still open. `message` tells the agent why it is denied."""
        with self._lock:
            is_open = self.questions.get(question.id) is question
            if is_open:
                self.questions = {id_: each for id_, each in self.questions.items() if id_ != question.id}
                self._given.append((question.id, act, message))
        if is_open:
            os.write(self._woken, b"x")
        return is_open

    def _run(self) -> None:
        try:
            owner = self._owner()
            if owner is not None:
                try:
                    self._serve()
                finally:
                    os.close(owner)
        except OSError as error:
            where = error.filename or self._folder
            self.problem = f"permission prompts cannot be answered here: {where}: {error.strerror or error}"
            self._changed()

    def _owner(self) -> int | None:
        """Wait until no other list is asked; return the lock that says so, None if closed meanwhile."""
        private_folder(self._folder)
        require_private(os.fspath(self._folder))
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        fd = os.open(self._folder / "list.lock", flags, 0o600)
        while not self._is_closed:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                self._selector.select(_OWNER_SECONDS)
            else:
                return fd
        os.close(fd)
        return None

    def _serve(self) -> None:
        path, switch_seconds = self._folder / NAME, sys.getswitchinterval()
        with socket.socket(socket.AF_UNIX) as listener:
            listen(listener, os.fspath(path), _MOST_HOOKS)  # in place of one of a list that was killed
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ)
            sys.setswitchinterval(_SWITCH_SECONDS)
            try:
                self._loop(listener, path)
            finally:
                sys.setswitchinterval(switch_seconds)
                path.unlink(missing_ok=True)
                for fd in [*self._hooks]:
                    self._end(fd)

    def _loop(self, listener: socket.socket, path: Path) -> None:
        beat_at = 0.0
        while not self._is_closed:
            now = time.monotonic()
            if now >= beat_at:
                beat_at = now + BEAT_SECONDS
                path.lstat()  # raises if somebody has removed it: then nobody can ask any more
                for fd in [*self._hooks]:
                    self._beat(fd, now)
            for key, _ in self._selector.select(max(beat_at - time.monotonic(), 0)):
                if key.fd == self._wake:
                    os.read(self._wake, _CHUNK)
                elif key.fd == listener.fileno():
                    self._accept(listener)
                else:
                    self._read(key.fd)
            with self._lock:
                given, self._given = self._given, []
            for id_, act, message in given:
                self._give(id_, act, message)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            is_taken = len(self._hooks) < _MOST_HOOKS and is_own_peer(connection)
            if not is_taken:
                connection.close()
                return
            fd = connection.fileno()
            self._hooks[fd] = _Hook(connection)
            self._write(fd, GREETING)  # first: after each system call, the thread may wait for others
            connection.setblocking(False)
            self._selector.register(fd, selectors.EVENT_READ)

    def _beat(self, fd: int, now: float) -> None:
        hook = self._hooks[fd]
        if hook.until and now > hook.until:
            self._end(fd)
            return
        self._write(fd, b"\n")

    def _read(self, fd: int) -> None:
        hook = self._hooks[fd]
        try:
            data = hook.connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        hook.size += len(data)
        kept = sum(each.size for each in self._hooks.values())
        if not data or len(hook.buffer) > MOST_BYTES or kept > _MOST_KEPT:
            self._end(fd)
            return
        hook.buffer += data
        while fd in self._hooks and b"\n" in data:
            line, _, data = bytes(hook.buffer).partition(b"\n")
            hook.buffer[:] = data
            self._take(fd, line)

    def _take(self, fd: int, line: bytes) -> None:
        hook = self._hooks[fd]
        if hook.question is not None:
            hook.receipt, hook.is_recorded = _receipt(line, hook.question.id)
            self._end(fd)
            return
        question = _question(line)
        if question is None or question.id in self._ids:
            self._end(fd)
            return
        self._ids.add(question.id)
        hook.question, hook.until = question, 0.0
        with self._lock:
            self.questions = {**self.questions, question.id: question}
        self._changed()

    def _give(self, id_: str, act: str, message: str) -> None:
        """Send an answer to the hook that has asked, if it is still there."""
        for fd, hook in self._hooks.items():
            if hook.question is not None and hook.question.id == id_:
                hook.act, hook.until = act, time.monotonic() + _ASKING_SECONDS
                line = orjson.dumps({"id": id_, "answer": act, "message": message}) + b"\n"
                if not self._write(fd, line):
                    hook.receipt = "expired"
                    self._end(fd)
                return

    def _write(self, fd: int, data: bytes) -> bool:
        try:
            return self._hooks[fd].connection.send(data) == len(data)
        except OSError:
            return False

    def _end(self, fd: int) -> None:
        hook = self._hooks.pop(fd)
        self._selector.unregister(fd)
        hook.connection.close()
        question = hook.question
        if question is None:
            return
        self._ids.discard(question.id)
        with self._lock:
            self.questions = {id_: each for id_, each in self.questions.items() if id_ != question.id}
            unsent = next((act for id_, act, _ in self._given if id_ == question.id), "")
        act, receipt = hook.act or unsent, hook.receipt or ("unknown" if hook.act else "expired")
        if act and not hook.is_recorded:
            self._record(question, act, receipt, question.id if receipt == "unknown" else "")
        self._ended(Ended(question, act, receipt))
        self._changed()

    def _record(self, question: PermissionQuestion, act: str, receipt: str, id_: str) -> None:
        """An answer that the hook may have recorded, too, has the id of its question."""
        agent, session_id = question.key
        path = acts_file(agent, session_id, None, self._environ)
        if path is not None:
            ActRecord(Act(0, act, session_id, "list", "hook", "", id=id_), [path]).write(receipt)


def _question(line: bytes) -> PermissionQuestion | None:
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict) or not isinstance(fields.get("input"), dict):
            return None
        shown = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in fields["input"].items()
        }
    except (ValueError, RecursionError):
        return None
    texts = [fields.get(name) for name in ("id", "agent", "session", "tool")]
    if not all(isinstance(each, str) and each for each in texts) or len(f"{texts[0]}") > _MOST_ID:
        return None
    id_, agent, session_id, tool = map(str, texts)
    cwd = fields.get("cwd")
    cwd = cwd if isinstance(cwd, str) else ""
    return PermissionQuestion(id_, (agent, session_id), tool, shown, cwd, now_ms())


def _receipt(line: bytes, id_: str) -> tuple[str, bool]:
    """The receipt in a line of a hook, empty without one, and whether the hook has recorded it."""
    fields = object_of(line) or {}
    if fields.get("id") != id_ or fields.get("receipt") not in _ENDS:
        return "", False
    return str(fields["receipt"]), fields.get("is_recorded") is True
