"""Statistics over chosen sessions of the index: time, calls, tokens, cost, failures, verdicts, edited files.

A number that is unknown in a part of the sessions is not shown as if it was known in all.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from statistics import median
from typing import Any, NamedTuple

from agentwatch.analysis.prices import Estimate, estimate
from agentwatch.catalog.kept_prices import load_kept
from agentwatch.session.counts import Use, known_sum
from agentwatch.session.events import Outcome, Tokens, ToolKind
from agentwatch.text.times import local

_MOST_EXACT = 1 << 53
"""A greater sum is returned as a float, as other programs read it from JSON."""


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; None if no value is known."""
    found = known_sum(values)
    return found if found is None or abs(found) <= _MOST_EXACT else float(found)


def whole(number: float | None) -> float | None:
    """Return a sum that SQLite has calculated with floats as an integer, if it is exact."""
    return number if number is None or abs(number) > _MOST_EXACT else int(number)


LEAST = 3
"""Tools and commands with fewer calls are left out: their rates would mean little."""
_CALLS = (
    "FROM temp.chosen CROSS JOIN stored_call ON stored_call.session = chosen.id AND NOT stored_call.is_copy"
)
"""Reads the calls session by session, in the order in which they are stored."""
_COUNTED = f"""
SELECT CASE WHEN kind IN ('{ToolKind.MCP}', '{ToolKind.OTHER}') THEN tool ELSE kind END, command, outcome
{_CALLS}
"""
"""`shell`, `Bash` and `exec_command` are one kind of call; other tools count by their names."""
_TIMED = (
    f"SELECT command, duration_ms {_CALLS} "
    "WHERE command IS NOT NULL AND duration_ms IS NOT NULL AND outcome <> ?"
)
_JUDGED = f"SELECT verdict_tool, verdict, count(*) {_CALLS} WHERE verdict IS NOT NULL GROUP BY 1, 2"


class Failures(NamedTuple):
    name: str
    calls: int
    failed: int
    rejected: int
    rate: float
    """The share of failed calls among those that succeeded or failed."""


class Durations(NamedTuple):
    """The durations of the calls of a command, by the agent's clock, in milliseconds."""

    name: str
    calls: int
    median_ms: float
    max_ms: int
    total_ms: float


class Verdicts(NamedTuple):
    """The verdicts of one tool: a test runner, a linter or a build."""

    tool: str
    runs: int
    red: int
    green: int
    nothing: int
    red_share: float | None
    """The share of red runs among the red and green ones; None if there is none."""


class CallFacts(NamedTuple):
    tools: list[Failures]
    """Failures by the kind of call, or the name of an MCP or other tool; most failed first."""
    commands: list[Failures]
    slowest: list[Durations]
    verdicts: list[Verdicts]


def call_facts(connection: sqlite3.Connection, most: int) -> CallFacts:
    counted = Counter(connection.execute(_COUNTED))
    tools: dict[str, Counter[str]] = {}
    commands: dict[str, Counter[str]] = {}
    for (tool, command, outcome), calls in counted.items():
        tools.setdefault(tool, Counter())[outcome] += calls
        if command is not None:
            commands.setdefault(command, Counter())[outcome] += calls
    return CallFacts(
        _failures(tools)[:most],
        _failures(commands)[:most],
        _slowest(connection.execute(_TIMED, (Outcome.REJECTED,)))[:most],
        _verdicts(connection.execute(_JUDGED))[:most],
    )


def _failures(found: dict[str, Counter[str]]) -> list[Failures]:
    rows = []
    for name, outcomes in found.items():
        failed, calls = outcomes[Outcome.FAILED], outcomes.total()
        if failed and calls >= LEAST:
            rate = failed / (failed + outcomes[Outcome.SUCCEEDED])
            rows.append(Failures(name, calls, failed, outcomes[Outcome.REJECTED], rate))
    return sorted(rows, key=lambda row: (-row.failed, row.calls, row.name))


