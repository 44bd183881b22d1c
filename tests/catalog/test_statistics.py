"""The statistics over a machine whose sessions are known have their true values; unknown ones are None."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentwatch.catalog.statistics import (
    By,
    Chosen,
    Durations,
    EditedFile,
    Failures,
    Statistics,
    Sums,
    Verdicts,
    costs,
    names,
    statistics,
)
from tests.builders import claude_lines as claude
from tests.builders.screen.lines import BEGAN_MS
from tests.catalog.index.machines import Indexed, machine_of_truth
from tests.conftest import case


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    """The machine with known sessions, and its index, which is up to date."""
    found = machine_of_truth(tmp_path)
    found.update()
    return found


def found(indexed: Indexed, chosen: Chosen | None = None) -> Statistics:
    """Return the statistics over sessions of an index."""
    with closing(sqlite3.connect(indexed.path, isolation_level=None)) as connection:
        return statistics(connection, chosen or Chosen())


def test_what_all_sessions_took(indexed: Indexed) -> None:
    """Times, calls, tokens and cost are added; a subagent's time is not, and its calls are."""
    of_sessions = found(indexed).of_sessions
    assert of_sessions.sums == Sums(
        sessions=4,
        subagents=1,
        active_ms=5000 + 19_000 + 9000 + 3000,
        active_sessions=4,
        calls=8 + 6 + 2 + 2,
        failed=3 + 1 + 1,
        rejected=1,
        input_tokens=1300,
        cached_tokens=0,
        output_tokens=57,
        token_sessions=2,
        cost_usd=1.5,
        cost_sessions=1,
    )
    assert of_sessions.outcomes == {"succeeded": 2, "unfinished": 2}
    assert of_sessions.tests == {"unknown": 2, "green": 1, "red": 1}
    assert of_sessions.unreadable == 0


def test_the_statistics_of_agents_tools_commands_and_tests(indexed: Indexed) -> None:
    """Each agent and each repository has its own sums, in which an unknown cost is None. Those with a failed
    call and at least three calls are listed; the rate leaves out rejected calls. `shell` and `Bash` are
    one kind of call. The command with the longest median is the first. Runs are counted by tool, with the
    share of red ones.
    """
    of_sessions = found(indexed).of_sessions
    assert [*of_sessions.agents] == ["cursor", "claude"]
    assert [*of_sessions.repositories] == ["mill", "tidepool"]
    mill = of_sessions.repositories["mill"]
    assert mill == of_sessions.agents["cursor"]
    assert (mill.sessions, mill.calls, mill.failed, mill.cost_usd, mill.cost_sessions) == (2, 14, 4, None, 0)
    tidepool = of_sessions.repositories["tidepool"]
    assert (tidepool.sessions, tidepool.subagents, tidepool.cost_usd) == (2, 1, 1.5)
    of_calls = found(indexed).of_calls
    assert of_calls.tools == [Failures("execute", 11, 4, 1, 4 / 10), Failures("edit", 6, 1, 0, 1 / 6)]
    assert of_calls.commands == [Failures("pytest", 4, 3, 0, 3 / 4)]
    assert found(indexed).of_calls.slowest == [
        Durations("sleep", 3, 3000, 9000, 13_000),
        Durations("pytest", 4, 10, 10, 40),
    ]
    assert found(indexed).of_calls.verdicts == [Verdicts("pytest", 4, 3, 1, 0, 3 / 4)]


