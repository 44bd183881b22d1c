"""Tests of `agentwatch.remote.ssh.shared_connection`: how ssh is called, and the socket that is shared."""

import os
import shlex
import shutil
import socket
import stat
import sys
import threading
from pathlib import Path

import pytest

from agentwatch.base import local_socket
from agentwatch.base.faults import Fault
from agentwatch.remote.engine import RemoteError, Trouble
from agentwatch.remote.ssh import shared_connection
from agentwatch.remote.ssh.shared_connection import (
    SshAddress,
    close_all,
    command,
    connect,
    connection_to,
    is_session,
    parse_ssh,
)
from tests.conftest import ROOT, case
from tests.harness.terminal import Terminal
from tests.remote.ssh.sessions import ID, LINE, disconnected, reading, save, until, watching, whole
from tests.remote.ssh.sshd import Sshd

FAKE = """#!/bin/sh
call=$(printf '%s\\n' "$@")
printf '%s\\n\\n' "$call" >>"$FAKE_SSH_OUT" # in one write: several are called at once
for word; do :; done
env >>"$FAKE_SSH_OUT.env"
test "$word" = refuses && echo 'Permission denied (publickey).' >&2
exit 255
"""


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `ssh` that writes down how it is called, and fails."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "ssh"
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SSH_OUT", str(tmp_path / "out"))
    return tmp_path / "out"


def log_in(words: str) -> None:
    """Connect without questions."""
    connection_to(parse_ssh(words)[0]).log_in(asks=False)