def _slowest(found: Iterable[tuple[str, int]]) -> list[Durations]:
    durations: dict[str, array[int]] = {}
    for command, duration_ms in found:
        if (of_command := durations.get(command)) is None:
            of_command = durations[command] = array("q")
        of_command.append(duration_ms)
    rows = [
        Durations(name, len(each), median(each), max(each), total(each) or 0)
        for name, each in durations.items()
        if len(each) >= LEAST
    ]
    return sorted(rows, key=lambda row: (-row.median_ms, -row.total_ms, row.name))


def _verdicts(found: Iterable[tuple[str, str, int]]) -> list[Verdicts]:
    tools: dict[str, Counter[str]] = {}
    for tool, verdict, runs in found:
        tools.setdefault(tool, Counter())[verdict] += runs
    rows = []
    for tool, counts in tools.items():
        red, green = counts["red"], counts["green"]
        share = red / (red + green) if red + green else None
        rows.append(Verdicts(tool, counts.total(), red, green, counts["none"], share))
    return sorted(rows, key=lambda row: (-row.runs, row.tool))


class Chosen(NamedTuple):
    """An empty field chooses all."""

    agents: frozenset[str] = frozenset()
    """The agents in lower case."""
    repository: str = ""
    """The name of the repository, in any case."""
    since_ms: int | None = None
    """Sessions with activity since then count, each as a whole."""


def names(connection: sqlite3.Connection, column: str) -> list[str]:
    """The values of a column over all sessions of an index, such as the agents, in order."""
    found = connection.execute(f"SELECT DISTINCT {column} FROM session WHERE {column} IS NOT NULL ORDER BY 1")  # noqa: S608 - constants
    return [name for [name] in found]


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
    connection.executemany("INSERT INTO temp.chosen VALUES (?, ?)", rows)


_QUERY = """
SELECT chosen.repository, file, count(*), count(DISTINCT chosen.id),
    CASE WHEN count(stored_edit.lines_added) THEN total(stored_edit.lines_added) END,
    CASE WHEN count(stored_edit.lines_removed) THEN total(stored_edit.lines_removed) END
FROM temp.chosen CROSS JOIN stored_edit ON stored_edit.session = chosen.id
JOIN stored_call USING (session, number) WHERE NOT is_copy
GROUP BY 1, 2 ORDER BY 3 DESC, 4 DESC, 1, 2 LIMIT ?
"""


class EditedFile(NamedTuple):
    """None means unknown."""

    repository: str | None
    file: str
    """Relative to the folder of the repository or of its worktree."""
    edits: int
    sessions: int
    lines_added: float | None
    """A whole number. The sum of hostile numbers may be inexact."""
    lines_removed: float | None


def most_edited(connection: sqlite3.Connection, most: int) -> list[EditedFile]:
    found = connection.execute(_QUERY, (most,))
    return [
        EditedFile(repository, file, edits, sessions, whole(added), whole(removed))
        for repository, file, edits, sessions, added, removed in found
    ]


_COUNTS = {
    "input": "input_tokens",
    "cached": "cached_tokens",
    "output": "output_tokens",
    "cost_usd": "cost_usd",
    "written": "written_tokens",
    "written_1h": "written_1h_tokens",
}
_SPENT = f"""
SELECT chosen.id, stored_session.agent, chosen.repository, coalesce(used.model, stored_session.model),
    used.at_ms, used.size, stored_session.cost_usd IS NULL AND parent.id IS NULL,
    {", ".join(f"CASE WHEN count(used.{name}) THEN total(used.{name}) END" for name in _COUNTS.values())}
FROM temp.chosen CROSS JOIN stored_request AS used ON used.session = chosen.id AND NOT used.is_copy
JOIN stored_session ON stored_session.id = chosen.id
LEFT JOIN stored_session AS parent ON parent.agent = stored_session.agent
    AND parent.session_id = stored_session.parent AND parent.cost_usd IS NOT NULL AND NOT parent.is_duplicate
GROUP BY stored_session.path, 4, 5, 6
"""  # noqa: S608 - constants
"""The tokens of each session that cost alike. A cost that the agent reports has the cost of its subagents."""


