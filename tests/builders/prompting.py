"""A made Claude Code that asks for permissions, and a list in a process of its own that answers at random."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from agentwatch.agents.claude.program import ANSWERS
from agentwatch.base.local_socket import reach
from agentwatch.catalog.hooks.answers import Answers
from agentwatch.catalog.hooks.program import Program

ROOT = Path(__file__).parents[2]
SESSION = "5b0c1d2e-0000-4000-8000-000000000001"


class Prompt(NamedTuple):
    """A prompt that was decided."""

    command: str
    source: str
    """`hook` or `user`."""
    decided: str
    is_patient: bool
    """Whether the user at Claude's screen waited for longer than the list needs."""
    is_killed: bool
    """Whether the hook was killed."""
    began: float
    ended: float


class MadeClaude:
    """Claude Code as far as a hook sees it: the dialog is always on, and the first answer counts."""

    def __init__(self, folder: Path, session: str = SESSION) -> None:
        self.environ = {"AGENTWATCH_HOME": str(folder / "own")}
        self.settings = folder / "config.toml"
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text("[act]\nanswer = true\n")
        self.program = Program(folder / "own" / "hooks", ANSWERS.answers, self.settings)
        self.program.install()
        self.session = session
        self.transcript = folder / "claude" / "projects" / "p" / f"{session}.jsonl"
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.transcript.touch()
        self.record = folder / "claude" / "sessions" / f"{abs(hash(session)) % 10**9}.json"
        self.record.parent.mkdir(exist_ok=True)
        self._updated = 0
        self.rest()

    def rest(self) -> None:
        """Say that no dialog waits."""
        self._say(status="busy")

    def wait(self) -> None:
        """Say that the dialog of a permission waits."""
        self._say(status="waiting", waitingFor="permission prompt")

    def _say(self, **fields: str) -> None:
        self._updated += 1
        said = {"pid": 1, "sessionId": self.session, **fields, "statusUpdatedAt": self._updated}
        new = self.record.with_suffix(".new")
        new.write_text(json.dumps(said))
        os.replace(new, self.record)

    def call(self, command: str) -> str:
        """Write the line of a call, and return its id."""
        name = f"toolu_{self._updated}"
        self._line({"type": "tool_use", "id": name, "name": "Bash", "input": {"command": command}})
        return name

    def result(self, name: str, behaviour: str, source: str) -> None:
        """Write the result of a call, and by whom it was decided."""
        is_error = behaviour == "deny"
        part = {"type": "tool_result", "tool_use_id": name, "content": "x", "is_error": is_error}
        self._line(part, permissionDecision={"decision": behaviour, "source": source})

    def _line(self, part: dict[str, Any], **fields: Any) -> None:
        with self.transcript.open("a") as file:
            file.write(json.dumps({"message": {"content": [part]}, **fields}) + "\n")

    def input(self, command: str = "ls", **fields: Any) -> bytes:
        given = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": "/home/dev/api",
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": {"command": command},
        }
        return json.dumps({**given, **fields}, separators=(",", ":")).encode()

    def hook(self, data: bytes, **variables: str) -> subprocess.Popen[bytes]:
        """Start the hook, and give it its input."""
        pipe = subprocess.PIPE
        environ = {"PATH": os.environ["PATH"], "CLAUDE_CODE_ENTRYPOINT": "cli", **variables}
        command = ["sh", "-c", self.program.command("claude", "PermissionRequest")]
        process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ, start_new_session=True
        )
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.close()
        process.stdin = None
        return process

    def ask(self, command: str, chance: random.Random) -> Prompt:
        """Ask for a permission, which somebody at the screen gives or refuses at a random time."""
        self.wait()
        name, hook, began = self.call(command), self.hook(self.input(command)), time.monotonic()
        is_patient = chance.random() < 0.5
        screen_at = began + (4.0 if is_patient else chance.uniform(0, 1))
        kill_at = began + (chance.uniform(0, 0.8) if chance.random() < 0.1 else 1000)
        is_killed, decided = False, None
        while hook.poll() is None and time.monotonic() < screen_at:
            if time.monotonic() > kill_at and not is_killed:
                is_killed = True
                os.killpg(hook.pid, signal.SIGKILL)
            time.sleep(0.003)
        if hook.poll() is not None:
            decided = behaviour(hook.communicate()[0])
        source = "user" if decided is None else "hook"
        if decided is None:
            decided = chance.choice(("allow", "deny"))  # the dialog is there, whatever the hook does
        self.rest()
        self.result(name, decided, source)
        hook.communicate(timeout=10)  # what it prints now is ignored
        return Prompt(command, source, decided, is_patient, is_killed, began, time.monotonic())


