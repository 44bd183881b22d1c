"""Token counts are added per request, replaced per turn or per run, and never counted twice."""

from __future__ import annotations

from agentwatch.session.call import Place
from agentwatch.session.counts import UsageCounts, added, known_sum
from agentwatch.session.events import Tokens, Usage, UsageScope
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session

REQUEST, TURN, RUN = UsageScope


def counted(*counts: tuple[Tokens, UsageScope] | None) -> Tokens:
    """Return the counts after these; None begins a turn."""
    usage = UsageCounts()
    for count in counts:
        if count is None:
            usage.begin_turn()
        else:
            usage.add(Usage(*count))
    return usage.tokens


def test_requests_are_added() -> None:
    """Each request adds to the counts; what no request says stays unknown."""
    first, second = Tokens(input=10, output=2, cost_usd=0.5), Tokens(input=20, cached=5, cost_usd=0.25)
    expected = Tokens(input=30, cached=5, output=2, cost_usd=0.75)
    assert counted((first, REQUEST), (second, REQUEST)) == expected
    assert counted() == Tokens()


def test_a_count_of_the_turn_replaces_its_requests() -> None:
    """The counts of the turns before it are kept."""
    request, turn = Tokens(input=10, output=1), Tokens(input=12, output=7)
    counts = (request, REQUEST), (turn, TURN), None, (request, REQUEST), (turn, TURN)
    assert counted(*counts) == Tokens(input=24, output=14)


def test_a_count_of_the_run_replaces_everything() -> None:
    """A later turn does not add to it what it contains; what it leaves out is kept."""
    turn, cost = Tokens(input=12, output=7), Tokens(cost_usd=0.1)
    counts = (turn, TURN), (cost, RUN), None, (turn, TURN), (Tokens(cost_usd=0.3), RUN)
    assert counted(*counts) == Tokens(input=24, output=14, cost_usd=0.3)
    assert counted((turn, TURN), None, (Tokens(input=15), RUN)) == Tokens(input=15, output=7)


def test_the_context_is_the_newest() -> None:
    """The size of the context is not added up."""
    counts = [(Tokens(context_used=used, context_size=100), REQUEST) for used in (40, 60, 20)]
    assert counted(*counts, None) == Tokens(context_used=20, context_size=100)


def test_counts_of_several_runs_are_added() -> None:
    """The sum has what any of them has; its context is the last one."""
    first, second = Tokens(input=10, context_used=5), Tokens(input=1, output=2, context_used=7)
    assert added([first, second]) == Tokens(input=11, output=2, context_used=7)
    assert added([]) == Tokens()


def test_unknown_numbers_are_left_out_of_a_sum() -> None:
    """A sum of no known number is unknown, and not 0."""
    assert known_sum([3, None, 4.5]) == 7.5
    assert known_sum([0, None]) == 0
    assert known_sum([None]) is None


def test_requests_are_kept_by_their_ids_for_a_reader_that_asks() -> None:
    """What later lines add to a request is added; one without an id is only counted."""
    lines = [
        Usage(Tokens(input=3, output=number), REQUEST, request=name) for number, name in enumerate("aab")
    ]
    for asked in (None, dict[str, Tokens]()):
        session = Session()
        session.requests = asked
        for number, event in enumerate([*lines, Usage(Tokens(input=5), REQUEST)]):
            apply_line(session, [event], Place(number, 1, None))
        assert session.run.tokens.input == 14
        assert session.requests == (
            None if asked is None else {"a": Tokens(6, None, 1), "b": Tokens(3, None, 2)}
        )
