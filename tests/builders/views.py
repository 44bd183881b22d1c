"""The numbers of a session as each view gives them to its user."""

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

from agentwatch import summary
from agentwatch.agents.session_entry import Key, Reach, SessionEntry
from agentwatch.analysis.prices import estimate
from agentwatch.analysis.status import figures
from agentwatch.base.clock import now_ms
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.index import SessionIndex, update
from agentwatch.catalog.index_schema import path_of
from agentwatch.catalog.places import Places
from agentwatch.catalog.statistics import Chosen, choose, spending
from agentwatch.output.export import atif
from agentwatch.output.export.exporters import Choices
from agentwatch.output.export.html.page import header
from agentwatch.output.session_rows import row_json
from agentwatch.session.counts import known_sum
from agentwatch.session.events import Outcome, Tokens
from agentwatch.text.amounts import about_dollars
from agentwatch.text.durations import duration_words
from agentwatch.text.signs import SIGNS
from tests.builders.exports.opened import RAW, opened

Numbers = dict[str, Any]
OUTCOMES = ("failed", "rejected", "cancelled")
TOKENS = {
    "input_tokens": "input",
    "cached_tokens": "cached",
    "output_tokens": "output",
    "cost_usd": "cost_usd",
}
ESTIMATE = "cost_estimated_usd"
"""What the list, the statistics, the summary and the page say where the agent reports no cost."""
COUNTS = ("calls", *OUTCOMES, *TOKENS.values(), "turns")
"""What every view says about a session; `duration_ms` too, but the index has only the active time."""


def views(home: Path) -> dict[Key, dict[str, Numbers]]:
    """Return what the list, the index, the summary, ATIF and the page say about each session of a machine.

    Unknown numbers are left out. The page says words.
    """
    environ = {"HOME": str(home), "AGENTWATCH_HOME": str(home / ".agentwatch")}
    places = Places(environ, home, os.geteuid())
    found = {each.key: each for batch in places.first() for each in batch if each.reach is not Reach.LISTED}
    machine = Machine(environ, home)
    machine.wants_all = True
    machine.settle_surely(now_ms)
    with closing(SessionIndex(home.parent / "index" / "index.db", "1.0")) as opened_index:
        update(opened_index, list(found.values()))
        opened_index.connection.row_factory = sqlite3.Row
        stored = {row["path"]: row for row in opened_index.connection.execute("SELECT * FROM session")}
        choose(opened_index.connection, Chosen())
        spent = spending(opened_index.connection)
    said: dict[Key, dict[str, Numbers]] = {}
    for key, each in found.items():
        family = [stored[path] for path in map(path_of, _family(found, each)) if path in stored]
        row = json.loads(row_json(machine.rows[key], "here")) if key in machine.rows else {}
        if not family or not row or family[0]["format"] is None:
            continue  # a recording of our own is shown in its place, or no known agent wrote it
        index, members = _of_index(family), {row["id"] for row in family}
        if index["cost_usd"] is None:
            used = [(each.use, each.tokens) for each in spent if each.session in members]
            index[ESTIMATE] = estimate(used).cost_usd
        said[key] = {"list": _known(_of_row(row)), "index": _known(index), **read(each.path)}
    return said


def read(path: Path) -> dict[str, Numbers]:
    """Return what the summary, ATIF and the page say about a session."""
    members: Numbers = {**summary(path)}
    with opened(path, RAW) as exported:
        document = json.loads(b"".join(atif.EXPORTER.write(exported, Choices())))
        page = header(exported)
    metrics, about = document["final_metrics"], document["extra"]
    names = {"prompt": "input", "cached": "cached", "completion": "output"}
    steps = {name: metrics.get(f"total_{theirs}_tokens") for theirs, name in names.items()}
    by_atif = {**_by_outcome(about["calls_by_outcome"]), **steps, "cost_usd": metrics.get("total_cost_usd")}
    tokens = {name: members["tokens"][name] for name in TOKENS.values()}
    by_summary = {**_by_outcome(members["calls_by_outcome"]), **tokens}
    last = {name: members[name] for name in ("turns", "duration_ms", ESTIMATE)}
    return {
        "summary": _known({**by_summary, **last}),
        "ATIF": _known({**by_atif, "turns": about["turns"], "duration_ms": about.get("duration_ms")}),
        "page": {"words": [*map(unescape, re.findall(r"<(?:li|span|strong)[^>]*>([^<]+)<", page))]},
    }


def differing(said: Mapping[str, Numbers]) -> list[str]:
    """Return which views differ from the summary, and in what: `list: calls 2, not 3`."""
    truth = said["summary"]
    found = [
        f"{view}: {name} {numbers[name]}, not {truth.get(name)}"
        for view, numbers in said.items()
        for name in (*COUNTS, "duration_ms", ESTIMATE)
        if name in numbers and not _equals(numbers[name], truth.get(name))
    ]
    found += [
        f"{view}: no {name}, not {truth[name]}"
        for view in ("index", "ATIF")
        for name in COUNTS
        if name in truth and name not in said.get(view, truth)
    ]
    known = [view for view in ("list", "index") if ESTIMATE in truth and "calls" in said.get(view, ())]
    found += [f"{view}: no {ESTIMATE}" for view in known if ESTIMATE not in said[view]]
    words = said["page"]["words"]
    took = duration_words(truth["duration_ms"]) if "duration_ms" in truth else ""
    found += [f"page: no “{each}” in {words}" for each in _words(truth) if each not in words]
    return found if words[0].endswith(took) else [*found, f"page: {words[0]}, not {took}"]


def _equals(one: float, other: float | None) -> bool:
    return other is not None and abs(one - other) < 1e-9 * max(abs(one), 1)


def _words(numbers: Numbers) -> Iterator[str]:
    """Yield the words that the page has for numbers."""
    yield f"{numbers['calls']:,} call" + ("" if numbers["calls"] == 1 else "s")
    yield from (f"{SIGNS[Outcome(name)]} {numbers[name]} {name}" for name in OUTCOMES if numbers[name])
    yield from figures(Tokens(**{name: numbers.get(name) for name in TOKENS.values()}))
    yield from (about_dollars(numbers[name]) for name in (ESTIMATE,) if name in numbers)
    if numbers["turns"] > 1:
        yield f"turn {numbers['turns']:,}"


def _by_outcome(counts: Mapping[str, int]) -> Numbers:
    return {"calls": sum(counts.values())} | {name: counts.get(name, 0) for name in OUTCOMES}


def _of_row(row: Numbers) -> Numbers:
    counts = {name: row[name] for name in ("calls", *OUTCOMES, "turns")}
    duration = {} if row["calls"] is None else {"duration_ms": row["duration_ms"]}
    tokens = {name: row[column] for column, name in TOKENS.items()}
    return {**counts, **tokens, **duration, ESTIMATE: row[ESTIMATE]}


def _of_index(family: list[sqlite3.Row]) -> Numbers:
    """Return the sums over a session and its subagents; turns are those of the session."""
    sums = {name: known_sum(row[name] for row in family) for name in ("calls", *OUTCOMES)}
    tokens = {name: known_sum(row[column] for row in family) for column, name in TOKENS.items()}
    return {**sums, **tokens, "turns": family[0]["turns"]}


def _family(found: Mapping[Key, SessionEntry], session: SessionEntry) -> Iterator[SessionEntry]:
    yield session
    for each in found.values():
        if (each.agent, each.parent) == session.key:
            yield from _family(found, each)


def _known(numbers: Numbers) -> Numbers:
    return {name: number for name, number in numbers.items() if number is not None}