def behaviour(output: bytes) -> str | None:
    """Return what a hook decided: `allow`, `deny` or None; anything else is an error."""
    if not output:
        return None
    (line,) = output.splitlines()
    decided = json.loads(line)["hookSpecificOutput"]
    assert set(decided) == {"hookEventName", "decision"}
    assert set(decided["decision"]) <= {"behavior", "message"}
    found: str = decided["decision"]["behavior"]
    assert found in ("allow", "deny")
    return found


def is_listening(path: Path) -> bool:
    """Return whether a list takes connections; a killed one leaves its socket."""
    with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
        reach(connection, str(path))
        return True
    return False


def talk(path: Path, *lines: bytes) -> socket.socket:
    """Connect to a list as a hook does, and send lines."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10)
    reach(connection, str(path))
    assert connection.recv(100).startswith(b'{"agentwatch":1}\n')
    for line in lines:
        connection.sendall(line + b"\n")
    return connection


def made(id_: str, **fields: Any) -> bytes:
    asked = {"id": id_, "agent": "claude", "session": "s", "tool": "Bash", "input": {"command": "ls"}}
    return json.dumps({**asked, **fields}).encode()


class ListProcess:
    """A list in a process of its own, which answers each question after a random time, and logs it before."""

    def __init__(self, folder: Path, most_seconds: float) -> None:
        self.log, self._folder, self._seconds = folder / "given.log", folder, most_seconds
        self._asked = folder / "asked.log"
        self._kills: list[float] = []
        self.start()

    def start(self) -> None:
        arguments = [sys.executable, "-m", __name__, str(self._folder), str(self._seconds)]
        self.process = subprocess.Popen(arguments, cwd=ROOT)

    def kill(self) -> None:
        self._kills.append(time.monotonic())
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def was_killed(self, began: float, ended: float) -> bool:
        """Return whether it was killed between two times."""
        return any(began <= at <= ended for at in self._kills)

    def has_asked(self, command: str) -> bool:
        """Return whether it was asked about a command."""
        return self._asked.exists() and command in self._asked.read_text().split()

    def given(self) -> dict[str, str]:
        """Return the answers that it has given, by the command."""
        if not self.log.exists():
            return {}
        lines = [line.split() for line in self.log.read_text().splitlines()]
        assert len({command for command, _ in lines}) == len(lines), "a question was answered twice"
        return dict(lines)


def main() -> None:
    """Answer until the process is killed."""
    folder, most_seconds = Path(sys.argv[1]), float(sys.argv[2])
    environ = {"AGENTWATCH_HOME": str(folder / "own")}
    given: dict[str, float] = {}
    lock = threading.Condition()

    def changed() -> None:
        with lock:
            lock.notify()

    answers = Answers(environ, changed, lambda _end: None)
    answers.start()
    chance = random.Random(os.getpid())
    while os.getppid() != 1:
        with lock:
            lock.wait(0.01)
        now = time.monotonic()
        for question in answers.questions.values():
            if question.id not in given:
                with (folder / "asked.log").open("a") as log:
                    log.write(f"{question.input['command']}\n")
            at = given.setdefault(question.id, now + chance.uniform(0, most_seconds))
            if now >= at:
                act = chance.choice(("allow", "deny"))
                with (folder / "given.log").open("a") as log:
                    log.write(f"{question.input['command']} {act}\n")
                answers.answer(question, act, "no")


if __name__ == "__main__":
    main()
