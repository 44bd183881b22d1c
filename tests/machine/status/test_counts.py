"""The counts of a list are those of the sessions that a user can act on, and make one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentwatch.machine.standing import Group, State
from agentwatch.machine.status import counts
from agentwatch.machine.status.counts import Counts, UnknownFieldError, counts_of, midnight
from tests.builders.machine.rows import NOW_MS, row
from tests.conftest import ROOT

DAY_MS = 86_400_000


def test_each_state_is_counted_in_its_group() -> None:
    """Each state counts for its group; a session that may run is counted as unknown."""
    assert counts_of([row(state) for state in State], NOW_MS) == Counts(
        needs_you=1, working=1, failed=1, quiet=1, your_turn=2, ended_today=3, unknown=1
    )
    fields = {Group.NEEDS_YOU: "needs_you", Group.YOUR_TURN: "your_turn", Group.ENDED: "ended_today"}
    for state in State:
        group = row(state).group
        expected = "unknown" if state is State.UNKNOWN else fields.get(group, group.value)
        assert counts._FIELDS.get(state.value, "ended_today") == expected


def test_only_todays_ended_sessions_are_counted() -> None:
    """A session that ended before midnight is not counted, nor one whose time is unknown; a live one is."""
    begin = midnight(NOW_MS)
    old = [begin - 1, None]
    assert counts_of([row(seen_ms=at) for at in (*old, begin)], NOW_MS).ended_today == 1
    assert counts_of([row(State.UNKNOWN, seen_ms=at) for at in (*old, begin)], NOW_MS).unknown == 1
    assert counts_of([row(State.ASKS, seen_ms=at) for at in (*old, begin)], NOW_MS).needs_you == 3
    assert 0 <= NOW_MS - begin < DAY_MS


def test_subagents_and_one_liners_are_not_counted() -> None:
    """Subagents count with their parent, and nobody can answer the program that ran a one-liner."""
    rows = [row(State.WORKING, parent=("claude", "a")), row(State.ASKS, is_one_liner=True), row(State.ASKS)]
    assert counts_of(rows, NOW_MS) == Counts(needs_you=1)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (Counts(), ""),
        (Counts(needs_you=1), "1 needs you"),
        (Counts(needs_you=2, working=3, failed=1), "2 need you · 3 working · 1 failed"),
        (Counts(quiet=1, your_turn=4, ended_today=9, unknown=2), "1 quiet · 2 unknown"),
        (Counts(*[None] * 7), ""),
    ],
)
def test_the_line_names_what_deserves_attention(given: Counts, line: str) -> None:
    """Zeros, ended sessions and sessions in which it is the user's turn are left out."""
    assert given.line() == line


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("", ""),
        ("{needs_you}/{working}", "2/–"),
        ("#[fg=red]{needs_you}#[default] {ended_today}{ended_today}", "#[fg=red]2#[default] 00"),
        ("{", "{"),
        ("}{needs_you", "}{needs_you"),
        ("100 %s %(a)s", "100 %s %(a)s"),
    ],
)
def test_a_template_is_filled(template: str, line: str) -> None:
    """Each field in braces is replaced by its count, and by a dash if it is unknown; the rest is kept."""
    assert Counts(needs_you=2, working=None).filled(template) == line


@pytest.mark.parametrize(
    "name",
    ["", "0", "needs-you", "NEEDS_YOU", "needs_you.__class__", "needs_you!r", "needs_you:>9", "{needs_you"],
)
def test_anything_else_in_braces_is_an_error(name: str) -> None:
    """A template gives access to the counts alone: no attribute, no index, no format."""
    with pytest.raises(UnknownFieldError) as raised:
        Counts().filled(f"a {{{name}}} b")
    assert str(raised.value).startswith(f"{{{name}}} is no field; known fields: {{needs_you}}, {{working}},")


def test_a_long_template_takes_linear_time() -> None:
    """A template of a million braces is filled or refused at once."""
    assert Counts().filled("{working}" * 100_000) == "0" * 100_000
    assert Counts().filled("{" * 1_000_000) == "{" * 1_000_000


def test_the_counts_load_no_decoder() -> None:
    """A prompt does not wait for modules that it does not need."""
    program = "import sys, agentwatch.machine.status.file as f; f.read_status(0); print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=20
    )
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"click", "orjson", "dataclasses", "agentwatch.events", "agentwatch.recording"})
