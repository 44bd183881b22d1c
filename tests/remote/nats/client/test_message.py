"""Headers and reply subjects of messages, of which a publisher writes the former."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.remote.nats.client import Delivery, delivery_in, headers_in
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


def test_headers() -> None:
    """Malformed lines are left out, and bytes that are no UTF-8 are replaced."""
    for block, headers in HEADERS:
        with case(repr(block)):
            assert headers_in(block) == headers


def test_a_status_is_in_the_first_line_alone() -> None:
    """A header that is called `Status` is none of the server's."""
    assert headers_in(b"NATS/1.0\r\nStatus: 404\r\nDescription: x\r\n\r\n") == {}


@given(st.binary(max_size=300))
def test_headers_of_any_bytes(block: bytes) -> None:
    """No bytes are an error."""
    assert isinstance(headers_in(block), dict)
    assert isinstance(headers_in(b"NATS/1.0" + block), dict)


def test_headers_cut_at_each_byte() -> None:
    """A block that ends anywhere gives the headers before the cut."""
    block = b"NATS/1.0\r\nAw-Offset: 12345\r\nAw-Seen: 1 2\r\n\r\n"
    for length in range(len(block)):
        found = headers_in(block[:length])
        assert set(found) <= {"Aw-Offset", "Aw-Seen"}
        assert "12345".startswith(found.get("Aw-Offset", ""))


def test_the_place_of_a_message() -> None:
    """Sequence, time and pending messages are read with and without domain and account."""
    for reply in (
        ACK,
        b"$JS.ACK.hub.ABCDEF.AW.name.1.42.7.1770000000000000000.9",
        b"$JS.ACK._.ABCDEF.AW.name.1.42.7.1770000000000000000.9.token",
        b"$JS.ACK._.ABCDEF.AW.name.1.42.7.1770000000000000000.9.token.more",
    ):
        with case(repr(reply)):
            assert delivery_in(reply) == Delivery(42, 1770000000000000000, 9)


def test_what_is_no_place() -> None:
    """Other reply subjects are those of no delivered message."""
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


@given(st.binary(max_size=100))
def test_reply_subjects_of_any_bytes(reply: bytes) -> None:
    """No bytes are an error."""
    delivery_in(reply)
    delivery_in(b"$JS.ACK." + reply)
