"""The server of Codex is asked what its threads do: with four methods, for 50 ms, and whatever it answers."""

import json
import os
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.codex import server as module
from agentwatch.agents.codex.server import CodexServer, Thread, own_socket, thread_of
from agentwatch.agents.state_report import Life, State, StateReport
from tests.conftest import case
from tests.harness.codex_server import (
    APPROVAL,
    BROKEN,
    CLOSE,
    IDLE,
    QUESTION,
    TEXT,
    WORKS,
    Connection,
    codex_server,
    frame,
    text,
)
from tests.harness.codex_server import CodexServer as Fake

UID = os.geteuid()
ALLOWED = {"initialize", "initialized", "thread/loaded/list", "thread/read"}
A_THREAD = Thread(State.WORKING)


class Every(frozenset[str]):
    """All ids."""

    def __contains__(self, key: object) -> bool:
        return True


ANY = Every()


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Fake]:
    """Return a server with one thread, which works."""
    with codex_server(tmp_path, {"a": WORKS}) as server:
        yield server


@pytest.fixture
def observer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodexServer:
    """Return what asks that server; a machine at work does not make it late."""
    monkeypatch.setattr(module, "_MOST_SECONDS", 10.0)
    return CodexServer(tmp_path / "app-server-control/app-server-control.sock", UID)


def test_a_status_and_a_report_are_understood() -> None:
    """A status is a state, and a report names its source."""
    # What is known is a state; another version's words are none, so that the state is inferred as before.
    child = {"parentThreadId": "p"}
    for status, more, expected in (
        (IDLE, {}, Thread(State.YOUR_TURN)),
        (WORKS, {}, A_THREAD),
        (APPROVAL, {}, Thread(State.ASKS, "permission")),
        (QUESTION, {}, Thread(State.ASKS, "question")),
        (
            {"type": "active", "activeFlags": ["new", "waitingOnApproval"]},
            {},
            Thread(State.ASKS, "permission"),
        ),
        (BROKEN, {}, Thread(State.TURN_FAILED)),
        ({"type": "notLoaded"}, {}, Thread(None)),
        ({"type": "active", "activeFlags": ["waitingOnTheMoon"]}, {}, Thread(None)),
        ({"type": "active", "activeFlags": [["waitingOnApproval"], {}, None]}, {}, Thread(None)),
        ({"type": "active"}, {}, Thread(None)),
        ({"type": ["idle"]}, {}, Thread(None)),
        ("idle", {}, Thread(None)),
        (None, {}, Thread(None)),
        (WORKS, child, Thread(None)),
        (IDLE, child, Thread(None)),
        (APPROVAL, child, Thread(State.ASKS, "permission")),
    ):
        with case(f"{status} {more}"):
            assert thread_of({"status": status, **more}) == expected
    assert thread_of({}) == Thread(None)
    # A hook or a file may be outdated; a server was just asked.
    for source, is_by_server in (
        ("server /s", True),
        ("hook /s", False),
        ("file /server s", False),
        ("", False),
    ):
        with case(source):
            assert StateReport("codex", "a", Life.LIVE, source=source).is_by_server is is_by_server


def test_the_threads_of_a_server_are_read(fake: Fake, observer: CodexServer) -> None:
    """Each thread that is loaded has its state, and one that is no longer loaded has none."""
    fake.threads["b"] = {"id": "b", "status": APPROVAL}
    observer.refresh(1.0, ANY)
    assert observer.threads == {"a": A_THREAD, "b": Thread(State.ASKS, "permission")}
    del fake.threads["a"]
    fake.threads["b"]["status"] = IDLE
    observer.refresh(1.5, ANY)
    assert len(observer.threads) == 2, "it was asked again within a second"
    observer._due = 0.0
    observer.refresh(2.0, ANY)
    assert observer.threads == {"b": Thread(State.YOUR_TURN)}


def test_only_four_methods_are_ever_sent(fake: Fake, observer: CodexServer) -> None:
    """No thread is resumed, what the server asks is not answered, and an answer to nothing is dropped."""
    asks = {"id": 7, "method": "item/commandExecution/requestApproval", "params": {"threadId": "a"}}
    early = {"method": "currentTime/read", "params": {}}
    stray = {"id": 99, "result": {"data": []}}
    answers = fake.answers
    fake.answers = lambda message: [  # type: ignore[method-assign]
        *(asks, {**early, "id": message.get("id")}, stray),
        *answers(message),
    ]
    for at in range(3):
        observer.refresh(100.0 * at + 1, ANY)
    fake.close()
    assert observer.threads == {"a": A_THREAD}
    assert set(fake.methods) == ALLOWED
    assert fake.methods[:4] == ["initialize", "initialized", "thread/loaded/list", "thread/read"]
    for message in fake.heard:
        assert message.keys() <= {"id", "method", "params"}
    assert set(fake.kinds) == {TEXT, CLOSE}
    assert (fake.kinds.count(CLOSE), fake.clients) == (3, 3)


