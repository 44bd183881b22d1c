"""Headers and reply subjects of messages, of which a publisher writes the former."""

import base64
import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.base.credentials import Credentials
from agentwatch.base.faults import Fault
from agentwatch.remote.address import EngineAddress
from agentwatch.remote.engine import Login
from agentwatch.remote.nats.client import Delivery, delivery_in, headers_in, login_options, warning_about
from tests.conftest import case

ACK = b"$JS.ACK.AW.name.1.42.7.1770000000000000000.9"


HEADERS: list[tuple[bytes, dict[str, str]]] = [
    (b"", {}),
    (b"NATS/1.0\r\n\r\n", {}),
    (b"NATS/1.0 404\r\n\r\n", {"Status": "404", "Description": ""}),
    (b"NATS/1.0 409 Consumer Deleted\r\n\r\n", {"Status": "409", "Description": "Consumer Deleted"}),
    (b"NATS/1.0\r\nA: b\r\nA:c\r\n D : e:f \r\nno colon\r\n\r\n", {"A": "c", "D": "e:f"}),
    (b"NATS/1.0 100 Idle\r\nA: b\r\n\r\n", {"Status": "100", "Description": "Idle", "A": "b"}),
    (b"NATS/1.0\r\n\xff: \xfe\r\n\r\n", {"\ufffd": "\ufffd"}),
    (b"NATS/2.0\r\nA: b\r\n\r\n", {}),
]


def test_headers_may_be_cut_and_a_reply_has_a_place() -> None:
    """A block that ends anywhere gives the headers before the cut. Sequence, time and pending messages are
    read with and without domain and account.
    """
    # Malformed lines are left out, and bytes that are no UTF-8 are replaced. A header that is called `Status`
    # is none of the server's.
    for block, headers in HEADERS:
        with case(repr(block)):
            assert headers_in(block) == headers
    assert headers_in(b"NATS/1.0\r\nStatus: 404\r\nDescription: x\r\n\r\n") == {}
    block = b"NATS/1.0\r\nAw-Offset: 12345\r\nAw-Seen: 1 2\r\n\r\n"
    for length in range(len(block)):
        found = headers_in(block[:length])
        assert set(found) <= {"Aw-Offset", "Aw-Seen"}
        assert "12345".startswith(found.get("Aw-Offset", ""))
    for reply in (
        ACK,
        b"$JS.ACK.hub.ABCDEF.AW.name.1.42.7.1770000000000000000.9",
        b"$JS.ACK._.ABCDEF.AW.name.1.42.7.1770000000000000000.9.token",
        b"$JS.ACK._.ABCDEF.AW.name.1.42.7.1770000000000000000.9.token.more",
    ):
        with case(repr(reply)):
            assert delivery_in(reply) == Delivery(42, 1770000000000000000, 9)
    # Other reply subjects are those of no delivered message.
    for reply in (
        b"",
        b"_INBOX.x",
        b"$JS.ACK",
        b"$JS.ACK.",
        ACK.rpartition(b".")[0],
        ACK + b".x",
        ACK.replace(b"42", b"-1"),
        ACK.replace(b"42", b"4x"),
        ACK.replace(b"42", b"\xd9\xa3"),
        ACK.replace(b"42", b"4" * 5000),
        b"$JS.ACK." + b"." * 100_000,
    ):
        with case(f"{reply[:80]!r}"):
            assert delivery_in(reply) is None


@given(st.binary(max_size=300))
def test_headers_of_any_bytes(block: bytes) -> None:
    """No bytes are an error."""
    assert isinstance(headers_in(block), dict)
    assert isinstance(headers_in(b"NATS/1.0" + block), dict)


@given(st.binary(max_size=100))
def test_reply_subjects_of_any_bytes(reply: bytes) -> None:
    """No bytes are an error."""
    delivery_in(reply)
    delivery_in(b"$JS.ACK." + reply)


SEED = "SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY"
"""An example of the documentation of NATS."""
CREDS = (
    "-----BEGIN NATS USER JWT-----\r\neyJ0eXAi.eyJqdGkiOi.x\r\n------END NATS USER JWT------\r\n\r\n"
    f"-----BEGIN USER NKEY SEED-----\n{SEED}\n------END USER NKEY SEED------\n"
)


def login_with(path: Path, text: str) -> Login:
    path.write_text(text)
    return Login(EngineAddress("localhost"), Credentials(creds=path))


def test_a_file_of_nats_signs_the_challenge(tmp_path: Path) -> None:
    """The JWT is sent as it is, with the challenge signed by the seed."""
    nkeys = pytest.importorskip("nkeys")
    options = login_options(login_with(tmp_path / "x.creds", CREDS))
    assert options["user_jwt_cb"]() == b"eyJ0eXAi.eyJqdGkiOi.x"
    keys = nkeys.from_seed(bytearray(SEED.encode()))
    assert keys.verify(b"abc", base64.b64decode(options["signature_cb"]("abc")))
    # A file without a JWT, or with a seed that is none, is reported without its content.
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
    # A file that was there when the credentials were read, and is not now, is a fault.
    with pytest.raises(Fault, match="cannot open"):
        login_options(Login(EngineAddress("localhost"), Credentials(creds=tmp_path / "x")))


def test_a_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without nkeys, the fault has the command that installs it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Fault, match="pip install nkeys"):
        login_options(login_with(tmp_path / "x.creds", CREDS))


def test_an_old_version_has_a_warning() -> None:
    """The warning has the version, and those that are needed."""
    # From 2.11.16 and 2.12.7 on there is nothing to say.
    for version in ("2.11.16", "2.11.99", "2.12.7", "2.12.10", "2.13.0", "3.0.0", "2.12.7-RC.1"):
        with case(version):
            assert warning_about(version) == ""
    for version in ("2.9.10", "2.10.29", "2.11.15", "2.12.0", "2.12.6", "1.99.99"):
        with case(version):
            assert warning_about(version) == (
                f"the engine runs nats-server {version}; shared servers need 2.11.16 or 2.12.7"
            )
    # A server whose version cannot be read has a warning without its words.
    for version in ("", "x", "2", "2.12", "v2.12.7", "\x1b[31m", "9" * 10_000, "-1.0.0"):
        with case(f"{version[:60]!r}"):
            assert (
                warning_about(version)
                == "the engine does not say its version; shared servers need 2.11.16 or 2.12.7"
            )
