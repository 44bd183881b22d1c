"""A permission prompt is answered from the list only by the user, once, and while Claude's dialog is open."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import stat
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.claude import answer_hook
from agentwatch.agents.claude.answer_hook import Abstains, Calls
from agentwatch.base import local_socket
from agentwatch.catalog.hooks import answers as module
from agentwatch.catalog.hooks.answers import Answers, Ended, PermissionQuestion
from agentwatch.recording.acts import acts_file, read_acts
from tests.builders.prompting import SESSION, ListProcess, MadeClaude, Prompt, behaviour, made, talk
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

    def ended(self) -> Ended:
        """Return the question that ended last, once none is open."""
        until(lambda: self.over, what="the end of a question")
        return self.over[-1]


@contextmanager
def listening(environ: dict[str, str]) -> Iterator[OpenList]:
    """Open a list until the end of the block."""
    opened = OpenList(environ)
    opened.answers.start()
    until(lambda: opened.socket.exists() or opened.answers.problem, what="the socket")
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


def test_an_answer_of_the_list_is_the_decision_of_the_hook(claude: MadeClaude, tmp_path: Path) -> None:
    """It allows or denies with a reason, is recorded, and cannot be given a second time."""
    with listening(claude.environ) as opened:
        for act, message in (("allow", "not for an allow"), ("deny", "use \u202e git"), ("deny", "")):
            with case(act):
                claude.wait()
                name = claude.call("rm -rf build")
                hook = claude.hook(claude.input("rm -rf build"))
                question = opened.question()
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
        hook = claude.hook(claude.input())
        question = opened.question()
        claude.rest()
        began = time.monotonic()
        until(lambda: not opened.answers.questions, what="the question is removed")
        took = time.monotonic() - began
        assert ended(hook) == b""
        assert not opened.answers.answer(question, "allow")
        assert opened.ended()[1:] == ("", "elsewhere")
    assert took < 5


@pytest.mark.system
def test_an_answer_that_came_second_is_called_elsewhere(claude: MadeClaude) -> None:
    """The line of the result says by whom the call was decided."""
    with listening(claude.environ) as opened:
        claude.wait()
        name = claude.call("ls")
        hook = claude.hook(claude.input("ls"))
        assert opened.answers.answer(opened.question(), "allow")
        ended(hook)
        claude.result(name, "deny", "user")
        assert opened.ended()[1:] == ("allow", "elsewhere")


def test_without_an_open_list_the_hook_abstains_at_once(claude: MadeClaude) -> None:
    """No process of Python is started, unless a list that was killed has left its socket."""
    claude.wait()
    assert ended(claude.hook(claude.input())) == b""
    folder = Path(claude.environ["AGENTWATCH_HOME"]) / "answer"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(folder / "list.sock"))
    assert ended(claude.hook(claude.input())) == b""
    with listening(claude.environ) as opened:  # the socket of the list that was killed is replaced
        hook = claude.hook(claude.input())
        assert opened.answers.answer(opened.question(), "allow")
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
            file.write(b"x" * 50_000)

    thread = threading.Thread(target=write)
    monkeypatch.setattr(answer_hook, "_MOST_INPUT", 100)
    thread.start()
    data = answer_hook.read_input(reader)
    thread.join()
    os.close(reader)
    assert len(data) > 100
    with pytest.raises(Abstains):
        answer_hook.question_in(b'{"a":1}' + b" " * 100, "cli")


@pytest.mark.system
def test_a_list_that_is_killed_stopped_or_closed_ends_the_hook(claude: MadeClaude, tmp_path: Path) -> None:
    """The dialog is the only one that counts then; a stopped list is noticed by its missing heartbeat."""
    for how in ("kill", "stop", "close"):
        with case(how):
            claude.wait()
            process = ListProcess(tmp_path, 1000)
            path = Path(claude.environ["AGENTWATCH_HOME"]) / "answer" / "list.sock"
            until(path.exists, what="the socket")
            hook = claude.hook(claude.input())
            time.sleep(1)
            assert hook.poll() is None
            began = time.monotonic()
            if how == "stop":
                process.process.send_signal(signal.SIGSTOP)
            else:
                process.process.send_signal(signal.SIGKILL if how == "kill" else signal.SIGTERM)
            assert ended(hook) == b""
            assert time.monotonic() - began < 5
            if how == "stop":
                began = time.monotonic()
                assert ended(claude.hook(claude.input())) == b""
                assert time.monotonic() - began < 5
            process.kill()
            path.unlink(missing_ok=True)


@pytest.mark.system
def test_a_hook_ends_with_its_agent(claude: MadeClaude) -> None:
    """Nobody reads its output any more."""
    with listening(claude.environ) as opened:
        claude.wait()
        hook = claude.hook(claude.input())
        opened.question()
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
        hook = claude.hook(claude.input())
        question = opened.question()
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
        hook = claude.hook(claude.input())
        question = first.question()
        assert not second.answers.questions
        first.answers.answer(question, "deny")
        assert behaviour(ended(hook)) == "deny"
        claude.rest()
    until(second.socket.exists, what="the socket of the second list")
    claude.wait()
    hook = claude.hook(claude.input())
    assert second.answers.answer(second.question(), "allow")
    assert behaviour(ended(hook)) == "allow"
    second.answers.close()


def decide(claude: MadeClaude, folder: Path) -> None:
    """Ask as the hook does, in this process."""
    connection = answer_hook.Connection(str(folder))
    with connection.socket:
        answer_hook.decision(claude.input(), connection, {}, lambda: True)


def is_ended(connection: socket.socket) -> bool:
    """Return whether the list closes a connection; heartbeats are skipped."""
    try:
        while data := connection.recv(100):
            assert not data.strip()
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
    """Connections beyond 64 are closed at once, as are those that send too much or nothing."""
    monkeypatch.setattr(module, "_ASKING_SECONDS", 1.0)
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 20)
    with listening(claude.environ) as opened:
        asked = [talk(opened.socket, made(f"{number}")) for number in range(64)]
        until(lambda: len(opened.answers.questions) == 64, what="64 questions")
        beyond = socket.socket(socket.AF_UNIX)
        beyond.settimeout(10)
        beyond.connect(str(opened.socket))
        assert is_ended(beyond)
        for each in asked:
            each.close()
        until(lambda: not opened.answers.questions, what="no question")
        large = talk(opened.socket)
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            large.sendall(b"x" * 10_000_000)
        assert is_ended(talk(opened.socket))
        large.close()


@pytest.mark.system
def test_a_list_that_sends_garbage_decides_nothing(
    claude: MadeClaude, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither an answer to another question nor a line that is not one is taken."""
    folder = tmp_path / "own" / "answer"
    folder.mkdir(mode=0o700)
    monkeypatch.chdir(tmp_path)
    greeting = b'{"agentwatch":1}\n'
    replies = (
        *(b"", b"\n\n", b"x\n", b"[]\n", b"{}\n", b'{"agentwatch":2}\n', greeting + b"\xff\n"),
        *(greeting + b'{"id":"other","answer":"allow"}\n', greeting + b'{"answer":"allow"}\n'),
        *(greeting + b"{" * 100_000, greeting + b"x" * 70_000),
    )
    monkeypatch.setattr(answer_hook, "_DIALOG_SECONDS", 0.2)
    claude.wait()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "list.sock"))
        listener.listen()
        for reply in replies:
            with case(reply[:60]):

                def serve(data: bytes = reply) -> None:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        connection.sendall(data)
                        connection.settimeout(0.3)
                        connection.recv(1 << 16)

                thread = threading.Thread(target=serve)
                thread.start()
                os.utime(folder / "list.sock")
                with pytest.raises((Abstains, OSError)):
                    decide(claude, folder)
                thread.join()


