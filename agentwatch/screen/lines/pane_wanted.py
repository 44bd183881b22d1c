"""The message by which a part of the screen asks for another pane."""

from __future__ import annotations

from textual.message import Message


class PaneWanted(Message):
    """Posted when a pane should get the focus."""

    def __init__(self, pane: str) -> None:
        """Create the message; `pane` is the pane that should get the focus."""
        super().__init__()
        self.pane = pane
