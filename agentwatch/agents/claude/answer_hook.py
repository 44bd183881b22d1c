"""The hook of Claude Code that asks the open list, while Claude's own dialog is on its screen. It prints
a decision only if the user has made one in the list, the settings allow it, and it is recorded; otherwise
only the dialog counts. Claude does not notify the hook of an answer in the dialog, so the hook reads the
state in `sessions/PID.json`, and ends when it changes."""

from __future__ import annotations

import os
import sys

_MOST_INPUT = 8 << 20
_KEPT_OUT = (b'"agent_id"', b'"AskUserQuestion"', b'"ExitPlanMode"')
"""Marks of a subagent, and of dialogs that ask for more than a permission, which an answer would swallow."""
_TERMINAL = "cli"
"""The `CLAUDE_CODE_ENTRYPOINT` of a session on a terminal. `claude -p` has no dialog, and waits for hooks."""


def read_input(fd: int) -> bytes:
    data = b""
    while more := os.read(fd, 1 << 20):
        if len(data) <= _MOST_INPUT:
            data += more
    return data


def is_kept_out(data: bytes, entrypoint: str) -> bool:
    """A quotation mark within a text is written after a backslash, so only a whole key or value matches."""
    return (
        len(data) > _MOST_INPUT
        or entrypoint not in ("", _TERMINAL)
        or any(each in data for each in _KEPT_OUT)
    )


if __name__ == "__main__":  # run with -I -S: the package is found beside this file, and nothing else
    _DATA = read_input(0)
    if is_kept_out(_DATA, os.environ.get("CLAUDE_CODE_ENTRYPOINT", "")):
        os._exit(0)  # the dialog of a subagent waits for its hooks, and the imports below take longest
    sys.path.append(os.path.abspath(__file__).rsplit("/", 4)[0])
    from agentwatch.base.local_socket import connect

    try:
        _LIST = connect(sys.argv[1])
    except OSError:
        os._exit(0)

# ruff: noqa: E402 - see above
import errno
import json
import select
import signal
import stat
import time
from contextlib import suppress

from agentwatch.base.local_socket import MOST_SILENT_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable
    from typing import Any

MOST_SECONDS = 3500
"""The hook gives up by itself before its timeout in the settings."""
_WAITING = ("waiting", "permission prompt")
"""The state that Claude writes while the dialog is on its screen."""
_DIALOG_SECONDS = 1.0
_STEP_SECONDS = 0.05
_CONFIRM_SECONDS = 3.0
_MOST_RECORD = 64 << 10
_MOST_RECORDS = 1000
_MOST_TRANSCRIPT = 1 << 20
_MOST_SETTINGS = 1 << 20
_MOST_NAME = 200
_CHUNK = 1 << 16

State = tuple[str, str, object]


class Abstains(Exception):
    """There is nothing to decide: the dialog of Claude is the only one that counts."""


