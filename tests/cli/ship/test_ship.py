"""The command `ship`: what it sends, and what it says."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from agentwatch.recording.store import SessionFiles, create_file, new_session_files
from agentwatch.recording.write_lock import hold, release
from agentwatch.remote.engine import new_session
from agentwatch.remote.login import open_sink
from agentwatch.remote.publish.sidecar import Shipped, ShipState, Sidecar, read_shipped, remember, unsent
from tests.harness.engine.server import Server
from tests.harness.on_a_pty import in_terminal
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, PLAIN, environment, ran
from tests.remote.publish.conftest import cards, login_of, server, stored

__all__ = ["server"]


def recorded(content: bytes = PLAIN.read_bytes(), *, is_held: bool = False) -> tuple[SessionFiles, int]:
    """Save a recording, and return its files and its descriptor, which holds the lock if asked to."""
    files = new_session_files()
    fd = create_file(files.recording)
    os.write(fd, content)
    if is_held:
        hold(fd)
    return files, fd


def begun(files: SessionFiles, address: str, state: ShipState = ShipState.WAITING) -> Shipped:
    """Note that the shipping of a recording has begun."""
    shipped = Shipped(address, new_session("laptop"), 0, 0, state)
    sidecar = Sidecar(files.shipped)
    sidecar.write(shipped)
    sidecar.close()
    return shipped


def said(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """Return the lines on stderr, without those about the version of the server."""
    lines = done.stderr.decode().splitlines()
    return [line for line in lines if "shared servers need" not in line]


@pytest.mark.slow
def test_a_saved_session_is_shipped_by_its_stem(server: Server) -> None:
    """`ship STEM --to ADDRESS` sends a session, and prints nothing without a terminal."""
    files, _ = recorded()
    done = ran("engine", "ship", files.recording.stem, "--to", server.address, "--publish-as", "Ada's laptop")
    assert (done.returncode, done.stdout, said(done)) == (0, b"", [])
    shipped = read_shipped(files.shipped)
    assert shipped is not None
    assert shipped.session.publisher == "ada-s-laptop"
    assert stored(server, shipped.session).content == PLAIN.read_bytes()


@pytest.mark.slow
def test_all_continues_what_was_begun(server: Server, tmp_path: Path) -> None:
    """`ship --all` sends what is incomplete, each under its own session; what is done or not begun stays."""
    (open_files, _), (done_files, _), (other_files, _) = recorded(), recorded(), recorded()
    session = begun(open_files, server.address).session
    begun(done_files, server.address, ShipState.DONE)
    outside = SessionFiles(tmp_path / "outside.ndjson")
    outside.recording.write_bytes(PLAIN.read_bytes())
    remember(outside.recording)
    other_session = begun(outside, server.address).session
    done = ran("engine", "ship", "--all")
    assert (done.returncode, said(done)) == (0, [])
    assert {*cards(server)} == {session, other_session}
    for each in (session, other_session):
        assert stored(server, each).content == PLAIN.read_bytes()
    assert not unsent()
    assert not other_files.shipped.exists()
    again = ran("engine", "ship", "--all")
    assert again.stderr.startswith(b"agentwatch: nothing to ship")


def test_all_says_what_it_cannot_ship(tmp_path: Path) -> None:
    """What is gone, has no engine, or cannot log in has a line, and the exit code is 1."""
    gone, unknown = tmp_path / "gone.ndjson", tmp_path / "unknown.ndjson"
    for each in (gone, unknown):
        remember(each)
    unknown.write_bytes(PLAIN.read_bytes())
    files, _ = recorded()
    begun(files, "nats://127.0.0.1:1")
    missing = "/nowhere/login"
    done = ran("engine", "ship", "--all", AGENTWATCH_NATS_CREDENTIALS=missing)
    assert done.returncode == 1
    lines = said(done)
    assert lines[0] == f"agentwatch: {gone}: not published, and it is not there any more"
    assert lines[1].startswith(f"agentwatch: {files.recording.stem}: cannot open {missing}: ")
    assert lines[2] == f"agentwatch: {unknown}: no engine is known: name it with --to nats://HOST"
    assert len(lines) == 3
    assert unsent() == [unknown]
    unknown.unlink()
    files.recording.unlink()
    (line,) = said(ran("engine", "ship", "--all"))
    assert line == f"agentwatch: {unknown}: not published, and it is not there any more"
    done = ran("engine", "ship", "--all")
    assert (done.returncode, said(done)) == (
        0,
        ["agentwatch: nothing to ship: the engine has every session that was published"],
    )


@pytest.mark.slow
def test_the_version_of_an_engine_is_named_once(server: Server) -> None:
    """A server that is too old to be shared has one line, however many sessions and commands there are."""
    files = [recorded()[0] for _ in range(3)]
    sink = open_sink(login_of(server), "laptop")
    expected = [f"agentwatch: {server.address}: {sink.warning}"] if sink.warning else []
    sink.close()
    done = ran("engine", "ship", *(each.recording.stem for each in files), "--to", server.address)
    assert (done.returncode, done.stderr.decode().splitlines()) == (0, expected)
    again, listed = ran("engine", "ship", files[0].recording.stem), ran("sessions", server.address)
    assert b"shared servers" not in again.stderr + listed.stderr


@pytest.mark.slow
def test_all_with_an_engine_ships_what_runs(server: Server) -> None:
    """With --to, a recording that is being written is shipped too, until it ends."""
    _, ended = recorded()
    files, fd = recorded(b'{"a":1}\n', is_held=True)
    shipper = subprocess.Popen(
        [*AGENTWATCH, "engine", "ship", "--all", "--to", server.address],
        env=environment(),
        stdin=subprocess.DEVNULL,
    )
    until(lambda: (shipped := read_shipped(files.shipped)) is not None and shipped.shipped == 8)
    os.write(fd, b'{"a":2}\n')
    release(fd)
    assert shipper.wait(20) == 0
    (session,) = cards(server)
    assert stored(server, session).content == b'{"a":1}\n{"a":2}\n'
    os.close(ended)


@pytest.mark.slow
def test_a_session_that_another_process_ships_is_left_to_it(server: Server) -> None:
    """A lock shows that another process ships the session."""
    files, _ = recorded()
    sidecar = Sidecar(files.shipped)
    done = ran("engine", "ship", files.recording.stem, "--to", server.address)
    assert done.returncode == 0
    assert said(done) == [f"agentwatch: {files.recording.stem}: another process ships it"]
    sidecar.close()


@pytest.mark.slow
def test_ctrl_c_ends_it_with_one_line(server: Server) -> None:
    """On a terminal, what waits is one line, and so is the end by ctrl+c."""
    server.kill()
    files, _ = recorded()
    terminal = in_terminal("engine", "ship", files.recording.stem, "--to", server.address)
    terminal.wait_for("connection refused")
    terminal.press("\x03", "stopped; agentwatch engine ship --all continues")
    assert terminal.wait_exit() == 128 + signal.SIGINT
    assert "Traceback" not in terminal.screen_text()
    terminal.close()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "ship needs either ADDRESS or --all"),
        (["--all", "x"], "ship needs either ADDRESS or --all"),
        (["STEM"], "no engine is known: name it with --to nats://HOST"),
        (["STEM", "--to", "nowhere"], "nowhere: neither an address nats://HOST nor the name of an engine"),
        (["gone.ndjson", "--to", "nats://127.0.0.1:1"], "cannot open"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: list[str], line: str) -> None:
    """Without a session, an engine or a file, one line says what is missing."""
    files, _ = recorded()
    done = ran("engine", "ship", *[files.recording.stem if word == "STEM" else word for word in arguments])
    (said,) = done.stderr.decode().splitlines()
    assert done.returncode != 0
    assert line in said


def test_an_agents_own_file_is_not_shipped(tmp_path: Path) -> None:
    """Nothing is written beside the files of an agent."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(b'{"a":1}\n')
    done = ran("engine", "ship", path, "--to", "nats://127.0.0.1:1")
    assert done.returncode == 2
    assert b"only recordings of agentwatch are shipped" in done.stderr
    assert [*tmp_path.glob("*.ship")] == []
