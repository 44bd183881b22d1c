"""What the list says about one session, in which columns, and for how long."""

from typing import Any

from agentwatch.agents.state_report import State
from agentwatch.catalog.digest.digest import LastTests
from agentwatch.catalog.listing import RowLine
from agentwatch.catalog.session_status import Ground
from agentwatch.recording.acts import Act
from agentwatch.screen.screens.sessions import words
from agentwatch.screen.screens.sessions.cells import (
    COLUMNS,
    LEAST_FOR_ONE_ROW,
    NO_ROWS,
    STATE,
    columns_for,
    grown,
    heading,
    joined,
    lower_row,
    row_cells,
    upper_row,
    wide_row,
)
from agentwatch.screen.screens.sessions.list import LineContent, times_of
from agentwatch.screen.widgets.line_view import Spans
from agentwatch.session.counts import Use
from agentwatch.session.events import Tokens
from agentwatch.text.safe import SafeText, columns
from agentwatch.text.times import coming
from tests.builders.home.home_app import MINUTE_MS, NOW_MS, row
from tests.conftest import case

DAY_MS = 24 * 60 * MINUTE_MS


def test_a_state_has_a_sign_and_a_word_or_a_time() -> None:
    """A state that lasts has a sign and a word, an end its time; what is inferred has a question mark."""
    # A question mark is shown with every inferred state, and with no other; quiet is always inferred.
    for state, ground, is_calling, shown in (
        (State.ASKS, Ground.SAID, False, "! asks"),
        (State.ASKS, Ground.INFERRED, True, "!? asks?"),
        (State.WORKING, Ground.SAID, True, "◐ tool"),
        (State.WORKING, Ground.INFERRED, True, "◐ tool?"),
        (State.WORKING, Ground.SAID, False, "◐ model"),
        (State.WORKING, Ground.INFERRED, False, "◐ model?"),
        (State.LIMITED, Ground.SAID, False, "‖ limit"),
        (State.LIMITED, Ground.INFERRED, False, "‖ limit?"),
        (State.QUIET, Ground.INFERRED, False, "? quiet"),
        (State.YOUR_TURN, Ground.SAID, False, "› turn"),
        (State.YOUR_TURN, Ground.INFERRED, False, "› turn?"),
        (State.SHELL, Ground.SAID, False, "› shell"),
        (State.TURN_FAILED, Ground.SAID, False, "✗ failed"),
    ):
        with case(f"{state}, {is_calling}, {shown}"):
            session = row("a", state, ground, is_calling=is_calling)
            assert str(words.state_words(session, NOW_MS)) == shown
    # It is the time of day today, the day this year, otherwise the month; a dash for an impossible time.
    for ended_ms, shown in (
        (NOW_MS - 60 * MINUTE_MS, "12:00"),
        (NOW_MS - DAY_MS, "21 Nov"),
        (NOW_MS - 400 * DAY_MS, "2025-10"),
        (10**30, "–"),
        (-(10**30), "–"),
    ):
        with case(f"{ended_ms}, {shown!r}"):
            session = row("a", State.SUCCEEDED, since_ms=ended_ms)
            assert str(words.state_words(session, NOW_MS)) == f"✓ {shown}"
            assert len(shown) <= STATE - 2
    # The mark is behind the time, as it is behind the word of a session that runs.
    session = row("a", State.UNFINISHED, Ground.INFERRED, since_ms=NOW_MS - DAY_MS)
    assert str(words.state_words(session, NOW_MS)) == "◌ 21 Nov?"
    assert len("21 Nov?") <= STATE - 2
    # A session that has ended at an unknown time shows how, and no clock.
    session = row("a", State.UNKNOWN, Ground.UNKNOWN, since_ms=None, seen_ms=None, began_ms=None)
    assert str(words.state_words(session, NOW_MS)) == "– unknown"
    assert words.since_words(session, NOW_MS) == words.age(session, NOW_MS) == ""
    ended = row("a", State.FAILED, since_ms=None, seen_ms=None)
    assert str(words.state_words(ended, NOW_MS)) == "✗ failed"
    assert words.since_words(ended, NOW_MS) == ""


