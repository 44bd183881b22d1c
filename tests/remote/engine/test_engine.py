"""The words of errors name the address of an engine or a host once."""

import importlib.util
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.base.faults import USAGE, Fault
from agentwatch.remote.engine import (
    SessionName,
    is_publisher,
    named,
    new_session,
    parse_session,
    publisher_of,
    session_of_card,
    unnamed,
)
from agentwatch.remote.login import check_extra
from tests.conftest import ROOT, case

ENGINE = "nats://127.0.0.1:4333"
SESSION = f"{ENGINE}/ci.0123456789abcdef"


def test_the_address_is_named_once() -> None:
    """An error that begins with the address of its engine, and one without, have it in front."""
    for address in (ENGINE, SESSION):
        for words, rest in (
            (f"{ENGINE}: connection refused", "connection refused"),
            (f"{ENGINE} does not answer", "does not answer"),
            ("the engine refuses the login", "the engine refuses the login"),
        ):
            with case(f"{address}, {words}"):
                assert named(address, words) == f"{address}: {rest}"
                assert unnamed(address, words) == rest
    # Words that name the address further behind are complete.
    words = "cannot connect to ssh://build1: connection timed out"
    assert named("ssh://build1/claude/abc", words) == words


def test_a_session_has_a_name_of_its_own() -> None:
    """Names are random, and can be read again from their text and from the subject of the card."""
    first, second = new_session("ci"), new_session("ci")
    assert first != second
    assert parse_session(str(first)) == first
    assert session_of_card(first.card_subject) == first
    # Other text names no session, with or without the prefix of cards. Only subjects of cards name the
    # session of a card.
    for text in NOT_NAMES:
        with case(f"{text[:60]!r}"):
            assert parse_session(text) is None
            assert session_of_card(f"$KV.AWCARD.{text}") is None
    name = SessionName("ci", "0" * 32)
    assert session_of_card(name.subject) is None
    assert session_of_card(str(name)) is None
    # A token has the letters and digits of the name.
    for text, token in (
        ("Build1.Example", "build1-example"),
        ("", "unnamed"),
        ("--", "unnamed"),
        ("é", "unnamed"),
    ):
        with case(text):
            assert publisher_of(text) == token


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


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_has_a_token(text: str) -> None:
    """Whatever a host is called, there is a token for it."""
    assert is_publisher(publisher_of(text))


def test_without_the_extra_one_line_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The fault has the command."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Fault, match="pip install 'nats-py>=") as caught:
        check_extra()
    assert caught.value.exit_code == USAGE
    # A folder `nats` where `python -m agentwatch` is run can be imported, and contains no client.
    (tmp_path / "nats").mkdir()
    found = PathFinder.find_spec("nats", [str(tmp_path)])
    assert found is not None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    with pytest.raises(Fault, match="pip install"):
        check_extra()


@pytest.mark.slow
def test_checking_the_extra_does_not_load_it() -> None:
    """Names, cards, addresses and the check itself import neither the client nor asyncio."""
    program = (
        "import sys, agentwatch.remote.login as o, agentwatch.remote.card;"
        "o.check_extra(); assert not {'nats', 'asyncio', 'ssl'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=30)
