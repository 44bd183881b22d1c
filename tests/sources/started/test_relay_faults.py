"""The faults of a relay: a full disk, too few descriptors, a start that fails."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.base.faults import Fault
from agentwatch.cli.printing import print_session
from agentwatch.feed.feed import Feed
from agentwatch.sources.open import KeepOptions, agent_source
from agentwatch.sources.proc import pids, stat_of
from tests.builders.gaps import fits
from tests.conftest import RECORDINGS
from tests.harness.fake_agent import command
from tests.harness.processes import relay_of, until
from tests.harness.program import AGENTWATCH, environment

DEMO = (RECORDINGS / "demo.ndjson").read_bytes()
PLAIN = RECORDINGS / "plain.ndjson"
pytestmark = pytest.mark.slow
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")


def our_relays() -> set[int]:
    """Return the relays that this process has started and that have not ended."""
    found = [(pid, stat_of(pid)) for pid in pids()]
    ours = ("agentwatch-pipe", os.getpid())
    return {pid for pid, stat in found if stat and (stat.name, stat.parent) == ours}


@LINUX
@pytest.mark.parametrize(
    "seconds", [pytest.param(20, marks=pytest.mark.system), pytest.param(1, marks=pytest.mark.costs)]
)
def test_a_full_disk_does_not_reach_the_agent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], seconds: int
) -> None:
    """On a full disk the agent goes on, the fault is known, and recording is resumed.

    In the stage `costs`, the fault is known within a second.
    """
    path = tmp_path / "r.ndjson"
    agent = command(RECORDINGS / "demo.ndjson", "--pace", "2000", "--repeat", "40")
    source = agent_source(agent, KeepOptions(recording=path, write_log=False))
    until(lambda: source.agent.size() > 50_000)
    resource.prlimit(relay_of(source), resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
    until(lambda: path.stat().st_size > 58_000 or source.fault)
    until(lambda: source.fault, seconds)
    assert path.read_bytes().endswith(b"\n")
    kept = path.stat().st_size
    resource.prlimit(
        relay_of(source), resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    )
    until(lambda: path.stat().st_size > kept)
    assert print_session(source, Feed(source.reader), "summary") == 74
    assert source.agent_exit_code == 0
    assert "the recording is incomplete: File too large" in capfd.readouterr().err
    assert fits(DEMO * 40, path)
    assert set(path.read_bytes().splitlines()) <= set(DEMO.splitlines())


@LINUX
def test_a_full_stderr_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A file of stderr that cannot be written is reported; the recording is complete, and the code is 0."""
    path = tmp_path / "r.ndjson"
    script = f"while [ ! -e '{tmp_path}/go' ]; do sleep 0.01; done; cat '{PLAIN}' >&2; head -c 4000 '{PLAIN}'"
    source = agent_source(["sh", "-c", script], KeepOptions(recording=path, write_log=False))
    until(lambda: relay_of(source) in our_relays(), what="a relay that has imported its modules")
    resource.prlimit(relay_of(source), resource.RLIMIT_FSIZE, (4500, resource.RLIM_INFINITY))
    (tmp_path / "go").touch()
    print_session(source, Feed(source.reader), "stream-json")
    assert "the agent's stderr is incomplete: File too large" in capfd.readouterr().err
    assert source.fault is None
    assert path.read_bytes() == PLAIN.read_bytes()[:4000]
    assert PLAIN.read_bytes().startswith(path.with_suffix(".stderr").read_bytes())
    assert path.with_suffix(".stderr").read_bytes().endswith(b"\n")


@LINUX
@pytest.mark.system
@pytest.mark.parametrize("way", ["--direct", "--no-log"])
def test_too_few_descriptors_are_said_to_be_too_few(tmp_path: Path, way: str) -> None:
    """Too few file descriptors are reported as such, whichever of them is missing, and no file is left."""
    said = set[bytes]()
    for most in range(8, 40):

        def limit(most: int = most) -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        run = subprocess.run(
            [*AGENTWATCH, "run", "--print", way, "--record", str(tmp_path / "r.ndjson"), "--", "true"],
            capture_output=True,
            env=environment(),
            check=False,
            preexec_fn=limit,
        )
        if said and b"too many open files" not in run.stderr:
            break  # with more there are enough
        if b"cannot start" not in run.stderr:
            continue
        assert b"too many open files" in run.stderr, run.stderr
        assert run.returncode in (73, 126)
        assert list(tmp_path.iterdir()) == []
        said.add(run.stderr)
    assert said


@pytest.mark.parametrize("reason", ["no relay", "no agent"])
def test_a_start_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """If relay or agent cannot be started, no file and no process is left."""
    before = our_relays()
    if reason == "no relay":
        monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(Fault):
        agent_source(["/no/such/agent"], KeepOptions(recording=tmp_path / "r.ndjson"))
    assert list(tmp_path.iterdir()) == []
    until(lambda: our_relays() <= before)