def test_clocks_fit_and_are_not_shown_twice() -> None:
    """The clock of a state fits its column; an activity has its own if it differs, and the age is rough."""
    # The clock has at most seven columns, for any time.
    for elapsed_ms, shown in (
        (-5, "0:00"),
        (14_999, "0:14"),
        (59 * MINUTE_MS, "59:00"),
        (62 * MINUTE_MS + 13_000, "1:02:13"),
        (10 * 60 * MINUTE_MS, "10 h"),
        (2 * DAY_MS, "2 d"),
        (10**18, "9999 d"),
    ):
        with case(f"{elapsed_ms}, {shown!r}"):
            session = row("a", since_ms=NOW_MS - elapsed_ms)
            assert words.since_words(session, NOW_MS) == shown
            assert len(shown) <= 7
    # It does not run on.
    session = row("a", State.SUCCEEDED, since_ms=NOW_MS - 60_000, duration_ms=182_000)
    assert words.since_words(session, NOW_MS) == words.since_words(session, NOW_MS + 10**9) == "3:02"
    assert words.activity_clock(session, NOW_MS) == ""
    # It is not shown if it would repeat the clock of the state.
    session = row("a", now="pytest -q", now_since_ms=NOW_MS - 48_000)
    assert words.activity_clock(session, NOW_MS) == "0:48"
    assert words.activity_clock(session, NOW_MS + 152_000) == "3:20"
    same = row("a", now="pytest -q", since_ms=NOW_MS - 48_000, now_since_ms=NOW_MS - 48_000)
    assert words.activity_clock(same, NOW_MS) == ""
    nothing = row("a", since_ms=NOW_MS - 48_000, now_since_ms=NOW_MS - 48_000)
    assert words.activity_clock(nothing, NOW_MS) == ""
    # It is in the largest unit of which there are several.
    for elapsed_ms, shown in (
        (-1, "0 s"),
        (45_000, "45 s"),
        (12 * MINUTE_MS, "12 min"),
        (47 * 60 * MINUTE_MS, "47 h"),
        (3 * DAY_MS, "3 d"),
    ):
        with case(f"{elapsed_ms}, {shown!r}"):
            assert words.age(row("a", began_ms=NOW_MS - elapsed_ms), NOW_MS) == shown


def test_foreign_text_is_one_short_line_of_safe_text() -> None:
    """No title, activity, name or branch contains a control character, and none is long."""
    for text in ("\x1b[31mred\x07", "a\nb\r\nc", "\u202eevil", "\ud83d", "x" * 10**6, "\x9b2J"):
        with case(ascii(text[:60])):
            session = row("a", now=text, title=text, repo=text, branch=text, worktree=f"{text}2", host=text)
            for shown in (
                words.title(session),
                words.activity(session),
                words.repository(session),
                words.branch(session),
                words.worktree(session),
            ):
                assert shown.isprintable()
                assert "\u202e" not in shown
                assert columns(shown) < 4_000


def test_title_place_and_activity_of_a_session() -> None:
    """Title, place and activity name what the session is, and for five minutes what the user did last."""
    # A session that began to need the user is marked; a subagent and one without a prompt are named.
    assert words.title(row("a", title="Fix it")) == "Fix it"
    assert words.title(row("a", title="Fix it", is_marked=True)) == "● Fix it"
    assert words.title(row("a", title="", parent=("claude", "b"))) == "└ no prompt yet"
    assert words.title(row("a", title="", is_read=False)) == "…"
    # Subagents are counted; a session that does not ring says so.
    assert words.title_suffix(row("a")) == ""
    assert words.title_suffix(row("a", subagents=2, rings=False)) == "+2 sub · no ring"
    # A worktree is named unless it has the name of its branch; another machine stands before all.
    session = row("a", repo="api", branch="retry", worktree="wt-2", host="devbox")
    assert words.repository(session) + words.branch(session) + words.worktree(session) == (
        "devbox:api ⎇ retry (wt-2)"
    )
    assert words.worktree(row("a", branch="retry", worktree="retry")) == ""
    assert words.repository(row("a", repo="")) == "–"
    assert words.branch(row("a", branch="")) == ""
    # The sign of the outcome is paired with its word, and with the reason of a failure.
    assert words.activity(row("a", State.SUCCEEDED)) == "succeeded"
    assert words.activity(row("a", State.FAILED, now="usage limit")) == "failed: usage limit"
    assert words.activity(row("a", State.YOUR_TURN, now="Shall I push?")) == "“Shall I push?”"
    assert words.activity(row("a", State.YOUR_TURN)) == ""
    # A row begins with what the user did last, with its age; a hostile act is safe text.
    acted = Act(NOW_MS - 8000, "allow", "a", "list", "hook", "elsewhere")
    session = row("a", State.WORKING, now="npm ci", acts=[acted._replace(act="deny"), acted])
    assert words.activity(session, NOW_MS) == "answered there 8 s: allow · npm ci"
    assert words.activity(session) == words.activity(session, NOW_MS + 5 * MINUTE_MS) == "npm ci"
    assert words.activity(session, NOW_MS - 9000) == "npm ci", "the clock was set back"
    wider = acted._replace(
        act="interrupt", by="agentwatch", receipt="sent", why="the run is in the mode auto"
    )
    assert (
        words.last_act(row("a", acts=[wider]), NOW_MS) == "sent 8 s: interrupt: the run is in the mode auto"
    )
    hostile = row("b", State.WORKING, acts=[acted._replace(act="\x1b[2J" * 50, why="\x1b[2J" * 50)])
    assert words.last_act(hostile, NOW_MS).isprintable()
    assert columns(words.last_act(hostile, NOW_MS)) < 120


