"""Tests of `agentwatch.remote.ssh.rows`: the list of a host, against a real sshd."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from agentwatch.machine.found import Key
from agentwatch.machine.row import Row
from agentwatch.machine.standing import Ground, State
from agentwatch.remote.ssh.rows import SshHost
from tests.remote.ssh.sshd import Sshd

ID = "8f2b9a10-0000-4000-8000-000000000001"
MESSAGE = {"role": "user", "content": "Fix it"}
LINE = json.dumps({"type": "user", "sessionId": ID, "cwd": "/srv/app", "message": MESSAGE}) + "\n"
KEY = ("ssh://testhost", f"claude/{ID}")
SECONDS = 20.0


@contextmanager
def watching(host: Sshd) -> Iterator[SshHost]:
    """Watch a host, and end it."""
    watched = SshHost(host.address)
    try:
        yield watched
    finally:
        watched.close()


def until(watched: SshHost, condition: Callable[[], object]) -> None:
    """Step until a condition holds."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, (watched.notes, watched.rows)
        watched.step(0)
        time.sleep(0.01)


def found(host: Sshd) -> dict[Key, Row]:
    """Return the first complete list of a host."""
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        watched.step(0)
        assert watched.problem == ""
        return dict(watched.rows)


def save(host: Sshd, name: str = f"{ID}.jsonl", line: str = LINE) -> None:
    """Save a session of Claude Code on a host."""
    folder = host.home / ".claude" / "projects" / "-srv-app"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(line)


def test_a_host_with_agentwatch_sends_its_rows(host: Sshd) -> None:
    """The rows are those that agentwatch has there, with the host's name and an address that opens them."""
    host.install()
    save(host)
    row = found(host)[KEY]
    assert (row.agent, row.id, row.title, row.cwd, row.host) == (
        "claude",
        ID,
        "Fix it",
        "/srv/app",
        "testhost",
    )
    assert (row.address, row.key, row.can_open) == (f"ssh://testhost/{ID}", KEY, True)
    assert (row.standing.state, row.standing.ground) == (State.UNFINISHED, Ground.INFERRED)


def test_a_host_with_tail_alone_lists_its_files(host: Sshd) -> None:
    """Agent, id, size and time are known of each file, and no state; a note says why."""
    save(host)
    with watching(host) as watched:
        until(watched, lambda: watched.is_found and watched.rows)
        row = watched.rows[KEY]
        assert (row.agent, row.id, row.size) == ("claude", ID, len(LINE))
        assert row.standing.state is State.UNKNOWN
        assert ["not installed" in note for note in watched.notes] == [True]


@pytest.mark.parametrize("is_there", [True, False], ids=["agentwatch", "tail"])
def test_nothing_is_left_on_the_host(host: Sshd, is_there: bool) -> None:
    """When the watcher leaves, no process of ours goes on there."""
    if is_there:
        host.install()
    with watching(host) as watched:
        until(watched, lambda: watched.is_found)
        assert host.running()
        assert watched.problem == ""
    until(watched, lambda: not host.running())
