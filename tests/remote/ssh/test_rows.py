"""Tests of `agentwatch.remote.ssh.host_list`: the list of a host, against a real sshd."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.session_status import Ground
from agentwatch.remote.ssh import host_list as rows_module
from tests.conftest import ROOT
from tests.remote.ssh.sessions import ID, KEY, LINE, disconnected, gone, greeting, save, until, watching
from tests.remote.ssh.sshd import Sshd

pytestmark = pytest.mark.system

WORKING = '{"row":{"id":"abcdef","agent":"claude","state":"working","ground":"said"}}'
BOTH = pytest.mark.parametrize("is_there", [True, False], ids=["agentwatch", "tail"])


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect again, and ask again for a list, after 50 ms instead of seconds."""
    monkeypatch.setattr(rows_module, "_FIRST_PAUSE", 0.05)
    monkeypatch.setattr(rows_module, "_ASK_SECONDS", 0.05)


def test_a_host_with_agentwatch_sends_its_rows(host: Sshd) -> None:
    """The rows are those that agentwatch has there, with the host's name and an address that opens them."""
    host.install()
    save(host)
    with watching(host) as watched:
        until(watched, lambda: watched.is_found and watched.rows)
        row = watched.rows[KEY]
        assert watched.notes == ()
    assert (row.agent, row.id, row.title, row.cwd) == ("claude", ID, "Fix it", "/srv/app")
    assert (row.host, row.address, row.key, row.can_open) == ("testhost", f"ssh://testhost/{ID}", KEY, True)
    assert (row.status.state, row.status.ground) == (State.UNFINISHED, Ground.INFERRED)
    assert (row.pid, row.tmux, row.lost_ms) == (None, "", None)
    # A step takes what the thread has; with nothing new the rows are the same object.
    with watching(host) as watched:
        until(watched, lambda: watched.rows)
        rows = watched.rows
        assert watched.step(0) is False
        assert watched.rows is rows
        assert rows[KEY]._replace() == rows[KEY]
    # A session of last year has no row until all sessions are wanted; until then it is counted.
    path = host.home / ".claude/projects/-srv-app" / f"{ID}.jsonl"
    os.utime(path, (1_700_000_000, 1_700_000_000))
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        watched.step(0)
        assert watched.rows == {}
        assert watched.notes == ("testhost: 1 older session hidden",)
        watched.wants_all = True
        until(watched, lambda: KEY in watched.rows and not watched.notes)


def test_a_host_with_tail_alone_lists_its_files(host: Sshd) -> None:
    """Agent, id, size and time are known of each file, and no state; a note says why."""
    save(host)
    with watching(host) as watched:
        until(watched, lambda: watched.is_found and watched.rows)
        row = watched.rows[KEY]
        assert (row.agent, row.id, row.size, row.address) == ("claude", ID, len(LINE), f"ssh://testhost/{ID}")
        assert row.status.state is State.UNKNOWN
        assert [note.startswith("testhost: agentwatch is not installed") for note in watched.notes] == [True]
    # Without agentwatch there, 32 KiB of each file show its first prompt and its folder.
    save(host, "5f2b9a10-0000-4000-8000-000000000099.jsonl", "{}\n" + "x" * 100_000)
    for number in range(30):
        save(host, f"5f2b9a10-0000-4000-8000-{number:012}.jsonl", "")
    with watching(host) as watched:
        until(watched, lambda: KEY in watched.rows and watched.rows[KEY].title == "Fix it")
        row = watched.rows[KEY]
        assert (row.cwd, row.repo, row.size) == ("/srv/app", "app", len(LINE))
        assert len(watched.rows) == 32
        assert watched.problem == ""
    gone(host)


def test_a_program_without_our_commands_leaves_the_list_to_find(host: Sshd) -> None:
    """One that has no `host-rows` exits with 2, and files are listed as if it were not there."""
    host.install("#!/bin/sh\necho usage >&2\nexit 2\n")
    save(host)
    with watching(host) as watched:
        until(watched, lambda: watched.rows)
        assert ["not installed" in note for note in watched.notes] == [True]
    gone(host)


