"""A replay keeps the recorded times, and can be paused, stepped, sped up and slowed down."""

from __future__ import annotations

from pathlib import Path

from textual.events import AppBlur

from agentwatch.feed.playhead import Replay
from agentwatch.screen.moment.keys import MomentKeys
from tests.builders.screen.app import lines_of, opened
from tests.builders.screen.call_table import rows_of
from tests.builders.screen.lines import answer, init, session, shell
from tests.conftest import Saver


class ManualClock:
    """A clock that tests set by hand, in seconds."""

    seconds = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds


def timed(path: Path, *seconds: float) -> Path:
    """Write the `.times` file of a recording: the second at which each of its lines came."""
    offset, times = 0, []
    for data, second in zip(path.read_bytes().splitlines(keepends=True), seconds, strict=True):
        times.append(f"{offset} {1_793_610_000_000 + int(second * 1000)}\n")
        offset += len(data)
    path.with_suffix(".times").write_text("".join(times))
    return path


async def test_a_replay_keeps_its_time(recording: Saver) -> None:
    """In a replay each line arrives at its recorded time, and clocks show what they showed then.

    So does the header between two lines: it does not stay at the time of the last one.
    """
    path = timed(recording(init() + shell(1) + answer("Done.")), 0, 10, 30, 31)
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock)) as stage:
        calls = stage.calls
        assert lines_of(calls) == []
        clock.seconds += 10
        await stage.until(lambda: lines_of(calls), "the call")
        assert "running echo 1 · 0 s" in stage.status
        clock.seconds += 19
        await stage.until(lambda: "19.0 s" in lines_of(calls)[0], "its clock")
        assert rows_of(calls)[0].split()[0] == "◐"
        assert stage.header.startswith(" ◐ as of 09:00:29 ")
        clock.seconds += 1
        await stage.until(lambda: rows_of(calls)[0].split()[0] == "✓", "its end")
        clock.seconds += 1
        await stage.until(lambda: "Done." in stage.text(), "the text")


async def test_a_replay_can_be_paused(recording: Saver) -> None:
    """While a replay is paused its time does not advance, and the time bar shows `‖`."""
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


async def test_a_replay_advances_by_single_events(recording: Saver) -> None:
    """`.` shows exactly one more event at once, paused or not."""
    path = timed(recording(init() + answer("one ") + answer("two ") + answer("three ")), 0, 10, 20, 30)
    clock = ManualClock()
    async with opened(path, replay=Replay(clock=clock)) as stage:
        await stage.press("space")
        seen = []
        for words in ("one", "one two", "one two three"):
            await stage.press("full_stop")
            await stage.shows(words, "transcript")
            await stage.settled()
            seen.append(lines_of(stage.pane("transcript")))
        assert seen == [["one"], ["one two"], ["one two three"]]


async def test_steps_in_quick_succession_all_count(recording: Saver) -> None:
    """`.` pressed three times in quick succession, as a held key does, shows three events."""
    path = timed(recording(init() + b"".join(answer(f"<{n}>") for n in range(6))), *range(0, 70, 10))
    async with opened(path, replay=Replay(clock=ManualClock())) as stage:
        keys = stage.app.screen.query_one(MomentKeys)
        for _ in range(3):
            keys.action_step(1)
        await stage.settled()
        await stage.settled()
        assert lines_of(stage.pane("transcript")) == ["<0><1><2>"]


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


async def test_replay_keys_do_nothing_elsewhere(recording: Saver) -> None:
    """Without a replay, its keys change nothing."""
    async with opened(recording(session(3))) as stage:
        before = stage.text()
        await stage.press("plus", "minus", "full_stop")
        await stage.settled()
        assert stage.text() == before


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
