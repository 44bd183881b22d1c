"""A permission prompt is answered from the list only by the user, once, and while Claude's dialog is open."""

import _socket
import json
import os
import random
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.claude import answer_hook
from agentwatch.agents.claude.answer_hook import Abstains, Calls
from agentwatch.base import local_socket
from agentwatch.catalog.hooks import answers as module
from agentwatch.catalog.hooks.answers import Answers, Ended, PermissionQuestion
from agentwatch.recording.acts import Act, acts_file, read_acts
from tests.builders.prompting import (
    SESSION,
    ListProcess,
    MadeClaude,
    Prompt,
    behaviour,
    is_listening,
    made,
    talk,
)
from tests.conftest import case
from tests.harness.processes import until

pytestmark = pytest.mark.slow


class OpenList:
    """An open list: its questions, and those that are over."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.over: list[Ended] = []
        self.answers = Answers(environ, lambda: None, self.over.append)
        self.socket = Path(environ["AGENTWATCH_HOME"]) / "answer" / "list.sock"

    def question(self) -> PermissionQuestion:
        """Return the first question, once there is one."""
        until(lambda: self.answers.questions, what="a question")
        return next(iter(self.answers.questions.values()))

    def asked(
        self, claude: MadeClaude, command: str = "ls"
    ) -> tuple[subprocess.Popen[bytes], PermissionQuestion]:
        """Start a hook that asks, and return it with its question."""
        hook = asking(claude, command, lambda: bool(self.answers.questions))
        return hook, self.question()

    def ended(self) -> Ended:
        """Return the question that ended last, once none is open."""
        until(lambda: self.over, what="the end of a question")
        return self.over[-1]


@contextmanager
def listening(environ: dict[str, str]) -> Iterator[OpenList]:
    """Open a list until the end of the block."""
    opened = OpenList(environ)
    opened.answers.start()
    until(lambda: is_listening(opened.socket) or opened.answers.problem, what="the list")
    try:
        yield opened
    finally:
        opened.answers.close()


@pytest.fixture
def claude(tmp_path: Path) -> MadeClaude:
    """Return a made Claude Code."""
    return MadeClaude(tmp_path)


def ended(hook: subprocess.Popen[bytes], seconds: float = 20) -> bytes:
    """Return what a hook printed; it ends in time with 0 and without a word on stderr."""
    output, errors = hook.communicate(timeout=seconds)
    assert (hook.returncode, errors) == (0, b"")
    return output


def asking(claude: MadeClaude, command: str, has_asked: Callable[[], bool]) -> subprocess.Popen[bytes]:
    """Return a hook that has asked; a busy machine may not greet the first one in time."""
    for _ in range(10):
        hook = claude.hook(claude.input(command))
        until(lambda: has_asked() or hook.poll() is not None, what="a question")  # noqa: B023 - called now
        if has_asked():
            return hook
        assert ended(hook) == b""
    raise AssertionError("no hook has asked")


def test_an_answer_of_the_list_is_the_decision_of_the_hook(claude: MadeClaude, tmp_path: Path) -> None:
    """It allows or denies with a reason, is recorded, and cannot be given a second time."""
    with listening(claude.environ) as opened:
        for act, message in (("allow", "not for an allow"), ("deny", "use \u202e git"), ("deny", "")):
            with case(act):
                claude.wait()
                name = claude.call("rm -rf build")
                hook, question = opened.asked(claude, "rm -rf build")
                assert question.key == ("claude", SESSION)
                assert (question.tool, question.input) == ("Bash", {"command": "rm -rf build"})
                assert opened.answers.answer(question, act, message)
                assert not opened.answers.answer(question, "allow")
                output = ended(hook)
                decision: dict[str, Any] = {"behavior": act}
                if act == "deny" and message:
                    decision["message"] = message
                expected = {"hookEventName": "PermissionRequest", "decision": decision}
                assert json.loads(output) == {"hookSpecificOutput": expected}
                claude.result(name, act, "hook")
                assert opened.ended()[1:] == (act, "sent")
                opened.over.clear()
                claude.rest()
        acts = read_acts(acts_file("claude", SESSION, None, claude.environ))
        assert [(each.act, each.by, each.door, each.receipt) for each in acts] == [
            (act, "list", "hook", "sent") for act in ("allow", "deny", "deny")
        ]
        assert stat.S_IMODE(opened.socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(opened.socket.parent.stat().st_mode) == 0o700
    assert not opened.socket.exists()


def test_an_answer_on_the_agents_screen_removes_the_question(claude: MadeClaude) -> None:
    """The hook sees that the dialog is closed, and prints nothing."""
    with listening(claude.environ) as opened:
        claude.wait()
        hook, question = opened.asked(claude)
        claude.rest()
        began = time.monotonic()
        until(lambda: not opened.answers.questions, what="the question is removed")
        took = time.monotonic() - began
        assert ended(hook) == b""
        assert not opened.answers.answer(question, "allow")
        assert opened.ended()[1:] == ("", "elsewhere")
    assert took < 5


@contextmanager
def any_list(claude: MadeClaude, act: str) -> Iterator[None]:
    """Answer one question in the place of the list, as any program of the user can, and forget it."""
    folder = Path(claude.environ["AGENTWATCH_HOME"]) / "answer"
    folder.mkdir(mode=0o700, exist_ok=True)

    def serve() -> None:
        line = b""
        while not line:  # a busy machine may not greet the first hook in time
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as lines, suppress(OSError):
                connection.sendall(local_socket.GREETING)
                if line := lines.readline():
                    connection.sendall(json.dumps({**json.loads(line), "answer": act}).encode() + b"\n")
                    lines.read()

    with socket.socket(socket.AF_UNIX) as listener:
        local_socket.listen(listener, str(folder / "list.sock"), 8)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        (folder / "list.sock").unlink()


def test_no_decision_reaches_claude_without_a_record(claude: MadeClaude, tmp_path: Path) -> None:
    """The hook writes it before Claude has it, whatever answers in place of the list, and then its receipt.
    One that cannot be written is not given: only the dialog counts."""
    path = acts_file("claude", SESSION, None, claude.environ)
    assert path is not None
    for act, receipt in (("allow", "sent"), ("deny", "sent"), ("allow", "elsewhere")):
        with case((act, receipt)), any_list(claude, act):
            claude.wait()
            name = claude.call("ls")
            decided = None
            while decided is None:
                decided = behaviour(ended(claude.hook(claude.input())))
            assert decided == act
            (line,) = path.read_bytes().splitlines()
            written = json.loads(line)
            assert (written["act"], written["receipt"]) == (act, "unknown")
            claude.result(name, act, "hook" if receipt == "sent" else "user")
            until(lambda: read_acts(path), what="the receipt")
            assert [(each.act, each.by, each.door, each.receipt) for each in read_acts(path)] == [
                (act, "list", "hook", receipt)
            ]
            path.unlink()
            claude.rest()
    for name in ("a link", "a folder"):
        with case(name), listening(claude.environ) as opened:
            if name == "a folder":
                path.mkdir()
            else:
                path.symlink_to(tmp_path / "x")
            claude.wait()
            hook, question = opened.asked(claude)
            assert opened.answers.answer(question, "allow")
            assert ended(hook) == b""
            assert opened.ended()[1:] == ("allow", "refused")
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()
            claude.rest()
    assert not (tmp_path / "x").exists()


def test_the_hook_reads_the_switch_itself(claude: MadeClaude, tmp_path: Path) -> None:
    """Without `answer = true` in the settings it asks nothing; an answer given after that is not taken."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    off = b"[act]\nanswer = false\n"
    contents = [b"", off, b"[act]\nanswer = 1\n", b"act = true\n", b"[act", b"\xff", b"[" * 9999]
    for content in contents:
        with case(content[:30]):
            claude.settings.write_bytes(content)
            assert not answer_hook.is_allowed(str(claude.settings))
    for path in (tmp_path / "folder", tmp_path / "fifo", tmp_path / "none", Path()):
        with case(path):
            assert not answer_hook.is_allowed(str(path))
    claude.settings.write_bytes(off)
    with listening(claude.environ) as opened:
        claude.wait()
        assert ended(claude.hook(claude.input())) == b""
        assert not opened.over
        claude.settings.write_text("[act]\nanswer = true\n")
        hook, question = opened.asked(claude)
        claude.settings.write_bytes(off)
        assert opened.answers.answer(question, "allow")
        assert ended(hook) == b""
        assert opened.ended()[1:] == ("allow", "refused")
    acts = read_acts(acts_file("claude", SESSION, None, claude.environ))
    assert [(each.act, each.receipt) for each in acts] == [("allow", "refused")]


