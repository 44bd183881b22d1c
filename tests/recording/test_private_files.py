"""Written files are private, and nothing that is in their way is touched."""

import os
import stat
import subprocess
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT, case
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import DEMO, in_terminal, in_two_parts
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, ran, watch

PLAIN = RECORDINGS / "plain.ndjson"
KINDS = ("link", "dangling", "link to a folder", "hardlink", "fifo", "folder", "socket")
READ_ONLY_TO_ALL = Path("/sys/kernel")

pytestmark = pytest.mark.slow


def put_in_the_way(path: Path, kind: str) -> None:
    """Create something at `path`; a file of somebody else is `victim`, in the folder above."""
    victim = path.parent.parent / "victim"
    match kind:
        case "file":
            path.write_text("mine")
        case "link" | "dangling":
            if kind == "link":
                victim.write_text("mine")
            path.symlink_to(victim)
        case "link to a folder":
            victim.mkdir()
            path.symlink_to(victim)
        case "hardlink":
            victim.write_text("mine")
            path.hardlink_to(victim)
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "socket":
            os.mknod(path, stat.S_IFSOCK | 0o600)


def state(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return everything below a folder: mode, inode, link target and content."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        link = os.readlink(path) if path.is_symlink() else None
        data = path.read_bytes() if stat.S_ISREG(facts.st_mode) else None
        found[str(path.relative_to(folder))] = (facts.st_mode, facts.st_ino, link, data)
    return found


def new_folder(parent: Path) -> Path:
    """Return a new folder to write into; another user's file may be beside it."""
    folder = parent / f"world-{len(list(parent.iterdir()))}" / "out"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to write into; another user's file may be beside it."""
    return new_folder(tmp_path)


def started(way: str, option: str, where: str | Path, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Watch a pipe, or an agent that creates `started`, and name the file of the recording or the log."""
    if way == "run":
        return ran("run", "-p", option, where, "--", "touch", folder / "started", cwd=folder)
    return ran("-p", option, where, cwd=folder, stdin=PLAIN.read_bytes())


def test_a_taken_name_is_refused(tmp_path: Path) -> None:
    """A name that leads elsewhere, or is not a file, is refused with 73, and everything stays as it was."""
    for option, way, kind in product(("--record", "--log"), ("pipe", "run"), KINDS):
        folder = new_folder(tmp_path)
        with case(f"{option}, {way}, {kind}"):
            put_in_the_way(folder / "r.ndjson", kind)
            before = state(folder.parent)
            done = started(way, option, "r.ndjson", folder)
            assert (done.returncode, done.stdout) == (73, b"")
            assert done.stderr.count(b"\n") == 1
            assert done.stderr.startswith(b"agentwatch: cannot create r.ndjson: ")
            assert state(folder.parent) == before
    # If the name of a file beside the recording is taken, `run` refuses with 73 and starts nothing.
    for ending, kind in product(("times", "log", "stderr", "json"), ("file", *KINDS)):
        folder = new_folder(tmp_path)
        with case(f"{ending}, {kind}"):
            put_in_the_way(folder / f"r.{ending}", kind)
            before = state(folder.parent)
            done = started("run", "--record", "r.ndjson", folder)
            assert done.returncode == 73
            assert done.stderr.startswith(f"agentwatch: cannot create r.{ending}: ".encode())
            assert state(folder.parent) == before


def test_an_unwritable_folder_is_refused(tmp_path: Path) -> None:
    """A folder that is missing, not a folder, or not writable is refused with 73 before the agent starts."""
    kinds = ("missing", "a file", "read-only", "a loop", "a name too long")
    for kind, option, way in product(kinds, ("--record", "--log"), ("pipe", "run")):
        folder = new_folder(tmp_path)
        where = folder / "deeper"
        match kind:
            case "a file":
                where.write_text("mine")
            case "read-only":
                where.mkdir(mode=0o555)
                if os.geteuid() == 0:
                    where = READ_ONLY_TO_ALL
            case "a loop":
                where.symlink_to(where)
            case "a name too long":
                where = folder / ("x" * 300)
        with case(f"{kind}, {option}, {way}"):
            before = state(folder)
            done = started(way, option, where / "r", folder)
            assert (done.returncode, done.stdout) == (73, b"")
            assert done.stderr.startswith(b"agentwatch: cannot create ")
            assert b"/r: " in done.stderr
            assert b"--no-record" not in done.stderr
            assert state(folder) == before
    # A sessions folder that cannot be made is reported with 73 before the agent starts.
    kinds = ("a file", "dangling", "a loop", "sessions is a file", "read-only")
    for kind in kinds:
        folder = new_folder(tmp_path)
        home = folder / "home"
        match kind:
            case "a file":
                home.write_text("mine")
            case "dangling":
                home.symlink_to(folder / "nowhere")
            case "a loop":
                home.symlink_to(home)
            case "sessions is a file":
                home.mkdir()
                (home / "sessions").write_text("mine")
            case "read-only":
                home.mkdir(mode=0o555)
                if os.geteuid() == 0:
                    home = READ_ONLY_TO_ALL
        with case(kind):
            before = state(folder)
            agent = ("touch", folder / "started")
            done = ran("run", "-p", "--", *agent, cwd=folder, AGENTWATCH_HOME=str(home))
            assert (done.returncode, done.stdout) == (73, b"")
            assert done.stderr.startswith(b"agentwatch: cannot create ")
            assert done.stderr.endswith(b" (set AGENTWATCH_HOME to another folder, or add --no-record)\n")
            assert done.stderr.count(b"\n") == 1
            assert state(folder) == before


@pytest.mark.system
def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    """With umask 0 no written file is readable by others; a strict umask works as well."""
    agent = command(PLAIN, "--stderr", "a warning")
    for umask in (0o000, 0o022, 0o277):
        folder = new_folder(tmp_path)
        with case(f"umask {umask:03o}"):
            done = watch("run", "-p", "--record", "r.ndjson", "--", *agent, cwd=folder, umask=umask)
            assert (done.returncode, done.stderr) == (0, b"")
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
            files = ("r.ndjson", "r.times", "r.log", "r.stderr", "r.json")
            assert modes == dict.fromkeys(files, 0o600 & ~umask)
    # A recording with any file ending contains exactly what the agent wrote.
    for ending in ("ndjson", "txt", "crash", "times", "log", "stderr", "json"):
        folder = new_folder(tmp_path)
        with case(ending):
            done = watch("run", "-p", "--record", f"out.{ending}", "--", *command(PLAIN), cwd=folder)
            assert done.returncode == 0
            assert (folder / f"out.{ending}").read_bytes() == PLAIN.read_bytes()
    # When the agent cannot be started, existing files stay and no new ones remain.
    for options in (["--no-log"], ["--log", "other"]):
        folder = new_folder(tmp_path)
        with case(options):
            (folder / "r.log").write_text("mine")
            done = watch("run", "-p", "--record", "r.ndjson", *options, "--", "no-such-agent", cwd=folder)
            assert done.returncode == 127
            assert [path.name for path in folder.iterdir()] == ["r.log"]


def test_the_folders_are_private_whatever_the_umask(folder: Path) -> None:
    """Every folder created on the way to the sessions is private, so that no other user can replace one."""
    home = folder / "deep" / "home"
    done = watch("run", "-p", "--", *command(PLAIN), cwd=folder, umask=0, AGENTWATCH_HOME=str(home))
    assert done.returncode == 0
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (home.parent, home, home / "sessions")}
    assert modes == {0o700}


@pytest.mark.system
def test_a_home_behind_a_link(folder: Path) -> None:
    """A home that is a link made by the user is followed; the files in it are private and listed."""
    # A sessions folder that others may enter is made private or refused.
    sessions = folder / "sessions"
    sessions.mkdir()
    sessions.chmod(0o777)
    done = watch("run", "-p", "--", *command(PLAIN), cwd=folder, AGENTWATCH_HOME=str(folder))
    assert done.returncode == 73 or stat.S_IMODE(sessions.stat().st_mode) == 0o700
    elsewhere, home = folder / "elsewhere", folder / "home"
    elsewhere.mkdir()
    home.symlink_to(elsewhere)
    done = watch("run", "-p", "--", *command(PLAIN), cwd=folder, AGENTWATCH_HOME=str(home))
    assert (done.returncode, done.stderr) == (0, b"")
    found = [path for path in elsewhere.rglob("*") if not path.is_dir()]
    assert len(found) == 5
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o600}
    assert b".ndjson" in ran("sessions", "--json", "--all", cwd=folder, AGENTWATCH_HOME=str(home)).stdout


@pytest.mark.system
def test_a_pipe_survives_a_home_that_cannot_be_made(folder: Path) -> None:
    """The agent writes to its end, `--tee` copies every byte, and the user reads what is not kept."""
    home, copy, survived = folder / "home", folder / "copy", folder / "survived"
    home.write_text("mine")
    go = folder / "go"
    agent = in_two_parts(go, f"touch '{survived}'")
    env = {"AGENTWATCH_HOME": str(home)}
    with in_terminal("--tee", producer=agent, consumer=["sh", "-c", f"cat > '{copy}'"], env=env) as terminal:
        terminal.wait_for("THIS SESSION IS NOT RECORDED")
        go.touch()
        until(survived.exists)
        until(lambda: copy.exists() and copy.read_bytes() == DEMO.read_bytes())
        terminal.wait_for("succeeded")
        terminal.leave("q", 74)
        said = terminal.screen_text().replace("\n", "")
    for words in (f"cannot create {home}", "--no-record", "AGENTWATCH_HOME"):
        assert words in said
    assert home.read_text() == "mine"


def monitor(folder: Path) -> subprocess.Popen[bytes]:
    """Start a monitor of an open pipe that records to `r.ndjson`."""
    pipe, env = subprocess.PIPE, os.environ | {"PYTHONPATH": str(ROOT)}
    argv = [*AGENTWATCH, "-p", "--record", "r.ndjson"]
    return subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=folder)


@pytest.mark.system
def test_two_monitors_of_one_recording(folder: Path) -> None:
    """A second monitor of the same recording file is refused with 73, and the first keeps recording."""
    first_lines, last_lines = PLAIN.read_bytes()[:3000], PLAIN.read_bytes()[3000:]
    with monitor(folder) as first:
        assert first.stdin
        assert first.stdout
        first.stdin.write(first_lines)
        first.stdin.flush()
        assert first.stdout.readline().startswith(b"Read file")
        until(lambda: b"Read file" in (folder / "r.log").read_bytes(), what="the log")
        before = state(folder)
        for arguments in (["-p"], ["run", "-p"]):
            tail = ["--", "touch", str(folder / "started")] if "run" in arguments else []
            done = watch(*arguments, "--record", "r.ndjson", *tail, cwd=folder, stdin=b"intruder\n")
            assert (done.returncode, done.stdout) == (73, b"")
            assert b"already exists" in done.stderr
        assert state(folder) == before
        first.stdin.write(last_lines)
        first.stdin.close()
        assert first.wait(20) == 0
    assert (folder / "r.ndjson").read_bytes() == PLAIN.read_bytes()


@pytest.mark.system
def test_monitors_that_start_together(folder: Path) -> None:
    """Of four monitors that start at once on one recording, one records and three are refused."""
    started = [monitor(folder) for _ in range(4)]
    ended = [one.communicate(PLAIN.read_bytes(), 20)[1] for one in started]
    assert sorted(one.returncode for one in started) == [0, 73, 73, 73]
    assert sum(b"cannot create" in stderr for stderr in ended) == 3
    assert (folder / "r.ndjson").read_bytes() == PLAIN.read_bytes()
    assert {path.name for path in folder.iterdir()} == {"r.ndjson", "r.times", "r.log"}
