"""Credentials: from the environment or a private file, and never shown."""

import os
from pathlib import Path

import pytest

from agentwatch.base.config import EngineSettings
from agentwatch.base.credentials import Credentials, credentials, without_credentials
from agentwatch.base.faults import USAGE, Fault
from agentwatch.remote.address import EngineAddress
from agentwatch.remote.engine import Login
from agentwatch.remote.login import login_of, settings_of
from tests.conftest import case


def private(path: Path, text: str | bytes) -> Path:
    """Return a file that only its owner may read."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    return path


def test_the_environment(tmp_path: Path) -> None:
    """User, password, token and certificates are taken from their variables."""
    environ = {
        "AGENTWATCH_NATS_USER": "ann",
        "AGENTWATCH_NATS_PASSWORD": "p:w",
        "AGENTWATCH_NATS_TOKEN": "t",
        "AGENTWATCH_NATS_CA": "/ca.pem",
    }
    assert credentials(environ) == Credentials(user="ann", password="p:w", token="t", ca=Path("/ca.pem"))
    assert credentials({}) == Credentials()
    # The environment of the agent has all variables except those with credentials.
    environ = {
        "PATH": "/bin",
        "AGENTWATCH_HOME": "/h",
        "AGENTWATCH_NATS_PASSWORD": "x",
        "AGENTWATCH_NATS_NEW": "y",
    }
    assert without_credentials(environ) == {"PATH": "/bin", "AGENTWATCH_HOME": "/h"}
    # The `repr` has the user, and neither password nor token.
    shown = repr(Credentials(user="ann", password="s3cret", token="s3cret"))
    assert "ann" in shown
    assert "s3cret" not in shown
    # With a file, the variables of the environment are not mixed in; a file that is named goes first. A file
    # with a JWT is left to the client. The message says what to run, and has nothing of the content.
    first = private(tmp_path / "first", "User : ann\r\nPASSWORD:  p: w \nother: x\nno colon\n")
    second = private(tmp_path / "second", "token: t")
    named = {"AGENTWATCH_NATS_TOKEN": "x", "AGENTWATCH_NATS_CREDENTIALS": str(second)}
    assert credentials(named, first) == Credentials(user="ann", password="p: w")
    assert credentials(named) == Credentials(token="t")
    path = private(tmp_path / "x.creds", "-----BEGIN NATS USER JWT-----\ney\n------END NATS USER JWT------\n")
    assert credentials({}, path) == Credentials(creds=path)
    for mode in (0o640, 0o604, 0o666, 0o610):
        with case(f"{mode:o}"):
            path = private(tmp_path / "open", "password: s3cret")
            path.chmod(mode)
            with pytest.raises(Fault, match="chmod 600") as caught:
                credentials({}, path)
            assert "s3cret" not in str(caught.value)
    # A file without credentials is reported, without its content.
    for content in CONTENTS:
        with case(f"{content[:60]!r}"):
            with pytest.raises(Fault, match=r"neither a \.creds file") as caught:
                credentials({}, private(tmp_path / "x", content))
            assert "s3cret" not in str(caught.value)
    # A missing file, a folder and a pipe without a writer are faults, and none is waited for.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for path in (tmp_path / "missing", tmp_path, pipe):
        with pytest.raises(Fault) as caught:
            credentials({}, path)
        assert caught.value.exit_code == USAGE


CONTENTS: list[str | bytes] = ["", "hello", "s3cret", "userx: a", b"\xff\xfe\x00", "x" * 200_000]


ENVIRON = {"AGENTWATCH_NATS_TOKEN": "t"}
TOKEN = Credentials(token="t")


@pytest.fixture
def engines(tmp_path: Path) -> dict[str, EngineSettings]:
    """Return settings with an engine `team`, which has a file with credentials."""
    path = tmp_path / "team.creds"
    path.write_text("user: ann\npassword: pw")
    path.chmod(0o600)
    return {"team": EngineSettings("nats://Team.example", path, plaintext=True)}


def test_an_engine_by_its_name_or_address(engines: dict[str, EngineSettings]) -> None:
    """Both have the credentials of the settings, and a session behind the address."""
    login = Login(
        EngineAddress("team.example"), Credentials(user="ann", password="pw"), allows_plaintext=True
    )
    assert login_of("team", engines, ENVIRON) == (login, "")
    assert login_of("nats://TEAM.example/p.1", engines, ENVIRON) == (login, "p.1")
    assert settings_of("nats://team.example", engines) == engines["team"]
    assert settings_of("team", engines) == engines["team"]
    # The file of an engine is sent to no other host, port or user.
    for words in ("nats://team.example:1", "nats://bob@team.example", "nats://other"):
        with case(words):
            login, _ = login_of(words, engines, ENVIRON)
            assert (login.credentials, login.allows_plaintext) == (TOKEN, False)
            assert settings_of(words, engines) is None
    # Words that are neither an address nor a name are a fault.
    with pytest.raises(Fault, match="neither an address"):
        login_of("teem", engines, ENVIRON)