def test_the_name_changes_nothing_in_the_server(fake: Fake, observer: CodexServer) -> None:
    """Any other name would become part of the User-Agent of the user's own threads."""
    observer.refresh(1.0, ANY)
    client = fake.heard[0]["params"]["clientInfo"]
    assert (client["name"], client["title"]) == ("codex_app_server_daemon", "agentwatch")


def test_one_exchange_reads_12_threads(fake: Fake, observer: CodexServer) -> None:
    """Of many threads each is read in its turn, those first that were read longest ago."""
    fake.threads = {f"t{at}": {"status": IDLE} for at in range(30)}
    for at in range(3):
        observer.refresh(1.0 + 2 * at, ANY)
        assert fake.methods.count("thread/read") == 12 * (at + 1)
        observer._due = 0.0
    assert len(observer.threads) == 30
    assert fake.methods.count("initialize") == 3


def test_a_pause_follows_each_exchange(
    fake: Fake, observer: CodexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is asked at most once a second, and for 2 % of the time at most."""
    monkeypatch.setattr(module, "_TIMES_AS_LONG", 0)
    for now in (1.0, 1.5, 2.0, 2.1, 3.0, 3.2):
        observer.refresh(now, ANY)
    assert fake.clients == 3
    observer.refresh(0.5, ANY)
    assert fake.clients == 3, "the clock was set back by less than a minute"
    monkeypatch.setattr(module, "_TIMES_AS_LONG", 10**9)
    for now in (100.0, 101.0, 150.0, 160.0, 160.1):
        observer.refresh(now, ANY)
    assert fake.clients == 5


def test_faults_make_the_pauses_longer(observer: CodexServer, fake: Fake) -> None:
    """The pause is 2 s after the first fault, and a minute after many; a new server begins without faults."""
    fake.serve = lambda _connection: None
    asked = []
    for now in range(1, 400):
        clients = fake.clients
        observer.refresh(float(now), ANY)
        if fake.clients > clients:
            asked.append(now)
    assert [after - before for before, after in pairwise(asked)][:6] == [3, 5, 9, 17, 33, 61]
    os.utime(fake.path, (1, 1))
    observer.refresh(400.0, ANY)
    fake.serve = fake.behave
    observer.refresh(402.5, ANY)
    assert observer.threads == {"a": A_THREAD}
    fake.close()
    for now in range(1_000, 70_000, 61):
        observer.refresh(float(now), ANY)
    assert observer.threads == {}


BAD_THREADS: dict[str, object] = {
    "no object": [1],
    "no status": {"thread": {}},
    "a text": {"thread": "x"},
    "an error": None,
}


def test_an_answer_of_another_version(fake: Fake, observer: CodexServer) -> None:
    """An answer without the known fields says nothing, and is not a fault of the thread's server."""
    answers = fake.answers
    for name, result in BAD_THREADS.items():

        def changed(message: dict[str, Any], result: object = result) -> list[dict[str, Any]]:
            if message["method"] != "thread/read":
                return answers(message)
            return [{"id": message["id"], **({"error": {}} if result is None else {"result": result})}]

        fake.answers = changed  # type: ignore[method-assign]
        observer._due = 0.0
        with case(name):
            observer.refresh(1.0, ANY)
            assert observer.threads == {"a": Thread(None)}
            assert not observer._faults


def test_only_wanted_threads_are_read(fake: Fake, observer: CodexServer) -> None:
    """A thread for a title is loaded too, and is not asked for; neither is what cannot be an id."""
    fake.threads["title"] = {"status": IDLE}
    answers = fake.answers

    def changed(message: dict[str, Any]) -> list[dict[str, Any]]:
        found = answers(message)
        if message["method"] == "thread/loaded/list":
            found[0]["result"]["data"] += [7, None, ["a"], {}, "a"]
        return found

    fake.answers = changed  # type: ignore[method-assign]
    observer.refresh(1.0, {"a", "b"})
    assert observer.threads == {"a": A_THREAD}
    assert fake.methods.count("thread/read") == 1
    observer.refresh(100.0, {"b"})
    assert observer.threads == {}


def faulty(what: str, at: str) -> Callable[[Fake, Connection], None]:
    """Return a server with a fault at one of its steps."""

    def serve(fake: Fake, connection: Connection) -> None:
        if at == "connect":
            fault(connection)
            return
        connection.upgrade()
        for kind, data in connection.frames():
            if kind == TEXT:
                message = json.loads(data)
                if message["method"] == at:
                    fault(connection)
                    return
                for each in fake.answers(message):
                    connection.send(text(each))

    def fault(connection: Connection) -> None:
        if what == "hangs":
            connection.wait()
        elif what == "floods":
            while True:
                connection.send(text({"method": "thread/status/changed", "params": {}}) * 500)
        elif what == "garbage":
            connection.send(frame(b"\xff{not json"))
        elif what == "deep":
            connection.send(frame(b"[" * 100_000))
        elif what == "oversized":
            connection.send(frame(b"", size=1 << 40))
        elif what == "no list":
            connection.send(text({"id": 2, "result": {"data": "a"}}))
        elif what == "refuses":
            connection.send(text({"id": 1, "error": {"code": -32600, "message": "too old"}}))
            connection.wait()

    return serve


def test_a_broken_server_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: Fake) -> None:
    """Whatever it does, its threads have no state, it takes no longer than an exchange, and then a pause."""
    monkeypatch.setattr(module, "_MOST_SECONDS", 0.02)
    path = tmp_path / "app-server-control/app-server-control.sock"
    steps = ("connect", "initialize", "thread/loaded/list")
    cases = [(what, at) for at in steps for what in ("hangs", "closes", "floods", "garbage", "oversized")]
    for what, at in (
        *cases,
        ("deep", "initialize"),
        ("no list", "thread/loaded/list"),
        ("refuses", "initialize"),
    ):
        serve = faulty(what, at)
        fake.serve = lambda connection, serve=serve: serve(fake, connection)  # type: ignore[misc]
        observer = CodexServer(path, UID)
        with case(f"{what} at {at}"):
            begin, clients = time.monotonic(), fake.clients
            for now in (1.0, 1.5, 2.9, 3.1, 4.0, 7.0):
                observer.refresh(now, ANY)
            assert time.monotonic() - begin < 2.0
            assert observer.threads == {}
            fake.settle()
            assert fake.clients - clients <= 2, "it was asked again at once"


