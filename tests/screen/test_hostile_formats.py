"""Hostile text in the lines of every format is drawn on the screen, and has no effect."""

from __future__ import annotations

import pytest

from agentwatch.screen.detail.pane import DetailView
from agentwatch.screen.transcript.pane import Transcript
from tests.builders.formats.poisoned import MARKS, MIXED, lines_of
from tests.builders.formats.samples import OF_A_FORMAT
from tests.builders.screen.app import opened
from tests.builders.screen.hostile import check_drawn, check_panes
from tests.conftest import Saver

_MOST_CALLS = 12
OF_EACH = {name: data for _, data, name in sorted(OF_A_FORMAT, key=lambda each: -min(len(each[1]), 60_000))}
"""A short sample of each format."""


@pytest.mark.parametrize("name", OF_EACH)
async def test_hostile_lines_of_a_format_are_drawn_and_do_nothing(recording: Saver, name: str) -> None:
    """Transcript, calls, details and actions of hostile lines draw no control character."""
    path = recording(b"\n".join(lines_of(OF_EACH[name], MIXED, MARKS)) + b"\n")
    async with opened(path) as stage:
        transcript, detail = stage.pane("transcript"), stage.pane("detail")
        assert isinstance(transcript, Transcript)
        assert isinstance(detail, DetailView)
        assert stage.feed.session.format == name
        await stage.until(lambda: not transcript.viewport.is_measuring, "the transcript's measure")
        check_panes(transcript, stage.pane("calls"), stage.pane("log"))
        for call in stage.feed.session.calls[:_MOST_CALLS]:
            detail.show_call(call)
            check_panes(detail)
        for key in "1234":
            await stage.press(key, "g", "r")
            check_drawn(stage)
        assert stage.app.is_running
