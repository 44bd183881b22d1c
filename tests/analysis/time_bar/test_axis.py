"""The scale of the time bar is recorded time, with silences shortened if wanted, or bytes."""

from __future__ import annotations

from itertools import pairwise

from agentwatch.analysis.time_bar import Axis
from tests.analysis.time_bar.recorded import BEGAN_MS, Recorded


def silent() -> Recorded:
    """Return a recording of three lines with 4 minutes of silence before the third."""
    made = Recorded()
    made.line(1000)
    made.line(240_000)
    return made


def shortened(ms: int) -> int:
    """Return a time with the silence of `silent` shortened to 10 s."""
    cut_ms = ms - BEGAN_MS - 11_000
    return ms - min(max(cut_ms, 0), 230_000)


def test_positions_are_times() -> None:
    """A moment's position is the time of its last line; a position's moment is after the last line there."""
    axis = Axis(silent())
    assert (axis.begin, axis.end) == (BEGAN_MS, BEGAN_MS + 241_000)
    assert [axis.position_of(at) - BEGAN_MS for at in (0, 100, 200, 300)] == [0, 0, 1000, 241_000]
    assert [axis.offset_at(BEGAN_MS + ms) for ms in (-1, 0, 999, 1000, 240_999, 241_000)] == [
        *(0, 100, 100, 200, 200, 300)
    ]


def test_without_times_positions_are_bytes() -> None:
    """In a recording without times the scale goes from its first byte to its last."""
    made = Recorded(has_times=False)
    made.line(1000)
    axis = Axis(made)
    assert not axis.has_times
    assert (axis.begin, axis.end, axis.position_of(100), axis.offset_at(150)) == (0, 200, 100, 150)
    assert axis.offset_at(999) == 200


def test_a_shortened_silence_takes_less_of_the_scale() -> None:
    """A mapping shortens the scale; positions after the silence still lead to the lines there."""
    axis = Axis(silent(), shortened)
    assert axis.end - axis.begin == 11_000
    assert axis.position_of(300) == axis.end
    assert [axis.offset_at(axis.begin + ms) for ms in (0, 1000, 10_999, 11_000)] == [100, 200, 200, 300]
    assert axis.ms_at(axis.begin + 1000) == BEGAN_MS + 1000
    assert axis.ms_at(axis.end) == BEGAN_MS + 241_000


def test_the_length_of_a_silence_is_the_recorded_one() -> None:
    """The length of a silence is exact, whether or not the scale shortens it."""
    for axis in (Axis(silent()), Axis(silent(), shortened)):
        assert axis.silence_ms(200, axis.end) == 240_000
        assert axis.silence_ms(100, axis.end) == 1000
    assert Axis(silent()).silence_ms(0, 0) == 0


def test_a_growing_scale_grows_in_steps() -> None:
    """While a recording grows, its scale keeps its length for a quarter of its duration at least."""
    made, lengths = Recorded(), []
    for _ in range(600):
        made.line(1000)
        axis = Axis(made)
        lengths.append(axis.length(is_growing=True))
        assert axis.length(is_growing=False) == axis.end - axis.begin <= lengths[-1]
    steps = sorted(set(lengths))
    assert lengths == sorted(lengths)
    assert len(steps) < 25
    assert all(later <= earlier * 1.25 for earlier, later in pairwise(steps))


def test_an_empty_scale_has_a_length() -> None:
    """A recording of one line has a scale of length 1."""
    assert Axis(Recorded()).length(is_growing=False) == 1