def test_counts() -> None:
    """Calls are counted by outcome, tests by their verdict; impossible counts are none."""
    # Calls that failed are counted apart from the others; a context of unknown size is counted in tokens.
    session = row("a", calls=33, failed=2, context_used=124_000, context_size=200_000, lines_added=1200)
    assert (words.succeeded(session), words.failed(session)) == ("31 ✓", "2 ✗")
    assert (words.context(session), words.changed_lines(session)) == ("62 %", "+1.2k")
    assert words.context(row("a", context_used=124_000)) == "124k"
    assert words.context(row("a", context_used=124_000, context_size=0)) == "124k"
    assert words.context(row("a", context_used=10**8, context_size=1)) == "999 %"
    # Only calls that have ended are counted.
    assert words.succeeded(row("a", calls=7, failed=1, rejected=1, cancelled=1, open_calls=2)) == "2 ✓"
    # They are not taken to have succeeded.
    session = row("a", calls=33, failed=None)
    assert (words.succeeded(session), words.failed(session)) == ("33 ↵", "")
    # A dash stands for an unknown number and for one that no session has.
    unknown = row("a", calls=None, failed=None)
    assert words.succeeded(unknown) == words.context(unknown) == "–"
    assert words.failed(unknown) == words.changed_lines(unknown) == ""
    wrong = row("a", calls=-1, failed=10**15, context_used=-3, lines_added=10**15, lines_removed=-2)
    assert words.succeeded(wrong) == words.context(wrong) == "–"
    assert words.failed(wrong) == words.changed_lines(wrong) == ""
    # The cost is the agent's; without one, that of the price list.
    uses = ((Use("claude-opus-4-5", 1_790_000_000_000, 0), Tokens(input=1_000_000)),)
    for cost_usd, used, shown in (
        (1.2, uses, "$1.20"),
        (None, uses, "≈ $5.00"),
        (None, ((uses[0][0]._replace(model="none"), uses[0][1]),), "–"),
        (None, None, "–"),
        (-1.0, None, "–"),
        (float("nan"), None, "–"),
        (1e300, None, "–"),
    ):
        with case(shown):
            assert words.cost(row("a", cost_usd=cost_usd, uses=used)) == shown
    # Green has the number that passed, red the number that failed; `?` marks what changed since.
    for tests, shown, said, style in (
        (None, "", "", "muted"),
        (LastTests(False, 17, 0), "✓ 17", "tests ✓ 17", "succeeded"),
        (LastTests(False, 17, 0, is_stale=True), "✓ 17?", "tests ✓ 17, a file changed since", "muted"),
        (LastTests(True, 15, 2), "✗ 2", "tests ✗ 2", "failed"),
        (LastTests(True, 15, 2, is_stale=True), "✗ 2", "tests ✗ 2, a file changed since", "muted"),
        (LastTests(False, 0, 0), "✓", "tests ✓", "succeeded"),
        (LastTests(True, 0, 10**15), "✗", "tests ✗", "failed"),
    ):
        session = row("a", tests=tests)
        assert (words.tests(session), words.tests_words(session)) == (shown, said)
        assert words.tests_style(session) == style


