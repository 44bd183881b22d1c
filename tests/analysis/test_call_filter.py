"""The words of a filter select the calls of an agent too."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.analysis.call_filter import call_filter, offered_agents
from agentwatch.session import Place, Session
from tests.builders.made_agent import MadeSession
from tests.builders.screen.app import lines_of, opened
from tests.builders.subagents import TWO_SUBAGENTS, begins


def made() -> Session:
    """Return the session with two subagents, and a call of a subagent whose own call is not recorded."""
    read = Session()
    for event in [*TWO_SUBAGENTS, begins("x1", "Bash", "make", "gone")]:
        read.apply([event], Place(0, 1, None))
    return read


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("agent:main", [1, 2]),
        ("agent:#1", [3, 5]),
        ("agent:#2", [4]),
        ("AGENT:Callers", [3, 5]),
        ("agent:task grep", [5]),
        ("agent:wire failed", [4]),
        ("agent:", [1, 2, 3, 4, 5, 6]),
        ("agent:ma", [1, 2]),
        ("agent:#3", []),
        ("agent:callers agent:wire", []),
    ],
)
def test_a_filter_names_an_agent(words: str, numbers: list[int]) -> None:
    """`agent:` takes `main`, the number of the call that started the subagent, or a word of that call."""
    calls = made().calls
    matches = call_filter(words, calls)
    assert matches is not None
    assert [call.number for call in calls if matches(call)] == numbers


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("read", None),
        ("agent:", "agent:main · #1 Find the callers · #2 Check the wire"),
        ("failed agent:#2", "agent:#2 Check the wire"),
        ("agent:find", "agent:#1 Find the callers"),
        ("agent:nobody", "no such agent"),
    ],
)
def test_how_the_name_of_an_agent_can_go_on_is_offered(text: str, offered: str | None) -> None:
    """While an agent is being named, the bar lists those that match."""
    calls = made().calls
    assert offered_agents(text, lambda: calls[:2]) == offered


def test_many_agents_are_counted() -> None:
    """At most five subagents are listed."""
    calls = [made().calls[0]] * 7
    offered = offered_agents("agent:find", lambda: calls)
    assert offered is not None
    assert offered.endswith(" · 2 more")


async def test_the_filter_bar_offers_agents_and_the_table_marks_their_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calls of subagents have a branch before their targets, also when they are filtered."""
    session = MadeSession(TWO_SUBAGENTS)
    session.use(monkeypatch)
    async with opened(session.save(tmp_path / "x.ndjson"), follow=True) as stage:
        rows = [line for line in lines_of(stage.pane("calls")) if "└" in line]
        assert [row.split("└ ")[1].split("  ")[0] for row in rows] == [
            "nearest.py",
            "pytest -q tests/wire",
            "nearest(",
        ]
        await stage.press("f", *"agent:")
        await stage.shows("agent:main · #1 Find the callers · #2 Check the wire")
        await stage.press(*"#2")
        await stage.until(lambda: len(lines_of(stage.pane("calls"))) == 1, "one call")
        await stage.press("enter")
        assert 'hidden by "agent:#2"' in stage.text()
