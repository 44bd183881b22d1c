"""What the header and the end of `run` say about what the engine does not have."""

import errno
import os
import signal
import socket
from pathlib import Path
from shlex import quote

import pytest

from agentwatch.base.config import EngineSettings
from agentwatch.recording.store import SessionFiles, create_file
from agentwatch.recording.write_lock import hold, release
from agentwatch.remote.address import EngineAddress, parse_engine
from agentwatch.remote.engine import Login, RemoteError, SessionName, Sink, Trouble
from agentwatch.remote.login import open_sink
from agentwatch.remote.publish import publication as publications
from agentwatch.remote.publish import shipper
from agentwatch.remote.publish.publication import Given, Publication, Target, target_of
from agentwatch.remote.publish.shipper import Reaching
from agentwatch.remote.publish.sidecar import Shipped, ShipState, Sidecar, read_shipped, unsent
from tests.harness.engine.server import nats_server
from tests.harness.engine.shippers import end_shippers, shippers_below
from tests.harness.processes import until

NOBODY = "nats://127.0.0.1:1"


@pytest.fixture
def files(tmp_path: Path) -> SessionFiles:
    """Return a recording that has ended."""
    files = SessionFiles(tmp_path / "one.ndjson")
    fd = create_file(files.recording)
    os.write(fd, b"x" * 1999 + b"\n")
    os.close(fd)
    return files


@pytest.fixture
def publication(files: SessionFiles) -> Publication:
    """Return the publication of the recording to an engine that is away."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"nats://127.0.0.1:{taken.getsockname()[1]}"
    target = target_of("team", {"team": EngineSettings(address)}, os.environ, Given())
    publication = Publication(target, 20)
    publication.start(files.recording)
    until(lambda: (shipped := read_shipped(files.shipped)) is not None and shipped.problem)
    return publication


@pytest.mark.slow
@pytest.mark.usefixtures("ended_shippers")
def test_what_is_given_up_is_not_published(
    publication: Publication, files: SessionFiles, tmp_path: Path
) -> None:
    """When the process has given up, `wait` returns at once, and the line says why and what continues."""
    # While the engine is away, its process goes on.
    said = publication.unsent()
    assert said.startswith("not published yet: 2.0 kB (nats://127.0.0.1:")
    assert said.endswith(f"; run: agentwatch engine ship {quote(str(publication._recording))}")
    end_shippers(shippers_below(tmp_path))
    sidecar = Sidecar(files.shipped)
    assert sidecar.before is not None
    problem = "the engine refuses the login"
    sidecar.write(sidecar.before._replace(state=ShipState.STOPPED, problem=problem))
    sidecar.close()
    assert not publication.wait()
    command = f"agentwatch engine ship {quote(str(files.recording))}"
    assert publication.unsent() == f"not published: 2.0 kB ({problem}); run: {command}"


@pytest.mark.slow
@pytest.mark.usefixtures("ended_shippers")
def test_a_deleted_recording_is_not_offered(publication: Publication, files: SessionFiles) -> None:
    """No command sends a recording that was deleted; its process ends within seconds."""
    files.recording.unlink()
    assert not publication.wait()
    assert publication.unsent() == "not published: the recording was deleted"


@pytest.mark.slow
@pytest.mark.usefixtures("ended_shippers")
def test_a_recording_is_noted_before_its_process_starts(
    files: SessionFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that cannot be started leaves a recording that can be shipped, and none of an earlier one."""
    earlier = Shipped("nats://other", SessionName("other", "0" * 32), 900, 900, ShipState.DONE)
    sidecar = Sidecar(files.shipped)
    sidecar.write(earlier)
    sidecar.close()

    def fail(*_: object) -> int:
        raise OSError(errno.EAGAIN, "too many processes")

    monkeypatch.setattr(publications, "start_shipping", fail)
    publication = Publication(target_of(NOBODY, {}, os.environ, Given("ci")), 0)
    with pytest.raises(OSError, match="too many"):
        publication.start(files.recording)
    shipped = read_shipped(files.shipped)
    assert shipped is not None
    assert (shipped.to, shipped.session.publisher, shipped.shipped) == (NOBODY, "ci", 0)
    assert unsent() == [files.recording]
    assert publication.command() == f"agentwatch engine ship {quote(str(files.recording))}"
    files.shipped.unlink()
    command = f"agentwatch engine ship {quote(str(files.recording))} --to {NOBODY} --publish-as ci"
    assert publication.command() == command