def test_a_time_that_is_left_is_shown() -> None:
    """A limit shows until when it lasts, a question when it answers itself; in few columns the time alone."""
    # In few columns only the time is shown; without one, the words of the state.
    until_ms = NOW_MS + 60 * MINUTE_MS
    session = row("a", State.LIMITED, now="waits for the limit", until_ms=until_ms)
    until = f"until {coming(until_ms, NOW_MS)}"
    assert words.activity(session) == f"waits for the limit {until}"
    shown = columns_for(70, grown(NO_ROWS, [session], NOW_MS))
    assert until in "".join(text for text, _ in wide_row(session, shown, NOW_MS, 0))
    assert "waits" not in "".join(text for text, _ in wide_row(session, shown, NOW_MS, 0))
    bare = row("a", State.LIMITED, now="waits for the limit: full")
    assert (words.activity(bare), words.until_words(bare)) == ("waits for the limit: full", "")
    assert words.until_words(session._replace(lost_ms=NOW_MS)) == ""
    # In few columns only the time is shown; at its end, and for a lost session, nothing.
    asks = row("a", State.ASKS, now="Which port?", until_ms=NOW_MS + 12_000, now_since_ms=NOW_MS - MINUTE_MS)
    assert words.activity_clock(asks, NOW_MS) == "answers itself in 0:12"
    assert words.activity_clock(asks, NOW_MS + 11_999) == "answers itself in 0:01"
    assert words.activity_clock(asks, NOW_MS + 12_000) == ""
    assert words.time_left(asks._replace(lost_ms=NOW_MS), NOW_MS) == ""
    limited = row("b", State.LIMITED, until_ms=NOW_MS + 12_000)
    assert words.time_left(limited, NOW_MS) == ""
    needed = grown(NO_ROWS, [row("a", repo="tidepool", branch="")], NOW_MS)
    for width, said in ((140, "Which port? · answers itself in 0:12"), (80, "Which … · 0:12 left")):
        spans = wide_row(
            asks,
            columns_for(width, needed),
            NOW_MS,
            0,
        )
        with case(width):
            assert said in "".join(text for text, _ in spans)


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


def test_the_columns_of_an_earlier_time_give_the_same_row() -> None:
    """Only those with a clock are made again, and the cost, because prices may have become known."""
    for width in (LEAST_FOR_ONE_ROW, 100, 200):
        shown = columns_for(width, NEEDED)
        for each in ROWS:
            cells = row_cells(each, shown, NOW_MS - 3 * DAY_MS, 1)
            for now_ms in (NOW_MS, NOW_MS + 1_000, NOW_MS + 61 * MINUTE_MS):
                cells = row_cells(each, shown, now_ms, 1, cells)
                assert joined(each, cells, now_ms, is_dated=False) == wide_row(each, shown, now_ms, 1)
    late = [column.name for column in COLUMNS if column.has_clock or column.is_late]
    assert late == ["for", "now", "age", "cost"]


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


def test_a_row_shows_the_same_at_its_times() -> None:
    """No clock moves within them. They end within a second, or within a minute once a session has ended."""
    content = LineContent()
    content.fit(160)
    calling: dict[str, Any] = {"since_ms": NOW_MS - 4321, "now": "make", "now_since_ms": NOW_MS - 1234}
    old: dict[str, Any] = {"since_ms": NOW_MS - 3 * DAY_MS, "seen_ms": NOW_MS - 3 * DAY_MS, "began_ms": None}
    act = Act(NOW_MS - 4321, "stop", "", "", "", "sent")
    for name, shown, most_ms in (
        ("runs", row("a", **calling, began_ms=NOW_MS - 9876), 1000),
        ("is lost", row("a", lost_ms=NOW_MS - 777), 1000),
        ("has just ended", row("a", State.SUCCEEDED, began_ms=NOW_MS - 30_500), 1000),
        ("has ended", row("a", State.SUCCEEDED, began_ms=NOW_MS - 5 * MINUTE_MS - 999), MINUTE_MS),
        ("acted", row("a", State.SUCCEEDED, **old, acts=[act]), 1000),
        ("ended long ago", row("a", State.SUCCEEDED, **old), MINUTE_MS),
    ):
        with case(name):
            line = RowLine(shown)
            times = times_of(line, NOW_MS)
            assert times.start == NOW_MS
            assert 0 < len(times) <= most_ms
            content.measure([shown], NOW_MS)
            at_first = content.spans(line, 0, NOW_MS)
            assert all(content.spans(line, 0, at_ms) == at_first for at_ms in times[:: len(times) // 20 or 1])
            assert content.spans(line, 0, times[-1]) == at_first