def test_the_statistics_of_files_and_chosen_sessions(indexed: Indexed) -> None:
    """The file with the most edits is the first; edits that failed do not count. Agents and a repository
    choose sessions, in any case of the letters. A session whose last line came at the very time counts, as
    a whole; one that ended before does not. The agents and the repositories of all sessions are known by
    name.
    """
    assert found(indexed).files == [
        EditedFile("mill", "src/mill.py", 4, 2, 16, 8),
        EditedFile("mill", "src/wheel.py", 1, 1, 4, 2),
    ]
    cases: list[tuple[Chosen, int]] = [
        (Chosen(), 4),
        (Chosen(agents=frozenset({"claude"})), 2),
        (Chosen(agents=frozenset({"claude", "cursor"})), 4),
        (Chosen(repository="TidePool"), 2),
        (Chosen(agents=frozenset({"cursor"}), repository="tidepool"), 0),
    ]
    for chosen, sessions in cases:
        with case(chosen):
            of_sessions = found(indexed, chosen).of_sessions
            assert of_sessions.sums.sessions == sessions
            assert sum(sums.sessions for sums in of_sessions.agents.values()) == sessions
    last_ms = int(datetime(2026, 11, 1, 12, 0, 3, tzinfo=UTC).timestamp() * 1000)
    agents = frozenset({"claude"})
    kept = "SELECT seen_ms FROM session WHERE NOT is_recording ORDER BY 1"
    assert indexed.rows(kept) == [(last_ms - 1000,), (last_ms,)]
    assert found(indexed, Chosen(agents, "", last_ms)).of_sessions.sums.sessions == 2
    assert found(indexed, Chosen(agents, "", last_ms)).of_sessions.sums.subagents == 0
    assert found(indexed, Chosen(agents, "", last_ms + 1)).of_sessions.sums.sessions == 1
    assert found(indexed, Chosen(since_ms=BEGAN_MS * 2)).of_sessions.sums == Sums()
    with closing(sqlite3.connect(indexed.path)) as connection:
        assert names(connection, "agent") == ["claude", "cursor"]
        assert names(connection, "repository") == ["mill", "tidepool"]


def test_hostile_numbers_are_added(indexed: Indexed) -> None:
    """Numbers whose sum no integer of SQLite can hold are added as floats."""
    most = (1 << 63) - 1
    with closing(sqlite3.connect(indexed.path)) as connection:
        connection.execute("UPDATE stored_session SET input_tokens = ?, active_ms = ?", (most, most))
        connection.execute("UPDATE stored_call SET duration_ms = ?", (most,))
        connection.execute("UPDATE stored_edit SET lines_added = ?", (most,))
        connection.commit()
    values = found(indexed)
    assert values.of_sessions.sums.input_tokens == float(most * 5)
    assert values.of_sessions.sums.active_ms == float(most * 4)
    assert values.of_calls.slowest[0].total_ms == float(most * 4)
    assert values.files[0].lines_added == float(most * 4)


def test_costs_by_day_model_repository_and_agent(tmp_path: Path) -> None:
    """The rows of each kind add up to the sums of all sessions. What the agents report is apart from what the
    price list asks for the rest. A copied request counts in one session. A day is one of local time."""
    indexed = machine_of_truth(tmp_path)
    projects = indexed.machine.home / ".claude/projects/-home-ada-tidepool"
    answers = []
    for number, model in enumerate(("claude-opus-4-5", "claude-opus-4-5", "claude-sonnet-4-5", "odd")):
        at = datetime(2026, 11, 1 + number // 2, 12).astimezone(UTC)
        said = claude.say("x", message_id=f"m-{number}", model=model, usage={"output_tokens": 10**6})
        answers.append(said | {"cwd": claude.CWD, "timestamp": at.isoformat(), "requestId": f"r-{number}"})
    for letter, chosen in (("a", answers), ("b", answers[:1])):
        name = f"{letter * 8}-2222-4333-8444-555555555555"
        lines = (line | {"sessionId": name} for line in chosen)
        (projects / f"{name}.jsonl").write_bytes(claude.written(*lines))
    indexed.update()
    everything = found(indexed)
    sums = everything.of_sessions.sums
    assert (sums.output_tokens, sums.cost_usd) == (4_000_057, 1.5)
    assert sums.cost_estimated_usd is not None
    for by in By:
        with case(by):
            rows = costs(everything.spent, by)
            assert sum(row.output_tokens or 0 for row in rows) == sums.output_tokens
            assert sum(row.input_tokens or 0 for row in rows) == sums.input_tokens
            assert sum(row.cost_usd or 0 for row in rows) == sums.cost_usd
            assert sum(row.cost_estimated_usd or 0 for row in rows) == pytest.approx(sums.cost_estimated_usd)
    models = {row.name: row for row in costs(everything.spent, By.MODEL)}
    assert (models["claude-opus-4-5"].cost_estimated_usd, models["claude-sonnet-4-5"].cost_estimated_usd) == (
        50,
        15,
    )
    assert (models["odd"].cost_estimated_usd, models["odd"].unpriced) == (None, ["odd"])
    by_day = [(row.name, row.output_tokens) for row in costs(everything.spent, By.DAY)]
    assert by_day[:2] == [("2026-11-02", 2_000_000), ("2026-11-01", 2_000_000)]
