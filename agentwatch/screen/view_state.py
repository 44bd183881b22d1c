"""Where the user stands in all panes, to lead back there."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.screen.panes import Panes
from agentwatch.screen.transcript.reading import ReadingPosition
from agentwatch.session import Call


class ViewState(NamedTuple):
    """What is shown where, and the pane that has the keys."""

    pane: str
    transcript: ReadingPosition
    call: Call | None
    calls_follow: bool
    calls_top: int
    detail_top: int


def view_state(panes: Panes, pane: str) -> ViewState:
    """Return where the user stands, who is in `pane`."""
    return ViewState(
        pane,
        panes.transcript.reader.position(),
        panes.calls.chosen,
        panes.calls.following,
        panes.calls.scroll_offset.y,
        panes.detail.scroll_offset.y,
    )


def restore(panes: Panes, before: ViewState) -> None:
    """Show again what was shown."""
    panes.transcript.restore(before.transcript)
    if before.calls_follow:
        panes.calls.action_bottom()
    elif before.call is not None:
        if before.call is not panes.calls.chosen:
            panes.calls.choose_call(before.call)
        panes.calls.following = False
        panes.calls.settle_at(before.calls_top)
    if panes.calls.chosen is not None:
        panes.detail.show_call(panes.calls.chosen)
        panes.detail.settle_at(before.detail_top)
