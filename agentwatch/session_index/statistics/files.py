"""The files that the chosen sessions have changed most often."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from agentwatch.session_index.statistics.totals import whole

_QUERY = """
SELECT chosen.repository, file, count(*), count(DISTINCT chosen.id),
    CASE WHEN count(lines_added) THEN total(lines_added) END,
    CASE WHEN count(lines_removed) THEN total(lines_removed) END
FROM temp.chosen CROSS JOIN stored_edit ON stored_edit.session = chosen.id
GROUP BY 1, 2 ORDER BY 3 DESC, 4 DESC, 1, 2 LIMIT ?
"""


class EditedFile(NamedTuple):
    """A file that sessions have changed; None means unknown."""

    repository: str | None
    file: str
    """The path, relative to the folder of the repository or of its worktree."""
    edits: int
    sessions: int
    lines_added: float | None
    """A whole number. The sum of hostile numbers may be inexact."""
    lines_removed: float | None


def most_edited(connection: sqlite3.Connection, most: int) -> list[EditedFile]:
    """Return the files with the most edits, at most `most` of them."""
    found = connection.execute(_QUERY, (most,))
    return [
        EditedFile(repository, file, edits, sessions, whole(added), whole(removed))
        for repository, file, edits, sessions, added, removed in found
    ]
