"""The type of an ADDRESS on the command line, which completes files and the ids of sessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_MOST_OFFERED = 100


class AddressType(click.Path):
    """A path, or the id of a session; the words are checked when the session is opened."""

    def __init__(self) -> None:
        super().__init__(path_type=str)

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete files; if no file begins with the words, the ids of sessions of any agent."""
        from glob import escape

        from click.shell_completion import CompletionItem

        files = CompletionItem(incomplete, type="file")
        path = Path(incomplete or ".")
        if not incomplete or "/" in incomplete or any(path.parent.glob(f"{escape(path.name)}*")):
            return [files]
        from agentwatch.machine.places.session_ids import SessionIds

        # click's script for bash drops the words that precede a file entry, so the file entry comes first.
        return [files, *map(CompletionItem, SessionIds().beginning_with(incomplete)[:_MOST_OFFERED])]
