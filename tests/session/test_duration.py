"""A session has one duration: that of its only turn's result, or else the time between its lines."""

from __future__ import annotations

from tests.builders.lines import completed, delta, init, result, session, started, user
from tests.conftest import case

TURN = (init(), user(), started("shell", at_ms=1000), completed("shell", at_ms=2500))


def test_the_result_of_the_only_turn_decides() -> None:
    """The duration that the result reports counts, also if the lines took longer."""
    assert session(*TURN, result(), seen_ms=1000).duration_ms == 5234


def test_without_one_result_the_lines_decide() -> None:
    """With two runs, or without a result, it is the time from the first line to the last."""
    for lines, seen_ms, expected in (
        ((*TURN, result(), *TURN, result()), None, 1500),
        ((init(), user(), delta("a", 2000), delta("b", 5000)), None, 3000),
        ((init(), user()), None, None),
        (TURN, 7000, None),  # all lines came at once
    ):
        with case(expected):
            assert session(*lines, seen_ms=seen_ms).duration_ms == expected