@BOTH
def test_a_change_on_the_host_is_shown(host: Sshd, is_there: bool) -> None:
    """A session that begins while the list is open gets a row, and one that is removed loses it."""
    # When the watcher leaves, no process of ours goes on there.
    if is_there:
        host.install()
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        assert host.running()
        assert watched.problem == ""
    gone(host)
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        watched.step(0)
        assert watched.rows == {}
        save(host)
        until(watched, lambda: KEY in watched.rows)
        (host.home / ".claude/projects/-srv-app" / f"{ID}.jsonl").unlink()
        until(watched, lambda: not watched.rows)


def test_a_lost_connection_marks_the_rows_that_ran(host: Sshd) -> None:
    """Rows that ran are lost since then, the others stay; after the host is back they are as before."""
    ended = WORKING.replace("working", "succeeded").replace("abcdef", "fedcba")
    host.install(greeting(WORKING, ended, '{"complete":true}'))
    with watching(host) as watched:
        until(watched, lambda: len(watched.rows) == 2)
        before = dict(watched.rows)
        host.stop()
        until(watched, lambda: watched.problem)
        watched.step(0)
        lost = {row.id: row.lost_ms for row in watched.rows.values()}
        assert lost["abcdef"] is not None
        assert lost["fedcba"] is None
        assert ["\n" in note for note in watched.notes] == [False]
        host.start()
        until(watched, lambda: not watched.problem)
        watched.step(0)
        assert watched.rows == before
        assert watched.notes == ()


def test_a_silent_host_is_lost(host: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that sends nothing for a while, although the connection stands, counts as lost."""
    monkeypatch.setattr(rows_module, "_SILENT_SECONDS", 0.3)
    host.install(greeting(WORKING, '{"complete":true}'))
    with watching(host) as watched:
        until(watched, lambda: watched.problem and any(row.lost_ms for row in watched.rows.values()))


def test_a_slow_host_is_back_after_a_long_loss(host: Sshd) -> None:
    """A host that was lost for an hour has as long for its first row as one that was never lost."""
    host.install(greeting(WORKING, '{"complete":true}').replace("cat <<", "sleep 1; cat <<"))
    host.stop()
    with watching(host) as watched:
        until(watched, lambda: watched.problem)
        watched._heard_at -= 3600
        host.start()
        until(watched, lambda: watched.rows and not watched.problem)


def test_a_host_that_cannot_be_reached_is_a_problem_in_one_line(host: Sshd) -> None:
    """The list is empty, and a line says what ssh says."""
    # Ssh is not asked to ask; its refusal is the reason.
    host.write_config("other")
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        assert "Permission denied" in watched.problem
    # Without a terminal nobody can say whether a host key is right, so nothing is connected.
    (host.folder / "known_hosts").write_text("")
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        assert "Host key verification failed" in watched.problem
    port = host.port
    host.stop()
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        assert watched.rows == {}
        (note,) = watched.notes
        assert note.startswith("testhost: cannot connect: ")
        assert f"port {port}: Connection refused" in note


def test_a_master_that_is_killed_is_replaced(host: Sshd) -> None:
    """The list goes on over a new connection, and there is one."""
    host.install()
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        (before,) = host.masters()
        os.kill(before, signal.SIGKILL)
        until(watched, lambda: watched.problem)
        until(watched, lambda: not watched.problem)
        (after,) = host.masters()
        assert after != before


@BOTH
def test_a_watcher_that_is_killed_leaves_nothing_on_the_host(host: Sshd, is_there: bool) -> None:
    """The commands on the host end with their input: the list and a session."""
    if is_there:
        host.install()
    save(host)
    program = (
        "import sys, time\n"
        "from agentwatch.remote.ssh.host_list import SshHost\n"
        "from agentwatch.remote.ssh.pieces import SshPieces\n"
        "watched, pieces = SshHost(sys.argv[1]), SshPieces(sys.argv[1] + '/' + sys.argv[2], 0)\n"
        "assert pieces.next(20)\n"
        "while not watched.is_found: time.sleep(0.01)\n"
        "print('ready', flush=True); time.sleep(60)\n"
    )
    argv = [sys.executable, "-c", program, host.address, ID]
    watcher = subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT)
    assert watcher.stdout is not None
    assert watcher.stdout.readline() == b"ready\n"
    assert len(host.running()) >= 2
    watcher.kill()
    watcher.wait()
    watcher.stdout.close()
    gone(host)
    for pid in host.masters():  # it would end by itself after 15 s
        os.kill(pid, signal.SIGTERM)
    disconnected(host)  # it removes its socket when it ends
    shutil.rmtree(host.sockets)
    host.sockets.mkdir()
