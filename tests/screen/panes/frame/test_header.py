"""The two lines above the panes: the header shows facts about the run, the status line what happens now."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.integrity import Integrity, integrity
from agentwatch.analysis.silence import is_stalled
from agentwatch.analysis.status import figures, user_wait
from agentwatch.base.clock import now_ms
from agentwatch.base.files import stylesheets
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.header import HeaderLine, StatusLine, machine_place, view_words
from agentwatch.screen.panes.moment import Moment, live_ms, moment_name
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
from agentwatch.sources.source import Source
from agentwatch.text.safe import SafeText, columns, safe_line
from agentwatch.text.times import coming, time_of_day
from tests.builders.lines import event, feed_of, line
from tests.builders.screen.app import bundled
from tests.builders.screen.lines import init, prompt, result, shell
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
        yield self.header
        yield self.status


def read(path: Path, *, follow: bool = False) -> Session:
    """Return the session of a recording; with `follow`, its last run has not ended."""
    feed = feed_of(path, follow=follow)
    return feed.session


def row_of(widget: Widget) -> str:
    """Return the first row of a widget as text."""
    return widget.render_line(0).text


class Lines:
    """The header and the status line of a running app, at any width."""

    def __init__(self, app: LinesApp, pilot: Pilot[None]) -> None:
        self.app, self._pilot = app, pilot

    async def at(self, width: int) -> None:
        """Give the terminal a width."""
        if self.app.size.width != width:
            await self._pilot.resize_terminal(width, 10)

    async def header(self, session: Session, width: int, now_ms: int | None = None, **more: Any) -> str:
        await self.at(width)
        self.app.header.show_run(session, now_ms, **more)
        await self._pilot.pause()
        return row_of(self.app.header)

    async def status(
        self, words: str, view: str, width: int, found: Integrity = NO_PROBLEMS, parts: Any = ()
    ) -> str:
        await self.at(width)
        self.app.status.show_status(SafeText(words), SafeText(view), found, parts)
        await self._pilot.pause()
        return row_of(self.app.status)


@pytest.fixture
async def lines() -> AsyncIterator[Lines]:
    """Run an app with both lines."""
    app = LinesApp()
    async with app.run_test(size=(80, 10)) as pilot:
        yield Lines(app, pilot)


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


async def test_facts_give_way_by_weight(lines: Lines, recording: Saver) -> None:
    """The header is as wide as the terminal; what does not fit is dropped whole, by its weight."""
    # At 140 columns the header shows outcome, clock, agent, model, cwd, id, mode, key source and counts.
    shown = await lines.header(read(bundled("demo")), 140)
    assert shown.startswith(" ✓ succeeded 1:10 │ cursor · Sonnet 5 200K High │ /home/ada/src/tidepool │ ")
    assert " │ 573e587b │ default · login " in shown
    assert shown.endswith("14 calls · 1 failed · 1 rejected ")
    # A fact that does not fit is dropped whole; of the counts, the words give way to signs.
    session = read(bundled("demo"))
    rows = {
        width: " ".join((await lines.header(session, width)).split()) for width in (30, 40, 60, 80, 100, 120)
    }
    counts, model = "14 calls · 1 failed · 1 rejected", "Sonnet 5 200K High"
    assert rows[120] == f"✓ succeeded 1:10 │ cursor · {model} │ tidepool │ 573e587b │ default {counts}"
    assert rows[100] == f"✓ succeeded 1:10 │ cursor · {model} │ tidepool {counts}"
    assert rows[80] == f"✓ succeeded 1:10 │ cursor │ tidepool {counts}"
    assert rows[60] == f"✓ succeeded 1:10 │ cursor {counts}"
    assert rows[40] == "✓ succeeded 1:10 14 calls · 1 ✗ · 1 ⊘"
    assert rows[30] == "✓ succeeded 1:10 1 ✗ · 1 ⊘"
    # The first to give way is the cost; then the tokens, the permission mode, the id and the context.
    claude = session_of(*CLAUDE)
    tokens, context, cost = "in 124k out 3.2k", "ctx 62 %", "$0.41"
    for width, figures_shown in ((118, (tokens, context, cost)), (110, (tokens, context)), (100, (context,))):
        shown = await lines.header(claude, width)
        assert shown.startswith(" ◐ running │ claude 2.1.285 · opus │ ")
        assert "tidepool │ 01234567 │ default " in shown
        assert shown.split("  ")[-1].strip() == " · ".join(("0 calls", *figures_shown))
    assert "│ tidepool │ 01234567  " in await lines.header(claude, 86)  # the folders weigh less than any fact
    for width, words in ((84, "0 calls · ctx 62 %"), (68, "0 calls · ctx 62 %"), (58, "0 calls")):
        assert (await lines.header(claude, width)).split("  ")[-1].strip() == words
    assert (await lines.header(claude, 50)).startswith(" ◐ running │ claude · opus │ tidepool ")
    # A fact that is too long for the line is skipped; shorter facts are still shown.
    session_id = "5e55104e-0000-4000-8000-000000000000"
    session = read(recording(init(cwd="/very-long" * 20 + "-long" * 20, session_id=session_id) + result("")))
    shown = await lines.header(session, 80)
    assert "long" not in shown
    assert "│ cursor · Sonnet 5 │ 5e55104e │" in shown
    # The header is exactly as wide as the terminal, and always contains the outcome.
    names = ("demo", "failures", "unfinished", "hostile", "wide", "unknown", "two-runs")
    sessions = {name: read(bundled(name)) for name in names}
    for width in (20, 30, 40, 60, 80, 100, 120, 200):
        for name, session in sessions.items():
            with case(f"{name}, {width}"):
                assert str(session.outcome) in await lines.header(session, width)
                assert lines.app.header.render_line(0).cell_length == width
    # In the header each count has its outcome's colour; the number of calls does not.
    await lines.header(read(bundled("demo")), 120)
    colours = {segment.text.strip(): segment.style for segment in lines.app.header.render_line(0)}
    found = [colours[words] for words in ("14 calls", "1 failed", "1 rejected")]
    assert len({style.color for style in found if style is not None}) == 3


async def test_the_header_shows_the_state_of_the_run(lines: Lines, recording: Saver) -> None:
    """Outcome, clock, turn, limit and question of a run are shown with signs and words."""
    # Each outcome has a word and a sign, so that it can be read without colour.
    assert (await lines.header(read(bundled("failed-run")), 100)).startswith(" ✗ failed ")
    assert (await lines.header(read(bundled("unfinished")), 100)).startswith(" ◌ unfinished ")
    assert (await lines.header(read(bundled("unfinished"), follow=True), 100)).startswith(" ◐ running ")
    # A running run shows the time since its first line; an ended one the duration that the agent reports.
    path = recording(init() + shell(1, None))
    path.with_suffix(".times").write_text("0 1000\n")
    running = read(path, follow=True)
    assert (await lines.header(running, 100, 1000)).startswith(" ◐ running 0:00 ")
    assert (await lines.header(running, 100, 66_500)).startswith(" ◐ running 1:05 ")
    assert (await lines.header(running, 100, 3_734_500)).startswith(" ◐ running 1:02:13 ")
    assert "1 call · 1 running" in await lines.header(running, 100, 1000)
    over = read(recording(init() + shell(1) + result("")))
    assert (await lines.header(over, 100, 999_999)).startswith(" ✓ succeeded 5.2 s ")
    # The clock of a later turn starts with its prompt, and its number is shown before the counts.
    ended = TurnEnded(Outcome.SUCCEEDED, "x", duration_ms=999_000)
    assert "turn" not in await lines.header(session_of(*CLAUDE, ended), 120)
    claude = session_of(*CLAUDE, ended, Prompt("And this."))
    shown = await lines.header(claude, 120, 1_000_000 + 5_000 + 8_000)
    assert shown.startswith(" ◐ running 0:08 ")
    assert "  turn 2 · 0 calls · " in shown
    # A session without a key shows its permission mode alone.
    assert "│ default  " in await lines.header(session_of(*CLAUDE), 140)
    # The header of a stream of no known agent has no outcome.
    shown = await lines.header(read(recording(b"Hello\n")), 80)
    assert shown.startswith(" ? unknown format ")
    assert "unfinished" not in shown
    assert (await lines.header(read(recording(b"")), 80)).startswith(" ◌ unfinished ")
    # It shows until when, in place of the outcome; after the reset, the turn has failed.
    refused = Limits((), is_refused=True, until_ms=2_000_000)
    made = session_of(*CLAUDE, refused, TurnEnded(Outcome.FAILED, "limit"))
    until = coming(2_000_000, 1_010_000)
    assert (await lines.header(made, 80, 1_010_000)).startswith(f" ‖ limited until {until} │ claude")
    assert (await lines.header(made, 80, 2_000_000)).startswith(" ✗ failed")
    made = session_of(*CLAUDE, refused._replace(until_ms=None))
    assert (await lines.header(made, 80, 1_010_000)).startswith(" ‖ limited │ claude")
    # It replaces the time since the question; in few columns without its words.
    asked = Permission("ask", None, key="q", target="Which port?", limit_ms=60_000)
    made = session_of(*CLAUDE, asked)
    now_ms = 1_000_000 + 1000 * len(CLAUDE) + 48_000
    left = "answers itself in 0:12"
    cases = ((100, 0, f"! asks ({left}) │"), (60, 0, "! asks 0:12 left │"), (60, 12_000, "! asks 1:00 │"))
    for width, late_ms, shown in cases:
        row = await lines.header(made, width, now_ms + late_ms, wait=user_wait(made))
        assert row.startswith(f" {shown}")


async def test_the_status_line_has_the_activity_and_the_view(lines: Lines, recording: Saver) -> None:
    """The activity is on the left; the view state, lines not understood or the checks are on the right."""
    # The status line shows the activity on the left and the view state on the right.
    assert (
        await lines.status("writing", "3 events behind · L", 40) == " writing            3 events behind · L "
    )
    # The status line counts lines that were not understood, malformed and unknown ones separately.
    session = read(recording(init() + b"nonsense\n" + event("weather") + result("")))
    shown = await lines.status("", "", 100, integrity(session))
    assert shown.endswith(" ✗ recording not whole: 1 malformed · 1 unknown ")
    # After the activity come the parts that fit, the most important first; passing checks take the rest.
    parts = ((SafeText("tests ✗ 1 failed"), Outcome.FAILED), (SafeText("2 files +3 −1"), None))
    for width, shown in (
        (64, " writing · tests ✗ 1 failed · 2 files +3 −1   ✓ recording whole "),
        (50, " writing · tests ✗ 1 failed · 2 files +3 −1       "),
        (34, " writing · tests ✗ 1 failed       "),
        (20, " writing            "),
    ):
        assert await lines.status("writing", "", width, integrity(read(bundled("demo"))), parts) == shown
    # Without a view state, the status line shows the integrity, as detailed as the width allows.
    for name, width, expected in (
        ("demo", 50, "✓ recording whole"),
        ("demo", 30, ""),
        ("disagreement", 60, "✗ recording not whole: text ≠ result"),
        ("disagreement", 50, "✗ not whole: text ≠ result"),
        ("disagreement", 44, "✗ recording not whole"),
        ("disagreement", 32, "i: recording"),
    ):
        with case(f"{name}, {width}"):
            shown = await lines.status("what is going on", "", width, integrity(read(bundled(name))))
            assert shown.removeprefix(" what is going on").strip() == expected
    # A long activity text is cut to make room for the view state, which is whole whenever it fits.
    views = ("", "replay ×64", "THE RECORDING IS INCOMPLETE · frozen · 1.2 MB behind")
    for width in (40, 80, 120):
        for words in ("running shell " + "x" * 300, "東京" * 100, "short", "", "é" * 90):
            for view in views:
                with case(f"{words[:15]}, {view}, {width}"):
                    row = await lines.status(words, view, width)
                    assert lines.app.status.render_line(0).cell_length == width
                    if len(view) + 2 <= width:
                        assert row.endswith(f"{view} ")
                    assert row[1:9].strip() == words[:8].strip() or len(view) + 12 > width


class Published:
    """A publication with given words."""

    def __init__(self, *forms: str) -> None:
        self._forms = forms

    @property
    def has_trouble(self) -> bool:
        """Whether there are words about trouble."""
        return len(self._forms) > 2

    def forms(self) -> tuple[str, ...]:
        return self._forms


WELL = Published("⇡ team.example.com", "⇡")
BEHIND = Published("⇡ team.example.com · 2.1 MB behind", "⇡ 2.1 MB behind", "⇡!")


@pytest.mark.system
async def test_a_published_session_names_its_place_at_every_width(lines: Lines) -> None:
    """The host, or as much of it as fits, or at least the sign; never more than the line."""
    for published, width, words in (
        (WELL, 120, "│ ⇡ team.example.com │"),
        (WELL, 80, "│ ⇡ team.example.com "),
        (WELL, 50, "│ ⇡ team.examp… "),
        (WELL, 24, "⇡"),
        (BEHIND, 120, "│ ⇡ team.example.com · 2.1 MB behind │"),
        (BEHIND, 80, "│ ⇡ 2.1 MB behind │"),
        (BEHIND, 24, "⇡!"),
        (Published("⇡ evil\x1b]0;x\x07", "⇡"), 80, "⇡ evil"),
    ):
        with case(f"{width}, {words!r}"):
            source = saved_source(bundled("demo"))
            source.written.publication = published
            await lines.app.header.remove()
            lines.app.header = HeaderLine(source)
            await lines.app.screen.mount(lines.app.header)
            await lines.header(read(bundled("demo")), width)
            shown = str(lines.app.header.visual)
            assert words in shown
            assert "\x1b" not in shown
            assert columns(safe_line(shown)) <= width


LONG = "runner-0123456789.europe-west4.internal"


class Elsewhere:
    """A session of another machine. It stands for its source."""

    exit_code = None
    problem = ""
    beginning = 0

    def __init__(self, address: str, host: str) -> None:
        self.address, self.host = address, host
        self.elsewhere = self


def test_a_place_and_a_moment_have_names() -> None:
    """The machine is named before the engine; a moment by its time of day, or its share of the bytes."""
    # Engine and machine are named if both fit in a third of the width; else the machine, cut if it must.
    for address, host, width, words in (
        ("nats://team/ci.0123", "build-7", 120, "⇣ team · build-7"),
        ("nats://team/ci.0123", "", 120, "⇣ team"),
        ("nats://team/ci.0123", "build-7", 40, "⇣ build-7"),
        ("nats://nats.example.org:4333/ci.0123", LONG, 120, f"⇣ {LONG[:34]}…"),
        ("nats://nats.example.org:4333/ci.0123", "build-7", 60, "⇣ build-7"),
        ("ssh://ci@build1:2222/claude/0123", "build1", 80, "⇣ build1"),
        ("nats://team/ci.0123", "a\x1b[31mb", 120, "⇣ team · a␛[31mb"),
    ):
        with case(f"{address!r}, {host!r}, {width}"):
            assert machine_place(cast("Source", Elsewhere(address, host)), width)[0] == f"│ {words} "
    # A moment with a recorded time is named by the time of day, without one by its share of the bytes.
    assert moment_name(1_793_610_000_000, 100, 200) == time_of_day(1_793_610_000_000)
    for offset, size, name in ((0, 200, "0 %"), (125, 200, "62 %"), (200, 200, "100 %"), (0, 0, "0 %")):
        with case(f"{offset}, {name}"):
            assert moment_name(None, offset, size) == name


def test_the_time_is_that_of_the_newest_line(recording: Saver) -> None:
    """A saved recording shows the time of its newest line, a followed one that of our clock."""
    # While a saved recording is read, the time shown is that of its newest line, so it is not quiet.
    path = recording(init(), prompt("Mend it."), result())
    path.with_suffix(".times").write_text("0 1000\n")
    feed = Feed(open_saved(path))
    feed.advance(0)
    assert not feed.is_over
    assert live_ms(feed) == feed.session.last_seen_ms == 1000
    assert not is_stalled(feed.session, live_ms(feed))
    # A followed recording shows the time of our clock.
    path = recording(init())
    path.with_suffix(".times").write_text("0 1000\n")
    feed = feed_of(path, follow=True)
    before = now_ms()
    shown = live_ms(feed)
    assert shown is not None
    assert before <= shown <= now_ms()


def test_lines_of_no_known_agent_are_mentioned_while_they_are_held(recording: Saver) -> None:
    """Lines that are held because the agent is not known yet are counted, so that nothing is hidden."""
    path = recording(line({"type": "hello"}), line({"type": "hello"}))
    source = saved_source(path, follow=True)
    feed = Feed(source.reader)
    moment = Moment(feed, source.reader)
    feed.advance()
    words = view_words(source, moment, [], below=0)
    assert words == "2 lines of no known agent yet"
