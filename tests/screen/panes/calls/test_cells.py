"""The cells of the table: targets, cut where neighbours are alike, and the time strip."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.screen.panes.calls.list import TimeStrip
from agentwatch.screen.panes.calls.pane import cut_apart, fitting_target
from agentwatch.session.actions import shown_target
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText, columns
from tests.builders.lines import PROPERTY
from tests.builders.screen.made_calls import made
from tests.conftest import case


def test_a_command_and_a_path_show_what_differs() -> None:
    """A command is shown without its leading `cd`, and a cut text by what differs from those near it."""
    # `cd DIR &&` at the beginning is left out, as often as it occurs, but not if nothing follows.
    for command, target in (
        ("cd /a/b && make", "make"),
        ("cd a; make", "make"),
        ('cd "a b" && cd c\\ d && make && ls', "make && ls"),
        ("cd a", "cd a"),
        ("cd a && \\", "cd a && \\"),
        ("cd a || make", "cd a || make"),
        ("cd $(pwd) && make", "make"),
        ("cdr a && make", "cdr a && make"),
        ("make && cd a && b", "make && cd a && b"),
    ):
        with case(f"{command}, {target}"):
            assert shown_target(made("shell", command)) == target
    # The pattern of a search may begin with `cd`.
    assert shown_target(made("read", "cd a && b")) == "cd a && b"
    # A cut that would hide what differs from a near target cuts out what they share instead.
    for text, near, width, is_path, shown in (
        ("short", ["shirt"], 9, False, "short"),
        ("make the whole thing", ["make all"], 9, False, "make the…"),
        ("pytest tests/unit/test_a.py", ["pytest tests/unit/test_b.py"], 20, False, "pytest …test_a.py"),
        ("pytest tests/unit/test_a.py", ["pytest tests/unit/test_b.py"], 10, False, "pytest te…"),
        ("pytest -q --tb=short", ["pytest -q --tb=long"], 12, False, "pytest -q -…"),
        ("pytest -q --tb=short", ["pytest -q --tb=long"], 18, False, "pytest …--tb=short"),
        ("pytest tests/unit/test_a.py", [], 20, False, "pytest tests/unit/t…"),
        ("pytest tests/unit/test_a.py", ["pytest tests/unit/test_a.py"], 20, False, "pytest tests/unit/t…"),
        ("a/one/c/d/e.py", ["a/two/c/d/e.py"], 12, True, "…/one/…/e.py"),
        ("a/one/c/d/e.py", ["a/two/c/d/f.py"], 12, True, "a/…/d/e.py"),
        ("a/b/c/name_one_of_many.py", ["a/b/c/name_two_of_many.py"], 12, True, "…/name_one_…"),
    ):
        with case(f"{text}, {width}, {is_path}"):
            assert (
                cut_apart(SafeText(text), [SafeText(each) for each in near], width, is_path=is_path) == shown
            )
    # Where several files do not fit, their folders are left out, so that each file is named.
    paths = ("/src/a/one.py", "two.py", "/src/b/three.py")
    call = made("edit", ", ".join(paths), path=paths[0], more_paths=paths[1:])
    assert fitting_target(call, 60, list) == "/src/a/one.py, two.py, /src/b/three.py"
    assert fitting_target(call, 30, list) == "one.py, two.py, three.py"


@pytest.mark.costs
def test_a_long_command_costs_little() -> None:
    """A hostile command is read in under 2 ms."""
    for command in ("cd " + "\\" * 3000, "cd a && " * 3000, "cd " + "a" * 9000, 'cd "' * 2000):
        with case(ascii(command[:60])):
            spent = []
            for _ in range(10):
                began = time.thread_time()
                shown_target(made("shell", command))
                spent.append(time.thread_time() - began)
            assert min(spent) < 0.002


_WORDS = st.lists(st.sampled_from(["pytest", "tests", "unit", "日本", "x" * 30, "a"]), max_size=9)
_TEXTS = st.tuples(_WORDS, st.sampled_from([" ", "/"])).map(lambda made: SafeText(made[1].join(made[0])))


@PROPERTY
@given(_TEXTS, st.lists(_TEXTS, max_size=3), st.integers(1, 60), st.booleans())
def test_a_cut_target_fits(text: SafeText, near: list[SafeText], width: int, is_path: bool) -> None:
    """Whatever its neighbours are, a target is at most as wide as its column."""
    assert columns(cut_apart(text, near, width, is_path=is_path)) <= width


WIDTH = 10


def call(
    begin_ms: int | None,
    end_ms: int | None,
    *,
    seen: tuple[int | None, int | None] = (None, None),
    outcome: Outcome = Outcome.SUCCEEDED,
) -> Call:
    """Return a call with times by the agent's clock and, in `seen`, by ours, in milliseconds."""
    ended = None if outcome is Outcome.RUNNING else Place(9, 9, seen[1])
    found = Call(1, 1, "c", "shell", "Ran", started=Place(0, 9, seen[0]), ended=ended, outcome=outcome)
    found.started_ms, found.ended_ms = begin_ms, end_ms
    return found


