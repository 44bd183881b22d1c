"""Every command and every function of the API reads a pipe as a file, and refuses what has no end."""

import io
import os
import pty
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

import agentwatch
from agentwatch.api.reading import Readable
from agentwatch.base.local_socket import listen
from agentwatch.recording import lines as recording_lines
from tests.conftest import RECORDINGS, case
from tests.harness.program import PLAIN, ran

DATA = (RECORDINGS / "failures.ndjson").read_bytes()
COMMANDS = [
    *(
        ["check", "FILE", "--limit", "failed=0"],
        ["show", "FILE"],
        ["show", "--", "FILE#2"],
        ["-p", "--times", "FILE"],
    ),
    *(
        ["doctor", "FILE"],
        ["compare", "--json", "FILE", str(PLAIN)],
        ["export", "--to", "recording", "FILE", "-o", "-"],
    ),
    *(
        ["export", "FILE", "--to", "markdown", "-o", "-"],
        ["export", "--to", "recording", "-o", "-", "--", "FILE#1..#2"],
    ),
    *(["-p", "FILE"], ["replay", "-p", "--speed", "1000", "FILE"]),
]
UNREADABLE = [
    ["engine", "ship", "FILE", "--to", "nats://x"],
    ["show", "--why", "FILE"],
    ["continue", "FILE", "Go on."],
]
"""Commands about a session that is kept: each refuses what can be read only once."""
FUNCTIONS: list[Callable[[Readable], object]] = [
    lambda path: [*map(repr, agentwatch.load(path).calls)],
    agentwatch.summary,
    lambda path: [event for event, _ in agentwatch.read(path)],
    lambda path: [each for each, _ in agentwatch.follow(path, timeout=1 if isinstance(path, Path) else None)],
]


def printed(words: list[str], path: str, stdin: bytes | None = None) -> tuple[int, str, str]:
    """Return the exit code and what a command prints about a file, on stdout and on stderr."""
    done = ran(*(word.replace("FILE", path) for word in words), stdin=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@contextmanager
def pipes(folder: Path) -> Iterator[list[str]]:
    """Return the paths of a pipe that is open here, and of a named one, with the bytes of a session."""
    reads, writes = os.pipe()
    os.write(writes, DATA)
    os.close(writes)
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    writer = Thread(target=fifo.write_bytes, args=[DATA])
    writer.start()
    yield [f"/dev/fd/{reads}", str(fifo)]
    os.close(reads)
    reads = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)  # it may not have been read
    writer.join()
    os.close(reads)
    fifo.unlink()


@contextmanager
def changing(change: Callable[[], object]) -> Iterator[None]:
    """Change a file again and again."""
    is_over = Event()
    thread = Thread(target=lambda: [change() for _ in iter(lambda: is_over.wait(0.001), True)])
    thread.start()
    yield
    is_over.set()
    thread.join()


def test_a_pipe_is_a_file(tmp_path: Path) -> None:
    """What is printed about a pipe is what is printed about a file with its bytes, which may be replaced and
    grow meanwhile. A session that must be kept is not a pipe.
    """
    file, new = tmp_path / "session.ndjson", tmp_path / "new"
    file.write_bytes(DATA)
    for words in COMMANDS:
        with case(words):
            wanted = printed(words, str(file))
            assert wanted[0] == (words[0] == "check")
            with pipes(tmp_path) as paths:
                for each in (*paths, "-", "/dev/stdin"):
                    code, *texts = wanted
                    named = [text.replace(str(file), each).replace(file.name, "session") for text in texts]
                    assert printed(words, each, DATA) == (code, *named)
            with changing(lambda: (new.write_bytes(DATA), new.replace(file))):
                assert printed(words, str(file)) == wanted
            with file.open("ab", buffering=0) as growing, changing(lambda: growing.write(b"\n")):
                assert printed(words, str(file))[0] == wanted[0]
            file.write_bytes(DATA)
    for words in UNREADABLE:
        with case(words), pipes(tmp_path) as paths:
            for each in paths:
                code, out, error = printed(words, each)
                assert (code > 0, out, error.count("\n")) == (True, "", 1)


def test_the_api_reads_what_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe, stdin, an open file and lines are read as a file. There is a limit for one without an end."""
    file = tmp_path / "session.ndjson"
    file.write_bytes(DATA)
    lines = DATA.splitlines()
    for number, function in enumerate(FUNCTIONS):
        with case(number), file.open("rb") as binary, file.open() as text, pipes(tmp_path) as paths:
            wanted = function(file)
            assert wanted
            given: list[Readable] = [*paths, io.BytesIO(DATA), lines, map(bytes.decode, lines), binary, text]
            assert [function(each) for each in given] == [wanted] * len(given)
            before, pipe = os.dup(0), os.open(file, os.O_RDONLY)
            os.dup2(pipe, 0)
            assert function("-") == wanted
            os.dup2(before, 0)
            os.close(before)
            os.close(pipe)
            assert function(iter(())) == function("/dev/null")
            for wrong in (DATA, [1], 1):
                with pytest.raises(TypeError):
                    function(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a timeout needs a path"):
        agentwatch.follow(lines, timeout=1)
    reads, writes = os.pipe()
    os.write(writes, DATA)
    with open(reads, "rb", closefd=False) as binary, agentwatch.follow(binary) as events:
        assert isinstance(next(events).event, agentwatch.FormatDetected)  # the writer has not ended
    os.write(writes, DATA[:-1])
    with agentwatch.follow(f"/dev/fd/{reads}", timeout=0.05) as events:
        assert [event for event, _ in events] == wanted
    monkeypatch.setattr(recording_lines, "MOST_STREAM_BYTES", 1 << 12)
    for function in FUNCTIONS:
        with case("endless"), open("/dev/zero", "rb") as zero, pytest.raises(agentwatch.Fault, match="4,096"):
            function(zero)
    os.close(reads)
    os.close(writes)


@pytest.mark.system
def test_what_has_no_lines_is_one_line(tmp_path: Path) -> None:
    """A device, a terminal, a socket, a folder, a file that is gone or forbidden is refused with its reason,
    and is not opened for ever. Rules do not hold in nothing.
    """
    forbidden, empty, socket_path = (tmp_path / name for name in ("forbidden", "empty", "socket"))
    forbidden.touch(mode=0)
    empty.touch()
    with closing(socket.socket(socket.AF_UNIX)) as server:
        listen(server, str(socket_path), 1)
        screen, terminal = pty.openpty()
        refused = ["/dev/zero", os.ttyname(terminal), str(socket_path), str(tmp_path), str(tmp_path / "gone")]
        for path in refused if os.access(forbidden, os.R_OK) else [*refused, str(forbidden)]:
            for words in [*COMMANDS, *UNREADABLE]:
                with case((path, *words)):
                    code, out, error = printed(words, path)
                    assert (code > 0, out, error.count("\n")) == (True, "", 1)
            for function in FUNCTIONS:
                with case(path), pytest.raises(agentwatch.Fault, match="cannot open"):
                    function(path)
        os.close(screen)
        os.close(terminal)
    for words in COMMANDS:
        with case(words):
            assert printed(words, "/dev/null")[0] == printed(words, str(empty))[0]
    assert printed(COMMANDS[0], "/dev/null") == (2, "", "agentwatch: /dev/null: no line was read\n")
