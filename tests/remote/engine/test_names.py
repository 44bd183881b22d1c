"""Names of sessions: a foreign text is one, or it is none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.remote.engine import (
    SessionName,
    is_publisher,
    new_session,
    parse_session,
    publisher_of,
    session_of_card,
)
from tests.conftest import case


def test_a_new_name_is_another_each_time() -> None:
    """Names are random, and can be read again from their text and from the subject of the card."""
    first, second = new_session("ci"), new_session("ci")
    assert first != second
    assert parse_session(str(first)) == first
    assert session_of_card(first.card_subject) == first


NOT_NAMES = [
    *(
        "",
        ".",
        "ci",
        "ci.",
        f".{'0' * 32}",
        f"CI.{'0' * 32}",
        f"c_i.{'0' * 32}",
        f"ci.{'0' * 31}",
        f"ci.{'0' * 33}",
    ),
    *(
        f"ci.{'A' * 32}",
        f"ci.x.{'0' * 32}",
        f"ci.{'0' * 32}.x",
        f"*.{'0' * 32}",
        f">.{'0' * 32}",
        f"../{'0' * 32}",
    ),
    *(
        f"ci.{'0' * 32}\n",
        f"ci\n.{'0' * 32}",
        f"\ud800.{'0' * 32}",
        f"{'c' * 64}.{'0' * 32}",
        "x" * 10**6,
    ),
]


def test_what_is_no_name() -> None:
    """Other text names no session, with or without the prefix of cards."""
    for text in NOT_NAMES:
        with case(f"{text[:60]!r}"):
            assert parse_session(text) is None
            assert session_of_card(f"$KV.AWCARD.{text}") is None


def test_a_subject_of_something_else() -> None:
    """Only subjects of cards name the session of a card."""
    name = SessionName("ci", "0" * 32)
    assert session_of_card(name.subject) is None
    assert session_of_card(str(name)) is None


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_has_a_token(text: str) -> None:
    """Whatever a host is called, there is a token for it."""
    assert is_publisher(publisher_of(text))


def test_tokens_of_names() -> None:
    """A token has the letters and digits of the name."""
    for text, token in (
        ("Build1.Example", "build1-example"),
        ("", "unnamed"),
        ("--", "unnamed"),
        ("é", "unnamed"),
    ):
        with case(text):
            assert publisher_of(text) == token
