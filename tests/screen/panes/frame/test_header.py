"""The two lines above the panes: the header shows facts about the run, the status line what happens now."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.widget import Widget

from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.status import figures, user_wait
from agentwatch.base.resources import stylesheets
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.header import HeaderLine
from agentwatch.screen.panes.status_line import StatusLine
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Event,
    FormatDetected,
    Limits,
    Outcome,
    Permission,
    Prompt,
    RunStarted,
    Tokens,
    Traits,
    TurnEnded,
    Usage,
    UsageScope,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText
from agentwatch.text.times import coming
from tests.builders.lines import event
from tests.builders.screen.app import bundled
from tests.builders.screen.lines import init, result, shell
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

NO_PROBLEMS = integrity(Session())


class LinesApp(App[None]):
    """An app with the header and the status line only."""

    CSS_PATH = stylesheets()

    def __init__(self) -> None:
        super().__init__()
        self.header = HeaderLine()
        self.status = StatusLine()

    def compose(self) -> ComposeResult:
        """Yield both lines."""
        yield self.header
        yield self.status


def read(path: Path, *, follow: bool = False) -> Session:
    """Return the session of a recording; with `follow`, its last run has not ended."""
    feed = Feed(open_saved(path, follow))
    feed.advance()
    return feed.session


def row_of(widget: Widget) -> str:
    """Return the first row of a widget as text."""
    return widget.render_line(0).text


async def header(session: Session, width: int, now_ms: int | None = None) -> str:
    """Return the header of a session in a terminal `width` columns wide."""
    app = LinesApp()
    async with app.run_test(size=(width, 10)) as pilot:
        app.header.show_run(session, now_ms)
        await pilot.pause()
        return row_of(app.header)


async def status(words: str, view: str, width: int) -> str:
    """Return the status line in a terminal `width` columns wide."""
    app = LinesApp()
    async with app.run_test(size=(width, 10)) as pilot:
        app.status.show_status(SafeText(words), SafeText(view), NO_PROBLEMS)
        await pilot.pause()
        return row_of(app.status)


def session_of(*events: Event) -> Session:
    """Return the session with these events applied, a second apart."""
    made = Session()
    for number, each in enumerate(events):
        apply_line(made, [each], Place(number, 1, 1_000_000 + 1000 * number))
    return made


CLAUDE = (
    FormatDetected("claude-code", Traits(), "claude"),
    RunStarted("claude-code", "0123456789", "opus", "/src/tidepool", "default", "none", "2.1.285"),
    Prompt("Do it."),
    Usage(Tokens(124_300, 90_000, 3_210, 0.41, 124_000, 200_000), UsageScope.RUN),
)


@pytest.mark.system
async def test_the_figures_give_way_in_order_of_weight() -> None:
    """The first to give way is the cost; then the tokens, the permission mode, the id and the context."""
    read = session_of(*CLAUDE)
    tokens, context, cost = "in 124k out 3.2k", "ctx 62 %", "$0.41"
    for width, figures_shown in ((118, (tokens, context, cost)), (110, (tokens, context)), (100, (context,))):
        shown = await header(read, width)
        assert shown.startswith(" ◐ running │ claude 2.1.285 · opus │ ")
        assert "tidepool │ 01234567 │ default " in shown
        assert shown.split("  ")[-1].strip() == " · ".join(("0 calls", *figures_shown))
    assert "│ tidepool │ 01234567  " in await header(read, 86)  # the folders weigh less than any fact
    for width, words in ((84, "0 calls · ctx 62 %"), (68, "0 calls · ctx 62 %"), (58, "0 calls")):
        assert (await header(read, width)).split("  ")[-1].strip() == words
    assert (await header(read, 50)).startswith(" ◐ running │ claude · opus │ tidepool ")


async def test_a_key_source_of_none_is_not_shown() -> None:
    """A session without a key shows its permission mode alone."""
    assert "│ default  " in await header(session_of(*CLAUDE), 140)


async def test_from_the_second_turn_on_its_number_and_its_clock_are_shown() -> None:
    """The clock of a later turn starts with its prompt, and its number is shown before the counts."""
    ended = TurnEnded(Outcome.SUCCEEDED, "x", duration_ms=999_000)
    assert "turn" not in await header(session_of(*CLAUDE, ended), 120)
    read = session_of(*CLAUDE, ended, Prompt("And this."))
    shown = await header(read, 120, 1_000_000 + 5_000 + 8_000)
    assert shown.startswith(" ◐ running 0:08 ")
    assert "  turn 2 · 0 calls · " in shown


def test_only_what_the_agent_reports_is_shown() -> None:
    """Unknown counts are left out, and so are numbers that no agent can mean."""
    for tokens, shown in (
        (Tokens(context_used=54_321), ["ctx 54k"]),
        (Tokens(input=999, output=9_960), ["in 999 out 10k"]),
        (Tokens(output=1_234_567, cost_usd=0.001), ["out 1.2M", "$0.0010"]),
        (Tokens(input=-1, output=10**30, cost_usd=float("nan"), context_used=10**30), []),
        (Tokens(context_used=5, context_size=0), ["ctx 5"]),
        (Tokens(cost_usd=1234.5), ["$1,234.50"]),
    ):
        with case(f"{tokens}, {shown}"):
            assert list(figures(tokens)) == shown


async def test_all_facts_of_a_run() -> None:
    """At 140 columns the header shows outcome, clock, agent, model, cwd, id, mode, key source and counts."""
    shown = await header(read(bundled("demo")), 140)
    assert shown.startswith(" ✓ succeeded 1:10 │ cursor · Sonnet 5 200K High │ /home/ada/src/tidepool │ ")
    assert " │ 573e587b │ default · login " in shown
    assert shown.endswith("14 calls · 1 failed · 1 rejected ")


@pytest.mark.system
async def test_the_header_fits() -> None:
    """The header is exactly as wide as the terminal, and always contains the outcome."""
    names = ("demo", "failures", "unfinished", "hostile", "wide", "unknown", "two-runs")
    sessions = {name: read(bundled(name)) for name in names}
    for width in (20, 30, 40, 60, 80, 100, 120, 200):
        app = LinesApp()
        async with app.run_test(size=(width, 10)) as pilot:
            for name, session in sessions.items():
                with case(f"{name}, {width}"):
                    app.header.show_run(session, None)
                    await pilot.pause()
                    assert app.header.render_line(0).cell_length == width
                    assert str(session.outcome) in row_of(app.header)


@pytest.mark.system
async def test_facts_are_dropped_by_weight() -> None:
    """A fact that does not fit is dropped whole; of the counts, the words give way to signs."""
    session = read(bundled("demo"))
    rows = {width: " ".join((await header(session, width)).split()) for width in (30, 40, 60, 80, 100, 120)}
    counts, model = "14 calls · 1 failed · 1 rejected", "Sonnet 5 200K High"
    assert rows[120] == f"✓ succeeded 1:10 │ cursor · {model} │ tidepool │ 573e587b │ default {counts}"
    assert rows[100] == f"✓ succeeded 1:10 │ cursor · {model} │ tidepool {counts}"
    assert rows[80] == f"✓ succeeded 1:10 │ cursor │ tidepool {counts}"
    assert rows[60] == f"✓ succeeded 1:10 │ cursor {counts}"
    assert rows[40] == "✓ succeeded 1:10 14 calls · 1 ✗ · 1 ⊘"
    assert rows[30] == "✓ succeeded 1:10 1 ✗ · 1 ⊘"


async def test_failed_and_rejected_calls_have_the_colour_of_their_outcome() -> None:
    """In the header each count has its outcome's colour; the number of calls does not."""
    app = LinesApp()
    async with app.run_test(size=(120, 10)) as pilot:
        app.header.show_run(read(bundled("demo")), None)
        await pilot.pause()
        colours = {segment.text.strip(): segment.style for segment in app.header.render_line(0)}
        found = [colours[words] for words in ("14 calls", "1 failed", "1 rejected")]
        assert len({style.color for style in found if style is not None}) == 3


