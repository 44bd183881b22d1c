"""No login is sent to another host without TLS, nor to a server whose certificate is not the right one."""

import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.engine.asking import engine
from tests.conftest import RECORDINGS, case
from tests.harness.engine.foreign.certificates import certificates_for
from tests.harness.engine.foreign.impostor import Impostor
from tests.harness.engine.server import nats_server
from tests.harness.engine.shippers import agent_until_trouble
from tests.harness.processes import until
from tests.harness.program import ran, watch

pytestmark = pytest.mark.system

LOGIN = {"AGENTWATCH_NATS_USER": "ci", "AGENTWATCH_NATS_PASSWORD": "secret-of-ci"}
INFO = {"server_id": "S", "version": "2.12.7", "proto": 1, "headers": True, "max_payload": 1 << 20}


def other_host() -> str:
    """Return a name or an address of this machine that is not known to be loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # nothing is sent
        if not (found := str(probe.getsockname()[0])).startswith("127."):
            return found
    return socket.gethostname()


def listening(**said: object) -> Impostor:
    """Return a server without TLS, at every address of this machine."""
    return Impostor(INFO | said, host="")


def run(*arguments: str, home: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run agentwatch with a login; what starts an agent runs in a process of its own."""
    env = {"AGENTWATCH_HOME": str(home), "AGENTWATCH_CONFIG": "/dev/null"} | LOGIN | env
    return (watch if arguments[0] == "run" else ran)(*arguments, **env)  # type: ignore[arg-type]


@pytest.mark.usefixtures("ended_shippers")
@pytest.mark.parametrize("command", ["status", "sessions", "open", "run"])
def test_nothing_is_sent_without_tls(tmp_path: Path, command: str) -> None:
    """A server on another host that does not offer TLS gets no byte, and the reason is one line."""
    answers: list[dict[str, object]] = [{}, {"tls_available": False}, {"auth_required": True, "nonce": "x"}]
    for number, said in enumerate(answers):
        with case(said):
            with listening(**said) as listener:
                address = f"nats://{other_host()}:{listener.port}"
                arguments = {
                    "status": ["engine", "check", address],
                    "sessions": ["sessions", "--json", address],
                    "open": ["-p", f"{address}/ci.{'c' * 32}"],
                    "run": ["run", "-p", "--publish", address, "--publish-wait", "0.5", "--"],
                }[command]
                if command == "run":
                    arguments += agent_until_trouble(RECORDINGS / "plain.ndjson")
                done = run(*arguments, home=tmp_path / str(number))
            assert listener.received == b""
            assert done.returncode == (0 if command == "run" else 2)
            assert b"does not offer TLS" in done.stderr
            assert b"secret" not in done.stderr


@pytest.mark.usefixtures("ended_shippers")
def test_plain_text_is_allowed_by_an_option(tmp_path: Path) -> None:
    """With `--publish-plaintext` the login is sent to a server without TLS."""
    with listening() as listener:
        address = f"nats://{other_host()}:{listener.port}"
        options = ["--publish", address, "--publish-plaintext", "--publish-wait", "0"]
        run("run", "-p", *options, "--", "cat", str(RECORDINGS / "plain.ndjson"), home=tmp_path)
        until(lambda: b"secret-of-ci" in listener.received, what="the login")


def test_plain_text_is_allowed_by_a_setting(tmp_path: Path) -> None:
    """With `plaintext = true` in the settings of an engine the login is sent to a server without TLS."""
    with listening() as listener:
        address = f"nats://{other_host()}:{listener.port}"
        config = tmp_path / "config.toml"
        for value, is_sent in (("false", False), ("true", True)):
            config.write_text(f'[engines.team]\naddress = "{address}"\nplaintext = {value}\n')
            run("engine", "check", "team", home=tmp_path, AGENTWATCH_CONFIG=str(config))
            assert (b"secret-of-ci" in listener.received) is is_sent


def test_the_certificate_is_checked(tmp_path: Path) -> None:
    """A server is used with the certificate of its authority for its name, and with no other one."""
    mine = certificates_for(tmp_path / "mine", "IP:127.0.0.1")
    others = certificates_for(tmp_path / "others", "IP:127.0.0.1")
    elsewhere = certificates_for(tmp_path / "elsewhere", "DNS:nats.example.org")
    no_certificate = tmp_path / "text.pem"
    no_certificate.write_text("hello\n")
    users = 'authorization { users: [{ user: ci, password: "secret-of-ci" }] }\n'

    def asked(address: str, *options: str | Path) -> tuple[int, str]:
        done = engine("check", address, *options, AGENTWATCH_HOME=str(tmp_path), **LOGIN)
        assert done.stderr.count(b"\n") == (1 if done.returncode else 0), done.stderr
        return done.returncode, (done.stdout + done.stderr).decode()

    with nats_server(tmp_path, mine.config + users) as server:
        code, words = asked(server.address, "--ca", mine.authority)
        assert (code, "TLS" in words.partition("\n")[0]) == (0, True), words
        untrusting: list[list[str | Path]] = [[], ["--ca", others.authority]]
        for options in untrusting:
            code, words = asked(server.address, *options)
            assert (code, "the certificate of the server is not valid" in words) == (2, True), words
        code, words = asked(server.address, "--ca", no_certificate)
        assert (code, "no certificates in PEM" in words) == (2, True), words
        code, words = asked(server.address, "--ca", tmp_path / "gone.pem")
        assert (code, "cannot open" in words) == (2, True), words
    with nats_server(tmp_path, elsewhere.config + users) as server:
        code, words = asked(server.address, "--ca", elsewhere.authority)
        assert (code, "the certificate of the server is not valid" in words) == (2, True), words
