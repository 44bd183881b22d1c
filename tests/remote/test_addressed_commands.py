"""Every command takes the address of a session elsewhere, and prints what it prints of the original."""

import os
import signal
import subprocess
from pathlib import Path

import orjson
import pytest

from agentwatch.remote.card import Card
from tests.conftest import RECORDINGS, case
from tests.harness.engine.server import Server
from tests.harness.on_a_pty import in_terminal
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, environment, ran, watch
from tests.harness.terminal_oracle import copied
from tests.remote.conftest import SESSION, Publisher

pytestmark = pytest.mark.system

DEMO = RECORDINGS / "demo.ndjson"


@pytest.fixture
def address(server: Server, publisher: Publisher) -> str:
    publisher.send_recording(DEMO)
    publisher.end()
    publisher.card(Card(host="build-7", outcome="succeeded", exit=0))
    return f"{server.address}/{SESSION}"


COMMANDS = [
    ("--print", "{}"),
    ("--output-format", "json", "{}"),
    ("--output-format", "stream-json", "{}"),
    ("--output-format", "summary", "{}"),
    ("--output-format", "final", "{}"),
    ("--print", "--times", "{}"),
    ("--print", "--times", "--addresses", "{}"),
    ("show", "{}"),
    ("show", "{}#3"),
    ("show", "--json", "{}@+10s"),
    ("doctor", "{}"),
    ("replay", "--print", "--speed", "1000", "{}"),
    ("export", "--to", "atif", "-o", "-", "{}"),
    ("export", "--to", "recording", "{}#2..#4", "-o", "-"),
    ("export", "--to", "recording", "{}", "-o", "-"),
]


def test_a_command_prints_what_it_prints_of_the_original(address: str, tmp_path: Path) -> None:
    """The output and the exit code are those of the original, byte for byte; exports have another name, and
    the summary of the copy has the exit code of the agent, which its machine has reported.
    """
    name = address.rpartition("/")[2].encode()
    for number, arguments in enumerate(COMMANDS):
        with case(" ".join(arguments)):
            home = str(tmp_path / f"home-{number}")  # without a copy
            of_copy = ran(*(each.format(address) for each in arguments), AGENTWATCH_HOME=home)
            original = ran(*(each.format(DEMO) for each in arguments))
            printed = of_copy.stdout.replace(name, b"demo")
            printed = printed.replace(b'"exit_code":0,"result_outcome"', b'"exit_code":null,"result_outcome"')
            assert (of_copy.returncode, printed) == (original.returncode, original.stdout), of_copy.stderr
            assert of_copy.stdout or arguments[0] == "doctor"
    # A moment that the session does not have is a fault of one line, which names the address.
    faults: list[tuple[str, ...]] = [
        *(("show", f"{{}}{words}") for words in ("#999", "@nonsense!", "#x")),
        ("replay", "--print", "--from", "#999", "{}"),
        ("replay", "--print", "{}#999"),
        ("export", "--to", "recording", "{}#2..#999", "-o", "-"),
    ]
    for number, arguments in enumerate(faults):
        with case(" ".join(arguments)):
            home = str(tmp_path / f"home-f{number}")  # without a copy
            done = ran(*(each.format(address) for each in arguments), AGENTWATCH_HOME=home)
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
            assert address.encode() in done.stderr
            assert b"copies" not in done.stderr


