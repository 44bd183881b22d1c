"""The rows of the calls without a screen: folding, repeats, filter and order."""

import tracemalloc
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.rules.calls.filter import call_filter
from agentwatch.screen.panes.calls.list import CallList, Rows, RowsByDuration, RowsByTime
from agentwatch.session.call import Call, Calls
from agentwatch.session.events import Outcome
from agentwatch.session.reducers import close_session
from agentwatch.session.session import Session
from tests.builders.lines import PROPERTY, completed, init, session, started
from tests.builders.screen.made_calls import end, made
from tests.builders.stories.story import facts_of
from tests.conftest import case


def by_time(calls: Sequence[Call], words: str = "") -> RowsByTime:
    """Return the rows of the calls, filtered by `words`."""
    rows = RowsByTime(calls, call_filter(words, facts_of()))
    assert rows.fill()
    return rows


def spans(rows: Rows) -> list[tuple[int, int]]:
    """Return the indices of the first and last call of each row."""
    return [(rows[y].first, rows[y].last) for y in range(len(rows))]


def reads(*names: str) -> list[Call]:
    """Return successful reads of the named files."""
    return [made("read", name) for name in names]


def test_calls_that_are_alike_are_one_row() -> None:
    """The same call again, or three reads in a row, are one row; other, running or failed calls are not."""
    # Consecutive calls with the same tool, target and outcome are one row.
    calls = [made("shell", "make"), made("shell", "make"), made("shell", "test"), made("grep", "test")]
    assert spans(by_time(calls)) == [(0, 1), (2, 2), (3, 3)]
    # A call that differs in outcome, run, exit code or error, or lacks a start, has its own row.
    for other in (
        made("shell", "make", Outcome.FAILED),
        made("shell", "make", Outcome.SUCCEEDED, run=2),
        made("shell", "make", Outcome.RUNNING),
        made("shell", "make", Outcome.SUCCEEDED, started=None),
        made("shell", "make", Outcome.SUCCEEDED, exit_code=3),
        made("shell", "make", Outcome.SUCCEEDED, error="another"),
    ):
        with case(other):
            assert spans(by_time([made("shell", "make"), other])) == [(0, 0), (1, 1)]
    # Each running call has its own row, even if it repeats another.
    calls = [made("shell", "make", Outcome.RUNNING) for _ in range(3)]
    assert spans(by_time(calls)) == [(0, 0), (1, 1), (2, 2)]
    # Three or more consecutive successful reads are one row; two are not, unless they read the same file.
    assert spans(by_time(reads("a", "b"))) == [(0, 0), (1, 1)]
    assert spans(by_time(reads("a", "b", "c"))) == [(0, 2)]
    assert spans(by_time(reads("a", "a"))) == [(0, 1)]
    # A read that failed, was rejected, is running or is unfinished is never part of a fold.
    for outcome in (Outcome.FAILED, Outcome.RUNNING, Outcome.REJECTED, Outcome.UNFINISHED):
        calls = [*reads("a", "b", "c"), made("read", "d", outcome), *reads("e", "f", "g")]
        assert spans(by_time(calls)) == [(0, 2), (3, 3), (4, 6)]
    # Calls that are adjacent only because of the filter are not folded.
    calls = [made("shell", "make"), made("read", "a"), made("shell", "make"), made("shell", "make")]
    assert spans(by_time(calls, "shell")) == [(0, 0), (2, 3)]


def test_a_fold_opens_and_grows() -> None:
    """An open fold has a row for each of its calls; folds that become neighbours join."""
    # An open fold is followed by a row for each of its calls; a row of one call does not open.
    rows = by_time([made("shell", "ls"), *reads("a", "b", "c")])
    assert not rows.toggle(0)
    assert rows.toggle(1)
    assert spans(rows) == [(0, 0), (1, 3), (1, 1), (2, 2), (3, 3)]
    assert rows.row_of(1) == 2
    assert rows.row_of(3, is_whole=True) == 1
    assert not rows.toggle(2)
    assert rows.toggle(1)
    assert spans(rows) == [(0, 0), (1, 3)]
    # When a read between two folds succeeds, the folds join into one, which is open if either was.
    calls = [*reads("a", "b", "c"), made("read", "d", Outcome.RUNNING), *reads("e", "f", "g")]
    rows = by_time(calls)
    rows.toggle(2)
    assert spans(rows) == [(0, 2), (3, 3), (4, 6), (4, 4), (5, 5), (6, 6)]
    end(calls[3], Outcome.SUCCEEDED)
    rows.update([3])
    assert spans(rows) == [(0, 6), *((n, n) for n in range(7))]
    assert rows[0].is_open