async def test_a_long_fact_is_skipped(recording: Saver) -> None:
    """A fact that is too long for the line is skipped; shorter facts are still shown."""
    session_id = "5e55104e-0000-4000-8000-000000000000"
    session = read(recording(init(cwd="/very-long" * 20 + "-long" * 20, session_id=session_id) + result("")))
    shown = await header(session, 80)
    assert "long" not in shown
    assert "│ cursor · Sonnet 5 │ 5e55104e │" in shown


async def test_the_clock_of_a_running_run(recording: Saver) -> None:
    """A running run shows the time since its first line; an ended one the duration that the agent reports."""
    path = recording(init() + shell(1, None))
    path.with_suffix(".times").write_text("0 1000\n")
    running = read(path, follow=True)
    assert (await header(running, 100, 1000)).startswith(" ◐ running 0:00 ")
    assert (await header(running, 100, 66_500)).startswith(" ◐ running 1:05 ")
    assert (await header(running, 100, 3_734_500)).startswith(" ◐ running 1:02:13 ")
    assert "1 call · 1 running" in await header(running, 100, 1000)
    over = read(recording(init() + shell(1) + result("")))
    assert (await header(over, 100, 999_999)).startswith(" ✓ succeeded 5.2 s ")


async def test_lines_not_understood_are_counted(recording: Saver) -> None:
    """The status line counts lines that were not understood, malformed and unknown ones separately."""
    session = read(recording(init() + b"nonsense\n" + event("weather") + result("")))
    app = LinesApp()
    async with app.run_test(size=(100, 10)) as pilot:
        app.status.show_status(SafeText(""), SafeText(""), integrity(session))
        await pilot.pause()
        assert row_of(app.status).endswith(" ✗ 1 malformed · 1 unknown ")


