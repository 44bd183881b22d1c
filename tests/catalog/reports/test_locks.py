"""Codex and Copilot lock their sessions, and a lock without its process is not a lock."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from agentwatch.agents.cline.reported import ClineStates
from agentwatch.agents.codex.program import CodexReports
from agentwatch.agents.copilot.reported import CopilotLocks
from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.agents.vibe.reported import VibeLocks
from agentwatch.sources.folder_watch import FolderWatch
from agentwatch.sources.proc import Proc
from tests.catalog.started_agents import started
from tests.conftest import case
from tests.harness.codex_server import APPROVAL, IDLE, WORKS, codex_server

UID = os.geteuid()


def live(agent: str, session_id: str, pid: int) -> dict[Key, StateReport]:
    """Return what is said of one live session."""
    return {(agent, session_id): StateReport(agent, session_id, Life.LIVE, pid)}


class TestCodex:
    """The locks of Codex."""

    def test_a_loaded_session_is_live(self, tmp_path: Path) -> None:
        """A session is live while a process holds the lock, whatever files are left behind."""
        locks = CodexReports([tmp_path], UID, Proc())
        (tmp_path / "killed.lock").touch()
        (tmp_path / ".coordination.lock").touch()
        (tmp_path / "other.txt").touch()
        assert locks.refresh(1.0)
        assert locks.reported == {}
        assert locks.is_exact
        with open(tmp_path / "01a2.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            assert not locks.refresh(1.5)
            assert locks.refresh(2.1)
            loaded_ms = (tmp_path / "01a2.lock").stat().st_mtime_ns // 10**6
            known = StateReport("codex", "01a2", Life.LIVE, os.getpid(), began_ms=loaded_ms)
            assert locks.reported == {("codex", "01a2"): known}
            assert not locks.refresh(3.2)
        assert locks.refresh(4.3)
        assert locks.reported == {}

    def test_the_lock_is_never_taken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Asking for the lock would keep Codex from taking it."""
        (tmp_path / "a.lock").touch()
        monkeypatch.setattr("fcntl.flock", None)
        CodexReports([tmp_path], UID, Proc()).refresh(1.0)

    def test_an_older_version_says_nothing(self, tmp_path: Path) -> None:
        """Without the folder, or where the system shows no locks, a session without a lock may be open."""
        locks = CodexReports([tmp_path / "none"], UID, Proc())
        assert not locks.refresh(1.0)
        assert not locks.is_exact
        (tmp_path / "a.lock").touch()
        locks = CodexReports([tmp_path], UID, Proc(tmp_path / "proc"))
        assert not locks.refresh(1.0)
        assert not locks.is_exact


SOCKET = "app-server-control/app-server-control.sock"


class TestServer:
    """The shared server of Codex, which says what the loaded sessions do."""

    def test_a_loaded_session_has_the_state_that_the_server_says(self, tmp_path: Path) -> None:
        """A state has its source; a lock without a thread, and a thread without a lock, have none."""
        locks = tmp_path / "thread-writer-locks"
        locks.mkdir()
        threads = {"a": APPROVAL, "b": {"type": "new"}, "ephemeral": WORKS}
        reports = CodexReports([locks], UID, Proc())
        with (
            codex_server(tmp_path, threads) as server,
            held(locks / "a.lock", locks / "b.lock", locks / "c.lock"),
        ):
            assert refreshed(reports, 1.0)
            reported = {
                key: (each.state, each.about, each.source) for (_, key), each in reports.reported.items()
            }
            assert reported == {
                "a": (State.ASKS, "permission", f"server {tmp_path / SOCKET}"),
                "b": (None, "", ""),
                "c": (None, "", ""),
            }
            assert {each.pid for each in reports.reported.values()} == {os.getpid()}
            server.threads["a"]["status"] = WORKS
            assert refreshed(reports, 100.0)
            assert reports.reported["codex", "a"].state is State.WORKING
            assert not refreshed(reports, 200.0)

    def test_without_a_loaded_session_no_server_is_asked(self, tmp_path: Path) -> None:
        """A lock that a killed process has left loads nothing."""
        locks = tmp_path / "thread-writer-locks"
        locks.mkdir()
        (locks / "a.lock").touch()
        with codex_server(tmp_path, {"a": WORKS}) as server:
            refreshed(CodexReports([locks], UID, Proc()), 1.0)
            assert server.clients == 0

    def test_the_server_knows_what_is_loaded_where_the_system_shows_no_locks(self, tmp_path: Path) -> None:
        """Without /proc a session runs if the server has loaded it; its process is not known."""
        locks = tmp_path / "thread-writer-locks"
        locks.mkdir()
        (locks / "a.lock").touch()
        (locks / "killed.lock").touch()
        with codex_server(tmp_path, {"a": IDLE, "ephemeral": WORKS}):
            reports = CodexReports([locks], UID, Proc(tmp_path / "proc"))
            assert refreshed(reports, 1.0)
        (reported,) = reports.reported.values()
        assert (reported.session_id, reported.life, reported.pid, reported.state) == (
            "a",
            Life.LIVE,
            None,
            State.YOUR_TURN,
        )
        assert not reports.is_exact