def strip_of(calls: Sequence[Call]) -> TimeStrip:
    """Return a strip that knows the calls."""
    strip = TimeStrip()
    for each in calls:
        strip.add(each)
    return strip


def bars(calls: Sequence[Call], now_ms: int | None = None) -> list[str]:
    """Return the bar of each call; all of them are in view."""
    strip = strip_of(calls)
    scales = strip.scales(calls, now_ms)
    return [strip.bar([each], WIDTH, scales, now_ms).rstrip() for each in calls]


def test_bars_show_when_the_calls_ran() -> None:
    """Bars show when the calls in view ran, on one scale, in the time of one clock."""
    # A bar covers the share of the time in view during which its call ran.
    calls = [call(0, 5000), call(5000, 10_000), call(0, 10_000), call(2500, 7500)]
    assert bars(calls) == ["█████", "     █████", "██████████", "  ▐████▌"]
    # A bar ends in eighths of a column and begins in eighths, halves or whole ones; the shortest shows.
    for begin, end, bar in (
        (0, 1000, "█"),
        (0, 125, "▏"),
        (0, 500, "▌"),
        (0, 1375, "█▍"),
        (500, 1000, "▐"),
        (875, 1000, "▕"),
        (125, 2000, "██"),
        (250, 2000, "██"),
        (375, 2000, "▐█"),
        (9999, 10_000, "         ▕"),
        (3000, 3000, "   ▏"),
    ):
        with case(f"{begin}, {end}, {bar}"):
            assert bars([call(begin, end), call(0, 10_000)])[0] == bar
    # The bar of a fold leaves the times between its calls blank.
    calls = [call(0, 2000), call(4000, 6000), call(8000, 10_000)]
    strip = strip_of(calls)
    assert strip.bar(calls, WIDTH, strip.scales(calls, None), None) == "██  ██  ██"
    # A call without any time has no bar; a call without an end shows only its start.
    assert bars([call(None, None)]) == [""]
    unfinished = call(5000, None, outcome=Outcome.UNFINISHED)
    assert bars([unfinished, call(0, 10_000)])[0] == "     ▏"
    # Whatever times a clock gave, a bar is as wide as the strip.
    for begin, end in ((10**15, 0), (-(10**15), 10**15), (0, -5), (5, 5)):
        with case(f"{begin}, {end}"):
            broken = call(begin, end)
            strip = strip_of([broken])
            for now_ms in (None, 0):
                assert len(strip.bar([broken], WIDTH, strip.scales([broken], now_ms), now_ms)) == WIDTH
    # The strip begins with the first call in view and ends with the last one, whatever else there is.
    calls = [call(0, 90_000), call(100_000, 105_000), call(105_000, 110_000)]
    strip = strip_of(calls)
    scales = strip.scales(calls[1:], None)
    assert scales == {1: (100_000, 10_000)}
    assert [strip.bar([each], WIDTH, scales, None) for each in calls[1:]] == ["█████     ", "     █████"]
    assert strip.scales([calls[1]], None) == {1: (100_000, 5000)}
    # The calls of two runs in view are drawn on two scales.
    first, second = call(0, 1000), call(10**9, 10**9 + 500)
    second.run = 2
    assert strip_of([first, second]).scales([first, second], None) == {1: (0, 1000), 2: (10**9, 500)}
    # The strip of a running call has time ahead; its scale grows by half when that is used up.
    running = call(0, None, seen=(0, None), outcome=Outcome.RUNNING)
    strip = strip_of([running])
    times = (0, 9999, 10_001, 14_000, 15_001)
    lengths = [strip.scales([running], now_ms)[1][1] for now_ms in times]
    assert lengths == [10_000, 10_000, 15_000, 15_000, 22_500]
    # A running call's bar extends to the current time, counted on our clock from its start.
    running = call(0, None, seen=(70_000, None), outcome=Outcome.RUNNING)
    assert [bars([running], 70_000 + ms)[0] for ms in (0, 1000, 5000, 10_000)] == [
        "▏",
        "█",
        "█████",
        "██████████",
    ]
    # A time known only by our clock is converted to the agent's clock, in either order of the calls.
    ours = call(None, None, seen=(1_000_000, 1_005_000))
    theirs = call(5000, 10_000, seen=(1_005_000, 1_010_000))
    assert bars([ours, theirs]) == ["█████", "     █████"]
    assert bars([theirs, ours]) == ["     █████", "█████"]
    assert bars([ours]) == ["██████████"]
    agents = call(5000, 10_000)
    assert bars([agents, ours, call(0, 10_000)]) == ["     █████", "", "██████████"]
    late = call(0, 10_000, seen=(70_000, 80_000))
    assert bars([agents, late]) == ["     █████", "██████████"]