async def test_outcomes_have_words_and_signs() -> None:
    """Each outcome has a word and a sign, so that it can be read without colour."""
    assert (await header(read(bundled("failed-run")), 100)).startswith(" ✗ failed ")
    assert (await header(read(bundled("unfinished")), 100)).startswith(" ◌ unfinished ")
    assert (await header(read(bundled("unfinished"), follow=True), 100)).startswith(" ◐ running ")


async def test_the_status_shows_activity_left_and_view_state_right() -> None:
    """The status line shows the activity on the left and the view state on the right."""
    assert await status("writing", "3 events behind · L", 40) == " writing            3 events behind · L "


@pytest.mark.system
async def test_the_status_fits() -> None:
    """A long activity text is cut to make room for the view state, which is whole whenever it fits."""
    views = ("", "replay ×64", "THE RECORDING IS INCOMPLETE · frozen · 1.2 MB behind")
    for width in (40, 80, 120):
        app = LinesApp()
        async with app.run_test(size=(width, 10)) as pilot:
            for words in ("running shell " + "x" * 300, "東京" * 100, "short", "", "é" * 90):
                for view in views:
                    with case(f"{words[:15]}, {view}, {width}"):
                        app.status.show_status(SafeText(words), SafeText(view), NO_PROBLEMS)
                        await pilot.pause()
                        row = row_of(app.status)
                        assert app.status.render_line(0).cell_length == width
                        if len(view) + 2 <= width:
                            assert row.endswith(f"{view} ")
                        assert row[1:9].strip() == words[:8].strip() or len(view) + 12 > width


