"""What a command may write is decided in one place. The file is whole, or it is not there."""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from agentwatch.base.faults import Fault
from agentwatch.cli.output import write_file
from agentwatch.recording.write_lock import hold, release
from tests.builders.captures import OWN
from tests.conftest import RECORDINGS, case
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, PLAIN, environment, files, ran

INTERRUPTED = """
import sys, time
from pathlib import Path
from agentwatch.cli.output import write_file

def pieces():
    yield b"half" * 1000
    print("half", flush=True)
    time.sleep(60)

write_file(Path(sys.argv[1]), pieces(), replaces=True)
"""


DEMO = RECORDINGS / "demo.ndjson"
RECORDING = ("export", "--to", "recording")
COMMANDS = {
    "export": ("export", "a.ndjson", "--to", "markdown"),
    "compare": ("compare", "b.ndjson", "a.ndjson"),
    "clip": (*RECORDING, "a.ndjson#1..#2"),
    "redact": (*RECORDING, "a.ndjson"),
    "check --init": ("check", "--init", "a.ndjson"),
}
"""The commands with `-o`, which read `a.ndjson`."""
ENDINGS = (
    *(".times", ".log", ".bookmarks.json", ".stderr", ".json", ".alarms", ".ship", ".index", ".crash"),
)
"""What is appended to the stem of a recording for the files that belong to it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two recordings that have no arrival times, and one that has."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in ("a", "b", "c"):
        shutil.copy(PLAIN, folder / f"{name}.ndjson")
    (folder / "c.times").write_text("0 1700000000000\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in files(folder)}


def check_refused(folder: Path, output: str, reason: str, *, unless_forced: bool = False) -> None:
    """Check that no command writes a file, without `--force` and, if that must not help, with it."""
    before = contents(folder)
    for name, words in COMMANDS.items():
        for force in ((),) if unless_forced else ((), ("--force",)):
            with case(f"{name} -o {output} {force}"):
                done = ran(*words, "-o", output, *force, cwd=folder)
                assert (done.returncode, done.stdout) == (2, b"")
                assert re.fullmatch(rf"agentwatch: cannot write [^\n]+: {reason}\n", done.stderr.decode())
                assert contents(folder) == before


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_new_or_is_replaced_with_its_permissions(tmp_path: Path) -> None:
    """A new file can only be read by the user, whatever the umask; its size is returned. A file that is named
    explicitly is replaced, and keeps its permissions.
    """
    before = os.umask(0)
    try:
        assert write_file(tmp_path / "a", [b"one", b"", b"two"], replaces=False) == 6
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"onetwo"
    assert mode_of(tmp_path / "a") == 0o600
    path = tmp_path / "a"
    path.write_bytes(b"longer than before")
    path.chmod(0o644)
    inode = path.stat().st_ino
    write_file(path, [b"new"], replaces=True)
    assert path.read_bytes() == b"new"
    assert mode_of(path) == 0o644
    assert path.stat().st_ino != inode
    # A link stays a link, and a link without a target gets one.
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "dangling").symlink_to("made")
    write_file(tmp_path / "link", [b"new"], replaces=True)
    write_file(tmp_path / "dangling", [b"new"], replaces=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == (tmp_path / "made").read_bytes() == b"new"
    # A device is not a file to replace; if it is full, that is reported.
    assert write_file(Path(os.devnull), [b"abc"], replaces=True) == 3
    with pytest.raises(Fault, match="no space left on device"):
        write_file(Path("/dev/full"), [b"abc"], replaces=True)


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """Without the permission to replace it, an existing file is left alone."""
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(Fault, match="it already exists and is not overwritten") as raised:
        write_file(tmp_path / "a", [b"new"], replaces=False)
    assert raised.value.exit_code == 73
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"
    # If the exporter fails, or the user interrupts it, the old file is there, and no other.
    (tmp_path / "a").write_bytes(b"old")

    def pieces(error: BaseException) -> Iterator[bytes]:
        yield b"half"
        raise error

    for error in (Fault("no", 2), KeyboardInterrupt(), OSError(28, "No space left on device")):
        with pytest.raises((Fault, KeyboardInterrupt)):
            write_file(tmp_path / "a", pieces(error), replaces=True)
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        assert (tmp_path / "a").read_bytes() == b"old"
    # A file that another program creates while the export is written is not replaced.
    path = tmp_path / "b"

    def racing() -> Iterator[bytes]:
        path.write_bytes(b"theirs")
        yield b"ours"

    with pytest.raises(Fault, match="it already exists and is not overwritten") as raised:
        write_file(path, racing(), replaces=False)
    assert raised.value.exit_code == 73
    assert contents(tmp_path) == {"a": b"old", "b": b"theirs"}
    # A folder, and a file in no folder, are reported in one line with the exit code 73.
    for name, reason in (
        ("", "it is a folder"),
        ("none/c", "no such file or directory"),
        ("file/c", "not a directory"),
    ):
        with case(name):
            (tmp_path / "file").touch()
            with pytest.raises(Fault, match=reason) as raised:
                write_file(tmp_path / name, [b"new"], replaces=True)
            assert raised.value.exit_code == 73
            assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "file"]


@pytest.mark.slow
@pytest.mark.parametrize("exists", [True, False])
def test_a_killed_export_leaves_the_old_file(tmp_path: Path, exists: bool) -> None:
    """Killed in the middle, an export has changed nothing under the name of its file."""
    path = tmp_path / "a"
    if exists:
        path.write_bytes(b"old")
    argv = [sys.executable, "-c", INTERRUPTED, str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment()) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"half\n"
        program.send_signal(signal.SIGKILL)
    assert path.exists() is exists
    assert not exists or path.read_bytes() == b"old"


def test_an_input_is_never_replaced(folder: Path) -> None:
    """An input is refused by its name, by a link and by another name of the same file, also with --force."""
    (folder / "link").symlink_to("a.ndjson")
    os.link(folder / "a.ndjson", folder / "twin")
    for name in ("a.ndjson", f"../{folder.name}/a.ndjson", "link", "twin"):
        check_refused(folder, name, "it is an input of this command; name another file")
    # A recording is not appended to itself.
    before = contents(folder)
    with open(folder / "a.ndjson", "ab") as same:
        assert ran(*RECORDING, "a.ndjson", "-o", f"/dev/fd/{same.fileno()}", cwd=folder).returncode == 2
    assert contents(folder) == before
    # The session of another machine is not asked for if its file may not be written.
    for name, words in COMMANDS.items():
        with case(name):
            inputs = [word.replace("a.ndjson", "nats://127.0.0.1:9/there") for word in words]
            done = ran(*inputs, "-o", "c.log", cwd=folder)
            assert done.returncode == 2
            assert b"c.log: it belongs to the same recording as c.ndjson" in done.stderr


@pytest.mark.system
def test_the_files_of_recordings_are_never_replaced(folder: Path) -> None:
    """They keep their names whether they exist or not, and whatever the name of the recording ends in."""
    for ending in ENDINGS[::2]:
        (folder / f"a{ending}").write_bytes(b"{}\n")
    (folder / "link").symlink_to("a.times")
    for name in ("link", *(f"a{ending}" for ending in ENDINGS)):
        check_refused(folder, name, "it belongs to the input a.ndjson[^;]*; name another file")
    shutil.copy(PLAIN, folder / "d.rec")
    before = contents(folder)
    for ending in ENDINGS:
        with case(ending):
            done = ran(*RECORDING, "d.rec", "-o", f"d{ending}", "--force", cwd=folder)
            assert done.returncode == 2
            assert contents(folder) == before
    # A name that belongs to a recording in the same folder is refused; other names beside it are not.
    (folder / "d.rec").rename(folder / "d.jsonl")
    (folder / "e.times").write_text("0 1700000000000\n")
    for stem, owner in (("c", "c.ndjson"), ("d", "d.jsonl"), ("e", "e.times")):
        for ending in ENDINGS[1:3]:
            check_refused(folder, f"{stem}{ending}", f"it belongs to the same recording as {owner}; name .+")
    (folder / "link").unlink()
    (folder / "link").symlink_to("c.times")
    (folder / "c.log").symlink_to("d.jsonl")
    for name in ("link", "c.times", "c.log"):
        check_refused(folder, name, "it belongs to the same recording as c.ndjson; name another file")
    assert ran(*COMMANDS["export"], "-o", "c.md", cwd=folder).returncode == 0
    assert ran(*COMMANDS["export"], "-o", "c.md.json", cwd=folder).returncode == 0


def test_the_files_of_a_linked_input_are_never_replaced(folder: Path) -> None:
    """The files beside a link to an input belong to it, and those beside its target too."""
    (folder / "elsewhere").mkdir()
    link = folder / "elsewhere" / "link.rec"
    link.symlink_to(folder / "a.ndjson")
    for name in ("elsewhere/link.times", "a.log"):
        with case(name):
            done = ran(*RECORDING, link, "-o", name, "--force", cwd=folder)
            assert (done.returncode, b"it belongs to the input" in done.stderr) == (2, True)
            assert not (folder / name).exists()
    # A session in a database is read from the database and from the files of SQLite beside it.
    shutil.copy(OWN / "disk/opencode-db/own-1.18.33/opencode.db", folder / "opencode.db")
    before = contents(folder)
    session = folder / "opencode.db" / "ses_dffab4634ffe523C3nFZ25XU7L"
    for name in ("opencode.db", "opencode.db-wal", "opencode.db-shm", "opencode.db-journal"):
        with case(name):
            done = ran("export", session, "--to", "markdown", "-o", name, "--force", cwd=folder)
            assert (done.returncode, b"input" in done.stderr) == (2, True)
            assert contents(folder) == before


def test_what_is_saved_or_still_written_is_never_replaced(folder: Path, home: Path) -> None:
    """A file in the folder of saved sessions is refused, also if nothing else belongs to it."""
    (home / "sessions").mkdir(mode=0o700, parents=True)
    saved = home / "sessions" / "20261120-140307-123abcdef.ndjson"
    saved.write_bytes(b"{}\n")
    check_refused(folder, str(saved), "it is among the saved sessions; name another file")
    assert saved.read_bytes() == b"{}\n"
    # A recording whose writer holds the lock is refused, also through a link, until the writer ends.
    (folder / "link").symlink_to("live.ndjson")
    with open(folder / "live.ndjson", "wb") as live:
        hold(live.fileno())
        for name in ("live.ndjson", "link"):
            check_refused(folder, name, "it is being written; name another file")
        release(live.fileno())
    assert ran(*COMMANDS["redact"], "-o", "live.ndjson", "--force", cwd=folder).returncode == 0
    # The transcript of an agent that has changed a moment ago is refused: agents hold no lock.
    transcript = Path(os.environ["HOME"]) / ".claude" / "projects" / "here" / "0-1.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_bytes(b"{}\n")
    check_refused(folder, str(transcript), "it is being written; name another file")
    assert transcript.read_bytes() == b"{}\n"


def test_another_file_is_replaced_only_if_forced(folder: Path) -> None:
    """An existing file is refused unless `--force` is given; a file that is new needs none."""
    (folder / "old").write_bytes(b"old")
    check_refused(folder, "old", "it exists; --force replaces it", unless_forced=True)
    for name, words in COMMANDS.items():
        with case(name):
            (folder / "old").write_bytes(b"old")
            for output, force in (("new", ()), ("old", ("--force",))):
                assert ran(*words, "-o", output, *force, cwd=folder).returncode == 0
            assert (folder / "old").read_bytes() == (folder / "new").read_bytes()
            (folder / "new").unlink()
    # `--force` without `-o` is wrong use: the file that a command names itself is always new.
    for name in ("export", "compare", "check --init"):
        with case(name):
            done = ran(*COMMANDS[name], "--force", cwd=folder)
            assert (done.returncode, done.stdout) == (2, b"")
            assert b"--force needs -o" in done.stderr
    # Nothing waits for a reader of a FIFO: one line says that it has none, with 73.
    os.mkfifo(folder / "pipe")
    for name, words in COMMANDS.items():
        with case(name):
            done = ran(*words, "-o", "pipe", cwd=folder)
            assert (done.returncode, done.stdout) == (73, b"")
            assert re.fullmatch(rb"agentwatch: cannot create .+/pipe: the pipe has no reader\n", done.stderr)


def test_a_recording_with_other_files_is_never_replaced(folder: Path) -> None:
    """Its log would be that of another recording. Arrival times are replaced with the recording."""
    # Times without a recording are replaced only if forced; those of another recording never.
    (folder / "d.times").write_text("0 1\n")
    before = contents(folder)
    for name in ("clip", "redact"):
        for output, force, reason in (
            ("d.ndjson", (), "d.times: it exists; --force replaces it"),
            ("c.jsonl", (), "c.times: it belongs to the same recording as c.ndjson; name another file"),
            (
                "c.jsonl",
                ("--force",),
                "c.times: it belongs to the same recording as c.ndjson; name another file",
            ),
        ):
            with case(f"{name} {output} {force}"):
                done = ran(*COMMANDS[name], "-o", output, *force, cwd=folder)
                assert done.returncode == 2
                assert done.stderr.decode() == f"agentwatch: cannot write {reason}\n"
                assert contents(folder) == before
    assert ran(*COMMANDS["redact"], "-o", "d.ndjson", "--force", cwd=folder).returncode == 0
    assert files(folder) == {"a.ndjson", "b.ndjson", "c.ndjson", "c.times", "d.ndjson"}
    # Its log and its times.
    (folder / "e.ndjson").touch()
    (folder / "e.log").touch()
    check_refused(folder, "e.ndjson", "it is a recording with e.log; name another file")
    done = ran(*COMMANDS["export"], "-o", "c.ndjson", "--force", cwd=folder)
    assert (done.returncode, done.stderr) == (
        2,
        b"agentwatch: cannot write c.ndjson: it is a recording with c.times; name another file\n",
    )
    assert ran(*RECORDING, DEMO, "-o", "c.ndjson", "--force", cwd=folder).returncode == 0
    assert (folder / "c.times").read_text().count("\n") > 1
    assert ran(*RECORDING, "a.ndjson", "-o", "c.ndjson", "--force", cwd=folder).returncode == 0
    assert not (folder / "c.times").exists()


def test_devices_and_pipes_need_no_force(folder: Path) -> None:
    """A device, a FIFO that is read, and stdout by any of its names are written."""
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("/dev/stdout")
    for name, words in COMMANDS.items():
        with case(name):
            assert ran(*words, "-o", "new", cwd=folder).returncode == 0
            expected = (folder / "new").read_bytes()
            with open(os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
                assert ran(*words, "-o", "pipe", cwd=folder).returncode == 0
                assert reader.read() == expected
            for stdout in ("-", "/dev/stdout", "/dev/fd/1", "link"):
                assert ran(*words, "-o", stdout, cwd=folder).stdout == expected
            assert ran(*words, "-o", "/dev/null", cwd=folder).returncode == 0
            (folder / "new").unlink()
    # After a FIFO was opened, writing waits for its reader as for any pipe.
    data, got = os.urandom(1 << 20), bytearray()
    write = partial(write_file, folder / "pipe", [data], replaces=False)
    with open(os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as slow:
        Thread(target=write, daemon=True).start()

        def has_read_all() -> bool:
            got.extend(slow.read(1 << 16) or b"")
            return len(got) == len(data)

        until(has_read_all)
    assert got == data


@pytest.mark.system
@pytest.mark.slow
def test_the_refusal_comes_before_stdin_is_read(folder: Path) -> None:
    """A command whose input does not end refuses at once, also if stdin is the file itself."""
    for name, words in (COMMANDS | {"clip": (*RECORDING, "--", "-#1")}).items():
        with case(name):
            inputs = [word.replace("a.ndjson", "-") for word in words[1:]]
            argv = [*AGENTWATCH, words[0], "-o", "b.ndjson", *inputs]
            with subprocess.Popen(
                argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment()
            ) as program:
                assert program.wait(20) == 2
    with open(folder / "a.ndjson", "rb") as same:
        argv = [*AGENTWATCH, *RECORDING, "-", "-o", "a.ndjson", "--force"]
        done = subprocess.run(
            argv, stdin=same, stderr=subprocess.PIPE, cwd=folder, env=environment(), check=False
        )
    assert done.returncode == 2
    assert b"it is the input on stdin" in done.stderr
