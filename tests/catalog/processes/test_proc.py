"""What /proc shows of a process is read, however strange its name is."""

import os
import subprocess
from pathlib import Path

import pytest

from agentwatch.catalog.processes import Processes
from agentwatch.sources.proc import Proc
from tests.conftest import case
from tests.harness.processes import until

FIELDS = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with the process 7, which is that of Codex: root owns its files."""
    folder = tmp_path / "proc"
    for name in ("7", "self", "self/ns"):
        (folder / name).mkdir(parents=True)
    (folder / "self" / "stat").write_text("")
    (folder / "7" / "stat").write_text(f"7 (co) dex) {FIELDS}\n")
    (folder / "7" / "cmdline").write_bytes(b"codex\0exec\0")
    (folder / "7" / "status").write_text("Name:\tcodex\nUid:\t1234\t1234\t1234\t1234\n")
    return folder


def test_what_a_process_shows_is_read(root: Path) -> None:
    """The name ends with the last parenthesis; at most 64 arguments of 300 characters are kept."""
    proc = Proc(root)
    stat = proc.stat(7)
    assert stat is not None
    assert (stat.name, stat.parent, stat.began, stat.ticks) == ("co) dex", 1, 4242, 11 + 12 + 13 + 14)
    (root / "7" / "cmdline").write_bytes(b"\0".join([b"x" * 400] * 100))
    arguments = proc.arguments(7)
    assert len(arguments) <= 64
    assert max(map(len, arguments)) == 300
    # An open file that is closed while the others are read is left out.
    (root / "7" / "fd").mkdir()
    (root / "7" / "fd" / "0").symlink_to("/x/rollout-a.jsonl")
    (root / "7" / "fd" / "1").write_text("no link")
    assert proc.open_paths(7) == ["/x/rollout-a.jsonl"]
    # A process whose files are empty, or that has ended and was not reaped, does not exist.
    for text in ("", "7 (x)", "7 (x) S", "7 (x) S a", f"7 (x) {FIELDS.replace('S', 'Z')}"):
        with case(text):
            (root / "7" / "stat").write_text(text)
            assert proc.stat(7) is None


def test_what_cannot_be_read_is_empty_or_none(root: Path) -> None:
    """Nothing is known of a process that does not exist, and of a system without /proc."""
    proc = Proc(root)
    assert (proc.stat(8), proc.uid(8), proc.cwd(8), proc.open_paths(8)) == (None, None, None, None)
    assert proc.arguments(8) == ()
    (root / "8").mkdir()
    (root / "8" / "stat").mkdir()
    assert proc.stat(8) is None
    proc = Proc(root / "none")
    assert (proc.exists(), proc.pids(), proc.lock_holders(), proc.namespace()) == (False, set(), None, "")


def test_the_holders_of_locks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks on whole files are read by the file's inode; other locks and strange lines are not."""
    proc = Proc(root)
    (root / "locks").write_text(
        "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF\n"
        "1: -> FLOCK  ADVISORY  WRITE 99 08:01:5678 0 EOF\n"
        "2: POSIX  ADVISORY  WRITE 1235 08:01:5679 0 EOF\n"
        "3: FLOCK  ADVISORY  READ  1236 08:01:5680 0 EOF\n"
        "4: FLOCK  ADVISORY  WRITE -1 08:01:5681 0 EOF\n"
        "5: FLOCK\n" + "6: FLOCK ADVISORY WRITE 1 08:01:1 0 EOF\n" * 100
    )
    assert proc.lock_holders() == {5678: 1234, 1: 1}
    # The kernel returns a long file in pieces of its own size.
    original = os.read
    monkeypatch.setattr(os, "read", lambda fd, size: original(fd, min(size, 2048)))
    (root / "locks").write_text("".join(f"1: FLOCK ADVISORY WRITE 1 0:0:{n} 0 EOF\n" for n in range(5000)))
    assert len(proc.lock_holders() or ()) > 4900


def test_the_state_of_a_process_is_read_once_between_two_calls(root: Path) -> None:
    """After `read_once`, a state is read once until the next call; without it, each time."""
    proc, path = Proc(root), root / "7" / "stat"

    def began() -> int | None:
        stat = proc.stat(7)
        return None if stat is None else stat.began

    seen = []
    for is_new in (False, True, False, True):
        if is_new:
            proc.read_once()
        seen.append(began())
        path.write_text(f"7 (x) {FIELDS.replace('4242', str(len(seen)))}\n")
        seen.append(began())
    assert seen == [4242, 1, 1, 1, 1, 1, 5, 5]
    path.unlink()
    assert began() == seen[-1]
    proc.read_once()
    assert (began(), began()) == (None, None)


@pytest.mark.slow
def test_a_process_that_was_not_reaped_has_no_program() -> None:
    """A process has a program until it ends, also if its parent has not noticed."""
    with subprocess.Popen(["/bin/sh", "-c", "read line"], stdin=subprocess.PIPE) as process:
        assert Proc().has_program(process.pid)
        process.kill()
        until(lambda: Proc().stat(process.pid) is None)
        assert not Proc().has_program(process.pid)
    assert not Proc().has_program(process.pid)


def test_the_last_process_to_begin_may_not_be_shown(root: Path) -> None:
    """It is the last field of loadavg, which has a zero there in gVisor."""
    proc = Proc(root)
    shown = {"0.00 0.01 0.05 1/123 4567\n": b"4567", "0.00 0.00 0.00 0/0 0\n": b"", "": b""}
    assert proc.newest() == b""
    for text, last in shown.items():
        with case(text):
            (root / "loadavg").write_text(text)
            assert proc.newest() == last
    before = Proc().newest()
    with subprocess.Popen(["/bin/true"]):
        assert Proc().newest() != before


def test_a_program_that_is_not_shown_runs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a process which no debugger may attach to is not shown, even to its user."""

    def refuse(path: str) -> str:
        raise PermissionError(path)

    assert not Proc(root).has_program(7)
    monkeypatch.setattr(os, "readlink", refuse)
    assert Proc(root).has_program(7)


@pytest.mark.skipif(os.geteuid() != 0, reason="a folder of another user than root is believed")
def test_the_user_of_a_process_that_no_debugger_may_attach_to(root: Path) -> None:
    """Codex makes root the owner of its files in /proc; its user is that of its status."""
    proc = Proc(root)
    assert proc.uid(7) == 1234
    processes = Processes(1234, proc)
    processes.refresh(1.0)
    (found,) = processes.agents.values()
    assert (found.agent, found.cwd, found.opened_ms) == ("codex", None, None)
    (root / "7" / "status").write_text("Name:\tcodex\n\nUid:\n")
    assert proc.uid(7) == 0
    os.chown(root / "7", 77, 77)
    assert proc.uid(7) == 77


@pytest.mark.slow
def test_a_deleted_folder_is_named(tmp_path: Path) -> None:
    """The folder of a process keeps its name when it is removed."""
    folder = tmp_path / "gone"
    folder.mkdir()
    with subprocess.Popen(["/bin/sh", "-c", "read line"], cwd=folder, stdin=subprocess.PIPE) as process:
        folder.rmdir()
        assert Proc().cwd(process.pid) == str(folder)
        process.kill()
