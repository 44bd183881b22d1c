"""A record of Claude Code is believed as far as its process can be checked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentwatch.agents.claude.reported import ClaudeRecords
from agentwatch.agents.reported import Life, State
from agentwatch.sources.proc import Proc
from tests.catalog.said.claude_registry import NOW, Registry
from tests.catalog.started_agents import started
from tests.harness.processes import until


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Return an empty registry."""
    return Registry(tmp_path)


@pytest.mark.slow
def test_a_killed_process_leaves_a_dead_record(registry: Registry) -> None:
    """A record that says busy is dead once its process is killed."""
    with started(["claude"], registry.folder) as process:
        registry.write(process.pid)
        assert registry.said()["7e82"].life is Life.LIVE
        process.kill()
        process.wait()
        assert registry.said()["7e82"].life is Life.DEAD


@pytest.mark.slow
def test_a_process_that_nobody_waits_for_has_ended(registry: Registry) -> None:
    """A killed process whose parent has not noticed is dead once all records are read."""
    with started(["claude"], registry.folder) as process:
        registry.write(process.pid)
        registry.said()
        process.kill()
        until(lambda: Proc().stat(process.pid) is None)
        assert not registry.reader.refresh(NOW + 0.5, {("claude", "7e82")})
        assert registry.said(NOW + 1)["7e82"].life is Life.DEAD


def test_a_process_id_that_is_used_again_is_dead(registry: Registry) -> None:
    """A record is of the process with its start, not of a later one with its id."""
    registry.write(procStart="1")
    assert registry.said()["7e82"].life is Life.DEAD


@pytest.mark.parametrize(
    "domain", ["linux:0123456789abcdef0123456789abcdef:pid:[1]", "darwin", "win32:box", "x"]
)
def test_a_record_of_another_machine_or_container_is_unknown(registry: Registry, domain: str) -> None:
    """A process id of another namespace proves nothing here, whatever process has it."""
    registry.write(pidDomain=domain)
    registry.write(1 << 22, pidDomain=domain, sessionId="gone")
    assert {each.life for each in registry.said().values()} == {Life.UNKNOWN}


def test_a_record_of_this_machine_is_checked(registry: Registry) -> None:
    """A record with the domain of this machine lives with its process."""
    domain = f"linux:{Path('/etc/machine-id').read_text().strip()}:{os.readlink('/proc/self/ns/pid')}"
    registry.write(pidDomain=domain)
    registry.write(1 << 22, pidDomain=domain, sessionId="gone")
    said = registry.said()
    assert (said["7e82"].life, said["gone"].life) == (Life.LIVE, Life.DEAD)


def test_the_record_of_a_live_process_counts(registry: Registry) -> None:
    """Of two records of one session, that of the live process is shown."""
    registry.write(1 << 22, updatedAt=9_999_999_999_999, status="waiting")
    registry.write()
    assert registry.said()["7e82"].state is State.WORKING
    registry.write(kind="daemon")
    assert registry.said()["7e82"].life is Life.DEAD


def test_a_machine_with_another_id_is_this_one_if_the_process_is(registry: Registry) -> None:
    """A container may have an id of its own for the machine: the process itself proves where it runs."""
    registry.write(pidDomain=f"linux:{'0' * 32}:{os.readlink('/proc/self/ns/pid')}")
    assert registry.said()["7e82"].life is Life.LIVE


def test_an_older_record_has_no_start(registry: Registry) -> None:
    """Without the start of the process, a process that began after the session is another."""
    stat = Proc().stat(os.getpid())
    assert stat is not None
    registry.write(procStart=None, startedAt=stat.began_ms + 1000)
    assert registry.said()["7e82"].life is Life.LIVE
    registry.write(procStart=None, startedAt=stat.began_ms - 20_000)
    assert registry.said()["7e82"].life is Life.DEAD


def test_without_proc_the_process_must_exist(registry: Registry, tmp_path: Path) -> None:
    """On a system without /proc, the record of an existing process is live, if it is of this system."""
    registry.reader = ClaudeRecords([registry.folder], os.geteuid(), Proc(tmp_path / "proc"))
    registry.write()
    registry.write(1 << 22, sessionId="gone")
    registry.write(9_999_999_999, sessionId="huge")
    registry.write(1, sessionId="else", pidDomain="solaris")
    assert {name: said.life for name, said in registry.said().items()} == {
        "7e82": Life.LIVE,
        "gone": Life.DEAD,
        "huge": Life.DEAD,
        "else": Life.UNKNOWN,
    }


@pytest.mark.parametrize(
    ("platform", "domain"), [("darwin", "darwin"), ("linux", f"linux::{os.readlink('/proc/self/ns/pid')}")]
)
def test_the_domain_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, domain: str
) -> None:
    """The domain is that of the system; a machine without an id has an empty one."""
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr("agentwatch.agents.claude.reported._MACHINE_ID", tmp_path / "none")
    assert ClaudeRecords([tmp_path], 0, Proc())._domain == domain
