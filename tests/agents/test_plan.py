"""The to-do lists of all agents."""

from __future__ import annotations

from agentwatch.agents.tool import MOST_ENTRIES, entry_in, listed_entries, plan_entry
from agentwatch.session.events import PlanEntry, PlanStatus
from tests.conftest import case


def test_a_list_has_entries() -> None:
    """The first field with a text is the text of an entry. An unknown status is pending."""
    todos = [{"title": "", "content": "a", "status": "completed"}, {"content": "b", "status": []}, 7]
    assert listed_entries(todos, "title", "content") == (
        PlanEntry("a", PlanStatus.COMPLETED),
        PlanEntry("b", PlanStatus.PENDING),
        PlanEntry("", PlanStatus.PENDING),
    )


def test_another_value_is_no_list() -> None:
    """A value that is no list has no entries."""
    cases: list[object] = [None, 7, "a", {"content": "a"}, []]
    for value in cases:
        with case(value):
            assert listed_entries(value, "content") == ()


def test_a_list_is_bounded() -> None:
    """A list has at most 10,000 entries, and an entry at most 4,096 characters."""
    assert len(listed_entries([{}] * (MOST_ENTRIES + 1), "content")) == 10_000
    assert len(entry_in({"content": "x" * 5000}, "content").text) == 4096


def test_an_unknown_status_leaves_the_former_one() -> None:
    """An update whose status is unknown does not change it."""
    assert plan_entry("a", "gone", PlanStatus.COMPLETED).status is PlanStatus.COMPLETED
    assert plan_entry("a", None).status is PlanStatus.PENDING
