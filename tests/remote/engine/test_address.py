"""Addresses of engines: what is not an address is reported, and a password in one is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.base.faults import USAGE, Fault
from agentwatch.remote.address import (
    EngineAddress,
    HostPlace,
    has_password,
    is_engine,
    parse_engine,
    parse_place,
)
from tests.conftest import case


def test_addresses() -> None:
    """An address has a host, and may have a user, a port and words for a session."""
    for words, address, session in (
        ("nats://team", EngineAddress("team"), ""),
        ("nats://team/", EngineAddress("team"), ""),
        ("nats://Team.Example.COM:4223/p.1", EngineAddress("team.example.com", 4223), "p.1"),
        ("nats://ann@team/a/b", EngineAddress("team", 4222, "ann"), "a/b"),
        ("nats://[::1]", EngineAddress("::1"), ""),
        ("nats://ann@[fe80::1]:1", EngineAddress("fe80::1", 1, "ann"), ""),
        ("nats://127.0.0.1:65535", EngineAddress("127.0.0.1", 65535), ""),
    ):
        with case(words):
            assert parse_engine(words) == (address, session)
            assert parse_engine(str(address)) == (address, "")
    # A malformed address is a fault, whose message does not repeat it.
    for words in NOT_ADDRESSES:
        with case(f"{words[:60]!r}"):
            with pytest.raises(Fault, match=r"the address of an engine is|password") as caught:
                parse_engine(words)
            assert caught.value.exit_code == USAGE
            assert str(caught.value).isprintable()
    # The message says why and what to do, and does not have the password. Only `localhost` and loopback
    # addresses in their usual form are this machine; other forms are not.
    for words in (
        "nats://ann:s3cret@team",
        "nats://:s3cret@team",
        "nats://ann:s3cret@team:1/x",
        "nats://a:s3cret:b@t",
    ):
        with case(words):
            with pytest.raises(Fault, match="must not contain a password") as caught:
                parse_engine(words)
            assert "s3cret" not in str(caught.value)
    here = ("localhost", "127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1")
    elsewhere = (
        *("localhost.example.com", "127.0.0.1.example.com", "127.1", "0", "0.0.0.0", "::", "2130706433"),
        *("::ffff:10.0.0.1", "0x7f000001", "team", "10.0.0.1"),
    )
    for host in (*here, *elsewhere):
        with case(host):
            assert EngineAddress(host).is_loopback is (host in here)


NOT_ADDRESSES = [
    *(
        "",
        "team",
        "nats:",
        "nats:/team",
        "nats://",
        "nats:///x",
        "tls://team",
        "NATS://team",
        " nats://team",
    ),
    *(
        "nats://team:",
        "nats://team:x",
        "nats://team:0",
        "nats://team:65536",
        "nats://team:-1",
        "nats://team:1:2",
    ),
    *(
        "nats://team:\u0664\u0662",
        "nats://team:+1",
        "nats://team: 1",
        "nats://team:1_0",
        "nats://team:" + "1" * 300,
    ),
    *("nats://-team", "nats://team-", "nats://.team", "nats://te am", "nats://te\nam", "nats://te\x1bam"),
    *(
        "nats://te\x00am",
        "nats://te\ud800am",
        "nats://t\u0119am",
        "nats://team%20",
        "nats://team?x",
        "nats://a,b",
    ),
    *("nats://" + "a" * 254, "nats://" + "a" * 10**6, "nats://team\\x", "nats://$(id)", "nats://`id`"),
    *(
        "nats://@team",
        "nats://a b@team",
        "nats://a@b@team",
        "nats://>@team",
        "nats://" + "a" * 64 + "@team",
    ),
    *(
        "nats://::1",
        "nats://[::1",
        "nats://::1]",
        "nats://[]",
        "nats://[::1]x",
        "nats://[::1]1",
        "nats://[:::]",
    ),
    *("nats://[1.2.3.4]", "nats://[::1%eth0]", "nats://[::1]:x", "nats://[[::1]]", "nats://[team]"),
]


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=100))
def test_any_words_are_an_address_or_a_fault(words: str) -> None:
    """Nothing else is raised, and what is an address can be written and read again."""
    try:
        address, _ = parse_engine(f"nats://{words}")
    except Fault:
        return
    assert parse_engine(str(address))[0] == address
    assert is_engine(str(address))


def test_a_place_is_written_as_it_was_read() -> None:
    """User, host and port are taken apart, and put together again."""
    for text, place in (
        ("build1", HostPlace("build1")),
        ("ci@Build-1.example.org:2222", HostPlace("Build-1.example.org", "ci", 2222)),
        ("[::1]:4222", HostPlace("::1", port=4222)),
    ):
        with case(text):
            assert parse_place(text) == place
            assert str(place) == text
    # An option, an expansion of a shell and a port out of range are refused.
    for text in (
        "",
        "-oProxyCommand=x",
        "-x@build1",
        "build1:0",
        "build1:65536",
        "build1:",
        "[::g]",
        "a b",
        "$(x)",
        "a;b",
        "a\n",
    ):
        with case(repr(text)):
            assert parse_place(text) is None
    # A colon before the last `@` is that of a password; one behind it is that of a port.
    assert has_password("ci:secret@build1")
    assert not has_password("ci@build1:2222")


@pytest.mark.system
@given(st.text(max_size=40))
def test_any_text_is_a_place_or_none(text: str) -> None:
    """No text raises, and what is accepted is one word that is not an option."""
    place = parse_place(text)
    assert place is None or (not text.startswith("-") and len(text.split()) == 1 and text.isascii())
