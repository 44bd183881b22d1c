"""The table has the columns of the list, and an id by which each session is opened."""

from __future__ import annotations

import pytest

from agentwatch.agents.reported import State
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import Ground
from agentwatch.cli.sessions import table
from agentwatch.text.safe import SafeText, columns
from tests.builders.machine.rows import NOW_MS, row

ASKS = row(
    State.ASKS,
    since_ms=NOW_MS - 14_000,
    now="Bash rm -rf build",
    title="Add retry limits to the client",
    repo="api",
    branch="retry-limits",
    calls=33,
    failed=2,
)


def lines(*rows: Row, width: int = 100, every: tuple[Row, ...] = ()) -> list[SafeText]:
    """Return the lines of a table below its heading."""
    return list(table(rows, (*rows, *every), width, NOW_MS))[1:]


def test_a_line_has_the_columns_of_the_list() -> None:
    """A line has id, state, clock, agent, project, title and activity, and is cut to the width."""
    [line] = lines(ASKS, width=140)
    assert line.startswith("00000000  ! asks")
    for words in (
        "0:14",
        "claude",
        "api ⎇ retry-limits",
        "Add retry limits to the client",
        "Bash rm -rf build",
    ):
        assert words in line
    for width in (80, 100, 140):
        assert max(columns(line) for line in lines(ASKS, row(number=1 << 40), width=width)) <= width


def test_a_terminal_has_a_heading() -> None:
    """It names the columns above them."""
    heading, line = table([ASKS], [ASKS], 140, NOW_MS)
    assert heading.split() == ["id", "state", "for", "agent", "project", "title", "now", "calls"]
    for name, words in (("state", "! asks"), ("agent", "claude"), ("title", "Add retry"), ("now", "Bash rm")):
        assert heading.index(name) == line.index(words)


def test_the_table_is_whole_for_a_program_and_may_be_empty() -> None:
    """Elsewhere than on a terminal nothing is cut, the columns are aligned, and there is no heading. A table
    of nothing is empty, without a heading.
    """
    long = row(State.WORKING, number=7, title="t" * 300, now="n" * 300, repo="r" * 90, branch="b" * 90)
    found = list(table([ASKS, long], [ASKS, long], None, NOW_MS))
    assert [line.split()[0] for line in found] == [ASKS.id, long.id]
    for words in ("t" * 300, "n" * 300, "r" * 90, "b" * 90):
        assert words in found[1]
    assert found[0].index("Add retry") == found[1].index("ttt")
    assert found[0].index("Bash rm") == found[1].index("nnn")
    assert list(table([], [], 100, NOW_MS)) == list(table([], [], None, NOW_MS)) == []


def test_an_inferred_state_is_marked() -> None:
    """A state that was inferred has a question mark."""
    [line] = lines(row(State.ASKS, Ground.INFERRED))
    assert " !? asks? " in line


@pytest.mark.parametrize("text", ["\x1b[31mred", "two\nlines", "\u202eright", "日本語" * 200, "a" * 100_000])
def test_hostile_texts_stay_in_their_line(text: str) -> None:
    """A text of a session can neither control the terminal nor break the table."""
    [line] = lines(row(State.WORKING, title=text, now=text, repo=text, branch=text, agent=text, id=text))
    assert line.isprintable()
    assert columns(line) <= 100


def test_the_beginning_of_an_id_is_unambiguous() -> None:
    """The id is as long as it must be to differ from those of all sessions, printed or not."""
    rows = [row(id=name) for name in ("20261120-140307-1aaaaa", "20261120-140307-2bbbbb", "d3410ecf-7a95")]
    found = [line.split()[0] for line in lines(*rows, every=(row(id="d3410ecf-7b"), row(id="20261")))]
    assert found == ["20261120-140307-1", "20261120-140307-2", "d3410ecf-7a"]


def test_ids_that_differ_late_are_shown_in_part() -> None:
    """The ids of hostile names take no more room than the stem of a recording."""
    [line] = lines(row(id="x" * 1000 + "a"), every=(row(id="x" * 1000 + "b"),))
    assert columns(line) <= 100
    assert line.split()[0].strip("x…") == ""
