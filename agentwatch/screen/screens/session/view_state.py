"""Scroll positions and selections: of the panes, during a search, and of the lists of the session box."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from agentwatch.screen.panes.calls.pane import CallTable
from agentwatch.screen.panes.transcript.viewport import ReadingPosition
from agentwatch.screen.screens.session.panes import Panes
from agentwatch.session.call import Call


class ViewState(NamedTuple):
    """The scroll positions and selections of the panes, and the pane that has the focus."""

    pane: str
    transcript: ReadingPosition
    call: Call | None
    calls_follow: bool
    calls_top: int
    detail_top: int


def view_state(panes: Panes, pane: str) -> ViewState:
    """Return the current scroll positions and selections of all panes, with the focus in `pane`."""
    return ViewState(
        pane,
        panes.transcript.reader.position(),
        panes.calls.chosen,
        panes.calls.following,
        panes.calls.scroll_offset.y,
        panes.detail.scroll_offset.y,
    )


def restore(panes: Panes, before: ViewState) -> None:
    """Restore the panes to an earlier view state."""
    panes.transcript.restore(before.transcript)
    if before.calls_follow:
        with panes.calls.prevent(CallTable.Asked):
            panes.calls.action_bottom()
    elif before.call is not None:
        if before.call is not panes.calls.chosen:
            with panes.calls.prevent(CallTable.Asked):
                panes.calls.choose_call(before.call)
        panes.calls.following = False
        panes.calls.settle_at(before.calls_top)
    if panes.calls.chosen is not None:
        panes.detail.show_call(panes.calls.chosen)
        panes.detail.settle_at(before.detail_top)


class Place(NamedTuple):
    """The selected item of a list, and the first row in view; None to scroll no further than to the item."""

    key: object
    top: int | None = None


@dataclass
class BoxState:
    """What the session box remembers from one opening to the next."""

    tab: str = "happened"
    places: dict[str, Place] = field(default_factory=dict)
    """The place of each list that the user has moved, by its id."""
    is_by_name: bool = False
    """Whether the files are sorted by name."""
    moment: object = None
    """The moment for which a test run was selected last."""
    sought: object = None
    """What the files were opened on last."""
