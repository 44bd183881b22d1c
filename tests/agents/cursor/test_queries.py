"""What the query of a call says about it reaches the call."""

from __future__ import annotations

import pytest

from agentwatch.agents.cursor.stream import Queries
from agentwatch.session.actions import action
from tests.builders.lines import answered, asked, call, completed, event, init, session, started
from tests.conftest import case

NO = {"rejected": {"reason": "User Rejected"}}
QUERY = (asked("webSearch", searchTerm="tides", toolCallId="c-1"), answered(NO, "webSearch"))
START, END = started("webSearch"), completed("webSearch", result=NO)


@pytest.mark.parametrize(
    "lines",
    [
        (*QUERY, END),
        (*QUERY, START, END),
        (START, *QUERY, END),
        (*QUERY, started("webSearch", toolCallId="c-1"), END),
    ],
    ids=["without a start", "before the start", "after the start", "arguments without the term"],
)
def test_the_term_of_a_rejected_search_is_in_its_query(lines: tuple[bytes, ...]) -> None:
    """A web search whose lines never contain its term has the term of the query with its id."""
    found = call(*lines)
    assert action(found) == "Searched the web tides (rejected)"
    assert found.error == "User Rejected"


def test_a_call_that_runs_has_the_term_of_its_query() -> None:
    """A search that has started and not ended has the term of the query before it."""
    [found] = session(init(), *QUERY, START, is_over=False).calls
    assert found.target == "tides"


def test_an_id_may_be_beside_the_arguments() -> None:
    """The id of a call may be beside the query, as a question has it, or beside the arguments."""
    name = "askQuestionInteractionQuery"
    query = {"id": 0, name: {"args": {"title": "Which?", "questions": []}}, "toolCallId": "c-1"}
    request = event("interaction_query", "request", query_type=name, query=query)
    assert call(request, completed("askQuestion", result=NO)).target == "askQuestion Which?"
    name = "webFetchRequestQuery"
    query = {"id": 0, name: {"args": {"url": "https://example.com"}, "toolCallId": "c-1"}}
    request = event("interaction_query", "request", query_type=name, query=query)
    assert call(request, completed("webFetch", result=NO)).target == "https://example.com"


def test_only_the_query_of_a_call_describes_it() -> None:
    """A query with another id, of another tool or of an earlier run does not describe a call."""
    cases: list[tuple[str, bytes]] = [
        ("another call", asked("webSearch", searchTerm="tides", toolCallId="c-2")),
        ("no id", asked("webSearch", searchTerm="tides")),
        ("no term", asked("webSearch", toolCallId="c-1")),
        ("another tool", asked("webFetch", url="tides", toolCallId="c-1")),
        ("an earlier run", asked("webSearch", searchTerm="tides", toolCallId="c-1") + init()),
    ]
    for name, query in cases:
        with case(name):
            [found] = session(init(), query, END).calls
            assert found.target is None


def test_the_own_arguments_of_a_call_count() -> None:
    """A call whose lines contain its arguments has its target from them."""
    assert call(*QUERY, started("webSearch", searchTerm="moons"), END).target == "moons"
    assert call(*QUERY, START, completed("webSearch", result=NO, searchTerm="moons")).target == "moons"


def test_a_query_describes_one_call() -> None:
    """A query is forgotten when its call completes: a later call may have the same id."""
    queries = Queries()
    query = {"webSearchRequestQuery": {"args": {"searchTerm": "x" * 20_000, "toolCallId": "c"}}}
    queries.request({"query_type": "webSearchRequestQuery", "query": query})
    assert queries.target("c", "webSearch") == "x" * 10_000
    queries.forget("c")
    assert queries.target("c", "webSearch") is None


@pytest.mark.parametrize(("length", "kept"), [(1000, True), (1001, False)])
def test_a_query_with_a_huge_id_is_not_kept(length: int, kept: bool) -> None:
    """The query of a call whose id has more than 1,000 characters is not kept."""
    query = asked("webSearch", searchTerm="tides", toolCallId="c" * length)
    found = call(query, completed("webSearch", "c" * length, NO))
    assert found.target == ("tides" if kept else None)


def test_a_term_may_be_the_name_of_the_tool() -> None:
    """A search for the word `webSearch` has that term, from its query or from its own arguments."""
    query = asked("webSearch", searchTerm="webSearch", toolCallId="c-1")
    assert call(query, END).target == "webSearch"
    assert call(completed("grep", result=NO, pattern="grep")).target == "grep"


def test_at_most_64_queries_are_kept() -> None:
    """Of 100 queries without a completed call the last 64 are kept."""
    queries = Queries()
    for number in range(100):
        args = {"searchTerm": f"term {number}", "toolCallId": f"c-{number}"}
        query = {"webSearchRequestQuery": {"args": args}}
        queries.request({"query_type": "webSearchRequestQuery", "query": query})
    kept = [number for number in range(100) if queries.target(f"c-{number}", "webSearch")]
    assert kept == list(range(36, 100))