@pytest.mark.system
def test_an_answer_that_came_second_is_called_elsewhere(claude: MadeClaude) -> None:
    """The line of the result says by whom the call was decided."""
    with listening(claude.environ) as opened:
        claude.wait()
        name = claude.call("ls")
        hook, question = opened.asked(claude)
        assert opened.answers.answer(question, "allow")
        ended(hook)
        claude.result(name, "deny", "user")
        assert opened.ended()[1:] == ("allow", "elsewhere")


def test_without_an_open_list_the_hook_abstains_at_once(
    claude: MadeClaude, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No process of Python is started, unless a list that was killed has left its socket."""
    started = tmp_path / "started"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ntouch "{started}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    claude.program.install()
    claude.wait()
    assert ended(claude.hook(claude.input())) == b""
    assert not started.exists()
    folder = Path(claude.environ["AGENTWATCH_HOME"]) / "answer"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as left:
        local_socket.listen(left, str(folder / "list.sock"), 1)
    assert ended(claude.hook(claude.input())) == b""
    assert started.exists()
    with listening(claude.environ) as opened:  # the socket of the list that was killed is replaced
        hook, question = opened.asked(claude)
        assert opened.answers.answer(question, "allow")
        assert behaviour(ended(hook)) == "allow"


ABSTAINS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("a subagent", {"agent_id": "a1"}, {}),
    ("a question of the agent", {"tool_name": "AskUserQuestion"}, {}),
    ("a plan", {"tool_name": "ExitPlanMode"}, {}),
    ("without a terminal", {}, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}),
    ("another event", {"hook_event_name": "PreToolUse"}, {}),
    ("no session", {"session_id": None}, {}),
    ("no input", {"tool_input": "ls"}, {}),
    ("no transcript", {"transcript_path": "/nowhere/p/x.jsonl"}, {}),
    ("another process", {}, {"CLAUDE_PID": "1"}),
]


@pytest.mark.system
def test_what_is_not_for_the_list_is_left_to_the_dialog(claude: MadeClaude) -> None:
    """The hook ends without a word, and the list gets no question."""
    with listening(claude.environ) as opened:
        claude.wait()
        for name, fields, variables in ABSTAINS:
            with case(name):
                assert ended(claude.hook(claude.input(**fields), **variables)) == b""
        for data in (b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"a":' * 50_000, b"1" * 5_000):
            with case(data[:10]):
                assert ended(claude.hook(data)) == b""
        claude.rest()
        with case("no dialog"):
            assert ended(claude.hook(claude.input())) == b""
        assert not opened.over


def test_an_input_that_is_too_long_is_left_to_the_dialog(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read to its end, and neither kept nor sent."""
    reader, writer = os.pipe()

    def write() -> None:
        with open(writer, "wb") as file:
            file.write(b"x" * 5_000_000)

    thread = threading.Thread(target=write)
    monkeypatch.setattr(answer_hook, "_MOST_INPUT", 100)
    thread.start()
    data = answer_hook.read_input(reader)
    os.close(reader)  # if something is left to read, the thread fails
    thread.join()
    assert 100 < len(data) <= 1_048_576
    assert answer_hook.is_kept_out(b" " * 101, "cli")
    assert not answer_hook.is_kept_out(b" " * 100, "cli")


@pytest.mark.system
def test_a_list_that_is_killed_stopped_or_closed_ends_the_hook(claude: MadeClaude, tmp_path: Path) -> None:
    """The dialog is the only one that counts then; a stopped list is noticed by its missing heartbeat."""
    claude.wait()
    path = tmp_path / "own" / "answer" / "list.sock"
    for how in (signal.SIGKILL, signal.SIGSTOP):
        with case(how):
            process = ListProcess(tmp_path, 1000)
            until(partial(is_listening, path), what="the list")
            started = time.monotonic()  # the hook hears the list after this, at the earliest
            hook = asking(claude, how.name, partial(process.has_asked, how.name))
            process.process.send_signal(how)
            began = time.monotonic()
            assert ended(hook) == b""
            now = time.monotonic()
            if how == signal.SIGSTOP:
                assert now - started > local_socket.MOST_SILENT_SECONDS
            else:
                assert now - began < local_socket.MOST_SILENT_SECONDS - local_socket.BEAT_SECONDS
            process.kill()
            path.unlink()
    with listening(claude.environ) as opened:
        hook, _ = opened.asked(claude)
        closed = time.monotonic()
    assert ended(hook) == b""
    assert time.monotonic() - closed < local_socket.MOST_SILENT_SECONDS - local_socket.BEAT_SECONDS


def test_the_threads_of_a_list_switch_faster_while_it_is_asked(claude: MadeClaude) -> None:
    """Otherwise a busy list greets too late."""
    usual = sys.getswitchinterval()
    with listening(claude.environ):
        until(lambda: sys.getswitchinterval() < usual, what="a shorter interval")
    until(lambda: sys.getswitchinterval() == usual, what="the usual interval")


@pytest.mark.system
def test_a_hook_ends_with_its_agent(claude: MadeClaude) -> None:
    """Nobody reads its output any more."""
    with listening(claude.environ) as opened:
        claude.wait()
        hook, _ = opened.asked(claude)
        assert hook.stdout is not None
        hook.stdout.close()
        until(lambda: not opened.answers.questions, what="the question is removed")
        hook.stdout = None
        hook.communicate(timeout=20)
        assert hook.returncode == 0


def test_a_question_of_a_killed_hook_is_removed(claude: MadeClaude) -> None:
    """An answer to it that was not sent is recorded as expired."""
    with listening(claude.environ) as opened:
        claude.wait()
        hook, question = opened.asked(claude)
        os.killpg(hook.pid, signal.SIGKILL)
        until(lambda: not opened.answers.questions, what="the question is removed")
        hook.communicate()
        assert not opened.answers.answer(question, "allow")
        assert opened.ended()[1:] == ("", "expired")


@pytest.mark.system
def test_only_one_list_is_asked(claude: MadeClaude) -> None:
    """The second one takes over when the first is closed."""
    second = OpenList(claude.environ)
    with listening(claude.environ) as first:
        second.answers.start()
        claude.wait()
        hook, question = first.asked(claude)
        assert not second.answers.questions
        first.answers.answer(question, "deny")
        assert behaviour(ended(hook)) == "deny"
        claude.rest()
    until(partial(is_listening, second.socket), what="the second list")
    claude.wait()
    hook, question = second.asked(claude)
    assert second.answers.answer(question, "allow")
    assert behaviour(ended(hook)) == "allow"
    second.answers.close()


@pytest.mark.system
def test_a_list_that_does_not_greet_is_not_asked(
    claude: MadeClaude, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The hook ends within 50 ms, whether the list was stopped or something else accepts and says nothing."""
    claude.wait()
    process = ListProcess(tmp_path, 1000)
    folder = tmp_path / "own" / "answer"
    path = folder / "list.sock"
    until(partial(is_listening, path), what="the list")
    talk(path).close()
    process.process.send_signal(signal.SIGSTOP)
    with case("stopped"):
        is_abstaining(claude, folder)
    process.kill()
    path.unlink()
    with socket.socket(socket.AF_UNIX) as silent:
        local_socket.listen(silent, str(path), 0)
        with case("full"):  # nobody accepts, so a later connection finds no room
            is_abstaining(claude, folder)
        silent.listen(64)
        with case("silent"):
            is_abstaining(claude, folder)
    assert not process.has_asked("ls")


def is_abstaining(claude: MadeClaude, folder: Path) -> None:
    """Check that hooks end without a word, and that they need less than 50 ms for it if nothing else runs."""
    assert ended(claude.hook(claude.input())) == b""
    took = []
    for _ in range(5):
        began = time.monotonic()
        with pytest.raises(OSError, match=r"timed out|unavailable"):
            local_socket.connect(str(folder))
        took.append(time.monotonic() - began)
    assert min(took) < 0.05


def decide(claude: MadeClaude, folder: Path) -> None:
    """Ask as the hook does, in this process, for 10 s."""
    deadline = time.monotonic() + 10
    connected = local_socket.connect(str(folder))
    try:
        connection = answer_hook.Connection(connected)
        answer_hook.decision(claude.input(), connection, "", lambda: time.monotonic() < deadline)
    finally:
        connected.close()


def is_ended(connection: socket.socket) -> bool:
    """Return whether the list closes a connection within 10 s; heartbeats are skipped."""
    deadline = time.monotonic() + 10
    try:
        while data := connection.recv(100):
            assert not data.strip()
            assert time.monotonic() < deadline
    except ConnectionResetError:
        pass
    connection.close()
    return True


@pytest.mark.system
def test_garbage_on_the_socket_ends_only_its_connection(claude: MadeClaude) -> None:
    """A question that is open stays open, and no other hook can take its id or its answer."""
    with listening(claude.environ) as opened:
        good = talk(opened.socket, made("a" * 32))
        question = opened.question()
        deep = b'{"id":"x","agent":"a","session":"s","tool":"t","input":{"a":' + b"[" * 100_000
        for line in (
            *(b"", b"{", b"null", b"[]", b"\xff\xfe", deep, made(""), made("b", tool=3), made("c" * 65)),
            *(made("d", input=[]), made("e", session=""), made("a" * 32), b'{"id":"f","receipt":"sent"}'),
        ):
            with case(line[:60]):
                assert is_ended(talk(opened.socket, line))
        assert opened.answers.questions == {question.id: question}
        assert opened.answers.answer(question, "allow")
        until(lambda: b"allow" in good.recv(1000), what="the answer")
        good.sendall(b'{"id":"other","receipt":"sent"}\n')
        assert opened.ended() == Ended(question, "allow", "unknown")
        good.close()


@pytest.mark.system
def test_a_flood_of_questions_is_bounded(claude: MadeClaude, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection beyond 64 is closed, as is one that sends nothing, or too much, alone or with others."""
    monkeypatch.setattr(module, "_ASKING_SECONDS", 1.0)
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(module, "_MOST_KEPT", 2 << 20)
    with listening(claude.environ) as opened:
        asked = [talk(opened.socket, made(f"{number}")) for number in range(64)]
        until(lambda: len(opened.answers.questions) == 64, what="64 questions")
        beyond = socket.socket(socket.AF_UNIX)
        beyond.settimeout(10)
        local_socket.reach(beyond, str(opened.socket))
        assert is_ended(beyond)
        for each in asked:
            each.close()
        until(lambda: not opened.answers.questions, what="no question")
        for number in range(2):
            asked.append(talk(opened.socket, made(f"long{number}", input={"command": "x" * 1_000_000})))
            until(lambda: len(opened.answers.questions) == number + 1, what="a long question")  # noqa: B023
        with closing(talk(opened.socket)) as one_more, pytest.raises(OSError, match=r"Broken pipe|reset"):
            one_more.sendall(made("one more", input={"command": "x" * 1_000_000}))
        for each in asked:
            each.close()
        large = talk(opened.socket)
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            large.sendall(b"x" * 10_000_000)
        assert is_ended(talk(opened.socket))
        large.close()


@pytest.mark.system
def test_a_list_that_sends_garbage_decides_nothing(
    claude: MadeClaude, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither an answer to another question nor a line that is not one is taken; a long line is not read."""
    folder = tmp_path / "own" / "answer"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(local_socket, "_GREETING_SECONDS", 10)
    greeting = b'{"agentwatch":1}\n'
    replies: list[tuple[bytes, type[Exception]]] = [
        (data, OSError) for data in (b"", b"\n\n", b"x\n", b"[]\n", b"{}\n", b'{"agentwatch":2}\n')
    ]
    answers = (b"\xff\n", b"[]\n", b'{"id":"other","answer":"allow"}\n', b'{"answer":"allow"}\n')
    replies += [(greeting + data, Abstains) for data in (*answers, b"x" * 10_000_000)]
    taken = []
    claude.wait()
    with socket.socket(socket.AF_UNIX) as listener:
        local_socket.listen(listener, str(folder / "list.sock"), 128)
        for reply, fault in replies:
            with case(reply[:60]):

                def serve(data: bytes = reply) -> None:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        connection.sendall(data)
                        taken.append(len(data))
                        connection.settimeout(0.3)
                        while connection.recv(1 << 16):
                            pass

                thread = threading.Thread(target=serve)
                thread.start()
                with pytest.raises(fault):
                    decide(claude, folder)
                thread.join()
    assert max(taken) < 10_000_000


def test_a_socket_or_folder_of_somebody_else_is_not_asked(
    claude: MadeClaude, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The hook checks the folder and the user at the other end, and the list checks that user too."""
    claude.wait()
    with listening(claude.environ) as opened:
        folder = opened.socket.parent
        link = tmp_path / "link"
        link.symlink_to(folder)
        for name, where in (("a link", link), ("no folder", opened.socket), ("nothing", tmp_path / "no")):
            with case(name), pytest.raises((PermissionError, FileNotFoundError)):
                decide(claude, where)
        folder.chmod(0o770)
        with pytest.raises(PermissionError):
            decide(claude, folder)
        folder.chmod(0o700)
        monkeypatch.setattr(local_socket, "is_own_peer", lambda _: False)
        with pytest.raises(PermissionError):
            decide(claude, folder)
        monkeypatch.setattr(module, "is_own_peer", lambda _: False)
        connection = socket.socket(socket.AF_UNIX)
        local_socket.reach(connection, str(opened.socket))
        assert connection.recv(100) == b""
        connection.close()
        assert not opened.answers.questions


def test_the_user_at_the_other_end_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """By SO_PEERCRED, or as macOS says it; where nothing says it, nobody is trusted."""

    class Mac:
        """A socket of macOS."""

        def __init__(self, data: bytes | None) -> None:
            self._data = data

        def getsockopt(self, level: int, name: int, size: int) -> bytes:
            """Return `struct xucred`."""
            assert (level, name, size) == (0, 1, 128)
            if self._data is None:
                raise OSError
            return self._data

    left, right = socket.socketpair()
    with left, right:
        assert local_socket.peer_uid(left) == os.geteuid()
        assert local_socket.is_own_peer(left)
    monkeypatch.delattr(_socket, "SO_PEERCRED", raising=False)
    groups = struct.pack("=IIhH16I", 0, 501, 1, 0, *range(16))
    for data, expected in ((groups, 501), (b"\1" + groups[1:], None), (b"", None), (None, None)):
        with case(expected):
            assert local_socket.peer_uid(Mac(data)) == expected  # type: ignore[arg-type]


@pytest.mark.system
def test_the_home_folder_may_have_any_length(tmp_path: Path) -> None:
    """The hook finds the socket below it."""
    claude = MadeClaude(tmp_path / ("x" * 200))
    with listening(claude.environ) as opened:
        claude.wait()
        hook, question = opened.asked(claude)
        assert opened.answers.answer(question, "allow")
        assert behaviour(ended(hook)) == "allow"


@pytest.mark.system
def test_a_folder_that_cannot_be_used_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long path where no short one is possible, a link, and a file in its place."""
    long = tmp_path / ("x" * 200)
    monkeypatch.setattr(local_socket, "_is_safe", lambda _: False)
    link = tmp_path / "linked"
    link.mkdir()
    (link / "answer").symlink_to(tmp_path)
    file = tmp_path / "file"
    file.mkdir()
    (file / "answer").write_text("")
    for folder in (long, link, file):
        with case(folder.name[:10]), listening({"AGENTWATCH_HOME": str(folder)}) as opened:
            until(lambda: opened.answers.problem, what="the problem")
            where = folder / "answer"
            assert opened.answers.problem.startswith(f"permission prompts cannot be answered here: {where}: ")
            assert "\n" not in opened.answers.problem


def test_the_result_of_a_call_says_by_whom_it_was_decided(claude: MadeClaude) -> None:
    """Results of other calls, earlier ones and broken lines say nothing."""
    fields = json.loads(claude.input("ls"))
    old = claude.call("ls")
    claude.result(old, "allow", "hook")
    at = claude.transcript.stat().st_size
    calls = Calls(str(claude.transcript), at, fields)
    with claude.transcript.open("a") as file:
        file.write('{"tool_\n{"message":{"content":"tool_result"},"tool_":1}\n"tool_"\n')
    claude.wait()
    other = claude.call("pwd")
    claude.result(other, "deny", "user")
    assert calls.taken("allow") is None
    claude.wait()
    mine = claude.call("ls")
    with claude.transcript.open("a") as file:
        part = {"type": "tool_result", "tool_use_id": mine, "is_error": True}
        file.write(json.dumps({"message": {"content": [part]}}) + "\n")
    assert calls.taken("deny") is True
    assert calls.taken("allow") is False
    assert Calls("/nowhere", 0, fields).taken("allow") is None


COUNTS = [pytest.param(50, marks=pytest.mark.system), pytest.param(1000, marks=pytest.mark.long)]


@pytest.mark.parametrize("count", COUNTS)
def test_prompts_answered_on_either_side_with_kills(tmp_path: Path, count: int) -> None:
    """No answer is given twice, none is lost, and none is given that nobody gave."""
    lists = ListProcess(tmp_path, 0.6)
    until(partial(is_listening, tmp_path / "own/answer/list.sock"), what="the list")
    claudes = [MadeClaude(tmp_path, f"{SESSION[:-1]}{number}") for number in range(4)]
    stops = threading.Event()

    def kill_lists() -> None:
        chance = random.Random(1)
        while not stops.wait(chance.uniform(3, 8)):
            lists.kill()
            lists.start()

    def prompts(which: int) -> list[Prompt]:
        chance = random.Random(which)
        return [claudes[which].ask(f"c{number}", chance) for number in range(which, count, len(claudes))]

    def acts() -> list[Act]:
        files = [acts_file("claude", claude.session, None, claude.environ) for claude in claudes]
        return [act for file in files for act in read_acts(file)]

    killer = threading.Thread(target=kill_lists)
    killer.start()
    try:
        with ThreadPoolExecutor(len(claudes)) as pool:
            asked = [each for found in pool.map(prompts, range(len(claudes))) for each in found]
    finally:
        stops.set()
        killer.join()
    by_list = [each for each in asked if each.source == "hook"]
    received = [
        each for each in by_list if not each.is_killed and not lists.was_killed(each.began, each.ended + 4)
    ]
    until(lambda: sum(act.receipt == "sent" for act in acts()) >= len(received), what="the receipts")
    lists.kill()
    given = lists.given()
    assert len(asked) == count
    assert count / 10 < len(by_list) < count * 9 / 10
    for each in asked:
        with case(each):
            if each.source == "hook":
                assert given[each.command] == each.decided
            elif each.command in given and each.is_patient and not each.is_killed:
                assert lists.was_killed(each.began, each.ended), "the answer is lost"
    assert sum(act.receipt == "sent" for act in acts()) <= len(by_list)
    assert len(acts()) <= len(given)