class Spent(NamedTuple):
    session: int
    agent: str
    repository: str | None
    use: Use
    has_no_cost: int
    """Whether the agent reports no cost, so that it is estimated."""
    tokens: Tokens


def spending(connection: sqlite3.Connection) -> list[Spent]:
    """Leave out the tokens that a copy repeats."""
    found = []
    for session, agent, repository, model, at_ms, size, has_no_cost, *counts in connection.execute(_SPENT):
        tokens = Tokens(**dict(zip(_COUNTS, counts, strict=True)))
        found.append(Spent(session, agent, repository, Use(model, at_ms, size), has_no_cost, tokens))
    return found


def estimated(spent: Iterable[Spent]) -> Estimate:
    load_kept()
    return estimate((each.use, each.tokens) for each in spent if each.has_no_cost)


class By(StrEnum):
    DAY = "day"
    MODEL = "model"
    REPO = "repo"
    AGENT = "agent"


class Cost(NamedTuple):
    """None means unknown."""

    name: str | None
    sessions: int
    """Subagents that are sessions of their own are counted too."""
    input_tokens: float | None
    cached_tokens: float | None
    output_tokens: float | None
    cost_usd: float | None
    """What the agents report."""
    cost_estimated_usd: float | None
    """What the rest costs by the price list."""
    unpriced: list[str]
    """The models that the price list does not have."""


def costs(spent: Iterable[Spent], by: By) -> list[Cost]:
    """Return the costs by day, the newest first, or else by name, the greatest first."""
    groups: dict[str | None, list[Spent]] = {}
    for each in spent:
        groups.setdefault(_name(each, by), []).append(each)
    rows = [_cost(name, group) for name, group in groups.items()]
    if by is By.DAY:
        return sorted(rows, key=lambda row: row.name or "", reverse=True)
    return sorted(
        rows,
        key=lambda row: (
            -(row.cost_usd or 0) - (row.cost_estimated_usd or 0),
            -(row.input_tokens or 0) - (row.output_tokens or 0),
            row.name or "",
        ),
    )


def _name(spent: Spent, by: By) -> str | None:
    if by is By.DAY:
        at = local(spent.use.at_ms)
        return None if at is None else at.date().isoformat()
    return {By.MODEL: spent.use.model, By.REPO: spent.repository, By.AGENT: spent.agent}[by]


def _cost(name: str | None, spent: list[Spent]) -> Cost:
    tokens = [each.tokens for each in spent]
    found = estimated(spent)
    return Cost(
        name,
        len({each.session for each in spent}),
        total(each.input for each in tokens),
        total(each.cached for each in tokens),
        total(each.output for each in tokens),
        total(each.cost_usd for each in tokens),
        found.cost_usd,
        sorted(found.unpriced),
    )


_SESSIONS_QUERY = """
SELECT id, agent, session.repository, parent IS NOT NULL AS is_subagent, outcome, tests,
    problem IS NOT NULL AS is_unreadable, active_ms, calls, failed, rejected,
    input_tokens, cached_tokens, output_tokens, cost_usd
FROM session JOIN temp.chosen USING (id) ORDER BY path
"""
"""Sums of floats depend on their order, and that in which sessions were read is not always the same."""


class Sums(NamedTuple):
    """The sums over several sessions; None means unknown. A subagent with a file of its own is counted apart.
    Its time is part of its parent's and is not added; its calls, tokens and cost are."""

    sessions: int = 0
    """The number of sessions, not counting subagents."""
    subagents: int = 0
    active_ms: float | None = None
    active_sessions: int = 0
    """The number of `sessions` whose active time is known."""
    calls: int = 0
    failed: int = 0
    rejected: int = 0
    input_tokens: float | None = None
    cached_tokens: float | None = None
    output_tokens: float | None = None
    token_sessions: int = 0
    """The number of `sessions` whose tokens are known."""
    cost_usd: float | None = None
    cost_sessions: int = 0
    """The number of `sessions` whose cost is known."""
    cost_estimated_usd: float | None = None
    """What the sessions without a known cost cost by the price list."""


