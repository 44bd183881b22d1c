"""Logins: an engine of the settings by its name or address, or any address."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.base.config import EngineSettings
from agentwatch.base.credentials import Credentials
from agentwatch.base.faults import Fault
from agentwatch.remote.address import EngineAddress
from agentwatch.remote.engine import Login, login_of, settings_of
from tests.conftest import case

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


def test_another_address_has_the_credentials_of_the_environment(engines: dict[str, EngineSettings]) -> None:
    """The file of an engine is sent to no other host, port or user."""
    for words in ("nats://team.example:1", "nats://bob@team.example", "nats://other"):
        with case(words):
            login, _ = login_of(words, engines, ENVIRON)
            assert (login.credentials, login.allows_plaintext) == (TOKEN, False)
            assert settings_of(words, engines) is None


def test_a_name_that_no_engine_has(engines: dict[str, EngineSettings]) -> None:
    """Words that are neither an address nor a name are a fault."""
    with pytest.raises(Fault, match="neither an address"):
        login_of("teem", engines, ENVIRON)
    assert settings_of("teem", engines) is None