def test_calls_of_one_step_are_bracketed() -> None:
    """The calls of one model step are bracketed; a single call, or one of another run, is not."""
    # The calls of one model step are bracketed; a step of a single call is not.
    for groups, marks in (
        ("aa", "┌└"),
        ("aaa", "┌│└"),
        ("ab", "  "),
        ("abbc", " ┌└ "),
        ("aabb", "┌└┌└"),
        ("--", "  "),
    ):
        with case(f"{groups}, {marks}"):
            calls = [made("shell", f"{n}", group=None if g == "-" else g) for n, g in enumerate(groups)]
            rows = by_time(calls)
            assert "".join(rows.group_mark(y) for y in range(len(rows))) == marks
    # The same group id in another run is another step.
    rows = by_time([made("shell", "a", group="g"), made("shell", "b", group="g", run=2)])
    assert [rows.group_mark(0), rows.group_mark(1)] == [" ", " "]


def test_words_filter() -> None:
    """Each word must be in the tool or target; outcomes match by name or its first three letters or more."""
    for words, found in (
        ("", [0, 1, 2, 3, 4]),
        ("shell", [0, 1, 4]),
        ("SHELL failed", [1]),
        ("fai", [1, 4]),
        ("failed", [1]),
        ("failed running", [1, 2]),
        ("rej", [3]),
        ("re", [2, 3, 4]),
        ("test app", [3]),
        ("nothing", []),
    ):
        with case(words):
            calls = [
                made("shell", "make"),
                made("shell", "make", Outcome.FAILED),
                made("read", None, Outcome.RUNNING),
                made("read", "test_App.py", Outcome.REJECTED),
                made("shell", "test_failure"),
            ]
            rows = RowsByDuration(calls, call_filter(words, facts_of()))
            assert rows.fill()
            assert sorted(rows[y].first for y in range(len(rows))) == found


def test_the_slowest_come_first() -> None:
    """By duration, running calls come first, then the slowest; calls of unknown duration come last."""
    calls = [
        made("shell", "quick", started_ms=0, ended_ms=10),
        made("shell", "unknown"),
        made("shell", "slow", started_ms=0, ended_ms=900),
        made("shell", "runs", Outcome.RUNNING, started_ms=0),
    ]
    rows = RowsByDuration(calls)
    rows.fill()
    assert [calls[rows[y].first].target for y in range(4)] == ["runs", "slow", "quick", "unknown"]
    calls[3].ended_ms = 500
    end(calls[3], Outcome.SUCCEEDED)
    rows.update([3])
    assert [calls[rows[y].first].target for y in range(4)] == ["slow", "runs", "quick", "unknown"]
    assert [rows.row_of(n) for n in range(4)] == [2, 3, 0, 1]


_TARGETS = st.sampled_from(["a", "b", None])
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["read", "read", "shell"]),
        _TARGETS,
        st.integers(0, 12),
        st.sampled_from([*Outcome]),
        st.booleans(),
    ),
    max_size=40,
)


