"""A replay keeps the recorded times, and can be paused, stepped, sped up and slowed down."""

import pytest
from textual.events import AppBlur

from agentwatch.analysis.moments import Asked
from agentwatch.feed.playhead import Replay
from agentwatch.recording.bookmarks import Bookmarks
from tests.builders.moment.panes import watch_screen
from tests.builders.moment.timed import ManualClock, parsed, timed, timed_evenly
from tests.builders.screen.app import lines_of, opened
from tests.builders.screen.call_table import rows_of
from tests.builders.screen.lines import answer, init, session, shell
from tests.conftest import Saver

pytestmark = pytest.mark.slow


@pytest.mark.system
async def test_a_replay_keeps_its_time(recording: Saver) -> None:
    """Each line, and each piece of text, arrives at its recorded time, and clocks show what they showed."""
    # In a replay each line arrives at its recorded time, and clocks show what they showed then. So does the
    # header between two lines: it does not stay at the time of the last one.
    path = timed(recording(init() + shell(1) + answer("Done.")), 0, 10, 30, 31)
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock)) as stage:
        calls = stage.calls
        assert lines_of(calls) == []
        clock.seconds += 10
        await stage.until(lambda: lines_of(calls), "the call")
        assert "running echo 1 · 0:00" in stage.status
        clock.seconds += 19
        await stage.until(lambda: "0:19" in lines_of(calls)[0], "its clock")
        assert rows_of(calls)[0].split()[0] == "◐"
        assert stage.header.startswith(" ▶ as of 09:00:29 ")
        clock.seconds += 1
        await stage.until(lambda: rows_of(calls)[0].split()[0] == "✓", "its end")
        clock.seconds += 1
        await stage.until(lambda: "Done." in stage.text(), "the text")
    # Pieces of text that are decoded at once are shown each at its own time.
    path = timed(recording(init() + b"".join(answer(f"<{n}>") for n in range(6))), *range(0, 70, 10))
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock)) as stage:
        for number in range(5):
            clock.seconds += 10
            await stage.shows(f"<{number}>", "transcript")
            await stage.settled()
            assert f"<{number + 1}>" not in stage.text()


@pytest.mark.system
async def test_a_replay_can_be_paused(recording: Saver) -> None:
    """`space` pauses it: its time does not advance; `.` shows one more event at once, paused or not."""
    # While a replay is paused its time does not advance, and the time bar shows `‖`.
    path = timed(recording(init() + answer("Soon.") + answer("Later.")), 0, 10, 20)
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock)) as stage:
        await stage.shows("×1 ▶")
        clock.seconds += 5
        await stage.press("space")
        await stage.shows("‖")
        clock.seconds += 100
        await stage.settled()
        assert "Soon." not in stage.text()
        await stage.press("space")
        clock.seconds += 5
        await stage.until(lambda: "Soon." in stage.text(), "the text")
        assert "Later." not in stage.text()
    # `.` shows one more event at once, paused or not; pressed three times in succession it shows three.
    path = timed(recording(init() + b"".join(answer(f"<{n}>") for n in range(6))), *range(0, 70, 10))
    async with opened(path, replay=Replay(clock=ManualClock())) as stage:
        # `.` pressed three times in quick succession, as a held key does, shows three events.
        keys = watch_screen(stage)
        for _ in range(3):
            keys.action_step(1)
        await stage.settled()
        await stage.settled()
        assert lines_of(stage.pane("transcript")) == ["<0><1><2>"]
        await stage.press("space")
        for words in ("<0><1><2><3>", "<0><1><2><3><4>"):
            await stage.press("full_stop")
            await stage.until(lambda words=words: lines_of(stage.pane("transcript")) == [words], words)  # type: ignore[misc]


@pytest.mark.system
async def test_a_replay_can_be_faster_and_slower(recording: Saver) -> None:
    """`+` and `-` change the speed between ×0.25 and ×64; the time bar shows it."""
    path = timed(recording(init() + answer("Soon.")), 0, 1000)
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock)) as stage:
        for key, speeds in (
            ("plus", "2 4 8 16 32 64 64"),
            ("minus", "32 16 8 4 2 1 0.5 0.25 0.25"),
            ("equals_sign", "0.5"),
        ):
            for speed in speeds.split():
                await stage.press(key)
                await stage.shows(f"×{speed} ▶")
        for _ in range(4):
            await stage.press("plus")
        await stage.shows("×8 ▶")
        clock.seconds += 124
        await stage.settled()
        assert "Soon." not in stage.text()
        clock.seconds += 1
        await stage.until(lambda: "Soon." in stage.text(), "the text")


@pytest.mark.system
async def test_at_the_live_moment_nothing_follows(recording: Saver) -> None:
    """At the live moment a step forward changes nothing, and `+` says the speed of what is played later."""
    async with opened(timed_evenly(recording(session(3)))) as stage:
        # At the live moment, one event forward changes nothing.
        await stage.press("full_stop")  # which folds what happened
        await stage.settled()
        before = stage.text()
        await stage.press("full_stop", "L")
        await stage.settled()
        assert stage.text() == before
        # While nothing plays, `+` says the new speed; a held key says it once.
        await stage.press("plus")
        await stage.shows("speed ×2, once it plays")
        await stage.press(*["greater_than_sign"] * 5)
        await stage.shows("no later call")
        assert stage.text().count("no later call") == 1


