"""Progress is shown on a terminal only, and only of what takes over a second."""

from __future__ import annotations

import os

import pytest

from agentwatch.cli import messages
from agentwatch.cli.messages import ShownProgress
from agentwatch.output.export.exported import Wanted, exported
from agentwatch.recording.saved import open_saved
from tests.conftest import RECORDINGS


class Clock:
    """A clock that a test moves, instead of the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """Return the time of the test."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(messages, "time", clock)
    return clock


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal at stderr."""
    monkeypatch.setattr(os, "isatty", lambda fd: fd == 2)


def test_nothing_is_shown_without_a_terminal(clock: Clock, capfd: pytest.CaptureFixture[str]) -> None:
    """In a script, stderr has no progress."""
    shown = ShownProgress().step("writing")
    clock.now += 60
    shown(1, 2)
    shown.clear()
    assert capfd.readouterr().err == ""


def test_progress_is_one_line_that_is_removed(
    clock: Clock, terminal: None, capfd: pytest.CaptureFixture[str]
) -> None:
    """After a second the line names the step and its share, five times a second at most."""
    shown = ShownProgress().step("redacting")
    clock.now += 1.0
    shown(1, 4)
    clock.now += 0.125
    shown(2, 4)
    assert capfd.readouterr().err == "\r\x1b[Kagentwatch: redacting 25 %"
    shown.step("writing")
    clock.now += 0.125
    shown(9, 4)
    assert capfd.readouterr().err == "\r\x1b[Kagentwatch: writing 100 %"
    shown.clear()
    shown.clear()
    assert capfd.readouterr().err == "\r\x1b[K"
    # A recording of no bytes does not divide by them.
    shown = ShownProgress().step("writing")
    clock.now += 2
    shown(0, 0)
    assert capfd.readouterr().err.endswith("writing 0 %")
    # A step whose share is unknown is shown once, however short before it the last share was shown.
    shown = ShownProgress().step("reading")
    shown.step("aligning").show("…")
    clock.now += 1.5
    shown.step("reading")(99, 100)
    shown.step("aligning").show("…")
    assert capfd.readouterr().err == "\r\x1b[Kagentwatch: reading 99 %\r\x1b[Kagentwatch: aligning …"
    # What is done within a second leaves no trace.
    shown = ShownProgress().step("writing")
    clock.now += 0.99
    shown(1, 2)
    shown.clear()
    assert capfd.readouterr().err == ""


def test_reading_a_session_as_it_is_reports_its_progress() -> None:
    """The last report is about all bytes of the recording."""
    path = RECORDINGS / "demo.ndjson"
    reported: list[tuple[int, int]] = []
    exported(open_saved(path), "demo", Wanted(is_raw=True), progress=lambda *each: reported.append(each))
    assert reported[-1] == (path.stat().st_size, path.stat().st_size)
