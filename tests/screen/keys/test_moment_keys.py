"""The keys of the moment: at both ends, in a recording of one line, held down, and while the agent writes."""

from functools import partial

import pytest

from agentwatch.feed.playhead import Replay
from tests.builders.moment.timed import ManualClock, timed_evenly
from tests.builders.screen.app import OWN_KEYS, Stage, lines_of, opened
from tests.builders.screen.lines import answer, init, result, session
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

BACK = ("comma", "less_than_sign", "left", "shift+left")
FORWARD = ("full_stop", "greater_than_sign", "right", "shift+right")
KEYS = (*BACK, *FORWARD, "plus", "minus", "R", "L", "space")
PIECES = 40
own_keys = partial(opened, config=OWN_KEYS)


def pieces(count: int = PIECES) -> bytes:
    """Return a session of short texts, one per line."""
    return init() + b"".join(answer(f"<{number}>") for number in range(count))


def text(stage: Stage) -> str:
    """Return the transcript without its line ends."""
    return "".join(lines_of(stage.pane("transcript")))


async def comes(stage: Stage, count: int) -> None:
    """Wait until the transcript shows this number of texts."""
    expected = "".join(f"<{number}>" for number in range(count))
    await stage.until(lambda: text(stage) == expected, f"{count} texts")


def has_calls(stage: Stage, count: int) -> bool:
    """Return whether the table has this number of calls."""
    return len(lines_of(stage.calls)) == count


@pytest.mark.system
@pytest.mark.parametrize(
    "is_replay", [False, pytest.param(True, marks=pytest.mark.system)], ids=["live", "replay"]
)
async def test_each_key_moves_the_moment(recording: Saver, is_replay: bool) -> None:
    """Each key goes as far as it says, back and on, in a session that is followed and in a replay."""
    path = timed_evenly(recording(pieces()), 0.5)
    replay = Replay(clock=ManualClock()) if is_replay else None
    async with own_keys(path, follow=not is_replay, replay=replay) as stage:
        if is_replay:
            await stage.press("shift+right")
        await comes(stage, PIECES)
        for key, count in (
            *(("comma", 39), ("comma", 38), ("left", 28), ("full_stop", 29), ("right", 39)),
            *(("right", 40), ("shift+left", 0), ("left", 0), ("comma", 0), ("full_stop", 0)),
            *(("full_stop", 1), ("shift+right", 40), ("left", 30), ("L", 40)),
        ):
            await stage.press(key)
            await comes(stage, count)


@pytest.mark.system
async def test_calls_are_steps(recording: Saver) -> None:
    """`<` and `>` go to the ends of calls, or say that there is none; `M` shows that of the selected one."""
    # `<` and `>` go to the ends of calls, and say where there is none.
    async with own_keys(timed_evenly(recording(session(4)))) as stage:
        for key, count in (("less_than_sign", 3), ("less_than_sign", 2), ("greater_than_sign", 3)):
            await stage.press(key)
            await stage.until(partial(has_calls, stage, count), f"{count} calls")
            assert "◐" not in lines_of(stage.calls)[-1]
        await stage.press("shift+left", "shift+left", "less_than_sign")
        await stage.shows("no earlier call")
        assert lines_of(stage.calls) == []
        await stage.press("L", "greater_than_sign")
        await stage.shows("no later call")
    # `M` shows the end of the selected call, also of a later one; a finished recording has an end.
    async with own_keys(timed_evenly(recording(session(6))), (160, 45)) as stage:
        await stage.press("2", "k", "k", "k", "M")
        await stage.until(partial(has_calls, stage, 3), "3 calls")
        assert stage.chosen == "echo 2"
        await stage.shows("before the end")
        await stage.shows("L End")
        await stage.press("k", "M")
        await stage.until(partial(has_calls, stage, 2), "2 calls")
        await stage.press("colon", *"end")
        await stage.shows("enter goes to the end")
        await stage.press("enter")
        await stage.until(partial(has_calls, stage, 6), "6 calls")


@pytest.mark.system
@pytest.mark.parametrize("follow", [False, True], ids=["ended", "followed"])
async def test_no_key_leads_out_of_a_recording_of_one_line(recording: Saver, follow: bool) -> None:
    """In a recording of one line, each key pressed three times keeps to its two moments; `L` leads back."""
    async with own_keys(timed_evenly(recording(init())), follow=follow) as stage:
        before = stage.header.split("│")[1:]
        for key in KEYS:
            with case(key):
                await stage.press(key, key, key)
                if stage.app.screen.has_class("-earlier"):
                    await stage.shows("as of 09:00:00 · ")
                    assert "event" in stage.header
                await stage.press("L")
                await stage.until(lambda: "as of" not in stage.header, "the live moment")
                assert stage.header.split("│")[1:] == before


