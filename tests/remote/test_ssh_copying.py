"""A session of a host gets into a local copy, against a real sshd."""

from __future__ import annotations

from contextlib import closing

import pytest

from agentwatch.base.faults import Fault
from tests.conftest import RECORDINGS
from tests.harness.processes import until
from tests.remote.conftest import Watcher
from tests.remote.ssh.conftest import host  # noqa: F401 - a fixture
from tests.remote.ssh.sessions import STEM, record
from tests.remote.ssh.sshd import Sshd

SECONDS = 20.0


@pytest.mark.system
@pytest.mark.slow
def test_a_recording_of_a_host_is_copied_with_its_times(host: Sshd, watcher: Watcher) -> None:  # noqa: F811
    """With agentwatch there, the copy is complete, and has the arrival times."""
    host.install()
    data = record(host)
    with closing(watcher.open(f"{host.address}/{STEM}")) as copying:
        until(lambda: not copying.is_filling())
        assert (copying.is_complete, copying.problem, copying.host) == (True, "", "testhost")
        assert copying.path.read_bytes() == data


@pytest.mark.system
def test_a_growing_file_of_a_host_is_resumed(host: Sshd, watcher: Watcher) -> None:  # noqa: F811
    """With `tail` alone, a copy that is opened again goes on at its size."""
    data = record(host)
    words = f"{host.address}/{STEM}"
    with closing(watcher.open(words)) as copying:
        assert copying.wait_until_read(SECONDS)
        assert copying.path.read_bytes() == data
    with (host.home / "aw" / "sessions" / f"{STEM}.ndjson").open("ab") as file:
        file.write(b"{}\n")
    with closing(watcher.open(words)) as again:
        until(lambda: again.path.read_bytes() == data + b"{}\n")
        assert again.path == copying.path


@pytest.mark.system
def test_a_replaced_file_of_a_host_is_read_again(host: Sshd, watcher: Watcher) -> None:  # noqa: F811
    """If the file there is another one, the next opening makes a new copy of it."""
    record(host)
    words = f"{host.address}/{STEM}"
    with closing(watcher.open(words)) as copying:
        assert copying.wait_until_read(SECONDS)
    host.install()
    other = (RECORDINGS / "failed-run.ndjson").read_bytes()
    (host.home / "aw" / "sessions" / f"{STEM}.ndjson").write_bytes(other)
    with closing(watcher.open(words)) as again:
        until(lambda: again.is_complete)
        assert again.path != copying.path
        assert (again.path.read_bytes(), again.problem) == (other, "")


@pytest.mark.system
def test_an_unknown_session_of_a_host_is_a_fault(host: Sshd, watcher: Watcher) -> None:  # noqa: F811
    """A session that the host does not have is reported."""
    host.install()
    with pytest.raises(Fault, match=r"ssh://testhost"):
        watcher.open(f"{host.address}/20200101-000000-000abcdef")