@PROPERTY
@given(_STEPS, st.sampled_from(["", "failed", "a", "read", "running succeeded"]))
def test_rows_do_not_depend_on_the_order_of_events(
    steps: list[tuple[str, str | None, int, Outcome, bool]], words: str
) -> None:
    """Rows built call by call, in any order of ends, equal rows built from all calls at once."""
    calls: list[Call] = []
    grown = RowsByTime(calls, call_filter(words, facts_of()))
    ranked = RowsByDuration(calls, call_filter(words, facts_of()))
    for tool, target, which, outcome, opens in steps:
        is_new = which >= len(calls) or calls[which].outcome is not Outcome.RUNNING
        if is_new:
            calls.append(made(tool, target, Outcome.RUNNING, started_ms=0))
        index = len(calls) - 1 if is_new else which
        calls[index].ended_ms = len(calls) * 7 % 5
        end(calls[index], outcome)
        for rows in (grown, ranked):
            rows.update([index])
            rows.fill()
        if opens and len(grown):
            grown.toggle(which % len(grown))
    inner = [grown[y].first for y in range(len(grown)) if not grown[y].is_open]
    last = [grown[y].last for y in range(len(grown)) if not grown[y].is_open]
    matches = call_filter(words, facts_of())
    wanted = [n for n, call in enumerate(calls) if matches is None or matches(call)]
    assert [n for a, b in zip(inner, last, strict=True) for n in range(a, b + 1)] == wanted
    assert grown.shown == ranked.shown == len(wanted)
    for y in range(len(grown) - 1, -1, -1):
        if grown[y].is_open:
            grown.toggle(y)
    fresh = by_time(calls, words)
    assert [grown[y] for y in range(len(grown))] == [fresh[y] for y in range(len(fresh))]
    again = RowsByDuration(calls, call_filter(words, facts_of()))
    again.fill()
    assert spans(ranked) == spans(again)
    for n in wanted:
        assert (row := fresh.row_of(n)) is not None
        assert fresh[row].first <= n <= fresh[row].last


def test_a_row_takes_few_bytes() -> None:
    """The rows of 50,000 calls that do not fold take less than 40 bytes each."""
    call = Call(1, 1, "c-1", "read", "Read file")
    rows = RowsByTime([call] * 50_000)
    tracemalloc.start()
    assert rows.fill()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(rows), rows[49_999].first) == (50_000, 49_999)
    assert kept < 40 * 50_000


def test_a_call_left_unfinished_by_its_run_counts_as_changed() -> None:
    """A running call that becomes unfinished with its run counts as changed, although no line ended it."""
    read = Session()
    listed = CallList(read, facts_of(read))
    whole = session(init(), started("shell", "c-1", command="a"), is_over=False)
    read.runs, read.calls, read.open_calls = whole.runs, whole.calls, whole.open_calls
    listed.request("running")
    assert listed.sync()
    assert listed.build(None)
    assert (len(listed.rows), listed.count - listed.rows.shown) == (1, 0)
    close_session(read)
    assert listed.sync()
    assert (len(listed.rows), listed.count - listed.rows.shown) == (0, 1)
    assert not listed.sync()


def test_new_rows_are_made_in_slices() -> None:
    """Rows of many calls are made in slices, with what changed between; the old rows stay until then."""
    # A filter over many calls is applied in slices; the old rows stay until the new ones are complete.
    many = [line for n in range(30) for line in (started("shell", f"{n}"), completed("shell", f"{n}"))]
    read = session(init(), *many)
    calls = Calls()
    for number in range(20_000):
        calls.add(made("shell", f"{number % 7}", number=number + 1))
    read.calls = calls
    listed = CallList(read, facts_of(read))
    listed.sync()
    before = len(listed.rows)
    listed.request("3")
    slices = 0
    while listed.is_waiting:
        assert len(listed.rows) == before
        listed.build(0)
        slices += 1
    assert slices >= 20
    assert listed.title("2 Calls").startswith('2 Calls · 17,143 hidden by "3"')
    # A call that ends between two slices is in the new rows with its outcome.
    for by_duration in (False, True):
        read = session(
            init(), *(started("shell", f"c-{n}", command=f"{n}") for n in range(600)), is_over=False
        )
        listed = CallList(read, facts_of(read))
        listed.sync()
        listed.request("failed" if not by_duration else "", by_duration=by_duration)
        assert not listed.build(0)
        first = end(read.calls[0], Outcome.FAILED)
        first.started_ms, first.ended_ms = 0, 5
        read.ended_calls.append(first)
        listed.sync()
        assert listed.build(None)
        assert listed.rows.row_of(0) == (599 if by_duration else 0)
        assert listed.call_at(len(listed.rows) - 1) is first
