"""The end of an output is read at a bounded cost."""

from __future__ import annotations

from functools import partial

import pytest

from agentwatch.analysis.verdicts import last_lines, verdict
from tests.conftest import case
from tests.harness.costs import takes_more

GREEN = "17 passed in 0.31s"
HOSTILE = {
    "line ends": "\n" * 65_536,
    "one line of =": "=" * 65_536,
    "lines of =": ("=" * 400 + "\n") * 400,
    "lists": ("1 a, " * 80 + "\n") * 400,
    "pytest words": ("=== 1 failed, " + "1 passed, " * 40 + "\n") * 400,
    "unfinished sequences": "\x1b[" * 32_768,
    "unfinished commands": "\x1b]" * 32_768,
    "long parameters": ("\x1b[" + "0" * 300) * 220,
    "coloured lines": ("\x1b[31m" * 30 + "x\n") * 400,
    "type errors": ("(1,1): error TSx" * 25 + "\n") * 400,
    "go": ("FAIL\t" + "a" * 300 + "\t" + "\n") * 400,
    "summaries": ("Summary [ 1s] 1 tests run: " + "1 failed " * 40 + "\n") * 400,
    "blanks": ("Tests" + " " * 390 + "x\n") * 400,
    "bars": ("⎯" * 400 + "\n") * 400,
    "carriage returns": "\r" * 65_536,
    "closing lines": "1 example, 1 failure\n" * 400,
    "digits": ("1" * 400 + "\n") * 400,
    "brackets": ("[" * 400 + "\n") * 400,
}


def test_escape_sequences_and_blanks_are_removed() -> None:
    """Lines are returned without escape sequences, surrounding blanks and blank lines."""
    text = "\x1b[1;31m  red\x1b[m \r\n\n\x1b]0;title\x07\tb\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\\nc\x1b(B"
    assert last_lines(text) == ["red", "blink", "c"]


def test_a_carriage_return_ends_a_line() -> None:
    """What a progress bar left in its line is separate from what follows."""
    assert last_lines(f"10%\r50%\r{GREEN}") == ["10%", "50%", GREEN]


def test_only_the_end_is_read() -> None:
    """The last 400 lines of the last 65,536 characters are read, each up to 400 characters."""
    assert verdict("", f"{GREEN}\n" + "x\n" * 399, 0) is not None
    assert verdict("", f"{GREEN}\n" + "x\n" * 400, 0) is None
    assert verdict("", f"{GREEN}\n" + "x" * 65_000, 0) is not None
    assert verdict("", f"{GREEN}\n" + "x" * 65_536, 0) is None
    assert [len(line) for line in last_lines("x" * 5000)] == [400]


QUICK_SECONDS = 0.0005


@pytest.mark.costs
def test_hostile_output_takes_linear_time_up_to_64_kib() -> None:
    """Output of four times the length takes at most six times as long; beyond 64 KiB it costs no more."""
    for name, text in HOSTILE.items():
        with case(name):
            whole, quarter = (partial(verdict, "make test", text[:end], 1) for end in (None, len(text) // 4))
            assert not takes_more(whole, 6, quarter, QUICK_SECONDS)
            assert not takes_more(partial(verdict, "make test", text * 20, 1), 2, whole, QUICK_SECONDS)


@pytest.mark.costs
def test_hostile_commands_take_linear_time() -> None:
    """A command of four times the length takes at most six times as long, whatever its quotes are."""
    for piece in ('"', '"\\', "'\"", "&", "<&", "a "):
        with case(piece):
            long, short = (partial(verdict, piece * count, "", 0) for count in (9000, 2250))
            assert not takes_more(long, 6, short, QUICK_SECONDS)