@contextmanager
def held(*paths: Path) -> Iterator[None]:
    """Hold locks."""
    with ExitStack() as files:
        for path in paths:
            fcntl.flock(files.enter_context(open(path, "w")), fcntl.LOCK_EX)
        yield


def refreshed(reports: CodexReports, now: float) -> bool:
    """Read what Codex reports, however long a server takes on a machine at work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentwatch.agents.codex.server._MOST_SECONDS", 10.0)
        return reports.refresh(now)


class Copilot:
    """A folder of sessions of Copilot, and the reader of its locks."""

    def __init__(self, folder: Path, proc: Proc | None = None) -> None:
        self.folder = folder
        self.locks = CopilotLocks([folder], UID, proc or Proc())
        self.now = 1.0

    def lock(self, session_id: str, pid: int | str) -> Path:
        path = self.folder / session_id / f"inuse.{pid}.lock"
        path.parent.mkdir(exist_ok=True)
        path.write_text(str(pid))
        return path

    def reported(self, after: float = 0.5) -> dict[Key, StateReport]:
        """Return what is said half a second later."""
        self.now += after
        self.locks.refresh(self.now)
        return self.locks.reported


@pytest.fixture
def copilot(tmp_path: Path) -> Copilot:
    """Return a folder with a session that is not in use."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "events.jsonl").touch()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "old")
    return Copilot(tmp_path)


