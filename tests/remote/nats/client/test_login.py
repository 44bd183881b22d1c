"""Files with a JWT and a seed."""

from __future__ import annotations

import base64
import importlib.util
from pathlib import Path

import pytest

from agentwatch.base.credentials import Credentials
from agentwatch.base.faults import Fault
from agentwatch.remote.address import EngineAddress
from agentwatch.remote.engine import Login
from agentwatch.remote.nats.client import login_options
from tests.conftest import case

SEED = "SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY"
"""An example of the documentation of NATS."""
CREDS = (
    "-----BEGIN NATS USER JWT-----\r\neyJ0eXAi.eyJqdGkiOi.x\r\n------END NATS USER JWT------\r\n\r\n"
    f"-----BEGIN USER NKEY SEED-----\n{SEED}\n------END USER NKEY SEED------\n"
)


def login_with(path: Path, text: str) -> Login:
    """Return a login with a file."""
    path.write_text(text)
    return Login(EngineAddress("localhost"), Credentials(creds=path))


def test_a_file_of_nats_signs_the_challenge(tmp_path: Path) -> None:
    """The JWT is sent as it is, with the challenge signed by the seed."""
    nkeys = pytest.importorskip("nkeys")
    options = login_options(login_with(tmp_path / "x.creds", CREDS))
    assert options["user_jwt_cb"]() == b"eyJ0eXAi.eyJqdGkiOi.x"
    keys = nkeys.from_seed(bytearray(SEED.encode()))
    assert keys.verify(b"abc", base64.b64decode(options["signature_cb"]("abc")))


def test_a_damaged_file_is_a_fault(tmp_path: Path) -> None:
    """A file without a JWT, or with a seed that is none, is reported without its content."""
    pytest.importorskip("nkeys")
    for text in (
        "",
        "-----BEGIN NATS USER JWT-----",
        "-----BEGIN NATS USER JWT-----\ney\n",
        CREDS.replace(SEED, ""),
        CREDS.replace(SEED, "s3cret"),
        CREDS.replace(SEED, SEED[:-8]),
        CREDS.replace(SEED, "UA" + SEED[2:]),
        CREDS.replace(SEED, "\u00e9" * 58),
    ):
        with case(repr(text)):
            with pytest.raises(Fault, match=r"x\.creds: ") as caught:
                login_options(login_with(tmp_path / "x.creds", text))
            assert SEED[:8] not in str(caught.value)
            assert "s3cret" not in str(caught.value)


def test_a_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without nkeys, the fault has the command that installs it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Fault, match="pip install nkeys"):
        login_options(login_with(tmp_path / "x.creds", CREDS))


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    """A file that was there when the credentials were read, and is not now, is a fault."""
    pytest.importorskip("nkeys")
    with pytest.raises(Fault, match="cannot open"):
        login_options(Login(EngineAddress("localhost"), Credentials(creds=tmp_path / "x")))
