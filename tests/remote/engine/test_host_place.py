"""The place of another machine in an address."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.remote.address import HostPlace, has_password, parse_place
from tests.conftest import case


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


def test_other_words_are_no_place() -> None:
    """An option, an expansion of a shell and a port out of range are refused."""
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


@given(st.text(max_size=40))
def test_any_text_is_a_place_or_none(text: str) -> None:
    """No text raises, and what is accepted is one word that is no option."""
    place = parse_place(text)
    assert place is None or (not text.startswith("-") and len(text.split()) == 1 and text.isascii())


def test_a_password_is_before_the_host() -> None:
    """A colon before the last `@` is that of a password; one behind it is that of a port."""
    assert has_password("ci:secret@build1")
    assert not has_password("ci@build1:2222")
