"""All statistics over the chosen sessions of the index."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from agentwatch.session_index.statistics.calls import CallFacts, call_facts
from agentwatch.session_index.statistics.chosen import Chosen, choose
from agentwatch.session_index.statistics.files import EditedFile, most_edited
from agentwatch.session_index.statistics.sums import SessionFacts, session_facts

MOST = 100
"""The length of each list of tools, commands and files."""


class Statistics(NamedTuple):
    """The statistics over the chosen sessions."""

    chosen: Chosen
    of_sessions: SessionFacts
    of_calls: CallFacts
    files: list[EditedFile]
    """The file with the most edits is first."""


def statistics(connection: sqlite3.Connection, chosen: Chosen) -> Statistics:
    """Return the statistics over sessions of an index that is up to date.

    Args:
        connection: The database.
        chosen: The sessions.

    Raises:
        sqlite3.Error: The database cannot be read.
    """
    choose(connection, chosen)
    return Statistics(
        chosen, session_facts(connection), call_facts(connection, MOST), most_edited(connection, MOST)
    )
