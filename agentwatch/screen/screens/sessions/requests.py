"""The messages of the list: what the user wants of a session."""

from __future__ import annotations

from collections.abc import Sequence

from textual.message import Message

from agentwatch.catalog.listing import Request
from agentwatch.catalog.row import Row


class OfRow(Message):
    """A message about one session."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.row = row


class Opened(OfRow):
    """Posted by enter and by a double click: the session is to be opened. `words` are searched for in the
    session; empty for nothing."""

    def __init__(self, row: Row, words: str = "") -> None:
        super().__init__(row)
        self.words = words


class PreviewWanted(OfRow):
    """Posted by space: the preview of the session is to be shown or hidden."""


class WhyWanted(OfRow):
    """Posted by `w`: the evidence for the state of the session is to be shown."""


class TerminalWanted(OfRow):
    """Posted by `t`: the terminal of the session is to be shown."""


class AnswerWanted(OfRow):
    """Posted by `A`: the permission prompt of the session is to be answered."""


class InterruptWanted(OfRow):
    """Posted by `I`: the turn of the session's agent is to be interrupted, after confirmation."""


class OfRows(Message):
    """A message about the marked sessions, or else the selected one."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__()
        self.rows = rows


class DeleteWanted(OfRows):
    """Posted by `d`: those that are recordings of our own are to be deleted after confirmation."""


class ExportWanted(OfRows):
    """Posted by `X`: the sessions are to be exported as files."""


class ArchiveWanted(OfRows):
    """Posted by `z`: the sessions are to be archived; archived ones are to be shown again."""


class Marked(Message):
    """Posted when other sessions are marked."""


class RenameWanted(OfRow):
    """Posted by ctrl+r: the session, if it is a recording of our own, is to get another name."""


class PromptWanted(OfRow):
    """Posted by `P`: the session is to be continued with a prompt."""


class RingToggled(OfRow):
    """Posted by `r`: the session is to ring, or not any more."""


class DemoWanted(Message):
    """Posted by enter on a machine without sessions: the bundled session is to be replayed."""


class Chosen(Message):
    """Posted when another session is selected. `row` is None for a line that is not a session."""

    def __init__(self, row: Row | None) -> None:
        super().__init__()
        self.row = row


class Requested(Message):
    """Posted after the list was asked for other sessions or another order."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


class ContentsWanted(Message):
    """Posted by enter in the search bar: the words are to be found in the contents of all sessions."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
