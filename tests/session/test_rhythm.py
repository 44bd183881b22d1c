"""What a session does, how long it is silent in it, and what is usual."""

from __future__ import annotations

from collections import deque

import pytest

from agentwatch.session import Doing, Rhythm, usually_under
from tests.builders.lines import delta, init, result, session, started, thought, thought_through, user


@pytest.mark.parametrize(
    ("lines", "doing"),
    [
        ((), Doing.WAITING),
        ((b"oops\n",), Doing.WAITING),
        ((init(), user()), Doing.WAITING),
        ((init(), thought("hm")), Doing.THINKING),
        ((init(), thought("hm"), thought_through()), Doing.WAITING),
        ((init(), delta("I")), Doing.WRITING),
        ((init(), started("read"), thought("hm")), Doing.CALLING),
        ((init(), started("read"), result()), Doing.NOTHING),
        ((init(), result(), init()), Doing.WAITING),
    ],
)
def test_what_a_session_does(lines: tuple[bytes, ...], doing: Doing) -> None:
    """A session waits, thinks, writes or has an open call; when its run is over it does none of these."""
    assert session(*lines, is_over=False).doing is doing
    assert session(*lines).doing is Doing.NOTHING


def test_the_rhythm_is_that_of_the_arrivals() -> None:
    """Each line tells the rhythm when it came; a line of no known time changes nothing."""
    read = session(init(), thought("hm"), seen_ms=1000, is_over=False)
    assert (read.rhythm.doing, read.rhythm.began_ms) == (Doing.THINKING, 1000)
    read = session(init(), thought("hm"), is_over=False)
    assert (read.rhythm.doing, read.rhythm.began_ms) == (Doing.NOTHING, None)


def test_a_stay_counts_by_its_longest_silence() -> None:
    """Of each stay in a doing the longest silence is kept, of a thought also its length; of calls neither."""
    rhythm = Rhythm()
    for doing, seen_ms in (
        *((Doing.WAITING, 5000), (Doing.WAITING, 5400), (Doing.THINKING, 5500)),
        *((Doing.THINKING, 5600), (Doing.THINKING, 6500), (Doing.THINKING, 6600), (Doing.WRITING, 6700)),
        *((Doing.WRITING, 6700), (Doing.CALLING, 6700), (Doing.WAITING, 9000), (Doing.NOTHING, 9003)),
        *((Doing.WAITING, 99_000), (Doing.THINKING, 99_000), (Doing.WAITING, 99_000)),
    ):
        rhythm.take(doing, seen_ms)
    assert {doing: list(lengths) for doing, lengths in rhythm.silences.items()} == {
        Doing.WAITING: [400, 3],
        Doing.THINKING: [900],
        Doing.WRITING: [],
    }
    assert list(rhythm.thoughts) == [1200]


def test_a_rhythm_stays_small_and_in_order() -> None:
    """The newest 64 lengths are kept; arrivals that run backwards are no silence."""
    rhythm = Rhythm()
    for number in range(1000):
        rhythm.take(Doing.WAITING, number * 100)
        rhythm.take(Doing.THINKING, number * 100 + 70)
    assert list(rhythm.silences[Doing.WAITING]) == [70] * 64
    assert list(rhythm.thoughts) == [30] * 64
    rhythm = Rhythm()
    for seen_ms in (5000, 1000):
        for doing in (Doing.THINKING, Doing.WAITING):
            rhythm.take(doing, seen_ms)
    assert (rhythm.silences[Doing.THINKING], rhythm.silences[Doing.WAITING]) == (deque(), deque())
    assert not rhythm.thoughts


@pytest.mark.parametrize(
    ("lengths", "under"),
    [
        ([], None),
        ([1, 2, 3, 4], None),
        ([9, 1, 2, 3, 4], 9),
        ([*range(1, 10), 1000], 9),
        ([*range(1, 20), 1000], 18),
        ([7] * 64, 7),
    ],
)
def test_what_is_usual_is_what_nine_of_ten_do_not_exceed(lengths: list[int], under: int | None) -> None:
    """One outlier of ten is not the measure; fewer than five tell nothing."""
    assert usually_under(lengths) == under