async def test_what_is_left_of_the_work_is_shown_where_there_is_room() -> None:
    """After the activity come the parts that fit, the most important first; passing checks take the rest."""
    parts = ((SafeText("tests ✗ 1 failed"), Outcome.FAILED), (SafeText("2 files +3 −1"), None))
    for width, shown in (
        (60, " writing · tests ✗ 1 failed · 2 files +3 −1   ✓ checks pass "),
        (50, " writing · tests ✗ 1 failed · 2 files +3 −1       "),
        (34, " writing · tests ✗ 1 failed       "),
        (20, " writing            "),
    ):
        app = LinesApp()
        async with app.run_test(size=(width, 10)) as pilot:
            found = integrity(read(bundled("demo")))
            app.status.show_status(SafeText("writing"), SafeText(""), found, parts)
            await pilot.pause()
            assert row_of(app.status) == shown


@pytest.mark.system
async def test_the_integrity_is_shown_where_it_fits() -> None:
    """Without a view state, the status line shows the integrity, as detailed as the width allows."""
    for name, width, expected in (
        ("demo", 50, "✓ checks pass"),
        ("demo", 30, ""),
        ("disagreement", 40, "✗ text ≠ result"),
        ("disagreement", 32, "i: integrity"),
    ):
        with case(f"{name}, {width}"):
            app = LinesApp()
            async with app.run_test(size=(width, 10)) as pilot:
                found = integrity(read(bundled(name)))
                app.status.show_status(SafeText("what is going on"), SafeText(""), found)
                await pilot.pause()
                assert row_of(app.status).removeprefix(" what is going on").strip() == expected


async def test_the_header_depends_only_on_the_current_width() -> None:
    """After a resize the header equals that of a terminal which had this width from the start."""
    session = read(bundled("demo"))
    app = LinesApp()
    async with app.run_test(size=(120, 10)) as pilot:
        app.header.show_run(session, None)
        await pilot.resize_terminal(60, 10)
        await pilot.pause()
        app.header.show_run(session, None)
        await pilot.pause()
        assert row_of(app.header) == await header(session, 60)


async def test_an_unknown_agent_is_a_question_mark(recording: Saver) -> None:
    """The header of a stream of no known agent has no outcome."""
    shown = await header(read(recording(b"Hello\n")), 80)
    assert shown.startswith(" ? unknown format ")
    assert "unfinished" not in shown
    assert (await header(read(recording(b"")), 80)).startswith(" ◌ unfinished ")


async def test_a_session_that_a_limit_has_refused_is_limited() -> None:
    """It shows until when, in place of the outcome; after the reset, the turn has failed."""
    refused = Limits((), is_refused=True, until_ms=2_000_000)
    made = session_of(*CLAUDE, refused, TurnEnded(Outcome.FAILED, "limit"))
    until = coming(2_000_000, 1_010_000)
    assert (await header(made, 80, 1_010_000)).startswith(f" ‖ limited until {until} │ claude")
    assert (await header(made, 80, 2_000_000)).startswith(" ✗ failed")
    made = session_of(*CLAUDE, refused._replace(until_ms=None))
    assert (await header(made, 80, 1_010_000)).startswith(" ‖ limited │ claude")


async def test_a_question_that_answers_itself_shows_the_time_that_is_left() -> None:
    """It replaces the time since the question; in few columns without its words."""
    asked = Permission("ask", None, key="q", target="Which port?", limit_ms=60_000)
    made = session_of(*CLAUDE, asked)
    now_ms = 1_000_000 + 1000 * len(CLAUDE) + 48_000
    left = "answers itself in 0:12"
    cases = ((100, 0, f"! asks ({left}) │"), (60, 0, "! asks 0:12 left │"), (60, 12_000, "! asks 1:00 │"))
    for width, late_ms, shown in cases:
        app = LinesApp()
        async with app.run_test(size=(width, 10)) as pilot:
            app.header.show_run(made, now_ms + late_ms, wait=user_wait(made))
            await pilot.pause()
            assert row_of(app.header).startswith(f" {shown}")
