"""The words of errors name the address of an engine or a host once."""

from __future__ import annotations

import pytest

from agentwatch.engine.engine import named, unnamed

ENGINE = "nats://127.0.0.1:4333"
SESSION = f"{ENGINE}/ci.0123456789abcdef"


@pytest.mark.parametrize("address", [ENGINE, SESSION])
@pytest.mark.parametrize(
    ("words", "rest"),
    [
        (f"{ENGINE}: connection refused", "connection refused"),
        (f"{ENGINE} does not answer", "does not answer"),
        ("the engine refuses the login", "the engine refuses the login"),
    ],
)
def test_the_address_is_named_once(address: str, words: str, rest: str) -> None:
    """An error that begins with the address of its engine, and one without, have it in front."""
    assert named(address, words) == f"{address}: {rest}"
    assert unnamed(address, words) == rest


def test_an_address_within_the_words_stays_there() -> None:
    """Words that name the address further behind are complete."""
    words = "cannot connect to ssh://build1: connection timed out"
    assert named("ssh://build1/claude/abc", words) == words