@pytest.mark.system
async def test_a_held_key_counts_each_time(recording: Saver) -> None:
    """Many keys in one burst go as many steps back and forward; those of another kind leave a moment."""
    # Many keys in one burst go as many steps back, and the opposite key as many forward.
    async with own_keys(timed_evenly(recording(pieces()), 5)) as stage:
        for back, forward, count, pieces_each in (
            *(("comma", "full_stop", 20, 1), ("left", "right", 20, 1)),
            ("shift+left", "shift+right", 3, 12),
        ):
            with case(back):
                await stage.press("L", *[back] * count)
                await comes(stage, PIECES - count * pieces_each)
                await stage.press(*[forward] * (count - 1))
                await comes(stage, PIECES - pieces_each)
    # Ten times pause, reverse, faster or live in one burst: the moment still moves, and leads back.
    async with own_keys(timed_evenly(recording(pieces())), follow=True) as stage:
        for key in ("space", "R", "plus", "L"):
            with case(key):
                await stage.press("left", *[key] * 10)
                await stage.press("L", "comma")
                await comes(stage, PIECES - 1)


@pytest.mark.system
async def test_it_plays_backwards_to_the_start(recording: Saver) -> None:
    """`R` plays back, also from the live moment, and pauses at the start; `space` stops it or plays on."""
    # In reverse it pauses at the start; reverse pauses there again, and `space` plays on from there.
    clock = ManualClock()
    async with own_keys(timed_evenly(recording(pieces())), replay=Replay(clock=clock)) as stage:
        await stage.press("right")
        await comes(stage, 2)
        await stage.press("R")
        await stage.shows("◀ ×1")
        clock.seconds += 100
        await comes(stage, 0)
        await stage.shows("‖")
        await stage.press("R")
        clock.seconds += 1
        await stage.shows("‖")
        await stage.press("space")
        clock.seconds += 5
        await comes(stage, 2)
    # `R` at the live moment plays back from there, faster with `+`; `space` stops it.
    clock = ManualClock()
    async with own_keys(timed_evenly(recording(pieces())), replay=Replay(clock=clock)) as stage:
        await stage.press("L", "R", "plus")
        await stage.shows("◀ ×2")
        clock.seconds += 5.5
        await comes(stage, PIECES - 6)
        await stage.press("space")
        clock.seconds += 5
        await stage.shows("‖")
        await comes(stage, PIECES - 6)


async def test_an_earlier_moment_stays_and_looks_like_one(recording: Saver) -> None:
    """While the agent writes an earlier moment stays; header and borders have another colour than live."""
    # At an earlier moment new lines are read and not shown; `L` shows them, and what has happened since.
    path = recording(session(4))
    async with own_keys(path, follow=True) as stage:
        for number, key in enumerate(("comma", "shift+left", "R", "space")):
            with case(key):
                await stage.press(key, "space") if key == "R" else await stage.press(key)
                await stage.until(lambda: "as of" in stage.header, "an earlier moment")
                await stage.settled()
                before = lines_of(stage.pane("transcript")), lines_of(stage.calls)
                await stage.append(answer(f"Written meanwhile {number}."))
                assert stage.feed.offset == path.stat().st_size
                assert (lines_of(stage.pane("transcript")), lines_of(stage.calls)) == before
                await stage.press("L")
                await stage.shows(f"Written meanwhile {number}.", "transcript")
                assert " event" in stage.text()
    # Header and borders have another colour; the header says so first, and its last words lead back.

    def colours(stage: Stage) -> tuple[object, object]:
        style = stage.app.screen.query_one("#header").rich_style
        return style.bgcolor, stage.pane("transcript").styles.border_top[1]

    async with own_keys(recording(session(4) + result()), (140, 30)) as stage:
        for width in (140, 40):
            with case(width):
                await stage.pilot.resize_terminal(width, 30)
                live = colours(stage)
                await stage.press("comma")
                await stage.until(lambda: stage.header.startswith(" ‖ as of "), "an earlier moment")
                assert stage.header.endswith(" L to the end" if width > 40 else " L end")
                assert all(was != now for was, now in zip(live, colours(stage), strict=True)) or width < 100
                await stage.pilot.click("#header", offset=(width - 4, 0))
                await stage.until(lambda: "as of" not in stage.header, "the live moment")
                assert colours(stage) == live
