"""The columns of the list, and the rows that are made of them."""

from __future__ import annotations

from agentwatch.agents.reported import State
from agentwatch.catalog.digest import LastTests
from agentwatch.screen.screens.sessions.cells import (
    LEAST_FOR_ONE_ROW,
    NO_ROWS,
    columns_for,
    grown,
    heading,
    lower_row,
    upper_row,
    wide_row,
)
from agentwatch.screen.widgets.line_view import Spans
from agentwatch.text.safe import SafeText, columns
from tests.builders.home.home_app import MINUTE_MS, NOW_MS, row

ROWS = [
    row("a", State.ASKS, now="Bash rm -rf build", calls=33, failed=2, context_used=62, context_size=100),
    row(
        "b",
        agent="opencode",
        title="日本語のタイトルはとても長いです" * 4,
        now="テスト" * 20,
        repo="リポジトリ" * 9,
    ),
    row("c", title="e\u0301" * 90, now="\x1b[2J" * 40, branch="ветка/" * 20, worktree="дерево", subagents=12),
    row("d", State.YOUR_TURN, now="終わりました。プッシュしますか？" * 4, host="devbox" * 5, rings=False),
    row(
        "e",
        State.FAILED,
        now="limit",
        agent="エージェント" * 5,
        calls=None,
        branch="",
        lines_added=120,
        tests=LastTests(False, 17, 0, is_stale=True),
    ),
    row(
        "f", State.UNKNOWN, title="", repo="", branch="", since_ms=None, seen_ms=None, began_ms=None, agent=""
    ),
    row(
        "g",
        now="sleep 600",
        now_since_ms=NOW_MS - 70 * MINUTE_MS,
        is_marked=True,
        lines_removed=3,
        tests=LastTests(True, 9, 1200),
    ),
]
NEEDED = grown(NO_ROWS, ROWS, NOW_MS)


def width_of(spans: Spans) -> int:
    """Return the width of a row, in columns."""
    return columns(SafeText("".join(text for text, _ in spans)))


def test_every_row_has_the_same_width() -> None:
    """Each row, of both in a narrow pane, fits its width; long texts are cut where they say least."""
    # Wide and combining characters, long and empty texts: the columns of all rows stand below each other.
    for width in range(LEAST_FOR_ONE_ROW, 200):
        shown = columns_for(width, NEEDED)
        found = {width_of(wide_row(each, shown, NOW_MS, depth)) for each in ROWS for depth in (0, 2)}
        assert found == {width_of(heading(shown))} == {width}
    # In a narrow pane, neither of the two rows of a session is wider than the pane.
    for width in range(12, LEAST_FOR_ONE_ROW):
        rows = [make(each, width, NOW_MS) for each in ROWS for make in (upper_row, lower_row)]
        assert max(map(width_of, rows)) <= width
    # A quotation that is too long is cut at its beginning, because a question stands at its end.
    asked = row("a", State.YOUR_TURN, now="All is done and the tests pass on every machine. Shall I push?")
    text = "".join(text for text, _ in wide_row(asked, columns_for(80, NEEDED), NOW_MS, 0))
    assert "“…" in text
    assert text.rstrip().endswith("push?”")
    # A branch without room for a few letters is not shown; a very long repository leaves room for one.
    shown = columns_for(70, grown(NO_ROWS, [row("a", repo="x" * 40)], NOW_MS))
    assert "⎇" not in "".join(text for text, _ in wide_row(row("a", repo="tidepool-api"), shown, NOW_MS, 0))
    wide = columns_for(160, grown(NO_ROWS, [row("a", repo="x" * 40)], NOW_MS))
    text = "".join(text for text, _ in wide_row(row("a", repo="x" * 40, branch="topic"), wide, NOW_MS, 0))
    assert "x… ⎇ top…" in text


def test_a_wider_pane_shows_more() -> None:
    """Columns give way in a stated order; without content they take no room."""
    # Changed lines go first, then the tests, the age, the context and the calls; the main columns stay.
    given_way: list[str] = []
    for width in range(220, LEAST_FOR_ONE_ROW - 1, -1):
        widths = columns_for(width, NEEDED).widths
        gone = [name for name in ("lines", "tests", "age", "ctx", "calls") if name not in widths]
        if gone != given_way:
            assert gone[:-1] == given_way
            given_way = gone
        assert min(widths[name] for name in ("agent", "project", "title", "now")) >= 6
        assert widths.get("calls") in (None, len("33 ✓ 2 ✗"))
    assert given_way == ["lines", "tests", "age", "ctx", "calls"]
    # While no column is added, no column gets narrower.
    before = columns_for(LEAST_FOR_ONE_ROW, NEEDED).widths
    for width in range(LEAST_FOR_ONE_ROW + 1, 96):
        widths = columns_for(width, NEEDED).widths
        assert all(widths[name] >= old for name, old in before.items())
        before = widths
    # Without any changed lines or tests, their columns do not exist, however wide the pane is.
    bare = grown(NO_ROWS, [row("a", lines_added=None)], NOW_MS)
    widths = columns_for(220, bare).widths
    assert not {"lines", "tests"} & widths.keys()
    assert widths["title"] > columns_for(220, NEEDED).widths["title"]
    # The cost is shown only if it is chosen.
    paid = grown(NO_ROWS, [row("a", cost_usd=12.4)], NOW_MS, ("calls", "cost"))
    assert "cost" not in columns_for(220, paid).widths
    shown = columns_for(100, paid, ("calls", "cost"))
    assert "".join(text for text, _ in heading(shown)).endswith("  cost")
    assert "".join(text for text, _ in wide_row(row("a", cost_usd=12.4), shown, NOW_MS, 0)).endswith(
        " $12.40"
    )


def test_widths_never_shrink_and_grow_rarely() -> None:
    """A row that goes away leaves the columns as they are, and counts have room for a digit more."""
    # A row that goes away or becomes shorter leaves the columns as they are.
    assert grown(NEEDED, [], NOW_MS) == grown(NEEDED, ROWS[:1], NOW_MS) == NEEDED
    # The tenth call, the first failure and the first full hour find their room reserved.
    before = grown(
        NO_ROWS, [row("a", calls=5, began_ms=NOW_MS - 59_000, context_used=3, context_size=100)], NOW_MS
    )
    later = row("a", calls=99, failed=9, began_ms=NOW_MS, context_used=99, context_size=100)
    assert grown(before, [later], NOW_MS + 50 * MINUTE_MS) == before
