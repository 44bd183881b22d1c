"""Lines up to 16 MiB are read whole; of longer lines only the two ends are read."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agentwatch.session.counts import LineCounts
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from tests.builders.lines import final, init, result, user


def test_a_line_of_12_megabytes_is_an_event(session_of: Callable[[bytes], Session]) -> None:
    """A line of up to 16 MiB is read whole over many reads, and the next line is read."""
    text = "x" * 12_000_000
    read = session_of(init() + final(text) + user("next"))
    assert len(read.text) == 12_000_000
    assert read.lines == LineCounts(events=3)
    assert read.run.prompt == "next"


def test_a_result_of_30_megabytes_ends_its_run(session_of: Callable[[bytes], Session]) -> None:
    """A result line over 16 MiB still ends its run with its outcome, and counts as oversize."""
    huge = json.dumps(json.loads(result("#")), separators=(",", ":")).replace("#", "x" * 30_000_000)
    read = session_of(init() + final("a") + huge.encode() + b"\n" + init(model="Next"))
    assert [run.outcome for run in read.runs] == [Outcome.SUCCEEDED, Outcome.UNFINISHED]
    assert read.runs[0].request_id == "r-1"
    assert read.lines == LineCounts(events=4, oversize=1)
    assert read.run.model == "Next"


@pytest.mark.parametrize("begins", [b"", b'{"type":"user","text":"'], ids=["noise", "a cut line"])
def test_30_megabytes_of_noise_are_one_odd_line(
    begins: bytes, session_of: Callable[[bytes], Session]
) -> None:
    """A long line that is not JSON is one odd line, and the next line is read."""
    read = session_of(init() + begins + b"x" * 30_000_000 + b"\n" + user("next"))
    assert (read.lines.total, read.lines.events, read.run.prompt) == (3, 2, "next")
    [odd] = read.lines.odd
    assert odd.place.length == 30_000_000 + len(begins)
