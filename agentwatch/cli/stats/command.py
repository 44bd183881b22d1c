"""Prints statistics over the sessions of this machine, as a report, as JSON or as CSV."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from agentwatch.cli.sessions.up_to_date import with_index
from agentwatch.cli.stats.records import csv_lines, json_record
from agentwatch.cli.stats.report import report
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.faults import USAGE, Fault
from agentwatch.rules.language.errors import nearest
from agentwatch.safe_json import safe_json
from agentwatch.session_index.statistics import Chosen, Statistics, names, statistics

if TYPE_CHECKING:
    from agentwatch.session_index.index import SessionIndex
    from agentwatch.session_index.updating import Updated

_OWN = "agentwatch"
"""The agent of agentwatch's recordings in the list of sessions. In the index they have the recorded agent."""
_WIDTH = 80
"""The width of a report that is not printed on a terminal."""
_MOST_NAMED = 12


def print_statistics(chosen: Chosen, output_format: str) -> int:
    """Read new and changed sessions into the index, and print the statistics over the chosen sessions.

    Args:
        chosen: The sessions.
        output_format: `text`, `json` or `csv`.

    Returns:
        The exit code: 0 without any session too.

    Raises:
        Fault: No session has such an agent or such a repository, or the index cannot be used.
    """

    def use(index: SessionIndex, _done: Updated) -> Statistics:
        known = names(index.connection)
        for agent in sorted(chosen.agents):
            _check("--agent", agent, sorted({*known.agents} - {_OWN}))
        if chosen.repository:
            _check("--repo", chosen.repository, known.repositories)
        return statistics(index.connection, chosen)

    found = with_index("stats", use)
    if output_format == "json":
        data = orjson.dumps(json_record(found))
        return print_json([safe_json(data) if os.isatty(1) else data])
    if output_format == "csv":
        return print_lines(csv_lines(found))
    width = shutil.get_terminal_size((_WIDTH, 0)).columns if os.isatty(1) else _WIDTH
    return print_lines(report(found, width))


def _check(option: str, name: str, known: Sequence[str]) -> None:
    """Check that a name is known, in any case.

    Raises:
        Fault: It is not.
    """
    folded = {each.casefold(): each for each in known}
    if name.casefold() in folded:
        return
    near = nearest(name, folded)
    more = " …" if len(known) > _MOST_NAMED else ""
    hint = f"; known: {', '.join(known[:_MOST_NAMED])}{more}" if known else ""
    hint = f"; did you mean {folded[near]}?" if near else hint
    raise Fault(f"{option}: no session has {name!r}{hint}", USAGE)
