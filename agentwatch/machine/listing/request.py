"""What the user wants to see of the list: a filter, a search, an order."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from agentwatch.machine.listing.row_filter import Matches
from agentwatch.machine.row import Row


class Sort(StrEnum):
    """The order of the list."""

    STATE = "state"
    """In groups: what needs the user first."""
    AGE = "age"
    """By the time at which a session began, the newest first."""
    REPOSITORY = "repository"


class Request(NamedTuple):
    """What is to be shown."""

    filter: str = ""
    """The words of the filter: a rule about rows."""
    sort: Sort = Sort.STATE
    shows_hidden: bool = False
    search: str = ""
    """Words that all must occur in the title or in a prompt; hidden sessions are searched too."""


def row_search(text: str) -> Matches | None:
    """Return a predicate for the words of a search in titles and prompts; None if there are no words.

    Args:
        text: The words; all must occur.
    """
    words = text.lower().split()

    def matches(row: Row) -> bool:
        searched = f"{row.title}\n{row.prompts}".lower()
        return all(word in searched for word in words)

    return matches if words else None
