"""A recording that a command writes has its arrival times beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.cli.output import write_times


@pytest.mark.parametrize("count", [1, 4096, 4097])
def test_each_time_is_a_line(tmp_path: Path, count: int) -> None:
    """Thousands of lines are written in pieces."""
    recording = tmp_path / "a.ndjson"
    recording.touch()
    write_times(recording, ((number, 1000 + number) for number in range(count)), replaces=False)
    lines = (tmp_path / "a.times").read_text().splitlines()
    assert lines == [f"{number} {1000 + number}" for number in range(count)]


def test_the_times_of_a_replaced_recording_are_removed(tmp_path: Path) -> None:
    """They are those of other lines. That there are none is not an error."""
    recording, times = tmp_path / "a.ndjson", tmp_path / "a.times"
    recording.touch()
    times.write_text("0 1\n")
    for _ in range(2):
        write_times(recording, (), replaces=True)
        assert not times.exists()


def test_times_that_may_not_be_replaced_are_kept(tmp_path: Path) -> None:
    """Times that have come into being while the recording was written are not removed."""
    recording, times = tmp_path / "a.ndjson", tmp_path / "a.times"
    recording.touch()
    times.write_text("0 1\n")
    write_times(recording, (), replaces=False)
    assert times.read_text() == "0 1\n"