class TestCopilot:
    """The locks of Copilot."""

    def test_a_session_in_use_is_live(self, copilot: Copilot) -> None:
        """A session is live from its lock on, which its folder precedes, until the lock is removed."""
        (copilot.folder / "new").mkdir()
        assert copilot.reported() == {}
        path = copilot.lock("new", os.getpid())
        assert copilot.reported() == live("copilot", "new", os.getpid())
        os.utime(path.parent, (1, 1))
        for _ in range(3):
            assert not copilot.locks.refresh(copilot.now)
        path.unlink()
        assert copilot.reported() == {}
        assert not copilot.locks.refresh(copilot.now)

    @pytest.mark.slow
    def test_a_killed_process_leaves_its_lock(self, copilot: Copilot) -> None:
        """The lock of a process that has ended, or that began after it was written, does not count."""
        with started(["copilot"], copilot.folder) as process:
            copilot.lock("a", process.pid)
            assert copilot.reported() == live("copilot", "a", process.pid)
            process.kill()
            process.wait()
            assert copilot.reported() == {}
        os.utime(copilot.lock("b", os.getpid()), (1, 1))
        assert copilot.reported() == {}

    def test_strange_names_are_no_locks(self, copilot: Copilot) -> None:
        """A lock is named by the id of a process."""
        for number, pid in enumerate(("", "x", "-1", "0", "１", "1" * 40, str(1 << 33))):
            with case(pid):
                copilot.lock(f"{number}", pid)
                assert copilot.reported() == {}
        copilot.lock("a", os.getpid())
        assert copilot.reported().keys() == {("copilot", "a")}

    def test_an_old_session_is_read_every_10_seconds(self, copilot: Copilot) -> None:
        """An old session that is resumed is found in the next full reading."""
        hour_ago = time.time() - 3600
        os.utime(copilot.folder / "old", (hour_ago, hour_ago))
        assert copilot.reported() == {}
        copilot.lock("old", os.getpid())
        assert copilot.reported() == {}
        assert copilot.reported(10.0) == live("copilot", "old", os.getpid())

    @pytest.mark.parametrize("is_watched", [True, False])
    def test_a_list_that_stays_open_watches_old_sessions(
        self, copilot: Copilot, monkeypatch: pytest.MonkeyPatch, is_watched: bool
    ) -> None:
        """An old session that is resumed is found at once where the system notes it, otherwise in the next
        full reading; also one whose folder was replaced."""
        if not is_watched or not FolderWatch().add(str(copilot.folder)):
            is_watched = False
            monkeypatch.setattr(FolderWatch, "add", lambda *_: False)
        hour_ago = time.time() - 3600
        for name in ("old", "other"):
            (copilot.folder / name).mkdir(exist_ok=True)
            os.utime(copilot.folder / name, (hour_ago, hour_ago))
        asked: list[str] = []
        changed_ns = CopilotLocks.changed_ns

        def noting(locks: CopilotLocks, path: str) -> int:
            asked.append(Path(path).name)
            return changed_ns(locks, path)

        monkeypatch.setattr(CopilotLocks, "changed_ns", noting)
        looks = ((0.5, True), (10.1, True), (2.0, False), (10.1, not is_watched), (60.1, True))
        for seconds, are_read in looks:
            with case(seconds):
                asked.clear()
                copilot.reported(seconds)
                assert ("other" in asked) is are_read
        for _ in range(2):
            path = copilot.lock("old", os.getpid())
            assert copilot.reported(2.0) == (live("copilot", "old", os.getpid()) if is_watched else {})
            assert copilot.reported(10.1) == live("copilot", "old", os.getpid())
            shutil.rmtree(path.parent)
            assert copilot.reported(2.0) == {}
            path.parent.mkdir()
            os.utime(path.parent, (hour_ago, hour_ago))
            copilot.reported(62.0)

    def test_sessions_are_removed(self, copilot: Copilot) -> None:
        """A session whose folder is removed is no longer in use, and neither is one whose root is."""
        path = copilot.lock("a", os.getpid())
        assert copilot.reported()
        path.unlink()
        path.parent.rmdir()
        assert copilot.reported() == {}
        copilot.lock("b", os.getpid())
        assert copilot.reported()
        copilot.folder.rename(copilot.folder.with_name("moved"))
        assert copilot.reported() == {}

    def test_without_proc_the_process_must_exist(self, tmp_path: Path) -> None:
        """On a system without /proc, the start of the process is not compared."""
        copilot = Copilot(tmp_path, Proc(tmp_path / "proc"))
        for name, pid in (("a", os.getpid()), ("b", 1 << 22), ("c", 9_999_999_999)):
            copilot.lock(name, pid)
        assert copilot.reported().keys() == {("copilot", "a")}

    def test_a_process_of_another_user_or_of_the_system_has_no_session(self, copilot: Copilot) -> None:
        """The id in a lock of another container may be that of any process here."""
        copilot.lock("a", os.getpid())
        assert copilot.reported()
        copilot.locks.uid += 1
        assert copilot.reported() == {}
        assert Copilot(copilot.folder, NoProgram()).reported() == {}


class NoProgram(Proc):
    """Shows each process as one of the kernel, which runs no program."""

    def has_program(self, pid: int) -> bool:
        return False


