"""Tests of the commands with the address of a host: `sessions`, printing, the screen, and the hidden ones."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT
from tests.harness.program import AGENTWATCH
from tests.harness.terminal import Terminal
from tests.remote.ssh.sessions import ID, STEM, disconnected, gone, record, save
from tests.remote.ssh.sshd import Sshd

pytestmark = pytest.mark.system


def run(host: Sshd, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(host.sockets)}
    return subprocess.run(
        [*AGENTWATCH, *arguments],
        env=env,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        check=False,
    )


def test_sessions_prints_the_rows_of_a_host(host: Sshd) -> None:
    """Without agentwatch there, each has its title and its address."""
    save(host)
    done = run(host, "sessions", "--json", host.address)
    (row,) = map(json.loads, done.stdout.splitlines())
    address = f"{host.address}/{ID}"
    assert (row["id"], row["agent"], row["title"], row["host"]) == (address, "claude", "Fix it", "testhost")
    assert "agentwatch is not installed there" in done.stderr
    assert done.returncode == 0
    gone(host)
    # What is printed of `ssh://HOST/STEM` is what is printed of the recording itself.
    host.install()
    record(host)
    done = run(host, "-p", f"{host.address}/{STEM}")
    assert done.stdout == run(host, "-p", str(RECORDINGS / "plain.ndjson")).stdout
    assert done.returncode == 0
    gone(host)
    # The help does not name what only another agentwatch starts.
    assert "host-" not in run(host, "--help").stdout


def test_a_session_of_a_host_opens_from_the_list(host: Sshd, tmp_path: Path) -> None:
    """Enter opens it on the screen, where new lines appear; nothing is left when the user quits."""
    host.install()
    save(host)
    own = {"AGENTWATCH_HOME": str(tmp_path / "own"), "PYTHONPATH": str(ROOT)}
    with Terminal([*AGENTWATCH, host.address], env=own, size=(120, 30)) as terminal:
        terminal.wait_for("Fix it", timeout=30)
        terminal.press("\r", "Transcript", timeout=30)
        path = host.home / ".claude/projects/-srv-app" / f"{ID}.jsonl"
        message = {"role": "user", "content": "And the tests"}
        with path.open("a") as file:
            file.write(json.dumps({"type": "user", "sessionId": ID, "message": message}) + "\n")
        terminal.wait_for("And the tests", timeout=30)
        terminal.leave()
    gone(host)
    disconnected(host)


def test_a_screen_over_ssh_needs_nothing_from_us(host: Sshd) -> None:
    """`ssh -t HOST agentwatch FILE` shows the file on the screen of the host's agentwatch."""
    host.install()
    argv = ["ssh", "-t", "testhost", "agentwatch", shlex.quote(str(RECORDINGS / "plain.ndjson"))]
    with Terminal(argv, size=(120, 30)) as terminal:
        terminal.wait_for("Transcript", timeout=30)
        terminal.leave()