def test_a_state_is_kept_while_the_server_is_late(fake: Fake, observer: CodexServer) -> None:
    """One late answer changes nothing; after 10 s the state is inferred again."""
    observer.refresh(1.0, ANY)
    fake.close()
    for now in (3.0, 11.0):
        observer.refresh(now, ANY)
        assert observer.threads == {"a": A_THREAD}
    observer.refresh(11.1, ANY)
    assert observer.threads == {}


def test_some_threads_are_better_than_none(fake: Fake, observer: CodexServer) -> None:
    """A server that ends in the middle has answered for the threads before."""
    fake.threads["b"] = {"status": IDLE}
    answers = fake.answers

    def changed(message: dict[str, Any]) -> list[dict[str, Any]]:
        if message.get("params", {}).get("threadId") == "b":
            raise EOFError
        return answers(message)

    fake.answers = changed  # type: ignore[method-assign]
    observer.refresh(1.0, ANY)
    assert observer.threads == {"a": A_THREAD}
    assert not observer._faults


def test_only_an_own_socket_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One link of the user's may lead to the socket; its folder is one that nobody else can change."""
    with codex_server(tmp_path) as fake:
        link = tmp_path / "app-server-control/app-server-control.sock"
        assert own_socket(link, UID) == own_socket(fake.path, UID)
        near = fake.path.parent / "near"
        near.symlink_to("socket")
        found = own_socket(near, UID)
        assert found is not None
        assert found[0] == str(fake.path)
        home = tmp_path / "home"
        home.symlink_to(tmp_path)
        assert own_socket(home / link.relative_to(tmp_path), UID) == own_socket(fake.path, UID)
        second, folder, pipe = (tmp_path / name for name in ("second", "folder", "pipe"))
        second.symlink_to(link)
        folder.symlink_to(fake.path.parent)
        os.mkfifo(pipe)
        for path in (tmp_path / "none", second, folder / "socket", tmp_path, pipe, Path(__file__)):
            with case(path.name):
                assert own_socket(path, UID) is None
        assert own_socket(link, UID + 1) is None
        real = os.lstat
        for path in (link, fake.path, fake.path.parent):

            def foreign(asked: Path, path: Path = path) -> os.stat_result:
                found = real(asked)
                fields = [*found]
                fields[4] += os.fspath(asked) == os.fspath(path)
                return os.stat_result(fields)

            monkeypatch.setattr(os, "lstat", foreign)
            with case(f"another user's: {path.name}"):
                assert own_socket(link, UID) is None
        monkeypatch.setattr(os, "lstat", real)
        for mode in (0o770, 0o707):
            fake.path.parent.chmod(mode)
            with case(oct(mode)):
                assert own_socket(link, UID) is None


def test_without_an_own_socket_nothing_is_said(fake: Fake, observer: CodexServer) -> None:
    """The threads of a server are forgotten with its socket, and another user's server is not asked."""
    observer.refresh(1.0, ANY)
    assert observer.threads
    observer.socket.unlink()
    observer.refresh(1.1, ANY)
    assert observer.threads == {}
    observer.socket.symlink_to(fake.path)
    other = CodexServer(observer.socket, UID + 1)
    other.refresh(1.0, ANY)
    assert (other.threads, fake.clients) == ({}, 1)