class TestCline:
    """The descriptions of the sessions of Cline."""

    def test_a_session_says_its_state(self, tmp_path: Path) -> None:
        """A description has the state of a session until it has ended, and not which process shows it."""
        states = ClineStates([tmp_path], UID, Proc())
        path = tmp_path / "179_a" / "179_a.json"
        path.parent.mkdir()

        def said(content: str) -> dict[Key, StateReport]:
            path.write_text(content)
            states.refresh(1.0)
            return states.reported

        for status, state in (
            ("running", State.WORKING),
            ("pending", State.ASKS),
            ("idle", State.YOUR_TURN),
        ):
            with case(status):
                report = StateReport("cline", "179_a", Life.UNKNOWN, state=state, source=f"file {path}")
                report = report._replace(about="permission" if state is State.ASKS else "")
                content = json.dumps({"pid": os.getpid(), "status": status})
                assert said(content) == {("cline", "179_a"): report}
        for content in ('{"status": "cancelled"}', '{"status": 7}', "{}", "{", ""):
            with case(content):
                assert said(content) == {}
        assert said('{"status": "idle"}')
        path.unlink()
        assert states.refresh(1.5)
        assert states.reported == {}


def running(proc: Path, pid: int, parent: int, name: str) -> None:
    """Show a process that was started with the system."""
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "stat").write_text(f"{pid} ({name}) S {parent} {'0 ' * 30}")


class TestVibe:
    """The locks of Mistral Vibe."""

    def test_the_terminal_above_the_server_has_the_session(self, tmp_path: Path) -> None:
        """A lock names a server, whose terminal is above it; a server without one is the agent itself."""
        proc, folder = tmp_path / "proc", tmp_path / "active"
        for pid, parent, name in ((10, 1, "bash"), (11, 10, "vibe-rs"), (12, 11, "vibe-app-server")):
            running(proc, pid, parent, name)
        running(proc, 13, 10, "vibe-app-server")
        for session_id, named in (("a", 12), ("b", 13), ("c", 99), ("d", "12"), ("e", None)):
            locked(tmp_path, session_id, named)
        (folder / "a.lock").write_text('{"process_id": 12}')
        locks = VibeLocks([folder], UID, Proc(proc))
        assert locks.refresh(100.0)
        assert locks.reported == live("vibe", "a", 11) | live("vibe", "b", 13)
        assert not locks.refresh(101.0)
        os.utime(folder / "a.lock.json", (1, 1))
        assert locks.refresh(102.0)
        assert locks.reported == live("vibe", "b", 13)
        for other in (VibeLocks([folder], UID + 1, Proc(proc)), VibeLocks([folder], UID, Proc(tmp_path))):
            other.refresh(103.0)  # of another user; without /proc
            assert other.reported == {}
        (folder / "b.lock.json").unlink()
        assert locks.refresh(104.0)
        assert locks.reported == {}

    def test_a_session_counts_when_it_has_been_found(self, tmp_path: Path) -> None:
        """Before its first prompt it is not written. Then its file has to be found first."""
        proc, folder = tmp_path / "proc", tmp_path / "active"
        running(proc, 12, 1, "vibe-app-server")
        current = locked(tmp_path, "a", 12)
        current.unlink()
        locks = VibeLocks([folder], UID, Proc(proc))
        assert not locks.refresh(100.0)
        assert not locks.refresh(200.0)
        current.touch()
        assert not locks.refresh(201.0)
        assert not locks.refresh(204.9)
        assert locks.refresh(205.0)
        assert locks.reported == live("vibe", "a", 12)


def locked(folder: Path, session_id: str, pid: object) -> Path:
    """Lock a session of Vibe, and return the file that is there when it is written."""
    current = folder / "unified" / session_id / "CURRENT"
    current.parent.mkdir(parents=True)
    current.touch()
    (folder / "active").mkdir(exist_ok=True)
    (folder / "active" / f"{session_id}.lock.json").write_text(json.dumps({"process_id": pid}))
    return current
