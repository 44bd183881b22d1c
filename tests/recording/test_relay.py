"""The relay loads little, so that it starts fast and stays small; and it copies to the end."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agentwatch.recording.relay import Relay
from agentwatch.recording.store import create_file
from tests.conftest import ROOT
from tests.harness.processes import until

LOADED = "import sys; sys.path.append(sys.argv[1]); import agentwatch.recording.relay; print(*sys.modules)"
EXPENSIVE = {
    "typing",
    "enum",
    "re",
    "signal",
    "threading",
    "collections",
    "contextlib",
    "pathlib",
    "subprocess",
}


@pytest.mark.slow
def test_a_relay_loads_nothing_expensive() -> None:
    """The relay imports its own folder and the clock of the package, and no large module of Python."""
    argv = [sys.executable, "-I", "-S", "-c", LOADED, str(ROOT)]
    loaded = set(subprocess.run(argv, capture_output=True, check=True, text=True).stdout.split())
    assert loaded.isdisjoint(EXPENSIVE)
    ours = {name for name in loaded if name.startswith("agentwatch.")}
    assert ours == {
        f"agentwatch.{name}"
        for name in ("base", "base.clock", "recording", "recording.appender", "recording.relay")
    }


def test_a_relay_without_requests_copies_to_the_end(tmp_path: Path) -> None:
    """If the requests of the monitor cannot be read, what the agent writes is still recorded to its end."""
    stdout_fd, agent_fd = os.pipe()
    stderr_fd, errors_end = os.pipe()
    reports, report_fd = os.pipe()
    not_a_pipe = os.open(tmp_path, os.O_RDONLY)  # reading it fails, and it is always ready
    files = [create_file(tmp_path / name) for name in ("recording", "times", "stderr")]
    relay = threading.Thread(target=Relay((stdout_fd, stderr_fd, not_a_pipe, report_fd, *files)).run)
    relay.start()
    os.write(agent_fd, b"one\n")
    until(lambda: (tmp_path / "recording").read_bytes() == b"one\n")
    os.write(agent_fd, b"two\n")
    os.close(agent_fd)
    os.close(errors_end)
    relay.join(10)
    assert not relay.is_alive()
    assert (tmp_path / "recording").read_bytes() == b"one\ntwo\n"
    assert os.read(reports, 100) == b"eof\nend\n"
    for fd in (stdout_fd, stderr_fd, reports, report_fd, not_a_pipe, *files):
        os.close(fd)
