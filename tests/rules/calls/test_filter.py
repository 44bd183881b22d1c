"""The words of a filter select the calls of an agent too."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.rules.calls.filter import call_filter, filter_offers, usable_filter
from agentwatch.rules.language.errors import RuleError
from agentwatch.session.call import Place
from agentwatch.session.events import Outcome
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from tests.builders.made_agent import MadeSession
from tests.builders.screen.app import lines_of, opened
from tests.builders.stories.call_facts import facts_of
from tests.builders.subagents import TWO_SUBAGENTS, begins
from tests.conftest import case


def made() -> Session:
    """Return the session with two subagents, and a call of a subagent whose own call is not recorded."""
    read = Session()
    for event in [*TWO_SUBAGENTS, begins("x1", "Bash", "make", "gone")]:
        apply_line(read, [event], Place(0, 1, None))
    return read


def test_a_filter_names_an_agent() -> None:
    """`agent:` takes `main`, the number of the call that started the subagent, or a word of that call."""
    cases: list[tuple[str, list[int]]] = [
        ("agent:main", [1, 2]),
        ("agent:#1", [3, 5]),
        ("agent:#2", [4]),
        ("AGENT:Callers", [3, 5]),
        ("agent:task grep", [5]),
        ("agent:wire failed", [4]),
        ("agent:ma", [1, 2]),
        ("agent:#3", []),
        ("agent:callers agent:wire", []),
    ]
    for words, numbers in cases:
        with case(words):
            session = made()
            matches = call_filter(words, facts_of(session))
            assert matches is not None
            assert [call.number for call in session.calls if matches(call)] == numbers


def test_a_value_is_needed_after_a_field() -> None:
    """`agent:` alone is a mistake, which leaves the words before it."""
    facts = facts_of(made())
    with pytest.raises(RuleError, match='"agent:" needs a value'):
        call_filter("agent:", facts)
    found = usable_filter("failed agent:", facts)
    assert (found.words, found.matches is None) == ("failed", False)
    assert found.problem is not None
    assert found.problem.at == 7


def test_the_words_before_a_mistake_are_used() -> None:
    """While a rule is incomplete, the calls are those of the words before the mistake."""
    cases: list[tuple[str, str]] = [
        ("failed durtion>5s", "failed"),
        ("failed duration>5", "failed"),
        ("durtion>5s failed", ""),
        ("(failed OR", ""),
        ("read (failed OR", "read"),
        ('read "', "read"),
        ("read OR ", "read"),
        ("failed>3", ""),
        ("failed", "failed"),
        ("", ""),
    ]
    for text, words in cases:
        with case(text):
            found = usable_filter(text, facts_of(made()))
            assert found.words == words
            assert (found.matches is None) is (not words)
            assert (found.problem is None) is (text == words)


def test_the_bar_offers_how_a_filter_can_continue() -> None:
    """Fields and outcomes continue a word, and values of the session continue a field."""
    session = made()
    tools = dict.fromkeys(call.tool for call in session.calls)
    cases: list[tuple[str, list[str]]] = [
        ("", []),
        ("read ", []),
        ("nothing", []),
        ("dur", ["duration>"]),
        ("failed -(lines", ["failed -(lines_added>", "failed -(lines_removed>"]),
        ("fai", ["failed"]),
        ("outcome:", [f"outcome:{each.value}" for each in Outcome]),
        ("tool:bas", ["tool:Bash"]),
        ("program:", ["program:make", "program:pytest"]),
        ("path:near", ["path:nearest.py"]),
        ("model:o", ["model:opus"]),
        ("agent:", ["agent:main", "agent:#1", "agent:#2"]),
        ("failed agent:#2", []),
        ("agent:find", ["agent:#1"]),
        ("duration>", []),
        ("nothing:", []),
    ]
    for text, words in cases:
        with case(text):
            found = filter_offers(text, facts_of(session), tools, lambda: session.calls[:2])
            assert [offer.text for offer in found] == words


@pytest.mark.system
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
            "pytest -q tests/agents",
            "nearest(",
        ]
        await stage.press("f", *"agent:")
        await stage.shows("agent:main · #1 Find the callers · #2 Check the wire")
        await stage.press(*"#2")
        await stage.until(lambda: len(lines_of(stage.pane("calls"))) == 1, "one call")
        await stage.press("enter")
        assert 'hidden by "agent:#2"' in stage.text()
