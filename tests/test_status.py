"""One sentence says what goes on, and why it is quiet when it is quiet."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.status import QUIET_MS, status
from tests.lines import (
    completed,
    delta,
    event,
    init,
    result,
    session,
    started,
    thought,
    thought_through,
    user,
)

FAILED = completed("shell", "x", {"failure": {"exitCode": 1}})
NOW = 1_000_000


def sentence(*lines: bytes, after_ms: int | None = 0, is_over: bool = False) -> str:
    """Return the status when all lines came at NOW and so many milliseconds have passed since."""
    read = session(*lines, seen_ms=NOW, is_over=is_over)
    return status(read, None if after_ms is None else NOW + after_ms)


def test_before_the_first_event() -> None:
    """Before anything came, the status waits for it; it takes an agent about 8 s."""
    assert sentence() == "waiting for the first event"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((user(),), "waiting for the model, no open call"),
        ((thought("hm"),), "thinking"),
        ((thought("hm"), thought_through()), "waiting for the model, no open call"),
        ((delta("I"),), "writing"),
        ((delta("I"), started("read"), completed("read")), "waiting for the model, no open call"),
    ],
)
def test_what_the_model_does(lines: tuple[bytes, ...], words: str) -> None:
    """Without an open call the model thinks, writes or is waited for; quiet is told from 10 s on."""
    assert sentence(init(), *lines) == words
    assert sentence(init(), *lines, after_ms=QUIET_MS - 1) == words
    assert sentence(init(), *lines, after_ms=QUIET_MS) == f"{words} · quiet for 10 s"
    assert sentence(init(), *lines, after_ms=38_999) == f"{words} · quiet for 38 s"
    assert sentence(init(), *lines, after_ms=None) == words


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"command": "make"}, "running shell make · 42 s"),
        ({"command": "make", "timeout": 600_000}, "running shell make · 42 s of its 600 s limit"),
        ({"command": "make\nall"}, "running shell make · 42 s"),
        ({"command": "ma\x1b[2Jke"}, "running shell ma␛[2Jke · 42 s"),
        ({}, "running shell · 42 s"),
    ],
)
def test_one_open_call_is_told_with_its_time(args: dict[str, Any], words: str) -> None:
    """A running call is named, with its time and its limit; that is why it is quiet."""
    assert sentence(init(), started("shell", **args), after_ms=42_000) == words


def test_a_time_that_is_not_known_is_not_told() -> None:
    """Without a clock the call is named, and neither its time nor its limit is."""
    line = started("shell", command="make", timeout=600_000)
    assert sentence(init(), line, after_ms=None) == "running shell make"
    assert status(session(init(), line, is_over=False), NOW) == "running shell make"


def test_a_clock_that_runs_backwards_is_at_zero() -> None:
    """A call that began in the future has run for no time."""
    assert sentence(init(), started("shell", command="make"), after_ms=-5_000) == "running shell make · 0 s"


def test_parallel_calls_are_told_by_the_oldest() -> None:
    """Of several open calls the number is told and the one that began first."""
    lines = [started("read", name, path=name) for name in "abc"]
    told = sentence(init(), *lines, completed("read", "a", {"success": {}}), after_ms=3_000)
    assert told == "2 parallel calls, the oldest: read b · 3 s"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((result(),), "succeeded"),
        ((FAILED, result()), "succeeded · 1 call failed on the way"),
        ((FAILED, completed("read", "y", {"error": {}}), result()), "succeeded · 2 calls failed on the way"),
        ((completed("shell", "x", {"rejected": {}}), result()), "succeeded"),
        ((result("No\nmore", is_error=True),), "failed: No"),
        ((result("\n a\x1b[2J \nb", is_error=True),), "failed: a␛[2J "),
        ((result(None, is_error=True),), "failed: no reason given"),
    ],
)
def test_a_result_is_the_last_word(lines: tuple[bytes, ...], words: str) -> None:
    """After the result the status is its outcome, whatever time passes, before the end and after."""
    for is_over in (False, True):
        assert sentence(init(), *lines, after_ms=99_000, is_over=is_over) == words


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((user(),), "ended without a result"),
        ((started("shell"),), "ended without a result · 1 call never completed"),
        ((started("shell", "a"), started("shell", "b")), "ended without a result · 2 calls never completed"),
    ],
)
def test_an_end_without_a_result_is_all_that_is_known(lines: tuple[bytes, ...], words: str) -> None:
    """A stream that ends without a result neither succeeded nor failed."""
    assert sentence(init(), *lines, is_over=True) == words


def test_the_next_run_begins_anew() -> None:
    """After a result another init is a run that goes on."""
    assert sentence(init(), result(), init()) == "waiting for the model, no open call"


def test_a_status_is_one_line() -> None:
    """No field of the stream breaks the status line."""
    hostile = "a\r\nb\u2028c\x85d"
    for lines in (
        (started("weather" + hostile, place=hostile),),
        (event("result", "error", is_error=True, result=hostile),),
    ):
        assert len(sentence(init(), *lines).splitlines()) == 1
