"""`run --publish` with a real server: what arrives there, and what the agent and its monitor notice."""

import hashlib
import os
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from shlex import quote

import orjson
import pytest

from agentwatch.recording.store import SessionFiles, saved_recordings
from agentwatch.remote.chunk import Ended
from agentwatch.remote.publish import shipper
from agentwatch.remote.publish.sidecar import Shipped, ShipState, read_shipped
from tests.conftest import case
from tests.harness import fake_agent
from tests.harness.engine.server import Server, nats_server
from tests.harness.engine.shippers import agent_until_trouble, end_shippers, shippers_below
from tests.harness.processes import is_alive, until
from tests.harness.program import AGENTWATCH, PLAIN, environment, ran, watch
from tests.remote.publish.conftest import cards, make, stored

SECRET = "correct-horse-battery"


def only() -> SessionFiles:
    """Return the files of the one saved session."""
    (recording,) = saved_recordings()
    return SessionFiles(recording)


def shipped_of(files: SessionFiles) -> Shipped:
    """Return what is noted of a session."""
    shipped = read_shipped(files.shipped)
    assert shipped is not None
    return shipped


@pytest.mark.slow
def test_a_run_is_published_whole(server: Server) -> None:
    """A CI job that waits ends when the engine has every byte, the times, the end and the card."""
    done = watch(
        *("run", "-p", "--publish", server.address, "--publish-as", "ci-1", "--publish-wait", "20", "--"),
        *fake_agent.command(PLAIN),
    )
    assert done.returncode == 0
    assert done.stderr.decode().splitlines()[0] == "agentwatch: publishing to 127.0.0.1"
    files, shipped = only(), shipped_of(only())
    content = files.recording.read_bytes()
    found = stored(server, shipped.session)
    assert shipped.session.publisher == "ci-1"
    assert (shipped.state, shipped.shipped, shipped.to) == (ShipState.DONE, len(content), server.address)
    assert found.content == content
    assert found.end == Ended(len(content), 0, hashlib.sha256(content).hexdigest())
    times = [tuple(map(int, line.split())) for line in files.times.read_text().splitlines()]
    assert [pair for chunk in found.chunks for pair in chunk.seen] == times
    card = orjson.loads(cards(server)[shipped.session])
    assert (card["outcome"], card["exit"], card["shipped"]) == ("succeeded", 0, len(content))
    assert card["sha256"] == hashlib.sha256(content).hexdigest()
    assert os.stat(files.shipped).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("is_published", [True, False])
@pytest.mark.system
def test_the_agent_gets_no_credentials(server: Server, tmp_path: Path, *, is_published: bool) -> None:
    """The agent's environment has no variable with credentials; no argv and no file has a secret."""
    seen = tmp_path / "seen"
    look = (
        "import os, subprocess; found = subprocess.run(['ps', '-eo', 'args'], capture_output=True).stdout;"
        f"open({str(seen)!r}, 'w').write(repr([dict(os.environ), found]))"
    )
    publish = ("--publish", server.address, "--publish-wait", "20") if is_published else ()
    done = watch(
        *("run", "-p", *publish, "--", sys.executable, "-c", look),
        AGENTWATCH_NATS_PASSWORD=SECRET,
        AGENTWATCH_NATS_USER="ci",
        KEPT="yes",
    )
    found = seen.read_text()
    assert "'KEPT': 'yes'" in found
    assert "AGENTWATCH_NATS" not in found
    assert SECRET not in found
    for path in Path(os.environ["AGENTWATCH_HOME"]).rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path
    assert SECRET.encode() not in done.stderr + done.stdout
    assert (only().shipped.exists(), bool(cards(server))) == (is_published, is_published)


def kinds_held(pid: int, folder: Path) -> set[str]:
    """Return the suffixes of the files below a folder that a process holds, or has open for a moment."""
    found = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):  # it was closed meanwhile
            found.add(Path(os.readlink(path)))
    return {path.suffix for path in found if path.is_relative_to(folder)}