@pytest.mark.slow
@pytest.mark.usefixtures("ended_shippers")
def test_the_header_says_why_nothing_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the problem without the address; after SIGKILL it says so, until another process continues."""
    monkeypatch.setattr(publications, "_READ_SECONDS", 0)
    files = SessionFiles(Path(os.environ["AGENTWATCH_HOME"]) / "sessions" / "one.ndjson")
    files.recording.parent.mkdir(parents=True, exist_ok=True)
    fd = create_file(files.recording)
    hold(fd)
    os.write(fd, b"one\n")
    published = Publication(target_of(NOBODY, {}, os.environ, Given("ci")), 0)
    published.start(files.recording)
    until(
        lambda: shippers_below(files.recording.parent)
    )  # its arguments can be read a moment after its start
    (shipper,) = shippers_below(files.recording.parent)
    try:
        until(lambda: published.forms() == ("⇡ 127.0.0.1 · connection refused", "⇡ connection refused", "⇡!"))
    finally:
        os.kill(shipper, signal.SIGKILL)
    until(lambda: published.forms()[0] == "⇡ 127.0.0.1 · not publishing")
    assert published.has_trouble
    before = read_shipped(files.shipped)
    assert before is not None
    sidecar = Sidecar(files.shipped)
    sidecar.write(before._replace(shipped=4, state=ShipState.SHIPPING, problem=""))
    assert published.forms() == ("⇡ 127.0.0.1", "⇡")
    sidecar.close()
    release(fd)
    os.close(fd)


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the publisher of each client that is made."""
    made: list[str] = []

    def open_and_count(login: Login, publisher: str) -> Sink:
        made.append(publisher)
        return open_sink(login, publisher)

    monkeypatch.setattr(shipper, "open_sink", open_and_count)
    return made


def test_no_client_is_made_again_where_nothing_listens(clients: list[str]) -> None:
    """After the first failure, an attempt costs a bare connection, and fails with the same words."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    away = Reaching(Target(Login(EngineAddress("127.0.0.1", port)), "ci", {}))
    said = set()
    for _ in range(3):
        with pytest.raises(RemoteError) as failed:
            away.open()
        said.add(str(failed.value))
    assert said == {f"nats://127.0.0.1:{port}: connection refused"}
    assert clients == ["ci"]


@pytest.mark.slow
def test_an_engine_that_is_back_is_reached(tmp_path: Path, clients: list[str]) -> None:
    """The next attempt after the return of an engine connects."""
    with nats_server(tmp_path) as server:
        back = Reaching(Target(Login(parse_engine(server.address)[0]), "ci", {}))
        server.kill()
        for _ in range(2):
            with pytest.raises(RemoteError):
                back.open()
        server.restart()
        back.open().close()
    assert clients == ["ci", "ci"]


@pytest.mark.slow
def test_a_renewed_password_is_used(tmp_path: Path) -> None:
    """The file with the credentials is read for each connection: a new password needs no new process."""
    file = tmp_path / "login.txt"
    file.touch(0o600)
    file.write_text("user: ci\npassword: old\n")
    with nats_server(tmp_path, 'authorization { user: "ci", password: "new" }') as server:
        renewed = Reaching(target_of(server.address, {}, {}, Given(credentials=file)))
        with pytest.raises(RemoteError) as refused:
            renewed.open()
        file.write_text("user: ci\npassword: new\n")
        renewed.open().close()
    assert refused.value.trouble is Trouble.REFUSED
