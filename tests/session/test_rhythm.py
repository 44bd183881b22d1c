"""The phase of a session, its silences in each phase, and what length is usual."""

from __future__ import annotations

import itertools
from collections import deque

import pytest

from agentwatch.session.call import Pieces
from agentwatch.session.counts import Phase, Rhythm, usually_under
from tests.builders.lines import delta, init, result, session, started, thought, thought_through, user
from tests.conftest import case


def test_the_phase_of_a_session() -> None:
    """A session waits, thinks, writes or has an open call; after the run it does none of these."""
    cases: list[tuple[tuple[bytes, ...], Phase]] = [
        ((), Phase.WAITING),
        ((b"oops\n",), Phase.WAITING),
        ((init(), user()), Phase.WAITING),
        ((init(), thought("hm")), Phase.THINKING),
        ((init(), thought("hm"), thought_through()), Phase.WAITING),
        ((init(), delta("I")), Phase.WRITING),
        ((init(), started("read"), thought("hm")), Phase.CALLING),
        ((init(), started("read"), result()), Phase.NOTHING),
        ((init(), result(), init()), Phase.WAITING),
    ]
    for lines, phase in cases:
        with case(lines):
            assert session(*lines, is_over=False).phase is phase
            assert session(*lines).phase is Phase.NOTHING


def test_the_rhythm_is_that_of_the_arrivals() -> None:
    """Each line with an arrival time updates the rhythm; a line without one changes nothing."""
    read = session(init(), thought("hm"), seen_ms=1000, is_over=False)
    assert (read.rhythm.phase, read.rhythm.began_ms) == (Phase.THINKING, 1000)
    read = session(init(), thought("hm"), is_over=False)
    assert (read.rhythm.phase, read.rhythm.began_ms) == (Phase.NOTHING, None)


def test_a_stay_counts_by_its_longest_silence() -> None:
    """Each stay in a phase keeps its longest silence, and for a thought its length; calls keep neither."""
    rhythm = Rhythm()
    for phase, seen_ms in (
        *((Phase.WAITING, 5000), (Phase.WAITING, 5400), (Phase.THINKING, 5500)),
        *((Phase.THINKING, 5600), (Phase.THINKING, 6500), (Phase.THINKING, 6600), (Phase.WRITING, 6700)),
        *((Phase.WRITING, 6700), (Phase.CALLING, 6700), (Phase.WAITING, 9000), (Phase.NOTHING, 9003)),
        *((Phase.WAITING, 99_000), (Phase.THINKING, 99_000), (Phase.WAITING, 99_000)),
    ):
        rhythm.update(phase, seen_ms)
    assert {phase: list(lengths) for phase, lengths in rhythm.silences.items()} == {
        Phase.WAITING: [400, 3],
        Phase.THINKING: [900],
        Phase.WRITING: [],
    }
    assert list(rhythm.thoughts) == [1200]


def test_a_rhythm_stays_small_and_in_order() -> None:
    """The newest 64 lengths are kept; arrivals that run backwards are not a silence."""
    rhythm = Rhythm()
    for number in range(1000):
        rhythm.update(Phase.WAITING, number * 100)
        rhythm.update(Phase.THINKING, number * 100 + 70)
    assert list(rhythm.silences[Phase.WAITING]) == [70] * 64
    assert list(rhythm.thoughts) == [30] * 64
    rhythm = Rhythm()
    for seen_ms in (5000, 1000):
        for phase in (Phase.THINKING, Phase.WAITING):
            rhythm.update(phase, seen_ms)
    assert (rhythm.silences[Phase.THINKING], rhythm.silences[Phase.WAITING]) == (deque(), deque())
    assert not rhythm.thoughts


def test_the_usual_length_is_not_exceeded_by_nine_of_ten() -> None:
    """Nine of ten lengths do not exceed the usual one; fewer than five lengths have no usual one."""
    cases: list[tuple[list[int], int | None]] = [
        ([], None),
        ([1, 2, 3, 4], None),
        ([9, 1, 2, 3, 4], 9),
        ([*range(1, 10), 1000], 9),
        ([*range(1, 20), 1000], 18),
        ([7] * 64, 7),
    ]
    for lengths, under in cases:
        with case(lengths):
            assert usually_under(lengths) == under


@pytest.mark.parametrize("times_ms", [[0, 40, 80], [0, 700, 710], [5, 5, 5], [0, 900, 100, 150]])
def test_lines_applied_at_once_have_the_rhythm_of_each(times_ms: list[int]) -> None:
    """Lines of one phase that are applied at once count as if each had been applied alone."""
    one_by_one, at_once = Rhythm(), Rhythm()
    for rhythm in (one_by_one, at_once):
        rhythm.update(Phase.WAITING, 0)
    for at_ms in times_ms:
        one_by_one.update(Phase.WRITING, 1_000 + at_ms)
    gaps = (later - earlier for earlier, later in itertools.pairwise(times_ms))
    pieces = Pieces(1_000 + times_ms[0], max(0, *gaps))
    at_once.update_by_pieces(Phase.WRITING, pieces, 1_000 + times_ms[-1])
    for rhythm in (one_by_one, at_once):
        rhythm.update(Phase.WAITING, 9_000)
    assert vars(one_by_one) == vars(at_once)