@pytest.mark.system
def test_the_shipper_outlives_a_killed_monitor(server: Server, home: Path, tmp_path: Path) -> None:
    """After SIGKILL for the monitor, the relay records and the shipper ships to the agent's end."""
    go = tmp_path / "go"
    os.mkfifo(go)
    agent = f"head -n 3 {quote(str(PLAIN))}; read _ <{quote(str(go))}; tail -n +4 {quote(str(PLAIN))}"
    monitor = subprocess.Popen(
        [*AGENTWATCH, "run", "-p", "--publish", server.address, "--", "sh", "-c", agent],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until(lambda: saved_recordings() and (shipped := read_shipped(only().shipped)) and shipped.shipped)
    (shipper,) = shippers_below(home)
    assert os.getsid(shipper) == shipper
    assert os.readlink(f"/proc/{shipper}/cwd") == "/"
    until(lambda: kinds_held(shipper, home) == {".ndjson", ".ship"}, what="no other file of the home")
    monitor.kill()
    monitor.wait()
    go.write_text("\n")
    until(lambda: shipped_of(only()).state is ShipState.DONE)
    found = stored(server, shipped_of(only()).session)
    assert found.content == only().recording.read_bytes() == PLAIN.read_bytes()
    assert found.end is not None
    assert found.end.exit_code is None
    until(lambda: not is_alive(shipper))


@pytest.mark.system
def test_what_is_unsent_is_one_line(server: Server, home: Path) -> None:
    """Without an engine, the agent's exit code stays, and one line names what is unsent and what sends it."""
    server.kill()
    done = watch(
        *("run", "-p", "--output-format", "final", "--publish", server.address, "--publish-wait", "0.5"),
        *("--", *agent_until_trouble(PLAIN, 3)),
    )
    assert done.returncode == 3
    *_, last = done.stderr.decode().splitlines()
    size = only().recording.stat().st_size
    assert last.startswith(f"agentwatch: not published yet: {size / 1000:.1f} kB (nats://127.0.0.1:")
    assert last.endswith(f"; run: agentwatch engine ship {only().recording.stem}")
    end_shippers(shippers_below(home))
    server.restart()
    again = watch("ship", only().recording.stem)
    assert again.returncode == 0
    assert stored(server, shipped_of(only()).session).content == PLAIN.read_bytes()


@pytest.mark.system
@pytest.mark.slow
def test_a_recording_anywhere_is_shipped_later(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is refused is remembered wherever it was recorded; the last line is a command that works."""
    monkeypatch.setattr(shipper, "_REFUSED_SECONDS", 0.0)
    job = tmp_path / "a job"
    job.mkdir()
    login, recording = job / "my login", job / "session.jsonl"
    login.touch(0o600)
    login.write_text("user: ci\npassword: wrong\n")
    with nats_server(tmp_path, 'authorization { user: "ci", password: "right" }') as server:
        make(server, user="ci", password="right")
        done = watch(
            *("run", "-p", "--record", recording.name, "--publish", server.address, "--publish-wait", "1"),
            *("--credentials", login.name, "--", *fake_agent.command(PLAIN)),
            cwd=job,
        )
        end_shippers(shippers_below(tmp_path))
        *_, last = done.stderr.decode().splitlines()
        what, _, command = last.partition("; run: ")
        assert "agentwatch: not published" in what
        again = ran("ship", "--all", "--credentials", login)
        assert again.returncode == 1
        assert f"agentwatch: {recording}: " in again.stderr.decode()
        assert b"nothing to ship" not in again.stderr
        login.write_text("user: ci\npassword: right\n")
        assert command == f"agentwatch engine ship '{recording}' --credentials '{login}'"
        for words in (shlex.split(command)[1:], ["ship", "--all", "--credentials", str(login)]):
            with case(" ".join(words)):
                pasted = ran(*words, cwd=home)
                assert pasted.returncode == 0, pasted.stderr
        assert b"nothing to ship: the engine has every session" in pasted.stderr
        session = shipped_of(SessionFiles(recording)).session
        assert stored(server, session, user="ci", password="right").content == PLAIN.read_bytes()


@pytest.mark.system
def test_what_is_wrong_is_found_before_the_agent_starts(tmp_path: Path) -> None:
    """A wrong address, option or file is one line on stderr, and no agent is started."""
    for options, line in (
        (["--publish", "nats://127.0.0.1:1", "--no-record"], "--publish needs a recording"),
        (["--publish", "nats://127.0.0.1:1", "--no-publish"], "--publish excludes --no-publish"),
        (["--publish", "team"], "neither an address nats://HOST nor the name of an engine"),
        (["--publish", "nats://u:secret@host"], "must not contain a password"),
        (["--publish", "nats://host/ci.0"], "name the engine without a session"),
        (["--publish", "nats://host", "--credentials", "/nowhere"], "cannot open /nowhere"),
        (["--credentials", "/nowhere"], "--credentials needs --publish"),
    ):
        with case(" ".join(options)):
            made = tmp_path / "made"
            done = watch("run", "-p", *options, "--", "touch", made)
            assert done.returncode == 2
            (said,) = done.stderr.decode().splitlines()
            assert line in said
            assert not made.exists()
            assert not saved_recordings()
    # A file with credentials that others can read is refused before the agent starts.
    file = tmp_path / "login"
    file.write_text("user: ci\npassword: x\n")
    file.chmod(0o644)
    done = watch("run", "-p", "--publish", "nats://host", "--credentials", file, "--", "true")
    assert done.returncode == 2
    assert b"chmod 600" in done.stderr


@pytest.mark.system
def test_the_settings_publish_each_run(server: Server, tmp_path: Path) -> None:
    """`[machines] publish` names an engine for each run; --no-publish and --no-record turn it off."""
    settings = tmp_path / "config.toml"
    settings.write_text(
        f'[machines]\npublish = "team"\n[engines.team]\naddress = "{server.address}"\npublisher = "laptop"\n'
    )
    run = ("run", "-p", "--publish-wait", "20")
    config = str(settings)
    assert watch(*run, "--", *fake_agent.command(PLAIN), AGENTWATCH_CONFIG=config).returncode == 0
    assert shipped_of(only()).session.publisher == "laptop"
    watch(*run, "--no-publish", "--", *fake_agent.command(PLAIN), AGENTWATCH_CONFIG=config)
    done = watch(*run, "--no-record", "--", *fake_agent.command(PLAIN), AGENTWATCH_CONFIG=config)
    assert b"agentwatch: not published: no recording is kept" in done.stderr
    assert len(cards(server)) == 1
    # The settings must be readable before an agent starts; a pipe is printed without them, a file too.
    settings, made = tmp_path / "config.toml", tmp_path / "made"
    settings.write_text("[machines\n")
    config = str(settings)
    done = watch("run", "-p", "--", "touch", made, AGENTWATCH_CONFIG=config)
    (line,) = done.stderr.decode().splitlines()
    assert (done.returncode, made.exists()) == (2, False)
    assert line.startswith(f"agentwatch: {settings}: not valid TOML")
    done = watch("run", "-p", "--no-publish", "--", "touch", made, AGENTWATCH_CONFIG=config)
    assert (done.returncode, made.exists()) == (2, False)
    printed = watch("-p", PLAIN, AGENTWATCH_CONFIG=config)
    assert (printed.returncode, printed.stderr) == (0, b"")
