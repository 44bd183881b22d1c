"""The calls that ended before and after a moment."""

from __future__ import annotations

from agentwatch.screen.panes.moment import call_beside, end_of, next_failure
from tests.builders.lines import completed, init, session, started


def test_calls_that_never_ended_do_not_hide_those_of_the_next_run() -> None:
    """From each moment, the calls that ended next and last are found, over a run that was cut off."""
    first = [line for name in "abc" for line in (started("read", name), completed("read", name))]
    cut_off = [started("read", f"open-{number}") for number in range(5)]
    second = [line for name in "def" for line in (started("read", name), completed("read", name))]
    read = session(init(), *first, *cut_off, init(), *second)
    ends = [(end_of(call), call.call_id) for call in read.ended_calls if call.ended is not None]
    assert [name for _, name in ends] == list("abcdef")
    assert len(read.ended_calls) == 11
    for offset in range(ends[-1][0] + 2):
        after = next((name for end, name in ends if end > offset), None)
        before = next((name for end, name in reversed(ends) if end < offset), None)
        found = [call_beside(read, offset, step) for step in (1, -1)]
        assert [call and call.call_id for call in found] == [after, before]
    assert next_failure(read, 0, ends[-1][0]) is None
