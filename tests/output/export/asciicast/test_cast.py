"""The events of a recording of a terminal have the time since the event before."""

from __future__ import annotations

import json

from agentwatch.output.export.asciicast import Cast, Code


def test_times_are_relative_and_do_not_drift() -> None:
    """Each time is rounded to a millisecond, and the sum of many is still the whole time."""
    cast = Cast(1000)
    waits = [json.loads(cast.event(1000 + at * 33.4, Code.OUTPUT, "x"))[0] for at in range(1, 1001)]
    assert round(sum(waits), 3) == 33.4
    assert {*waits} == {0.033, 0.034}
    # A clock that goes back does not make a negative time, and what follows is not late.
    cast = Cast(0)
    lines = [cast.event(at_ms, Code.MARKER, "") for at_ms in (500, 200, 700)]
    assert [json.loads(line)[0] for line in lines] == [0.5, 0, 0.2]
    # An escape character is written as `\u001b`, as the format requires.
    assert Cast(0).event(0, Code.OUTPUT, "\x1b[2Jü") == '[0.0,"o","\\u001b[2Jü"]\n'.encode()
