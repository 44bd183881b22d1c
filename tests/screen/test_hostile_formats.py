"""Hostile text in the lines of every format is drawn on the screen, and has no effect."""

from __future__ import annotations

import pytest

from agentwatch.screen.panes.detail.pane import DetailView
from agentwatch.screen.panes.transcript.pane import Transcript
from tests.builders.captures import OURS, Captures
from tests.builders.formats.poisoned import MARKS, MIXED, lines_of
from tests.builders.formats.samples import of_a_format
from tests.builders.screen.app import opened
from tests.builders.screen.hostile import check_drawn, check_panes
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

_MOST_CALLS = 12


def short_of_each(captures: Captures) -> dict[str, bytes]:
    """Return a short capture of each format."""
    found = sorted(of_a_format(captures), key=lambda each: -min(len(each[1]), 60_000))
    return {name: data for _, data, name in found}


@pytest.mark.system
async def test_hostile_lines_are_drawn_and_do_nothing(recording: Saver) -> None:
    """Transcript, calls, details and actions of hostile lines draw no control character."""
    await check_hostile(recording, "claude-code", short_of_each(OURS)["claude-code"])


@pytest.mark.system
async def test_hostile_lines_of_every_format_are_drawn_and_do_nothing(
    captures: Captures, recording: Saver
) -> None:
    """No format has a field whose text reaches the terminal as it is."""
    for name, data in short_of_each(captures).items():
        with case(name):
            await check_hostile(recording, name, data)


async def check_hostile(recording: Saver, name: str, data: bytes) -> None:
    """Check what each pane shows of a recording with hostile text in its strings."""
    path = recording(b"\n".join(lines_of(data, MIXED, MARKS)) + b"\n")
    async with opened(path) as stage:
        transcript, detail = stage.pane("transcript"), stage.pane("detail")
        assert isinstance(transcript, Transcript)
        assert isinstance(detail, DetailView)
        assert stage.feed.session.format == name
        await stage.until(lambda: not transcript.viewport.is_unsettled, "the transcript's blocks")
        check_panes(transcript, stage.pane("calls"), stage.pane("log"))
        for call in stage.feed.session.calls[:_MOST_CALLS]:
            detail.show_call(call)
            check_panes(detail)
        for key in "1234":
            await stage.press(key, "g", "r")
            check_drawn(stage)
        assert stage.app.is_running
