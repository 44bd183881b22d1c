"""Selects the sessions of the index that the statistics are about."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class Chosen(NamedTuple):
    """The sessions that the statistics are about; an empty field chooses all."""

    agents: frozenset[str] = frozenset()
    """The short names of agents, in lower case."""
    repository: str = ""
    """The name of a repository, in any case."""
    since_ms: int | None = None
    """Sessions with activity since this time count, each as a whole; in milliseconds since the epoch."""


class Names(NamedTuple):
    """The names that the sessions of an index have."""

    agents: list[str]
    repositories: list[str]


def names(connection: sqlite3.Connection) -> Names:
    """Return the agents and the repositories of all sessions of an index, in order."""
    agents = connection.execute("SELECT DISTINCT agent FROM session ORDER BY 1")
    repositories = connection.execute(
        "SELECT DISTINCT repository FROM session WHERE repository IS NOT NULL ORDER BY 1"
    )
    return Names([name for [name] in agents], [name for [name] in repositories])


def choose(connection: sqlite3.Connection, chosen: Chosen) -> None:
    """Write the ids of the chosen sessions to the temporary table `chosen`."""
    connection.execute("DROP TABLE IF EXISTS temp.chosen")
    connection.execute("CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY, repository TEXT)")
    found = connection.execute("SELECT id, agent, repository, seen_ms FROM session")
    repository = chosen.repository.casefold()
    rows = [
        (key, name)
        for key, agent, name, seen_ms in found
        if (not chosen.agents or agent.casefold() in chosen.agents)
        and (not repository or (name or "").casefold() == repository)
        and (chosen.since_ms is None or (seen_ms is not None and seen_ms >= chosen.since_ms))
    ]
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO temp.chosen VALUES (?, ?)", rows)
    connection.execute("COMMIT")
