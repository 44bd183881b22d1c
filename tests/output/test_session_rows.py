"""A row of the list is one JSON object with the same keys for every session."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.state_report import State
from agentwatch.analysis import prices
from agentwatch.analysis.verdict_history import State as FinalState
from agentwatch.catalog import kept_prices
from agentwatch.catalog.digest.digest import LastTests
from agentwatch.catalog.session_status import Ground
from agentwatch.catalog.statistics import Spent
from agentwatch.catalog.statistics import estimated as estimated_of
from agentwatch.cli.schema import schema
from agentwatch.output.session_rows import row_json
from agentwatch.session.counts import Use
from agentwatch.session.events import Tokens
from agentwatch.session.limits import Reported
from tests.builders.machine.rows import NOW_MS, row
from tests.conftest import case
from tests.harness.schemas import check_json

KEYS = ["version", *schema("sessions")["$defs"]["row"]["properties"]]


def printed(**fields: Any) -> dict[str, Any]:
    """Return the object of a row with these fields."""
    line = row_json(row(**fields), "here")
    assert b"\n" not in line
    check_json("sessions", line)
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_session_without_a_cost_has_an_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prices that were found are kept for the next list; those of another price list are not used, nor is
    what is damaged.
    """
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path))
    uses = tuple((Use(name, 1_790_000_000_000, 0), Tokens(1_000_000)) for name in ("claude-opus-4-5", "none"))
    estimated = row(uses=uses)

    def estimate() -> float | None:
        kept_prices.load_kept.cache_clear()
        prices.looked_up.clear()
        return kept_prices.cost_of(estimated)

    assert printed(cost_usd=1.5, uses=uses)["cost_estimated_usd"] is None
    assert estimate() == printed(uses=uses)["cost_estimated_usd"] == 5
    kept_prices.keep()
    known = (tmp_path / "prices.json").read_bytes()
    with monkeypatch.context() as without:
        without.setattr(prices, "_asked", None)
        assert estimate() == 5
        kept_prices.load_kept.cache_clear()
        prices.looked_up.clear()
        assert estimated_of([Spent(1, "", "", use, 1, tokens) for use, tokens in uses]).cost_usd == 5
    for damaged in (
        b"",
        b"[]",
        b"{}",
        known[:-2],
        known.replace(b"5e-6", b"true"),
        known.replace(b'"none"', b"7"),
        known.replace(b"genai_prices", b"another"),
        known.replace(b'"prices":[', b'"prices":[7,[],[[]],[["a",1,2],[1.5]],'),
    ):
        with case(damaged[:200]):
            (tmp_path / "prices.json").write_bytes(damaged)
            (tmp_path / "prices.json").chmod(0o600)
            assert estimate() == 5
            kept_prices.keep()
            assert len(json.loads((tmp_path / "prices.json").read_bytes())["prices"]) >= 2


def test_a_price_of_a_time_outside_the_calendar_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent may write any number as a time; what the list keeps and prints stays right."""
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path))
    monkeypatch.setattr(prices, "looked_up", {})
    for at_ms in (-(1 << 63), (1 << 63) - 1, 1 << 60):
        assert kept_prices.cost_of(row(uses=((Use("claude-opus-4-5", at_ms, 0), Tokens(1_000_000)),))) == 5
    assert len(prices.looked_up) == 3
    kept_prices.keep()
    assert list(tmp_path.iterdir()) == []


def test_what_is_unknown_is_null() -> None:
    """Every session has every key, in one order; unknown values are null, never 0 or empty."""
    found = printed(state=State.UNKNOWN, ground=Ground.UNKNOWN, path=Path(), agent="", seen_ms=None)
    assert list(found) == KEYS
    known = {"version", "id", "state", "ground", "host"}
    assert {key for key, value in found.items() if value is not None} == known
    assert (found["state"], found["ground"], found["host"]) == ("unknown", "unknown", "here")
    # Each key has the value of the row.
    fields: dict[str, Any] = {
        "since_ms": NOW_MS,
        "now": "pytest -q",
        "title": "Fix it",
        "cwd": "/src/api",
        "repo": "api",
        "branch": "main",
        "model": "m-1",
        "calls": 31,
        "failed": 0,
        "rejected": 2,
        "context_used": 5,
        "context_size": 9,
        "pid": 4711,
        "began_ms": NOW_MS - 1,
        "seen_ms": NOW_MS,
        "host": "there",
        "agent": "codex",
    }
    found = printed(state=State.YOUR_TURN, ground=Ground.INFERRED, **fields)
    assert found["state"] == "your turn"
    assert found["ground"] == "inferred"
    assert {key: found[key] for key in fields} == fields
    assert found["path"] == "/home/u/.claude/projects/-src/0.jsonl"
    # A share is rounded down; what is unknown about a window is null.
    windows = (Reported("5h", 62.9, NOW_MS + 5, NOW_MS), Reported("7d opus", None, None, None))
    assert printed(limits=windows)["limits"] == [
        {"window": "5h", "used_percent": 62, "resets_ms": NOW_MS + 5, "said_ms": NOW_MS},
        {"window": "7d opus", "used_percent": None, "resets_ms": None, "said_ms": None},
    ]
    # A text is not changed, except for halves of surrogate pairs, which JSON does not have. A path with other
    # bytes has `?` for each of them. A count or a time that is no integer of 64 bits is unknown. The states
    # have the names of the interface. Their state is a word that the summary has too, beside the counts.
    for text, kept in TEXTS:
        with case(ascii(text)):
            assert printed(title=text, now=text, cwd=text)["title"] == kept
    assert printed(path=Path(os.fsdecode(b"/a/\xff.jsonl")))["path"] == "/a/?.jsonl"
    for number in [1 << 63, -(1 << 80), 1.5, float("nan"), True, [1]]:
        with case(number):
            found = printed(calls=number, seen_ms=number)
            assert (found["calls"], found["seen_ms"]) == (None, None)
    assert [*State] == [
        *("starting", "working", "asks", "limited", "quiet", "your turn", "shell", "turn failed"),
        *("succeeded", "failed", "cancelled", "unfinished", "unknown"),
    ]
    for tests, state in (
        (LastTests(False, 17, 0), FinalState.GREEN),
        (LastTests(True, 15, 2), FinalState.RED),
        (LastTests(False, 17, 0, is_stale=True), FinalState.CHANGED),
        (LastTests(True, 15, 2, is_stale=True), FinalState.RED),
    ):
        counts = {"passed": tests.passed, "failed": tests.failed}
        assert printed(tests=tests)["tests"] == {"state": state.value, **counts}


TEXTS: list[tuple[str, str | None]] = [
    ("\ud800x", "?x"),
    ("two\nlines\x00\x1b", "two\nlines\x00\x1b"),
    ("\u202e", "\u202e"),
    ("", None),
]