@pytest.mark.system
async def test_a_replay_has_no_new_lines(recording: Saver) -> None:
    """In a replay no rule marks what came while the terminal had no focus."""
    path = timed(recording(init() + answer("One.") + answer("\n\nTwo.")), 0, 1, 10)
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock)) as stage:
        clock.seconds += 1
        await stage.shows("One.", "transcript")
        stage.app.post_message(AppBlur())
        await stage.settled()
        clock.seconds += 10
        await stage.shows("Two.", "transcript")
        assert "new since" not in stage.text()


@pytest.mark.system
async def test_a_shortened_silence_says_its_length(recording: Saver) -> None:
    """With --max-idle, the status line names the part of a silence that was left out, for 3 s."""
    lines = init() + answer("Soon.") + b"".join(answer(f"<{number}>") for number in range(8))
    path = timed(recording(lines), 0, 20, *range(50, 58))
    clock = ManualClock()
    async with opened(path, replay=Replay(max_idle=2, clock=clock)) as stage:
        clock.seconds += 2
        await stage.shows("18.0 s of silence cut")
        assert "Soon." in stage.text()
        clock.seconds += 1.5
        await stage.shows("18.0 s of silence cut")
        clock.seconds += 0.5
        await stage.shows("28.0 s of silence cut")
        assert "<0>" in stage.text()
        clock.seconds += 2.9
        await stage.shows("<2>", "transcript")
        assert "28.0 s of silence cut" in stage.status
        clock.seconds += 0.1
        await stage.until(lambda: "silence cut" not in stage.status, "its end")


async def test_at_the_end_space_starts_over(recording: Saver) -> None:
    """A replay stays on its last line; `space` plays it from where it began."""
    path = timed_evenly(recording(init() + answer("One. ") + answer("Two. ") + answer("Three.")))
    clock = ManualClock()
    asked = Asked(parsed("+2s"), parsed("+4s"))
    async with opened(path, replay=Replay(clock=clock), asked=asked) as stage:
        await stage.shows("One.", "transcript")
        clock.seconds += 100
        await stage.shows("One. Two.", "transcript")
        await stage.shows("‖")
        clock.seconds += 100
        await stage.settled()
        assert "Three." not in stage.text()
        await stage.press("space")
        await stage.until(lambda: "Two." not in stage.text(), "the start")
        assert "One." in stage.text()
        clock.seconds += 3
        await stage.shows("One. Two.", "transcript")


@pytest.mark.system
async def test_a_replay_can_start_over_by_itself(recording: Saver) -> None:
    """With --loop, the replay begins again after its last line."""
    path = timed_evenly(recording(init() + answer("One. ") + answer("Two. ")))
    clock = ManualClock()
    async with opened(path, replay=Replay(loops=True, clock=clock)) as stage:
        for _ in range(3):
            clock.seconds += 2.5
            await stage.shows("One.", "transcript")
            assert "Two." not in stage.text()
            clock.seconds += 10
            await stage.until(lambda: "One." not in stage.text(), "the start")


@pytest.mark.system
async def test_a_replay_pauses_where_it_is_told_to(recording: Saver) -> None:
    """With --pause-on it pauses at each failure or bookmark, names it, and `space` goes on past it."""
    # With --pause-on failure, it pauses where a call failed and says which; `space` goes on past it.
    path = timed_evenly(recording(session(5, 1, 3)))
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock), asked=Asked(pauses_on="failure")) as stage:
        for number in (2, 4):
            clock.seconds += 1000
            await stage.shows(f"paused: #{number} Ran terminal command echo {number - 1} (failed: exit 1)")
            await stage.shows("‖")
            assert len(lines_of(stage.calls)) == number
            await stage.press("space")
        clock.seconds += 1000
        await stage.until(lambda: len(lines_of(stage.calls)) == 5, "the end")
    # With --pause-on bookmark, it pauses at each bookmark and names it, also at one that was just set.
    path = timed_evenly(recording(init() + b"".join(answer(f"<{n}>") for n in range(6))))
    lines = path.read_bytes().splitlines(keepends=True)
    bookmarks = Bookmarks(path.with_suffix(".bookmarks.json"), lambda _: True)
    bookmarks.toggle(len(b"".join(lines[:3])), None, "before [b]it[/b]")
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock), asked=Asked(pauses_on="bookmark")) as stage:
        clock.seconds += 1000
        await stage.shows("paused at a bookmark: before [b]it[/b]")
        assert lines_of(stage.pane("transcript")) == ["<0><1>"]
        await stage.press("full_stop", "full_stop", "m", "comma", "space")
        clock.seconds += 1000
        await stage.until(lambda: lines_of(stage.pane("transcript")) == ["<0><1><2><3>"], "the new one")
        await stage.shows("‖")