@pytest.mark.system
def test_ssh_is_called_without_forwarding_and_with_the_host_behind_a_dash(
    called: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No agent, no X11, no forwarding, no questions; the host can be no option."""
    with pytest.raises(RemoteError):
        log_in("ssh://ci@build1:2222/0f3a")
    close_all()
    words = called.read_text().split("\n\n")[0].split("\n")
    assert words[-2:] == ["--", "build1"]
    assert words[words.index("-l") + 1] == "ci"
    assert words[words.index("-p") + 1] == "2222"
    assert {"-a", "-x", "-T", "BatchMode=yes", "ClearAllForwardings=yes", "ConnectTimeout=10"} <= {*words}
    assert {"ServerAliveInterval=5", "ServerAliveCountMax=3", "RemoteCommand=none"} <= {*words}
    # The configuration of ssh may send variables of the environment to the host.
    monkeypatch.setenv("AGENTWATCH_NATS_PASSWORD", "secret-of-the-engine")
    with pytest.raises(RemoteError):
        log_in("ssh://build2")
    close_all()
    assert "secret-of-the-engine" not in Path(f"{called}.env").read_text()
    # A host that refuses without questions is tried again with them; one that is away is not.
    called.unlink()
    monkeypatch.setattr(shared_connection, "_FIRST_SECONDS", 60.0)  # none of these hosts is late
    connect(["ssh://refuses", "ssh://away", "ssh://refuses/0f3a"])
    close_all()
    calls = [call.split("\n") for call in called.read_text().split("\n\n")]
    logins = [(call[-1], "BatchMode=yes" in call) for call in calls if "-M" in call]
    assert sorted(logins) == [("away", True), ("refuses", False), ("refuses", True)]
    # MacOS allows 104 bytes, of which ssh needs 17 while it connects, and its temporary folder is long.
    called.unlink()
    long = called.parent / ("x" * 90)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    with pytest.raises(RemoteError):
        log_in("ssh://build3")
    words = called.read_text().split("\n\n")[0].split("\n")
    path = Path(words[words.index("-S") + 1])
    assert len(os.fspath(path)) + 17 < 104
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    close_all()
    assert not path.parent.exists()
    monkeypatch.setattr(local_socket, "_is_safe", lambda _: False)
    with pytest.raises(RemoteError, match=r"ssh cannot be started: its socket needs a folder .* set TMPDIR"):
        log_in("ssh://build3")
    close_all()


@pytest.mark.system
def test_the_temporary_folder_may_have_any_length(
    host: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The master's socket is in a short folder, which is removed at the end."""
    long = tmp_path / ("x" * 200)
    long.mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    connection = connection_to(parse_ssh(host.address)[0])
    connection.log_in(asks=False)
    folder = connection._folder
    assert folder is not None
    assert (folder / "s").is_socket()
    assert connection._control("check") == 0
    close_all()
    assert not folder.exists()


@pytest.mark.system
def test_without_ssh_nothing_is_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the program gets a reason, not an exception of the system."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(RemoteError, match="ssh cannot be started: no such file") as error:
        log_in("ssh://build4")
    assert error.value.trouble is Trouble.REFUSED
    close_all()


@pytest.mark.system
def test_a_question_about_a_host_key_is_answered_on_the_terminal(host: Sshd) -> None:
    """Before there is a screen ssh asks, and after `yes` the list is there."""
    (host.folder / "known_hosts").write_text("")
    host.write_config("user", None, "StrictHostKeyChecking ask")
    (host.folder / "known_hosts").write_text("")
    program = (
        "import sys\n"
        "from agentwatch.remote.ssh.shared_connection import connect, connection_to\n"
        "from agentwatch.remote.ssh.shared_connection import parse_ssh\n"
        "connect(sys.argv[1:])\n"
        "connection_to(parse_ssh(sys.argv[1])[0]).log_in(asks=False)\n"
        "print('connected')\n"
    )
    env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    with Terminal([sys.executable, "-c", program, host.address], env=env, size=(120, 30)) as terminal:
        terminal.wait_for("continue connecting")
        terminal.press("yes\n", "connected")
        assert terminal.wait_exit() == 0


@pytest.mark.system
def test_a_list_and_sessions_share_one_connection(host: Sshd) -> None:
    """One login serves them all; it is closed when the process leaves."""
    save(host)
    with watching(host) as watched, reading(host, ID) as first, reading(host, ID) as second:
        until(watched, lambda: watched.is_found)
        assert whole(first, len(LINE)) == whole(second, len(LINE))
        assert len(host.masters()) == len(host.connections()) == 1
    close_all()
    disconnected(host)


@pytest.mark.system
def test_a_closed_connection_is_not_opened_again(host: Sshd) -> None:
    """A thread that still runs when the process ends makes no new connection."""
    shared = connection_to(parse_ssh(host.address)[0])
    shared.log_in(asks=False)
    close_all()
    with pytest.raises(RemoteError, match="closed"):
        shared.log_in(asks=False)
    disconnected(host)


@pytest.mark.system
def test_leaving_ends_a_login_that_hangs(host: Sshd) -> None:
    """A host that accepts the connection and says nothing does not hold the program."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host.write_config("user", silent.getsockname()[1])
        shared = connection_to(parse_ssh(host.address)[0])
        failed: list[RemoteError] = []

        def log_in() -> None:
            try:
                shared.log_in(asks=False)
            except RemoteError as error:
                failed.append(error)

        thread = threading.Thread(target=log_in)
        thread.start()
        with silent.accept()[0]:
            close_all()
            thread.join(60)
    (error,) = failed
    assert "timed out" not in str(error)  # ssh itself gives up after 10 s, and says so
    assert not thread.is_alive()


@pytest.mark.system
@pytest.mark.parametrize("shell", ["bash --posix", "zsh --emulate sh", "dash"])
def test_the_script_runs_in_the_shells_that_are_sh_somewhere(host: Sshd, shell: str) -> None:
    """The list and a session are read with each of them in the place of `sh`."""
    if shutil.which(shell.split(maxsplit=1)[0]) is None:
        pytest.skip(f"{shell} is not installed")
    (host.bin / "sh").write_text(f'#!/bin/dash\nexec {shell} "$@"\n')
    (host.bin / "sh").chmod(0o755)
    save(host)
    with watching(host) as watched, reading(host, ID) as pieces:
        until(watched, lambda: watched.rows)
        assert any(shell.split(maxsplit=1)[0] in words for words in host.running())
        assert whole(pieces, len(LINE)) == LINE.encode()


def test_an_address_has_a_host_and_a_session() -> None:
    """Host, user, port and session are read, and the address is written the same way."""
    for words, address, session in (
        ("ssh://build1", SshAddress("build1"), ""),
        ("ssh://build1/", SshAddress("build1"), ""),
        ("ssh://ci@build1.example:2222/0f3a", SshAddress("build1.example", "ci", 2222), "0f3a"),
        ("ssh://[::1]:22/a", SshAddress("::1", "", 22), "a"),
        ("ssh://my_alias", SshAddress("my_alias"), ""),
    ):
        with case(words):
            assert parse_ssh(words) == (address, session)
            assert parse_ssh(str(address)) == (address, "")
    # What could be an option, a second word or an expansion is refused, and not repeated in full.
    for words in [
        *("ssh://", "ssh://-oProxyCommand=x", "ssh://-l@host", "ssh://a b", "ssh://host;x", "ssh://$(x)"),
        *("ssh://host:0", "ssh://host:65536", "ssh://host:-p", "ssh://host:", "ssh://user:secret@host"),
        *("ssh://u;x@host", "ssh://@host", "ssh://h\nx", "ssh://h`x`", "ssh://é", "ssh://" + "a" * 700),
        *("ssh://host/-rf", "ssh://host/..", "ssh://host/a..b", "ssh://host/a/b", "ssh://host/a b"),
        *("ssh://host/$(touch x)", "ssh://host/a;x", "ssh://host/a\nx", "ssh://host/`x`", "ssh://host/*"),
        *("ssh://host/a'b", 'ssh://host/a"b', "ssh://host/a\\b", "ssh://host/~", "ssh://host/" + "a" * 201),
        *("ssh://host/:a", "ssh://host/a:", "ssh://host/a:b:c", "ssh://host/a:-b", "ssh://host/~a:b"),
        *("nats://host", "host", "SSH://host"),
    ]:
        with case(f"{words[:60]!r}"):
            with pytest.raises(Fault) as fault:
                parse_ssh(words)
            assert len(str(fault.value)) < 400
            assert "secret" not in str(fault.value)


def test_a_command_is_words_that_no_shell_changes() -> None:
    """Each word of the command for the login shell is the same with and without quotes."""
    for session in ("a", "20261122-101010-123abcdef", "ses_5f", "a.b-c_d", "0" * 200, "claude:5b0c"):
        with case(session):
            assert is_session(session)
            words = command("pieces", session, 5, "0" * 64, 7).split(" ")
            assert [shlex.quote(word) for word in words] == words
            assert words[4:] == ["pieces", session, "5", "0" * 64, "7"]
