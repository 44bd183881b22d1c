"""Targets in the table: without what is known already, and cut where neighbours are alike."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.screen.panes.calls.cells import cut_apart, fitting_target
from agentwatch.session.actions import shown_target
from agentwatch.text.safe import SafeText, columns
from tests.builders.lines import PROPERTY
from tests.builders.screen.made_calls import made
from tests.conftest import case


def test_a_leading_cd_is_left_out() -> None:
    """`cd DIR &&` at the beginning of a command is left out, but not if nothing follows."""
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


def test_a_cut_shows_what_differs() -> None:
    """A cut that would hide what differs from a near target cuts out what they share instead."""
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


_WORDS = st.lists(st.sampled_from(["pytest", "tests", "unit", "日本", "x" * 30, "a"]), max_size=9)
_TEXTS = st.tuples(_WORDS, st.sampled_from([" ", "/"])).map(lambda made: SafeText(made[1].join(made[0])))


@PROPERTY
@given(_TEXTS, st.lists(_TEXTS, max_size=3), st.integers(1, 60), st.booleans())
def test_a_cut_target_fits(text: SafeText, near: list[SafeText], width: int, is_path: bool) -> None:
    """Whatever its neighbours are, a target is at most as wide as its column."""
    assert columns(cut_apart(text, near, width, is_path=is_path)) <= width