class SessionFacts(NamedTuple):
    """The sums of all chosen sessions, and those of each agent and each repository."""

    sums: Sums
    outcomes: dict[str, int]
    """The number of sessions by the outcome of their last run; those of subagents are left out."""
    tests: dict[str, int]
    """The number of sessions by the state of their tests at the end; those of subagents are left out."""
    unreadable: int
    agents: dict[str, Sums]
    """The agent with the most sessions is first."""
    repositories: dict[str | None, Sums]
    """The name None is that of sessions whose folder is unknown."""


def session_facts(connection: sqlite3.Connection, spent: Iterable[Spent]) -> SessionFacts:
    """Return the sums over the chosen sessions, which have used `spent`."""
    used: dict[int, list[Spent]] = {}
    for each in spent:
        used.setdefault(each.session, []).append(each)
    estimates = {session: estimated(group).cost_usd for session, group in used.items()}
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    rows = cursor.execute(_SESSIONS_QUERY).fetchall()
    mains = [row for row in rows if not row["is_subagent"]]
    return SessionFacts(
        _sums(rows, estimates),
        _counted(row["outcome"] for row in mains),
        _counted(row["tests"] for row in mains),
        sum(row["is_unreadable"] for row in rows),
        _by(rows, estimates, "agent"),
        _by(rows, estimates, "repository"),
    )


def _counted(names: Iterable[str | None]) -> dict[str, int]:
    found = Counter(name or "unknown" for name in names)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _by(rows: list[sqlite3.Row], estimates: Mapping[int, float | None], column: str) -> dict[Any, Sums]:
    groups: dict[Any, list[sqlite3.Row]] = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    found = {name: _sums(group, estimates) for name, group in groups.items()}
    return dict(sorted(found.items(), key=lambda item: (-item[1].sessions, -item[1].calls, item[0] or "")))


def _sums(rows: list[sqlite3.Row], estimates: Mapping[int, float | None]) -> Sums:
    mains = [row for row in rows if not row["is_subagent"]]
    active = [row["active_ms"] for row in mains if row["active_ms"] is not None]
    return Sums(
        sessions=len(mains),
        subagents=len(rows) - len(mains),
        active_ms=total(active),
        active_sessions=len(active),
        **{name: sum(row[name] for row in rows) for name in ("calls", "failed", "rejected")},
        input_tokens=total(row["input_tokens"] for row in rows),
        cached_tokens=total(row["cached_tokens"] for row in rows),
        output_tokens=total(row["output_tokens"] for row in rows),
        cost_usd=total(row["cost_usd"] for row in rows),
        token_sessions=sum((row["input_tokens"], row["output_tokens"]) != (None, None) for row in mains),
        cost_sessions=sum(row["cost_usd"] is not None for row in mains),
        cost_estimated_usd=total(estimates.get(row["id"]) for row in rows),
    )


MOST = 100
"""The length of each list of tools, commands and files."""


class Statistics(NamedTuple):
    """The statistics over the chosen sessions."""

    chosen: Chosen
    of_sessions: SessionFacts
    of_calls: CallFacts
    files: list[EditedFile]
    """The file with the most edits is first."""
    spent: list[Spent]


def statistics(connection: sqlite3.Connection, chosen: Chosen) -> Statistics:
    """Return the statistics over sessions of an index that is up to date. Raise `sqlite3.Error` if the
    database cannot be read."""
    choose(connection, chosen)
    spent = spending(connection)
    facts = session_facts(connection, spent)
    return Statistics(chosen, facts, call_facts(connection, MOST), most_edited(connection, MOST), spent)