def question_in(data: bytes) -> dict[str, Any]:
    """Return the fields of the input. Raise `Abstains` if it is not the input of a permission prompt."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise Abstains from None
    texts = ("session_id", "transcript_path", "tool_name")
    if (
        not isinstance(fields, dict)
        or not all(isinstance(fields.get(key), str) for key in texts)
        or not isinstance(fields.get("tool_input"), dict)
        or fields.get("hook_event_name") != "PermissionRequest"
    ):
        raise Abstains
    return fields


def is_allowed(settings: str) -> bool:
    """Whether `[act]` has `answer = true`: the list has read it too, but any program can take its place."""
    import tomllib  # takes 5 ms, which only a hook that asks has to spare

    try:
        fd = os.open(settings, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            data = os.read(fd, _MOST_SETTINGS) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
        finally:
            os.close(fd)
        return tomllib.loads(data.decode())["act"]["answer"] is True
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


class Dialog:
    """`pid` is empty if it is unknown. Creating it reads nothing."""

    def __init__(self, transcript: str, session_id: str, pid: str) -> None:
        self._folder = os.path.join(transcript.rsplit("/", 3)[0], "sessions")
        self._session_id = session_id
        self._name = f"{pid}.json" if pid.isascii() and pid.isdigit() else ""
        self._first: State | None = None

    def appears(self) -> bool:
        if not self._name:
            names = [name for name in os.listdir(self._folder)[:_MOST_RECORDS] if name.endswith(".json")]
            self._name = next((name for name in names if self._waits(self._state(name))), "")
        state = self._state(self._name) if self._name else None
        self._first = state if self._waits(state) else None
        return self._first is not None

    def is_open(self) -> bool:
        """Return whether the same dialog is still on the screen. Raise `OSError` if the session has ended."""
        state = self._state(self._name)
        return state is None or state == self._first

    @staticmethod
    def _waits(state: State | None) -> bool:
        return state is not None and state[:2] == _WAITING

    def _state(self, name: str) -> State | None:
        """Return the state in a record; None if it is just being written, or is that of another session."""
        path = os.path.join(self._folder, name)
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                raise Abstains
            fields = json.loads(os.read(fd, _MOST_RECORD))
        except (ValueError, RecursionError):
            return None
        finally:
            os.close(fd)
        if not isinstance(fields, dict) or fields.get("sessionId") != self._session_id:
            return ("", "", None)
        return str(fields.get("status")), str(fields.get("waitingFor")), fields.get("statusUpdatedAt")


class Connection:
    def __init__(self, connected: _socket.socket) -> None:
        self._socket = connected
        self._buffer = b""
        self._heard = time.monotonic()

    def message(self, seconds: float) -> dict[str, Any] | None:
        """Return the next message that arrives in time; None if none does. Raise `Abstains` if the list has
        ended or hangs, or sends what is not a message."""
        until = time.monotonic() + seconds
        while True:
            line, newline, rest = self._buffer.lstrip(b"\n").partition(b"\n")  # a line feed is a heartbeat
            if newline:
                self._buffer = rest
                try:
                    message = json.loads(line)
                except (ValueError, RecursionError):
                    raise Abstains from None
                if not isinstance(message, dict):
                    raise Abstains
                return message
            now = time.monotonic()
            if now > self._heard + MOST_SILENT_SECONDS or len(line) > _CHUNK:
                raise Abstains
            if now >= until:
                return None
            if not select.select([self._socket], [], [], until - now)[0]:
                continue
            data = self._socket.recv(_CHUNK)
            if not data:
                raise Abstains
            self._buffer, self._heard = line + data, now

    def send(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")


def decision(data: bytes, connection: Connection, pid: str, is_read: Callable[[], bool]) -> Decided:
    """Return what the user has decided in the list. `pid` is the process of the session; empty if Claude
    does not report it. `is_read`: Claude still reads the output. Raise `Abstains` without a decision, and
    `OSError` if the list or the session has ended."""
    fields = question_in(data)
    transcript, session_id = fields["transcript_path"], fields["session_id"]
    dialog = Dialog(transcript, session_id, pid)
    until = time.monotonic() + _DIALOG_SECONDS
    while not dialog.appears():
        if time.monotonic() > until:
            raise Abstains
        time.sleep(_STEP_SECONDS)
    name = os.urandom(16).hex()
    at = os.stat(transcript).st_size if os.path.exists(transcript) else 0
    question = {"id": name, "agent": "claude", "session": session_id, "tool": fields["tool_name"]}
    connection.send({**question, "input": fields["tool_input"], "cwd": fields.get("cwd")})
    while True:
        answer = connection.message(_STEP_SECONDS)
        try:
            is_open = dialog.is_open() and is_read()
        except OSError:
            is_open = False
        if not is_open:
            connection.send({"id": name, "receipt": "elsewhere"})
            raise Abstains
        if answer is not None:
            return Decided(connection, name, answer, Calls(transcript, at, fields), session_id)


class Decided:
    def __init__(
        self, connection: Connection, name: str, answer: dict[str, Any], calls: Calls, session: str
    ) -> None:
        self._behaviour = answer.get("answer")
        message = answer.get("message")
        if answer.get("id") != name or self._behaviour not in ("allow", "deny"):
            raise Abstains
        self._message = message if isinstance(message, str) and self._behaviour == "deny" else ""
        self._connection, self._name, self._calls, self._session = connection, name, calls, session

    def record(self, folder: str, receipt: str) -> None:
        """Append the decision to the acts on the session; the receipt is `unknown` before Claude has it."""
        from agentwatch.base.clock import now_ms
        from agentwatch.recording.appender import append_own_line

        session = self._session
        letters = session.replace("-", "").replace("_", "")
        if len(session) > _MOST_NAME or not (letters.isascii() and letters.isalnum()):
            raise OSError(errno.EINVAL, "the id of the session is not one")
        os.makedirs(folder, 0o700, exist_ok=True)
        act = {"at_ms": now_ms(), "act": self._behaviour, "to": session, "by": "list"}
        line = json.dumps({**act, "door": "hook", "receipt": receipt, "id": self._name})
        append_own_line(f"{folder}/claude-{session}.acts", line.encode() + b"\n")

    def refuse(self) -> None:
        """Tell the list that the decision was not given to Claude."""
        self._connection.send({"id": self._name, "receipt": "refused"})

    @property
    def output(self) -> bytes:
        decided = {"behavior": self._behaviour}
        if self._message:
            decided["message"] = self._message
        output = {"hookEventName": "PermissionRequest", "decision": decided}
        return json.dumps({"hookSpecificOutput": output}).encode() + b"\n"

    def confirm(self, folder: str) -> None:
        until = time.monotonic() + _CONFIRM_SECONDS
        while (taken := self._calls.taken(str(self._behaviour))) is None and time.monotonic() < until:
            time.sleep(_STEP_SECONDS)
        receipt = "elsewhere" if taken is False else "sent"
        if taken is None and self._behaviour == "deny":
            receipt = "unknown"  # a call that was denied has its result at once
        with suppress(OSError):  # the line before says that it is unknown
            self.record(folder, receipt)
        self._connection.send({"id": self._name, "receipt": receipt, "is_recorded": True})


class Calls:
    """The session's lines about the call. `at` is its size when the question was asked."""

    def __init__(self, transcript: str, at: int, fields: dict[str, Any]) -> None:
        self._transcript, self._at = transcript, at
        self._wanted = (fields["tool_name"], fields["tool_input"])

    def taken(self, behaviour: str) -> bool | None:
        """Return whether the result of the call is by the hook's decision; None without a result. The line of
        the call is written shortly before or after the hook starts, its result after the answer."""
        begin = max(self._at - _MOST_TRANSCRIPT, 0)
        try:
            with open(self._transcript, "rb") as file:
                file.seek(begin)
                data = file.read(2 * _MOST_TRANSCRIPT)
        except OSError:
            return None
        ids, offset = set(), begin
        for line in data.split(b"\n"):
            offset += len(line) + 1
            if b'"tool_' not in line:
                continue
            try:
                fields = json.loads(line)
                for part in fields["message"]["content"]:
                    if part["type"] == "tool_use" and (part["name"], part["input"]) == self._wanted:
                        ids.add(part["id"])
                    elif part["type"] == "tool_result" and part["tool_use_id"] in ids and offset > self._at:
                        decided = fields.get("permissionDecision")
                        if isinstance(decided, dict):
                            return decided.get("source") == "hook"
                        return bool(part.get("is_error")) is (behaviour == "deny")
            except (ValueError, RecursionError, LookupError, TypeError):
                continue
        return None


def main(folder: str, settings: str) -> None:
    """Ask the list at the socket in `folder`, beside which the acts are, if the file `settings` allows it."""
    signal.alarm(MOST_SECONDS)
    if not is_allowed(settings):
        return
    reader = select.poll()
    reader.register(1, select.POLLHUP | select.POLLERR)
    decided = decision(_DATA, Connection(_LIST), os.environ.get("CLAUDE_PID", ""), lambda: not reader.poll(0))
    acts = f"{os.path.dirname(folder)}/acts"
    try:
        if not is_allowed(settings):  # it was switched off meanwhile
            raise OSError(errno.EPERM, "switched off")
        decided.record(acts, "unknown")  # first: nothing is allowed that is not recorded
    except OSError:
        decided.refuse()
        return
    os.write(1, decided.output)
    if os.fork():
        return
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):  # Claude reads the output until nobody can write it any more
        os.dup2(null, fd)
    os.setsid()
    decided.confirm(acts)


if __name__ == "__main__":
    with suppress(BaseException):  # the outermost edge: after any fault, only the dialog counts
        main(*sys.argv[1:3])
    os._exit(0)
