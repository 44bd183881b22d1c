"""The counts of a list are those of the sessions that a user can act on, and make one line."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from agentwatch.agents.reported import State
from agentwatch.catalog.status.counts import Counts, UnknownFieldError, counts_of
from tests.builders.machine.rows import NOW_MS, row
from tests.conftest import ROOT, case


def test_the_counts_are_those_of_the_list() -> None:
    """Each state counts for its group in the list."""
    assert counts_of([row(state, number=at) for at, state in enumerate(State)], NOW_MS) == Counts(
        needs_you=1, working=2, failed=1, quiet=2, your_turn=2, ended_today=4, unknown=1
    )


def test_only_todays_unknown_sessions_are_counted() -> None:
    """A session that may run is counted if its last line was written since midnight, subagents never."""
    now = time.localtime(NOW_MS // 1000)
    begin = (NOW_MS // 1000 - now.tm_hour * 3600 - now.tm_min * 60 - now.tm_sec) * 1000
    rows = [row(State.UNKNOWN, number=at, seen_ms=seen) for at, seen in enumerate((begin, begin - 1, None))]
    assert counts_of(rows, NOW_MS).unknown == 1
    assert counts_of([row(State.UNKNOWN, parent=rows[0].key)], NOW_MS).unknown == 0


def test_the_line_names_what_deserves_attention() -> None:
    """Zeros, ended sessions and sessions in which it is the user's turn are left out."""
    cases: list[tuple[Counts, str]] = [
        (Counts(), ""),
        (Counts(needs_you=1), "1 needs you"),
        (Counts(needs_you=2, working=3, failed=1), "2 need you · 3 working · 1 failed"),
        (Counts(quiet=1, your_turn=4, ended_today=9, unknown=2), "1 quiet · 2 unknown"),
        (Counts(*[None] * 7), "–"),
        (Counts(ended_today=None), ""),
    ]
    for given, line in cases:
        with case(given):
            assert given.line() == line


def test_a_template_is_filled() -> None:
    """Each field in braces is replaced by its count, and by a dash if it is unknown; the rest is kept."""
    cases: list[tuple[str, str]] = [
        ("", ""),
        ("{needs_you}/{working}", "2/–"),
        ("#[fg=red]{needs_you}#[default] {ended_today}{ended_today}", "#[fg=red]2#[default] 00"),
        ("{", "{"),
        ("}{needs_you", "}{needs_you"),
        ("100 %s %(a)s", "100 %s %(a)s"),
    ]
    for template, line in cases:
        with case(template):
            assert Counts(needs_you=2, working=None).filled(template) == line


def test_anything_else_in_braces_is_an_error() -> None:
    """A template gives access to the counts alone: no attribute, no index, no format."""
    cases: list[str] = [
        "",
        "0",
        "needs-you",
        "NEEDS_YOU",
        "needs_you.__class__",
        "needs_you!r",
        "needs_you:>9",
        "{needs_you",
    ]
    for name in cases:
        with case(name):
            with pytest.raises(UnknownFieldError) as raised:
                Counts().filled(f"a {{{name}}} b")
            assert str(raised.value).startswith(
                f"{{{name}}} is not a field; known fields: {{needs_you}}, {{working}},"
            )


def test_a_long_template_takes_linear_time() -> None:
    """A template of a million braces is filled or refused at once."""
    assert Counts().filled("{working}" * 100_000) == "0" * 100_000
    assert Counts().filled("{" * 1_000_000) == "{" * 1_000_000


@pytest.mark.slow
def test_the_counts_load_no_decoder() -> None:
    """A prompt does not wait for modules that it does not need."""
    program = "import sys, agentwatch.catalog.status.file as f; f.read_status(0); print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=20
    )
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint(
        {"click", "orjson", "dataclasses", "agentwatch.session.events", "agentwatch.recording"}
    )


def test_the_limits_are_words_in_a_template() -> None:
    """They are a dash where none is known."""
    assert Counts(working=2).filled("{limits} {working}", "claude 5 h 62 %") == "claude 5 h 62 % 2"
    assert Counts().filled("{limits}") == "–"
