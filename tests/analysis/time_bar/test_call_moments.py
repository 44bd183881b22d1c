"""The moments of calls are read from the session in pieces, and found by bisection."""

from __future__ import annotations

from agentwatch.analysis.time_bar import CallMoments, Moments
from agentwatch.session.events import Outcome
from agentwatch.session.storage import Spill
from tests.analysis.time_bar.recorded import Recorded


def test_moments_are_counted_over_all_pages() -> None:
    """The number of moments up to any moment is exact, wherever they are stored."""
    moments = Moments(Spill())
    for number in range(5000):
        moments.append(number // 3 * 10)
    for at in (-1, 0, 9, 10, 3410, 3411, 9999, 16_659, 16_660, 10**9):
        expected = sum(number // 3 * 10 <= at for number in range(5000))
        assert moments.count_to(at) == expected
        rest = [number // 3 * 10 for number in range(5000) if number // 3 * 10 > at]
        assert moments.first_after(at) == (rest[0] if rest else None)


def test_moments_never_go_back() -> None:
    """A moment that is before the last one counts as the last one, so that bisection holds."""
    moments = Moments(Spill())
    for moment in (5, 9, 3, 12):
        moments.append(moment)
    assert [moments.count_to(at) for at in (4, 5, 8, 9, 12)] == [0, 1, 1, 3, 4]


def test_calls_are_read_once_and_in_pieces() -> None:
    """Each update reads what is new; one without time reads a piece and reports that more is left."""
    made = Recorded()
    for number in range(200):
        made.call(10, 10, Outcome.FAILED if number % 10 == 0 else Outcome.SUCCEEDED)
    calls = CallMoments(made.session)
    assert calls.update(0)
    assert 0 < len(calls.ended) < 200
    while calls.update(0):
        pass
    counts = len(calls.started), len(calls.ended), len(calls.failed), len(calls.rejected)
    assert counts == (200, 200, 20, 0)
    made.call(10, 10, Outcome.REJECTED)
    assert not calls.update(1)
    assert (len(calls.ended), len(calls.rejected)) == (201, 1)
    assert calls.rejected.first_after(0) == made.size


def test_a_call_that_never_ended_stops_with_the_session() -> None:
    """A call without an end counts as ended with the last call that ended before its run was closed."""
    made = Recorded()
    made.start(10, "lost")
    last = made.call(10, 10)
    made.line(10)
    calls = CallMoments(made.session)
    calls.update(1)
    assert calls.started.count_to(made.size) - calls.ended.count_to(made.size) == 1
    made.close()
    calls.update(1)
    assert calls.ended.count_to(last) == 2
