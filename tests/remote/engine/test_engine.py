"""The words of errors name the address of an engine or a host once."""

from __future__ import annotations

from agentwatch.remote.engine import named, unnamed
from tests.conftest import case

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


def test_an_address_within_the_words_stays_there() -> None:
    """Words that name the address further behind are complete."""
    words = "cannot connect to ssh://build1: connection timed out"
    assert named("ssh://build1/claude/abc", words) == words