def test_a_socket_or_folder_of_somebody_else_is_not_asked(
    claude: MadeClaude, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The hook checks the folder and the user at the other end, and the list checks that user too."""
    claude.wait()
    monkeypatch.chdir(tmp_path)
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
        monkeypatch.setattr(answer_hook, "is_own_peer", lambda _: False)
        with pytest.raises(Abstains):
            decide(claude, folder)
        monkeypatch.setattr(module, "is_own_peer", lambda _: False)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(opened.socket))
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
    monkeypatch.delattr(socket, "SO_PEERCRED", raising=False)
    groups = struct.pack("=IIhH16I", 0, 501, 1, 0, *range(16))
    for data, expected in ((groups, 501), (b"\1" + groups[1:], None), (b"", None), (None, None)):
        with case(expected):
            assert local_socket.peer_uid(Mac(data)) == expected  # type: ignore[arg-type]


@pytest.mark.system
def test_a_folder_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    """A path that is too long for a socket, a link, and a file in its place."""
    long = tmp_path / ("x" * 100)
    link = tmp_path / "linked"
    link.mkdir()
    (link / "answer").symlink_to(tmp_path)
    file = tmp_path / "file"
    file.mkdir()
    (file / "answer").write_text("")
    for folder in (long, link, file):
        with case(folder.name[:10]), listening({"AGENTWATCH_HOME": str(folder)}) as opened:
            until(lambda: opened.answers.problem, what="the problem")
            assert opened.answers.problem.startswith("permission prompts cannot be answered here: ")
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


COUNTS = [
    pytest.param(50, marks=pytest.mark.system),
    pytest.param(1000, marks=pytest.mark.long),
]


@pytest.mark.parametrize("count", COUNTS)
def test_prompts_answered_on_either_side_with_kills(tmp_path: Path, count: int) -> None:
    """No answer is given twice, none is lost, and none is given that nobody gave."""
    lists = ListProcess(tmp_path, 0.6)
    until((tmp_path / "own/answer/list.sock").exists, what="the list")
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

    killer = threading.Thread(target=kill_lists)
    killer.start()
    try:
        with ThreadPoolExecutor(len(claudes)) as pool:
            asked = [each for found in pool.map(prompts, range(len(claudes))) for each in found]
    finally:
        stops.set()
        killer.join()
        time.sleep(4)  # the receipts of the last answers
        lists.kill()
    given = lists.given()
    by_list = [each for each in asked if each.source == "hook"]
    assert len(asked) == count
    assert count / 10 < len(by_list) < count * 9 / 10
    for each in asked:
        with case(each):
            if each.source == "hook":
                assert given[each.command] == each.decided
            elif each.command in given and each.is_patient and not each.is_killed:
                assert lists.was_killed(each.began, each.ended), "the answer is lost"
    acts = [
        act
        for claude in claudes
        for act in read_acts(acts_file("claude", claude.session, None, claude.environ))
    ]
    assert sum(act.receipt == "sent" for act in acts) <= len(by_list)
    assert len(acts) <= len(given)