def test_printing_follows_a_session_to_its_end(server: Server, publisher: Publisher, tmp_path: Path) -> None:
    """`--print` prints calls as they are published, and ends with the session."""
    publisher.send_recording(RECORDINGS / "plain.ndjson")
    publisher.card()
    process = subprocess.Popen(
        [*AGENTWATCH, "--print", "--log", "followed.log", f"{server.address}/{SESSION}"],
        stdout=subprocess.PIPE,
        bufsize=0,  # `communicate` would not return what `readline` has read ahead
        stdin=subprocess.DEVNULL,
        env=environment(),
        cwd=tmp_path,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert b"lantern" in line
        assert process.poll() is None
        publisher.end()
        rest, _ = process.communicate(timeout=20)
        assert process.returncode == 0
        assert line + rest == ran("--print", RECORDINGS / "plain.ndjson").stdout
        log = (tmp_path / "followed.log").read_bytes()
        assert log == ran("-p", "--times", RECORDINGS / "plain.ndjson").stdout
    finally:
        process.kill()
        process.wait()


def test_a_complete_copy_is_printed_while_the_engine_is_away(address: str, server: Server) -> None:
    """A session that was read once is printed without the engine, and by an abbreviated name too."""
    # Without a copy, an engine that is away is a fault of one line, with exit code 2.
    server.kill()
    done = ran("-p", "--times", address)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert server.address.encode() in done.stderr
    server.restart()
    first = ran("-p", "--times", address)
    server.kill()
    assert ran("-p", "--times", address).stdout == first.stdout != b""
    assert ran("-p", "--times", f"{server.address}/012345").stdout == first.stdout
    server.restart()


def test_a_beginning_that_is_not_kept_is_reported(server: Server, publisher: Publisher) -> None:
    """A command works on what is kept, and reports how much is not."""
    # Of a session that has a card and no byte yet, a command says so, and leaves no copy.
    publisher.card()
    done = ran("doctor", f"{server.address}/{SESSION}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == f"agentwatch: {server.address}/{SESSION}: there are no bytes of it yet\n".encode()
    assert not [*Path(os.environ["AGENTWATCH_HOME"], "copies").iterdir()]
    lines = DEMO.read_bytes().splitlines(keepends=True)
    publisher.content = lines[0] * 100
    publisher.send(*lines)
    publisher.end()
    done = ran("-p", "--times", f"{server.address}/{SESSION}")
    assert done.returncode == 0
    assert done.stdout
    assert b"the beginning is no longer kept: " in done.stderr


def test_the_exit_code_of_an_agent_that_died_is_reported(
    server: Server, publisher: Publisher, tmp_path: Path
) -> None:
    """An agent that ended without a result is reported with its exit code, as beside the original."""
    lines = (RECORDINGS / "unfinished.ndjson").read_bytes()
    publisher.send(lines)
    publisher.end(exit_code=3)
    original = tmp_path / "original.ndjson"
    original.write_bytes(lines)
    process = {"command": ["agent"], "pid": os.getpid(), "started_ms": 1, "exit_code": 3}
    original.with_suffix(".json").write_bytes(orjson.dumps(process))
    of_copy = ran("--print", f"{server.address}/{SESSION}")
    of_original = ran("--print", original)
    assert (of_copy.returncode, of_copy.stderr) == (of_original.returncode, of_original.stderr)
    assert b"exit" in of_copy.stderr


def test_an_interrupted_print_leaves_a_copy_that_goes_on(server: Server, publisher: Publisher) -> None:
    """A watcher that is killed leaves a copy; the next command completes it."""
    publisher.send_recording(DEMO)
    publisher.card()
    address = f"{server.address}/{SESSION}"
    process = subprocess.Popen(
        [*AGENTWATCH, "--print", address],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment(),
    )
    copies = Path(os.environ["AGENTWATCH_HOME"], "copies")
    until(lambda: [path for path in copies.glob("*.ndjson") if path.stat().st_size == DEMO.stat().st_size])
    process.send_signal(signal.SIGKILL)
    process.communicate()
    publisher.end()
    assert ran("-p", "--times", address).stdout == ran("log", DEMO).stdout
    assert len([*copies.glob("*.ndjson")]) == 1


PLAIN = RECORDINGS / "plain.ndjson"


def test_a_session_opens_at_a_moment_and_goes_on_live(server: Server, publisher: Publisher) -> None:
    """The screen opens at a call while the session runs, and shows what is published later."""
    lines = PLAIN.read_bytes().splitlines(keepends=True)
    publisher.send(*lines[:-2])
    publisher.card()
    with in_terminal(f"{server.address}/{SESSION}#1") as terminal:
        terminal.wait_for("as of")
        terminal.wait_for("build-7")
        terminal.press("L", "running")
        publisher.send(*lines[-2:])
        publisher.end()
        terminal.wait_for("succeeded in 8.7 s")
        terminal.leave()


def test_y_copies_the_address_on_the_engine(server: Server, publisher: Publisher) -> None:
    """`y` on a call copies the address of the session elsewhere, which every command takes."""
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True))
    publisher.end()
    with in_terminal(f"{server.address}/{SESSION}") as terminal:
        terminal.wait_for("#2 Edited file")
        terminal.send("2gy")
        terminal.wait_until(lambda: len(copied(terminal.raw)) == 1, 20, "the copy")
        (text,) = copied(terminal.raw)
        terminal.leave()
    address, _, action = text.partition(" ")
    assert address == f"{server.address}/{SESSION}#1"
    assert watch("show", address).stdout.decode().splitlines()[0] == f"#1 {action}"


def test_a_moment_that_does_not_exist_is_a_fault(server: Server, publisher: Publisher) -> None:
    """Before the screen is drawn, a call that the session does not have is a fault that names the address."""
    publisher.send(*PLAIN.read_bytes().splitlines(keepends=True))
    publisher.end()
    with in_terminal(f"{server.address}/{SESSION}#999") as terminal:
        terminal.wait_for(f"{SESSION}: no call #999")
        assert terminal.wait_exit() == 2
