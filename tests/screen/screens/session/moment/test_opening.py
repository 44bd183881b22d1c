"""The screen opens at the moment that the command line names, also in a recording that takes time to read."""

from functools import partial
from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.moments import Asked
from agentwatch.feed.feed import Feed
from agentwatch.feed.playhead import Replay
from agentwatch.recording.acts import Act, append_act
from agentwatch.recording.bookmarks import Bookmarks
from agentwatch.screen.panes.moment import Moment
from agentwatch.screen.screens.session import marked_moments, screen
from tests.builders.lines import completed, delta, final, init, result, started
from tests.builders.moment.timed import ManualClock, parsed, timed_evenly
from tests.builders.screen.app import OWN_KEYS, Stage, lines_of, opened
from tests.builders.screen.lines import answer, session
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow


@pytest.mark.system
async def test_a_call_is_selected_at_its_end(recording: Saver) -> None:
    """`FILE#3` shows the moment at which call 3 had ended, or one that never ended had started."""
    async with opened(timed_evenly(recording(session(6))), asked=Asked(parsed("#3"))) as stage:
        await stage.until(lambda: stage.chosen == "echo 2", "the call")
        assert len(lines_of(stage.calls)) == 3
        assert "as of 09:00:24" in stage.header
        assert "echo 2" in "\n".join(lines_of(stage.pane("detail")))
        assert "Step 3." not in stage.text()
        await stage.press("L")
        await stage.until(lambda: len(lines_of(stage.calls)) == 6, "the live moment")
    # `FILE#2` of a call without an end shows the moment at which it had started.
    lines = session(1) + started("shell", "open", command="sleep 600") + answer("Waiting.")
    async with opened(timed_evenly(recording(lines)), asked=Asked(parsed("#2"))) as stage:
        await stage.until(lambda: stage.chosen == "sleep 600", "the call")
        assert "Waiting." not in stage.text()


@pytest.mark.parametrize(
    "moments",
    [
        {"+14s": 1, "mark": 3},
        pytest.param({"-10s": 4, "50%": 2, "start": 0}, marks=pytest.mark.system),
    ],
    ids=["some", "others"],
)
async def test_a_moment_is_shown(recording: Saver, moments: dict[str, int]) -> None:
    """`FILE@+14s` and the other words show the calls that had started by then."""
    path = timed_evenly(recording(session(6)))
    marked = len(b"".join(path.read_bytes().splitlines(keepends=True)[:13]))
    Bookmarks(path.with_suffix(".bookmarks.json"), lambda _: True).toggle(marked, None, "mark")
    for text, count in moments.items():
        with case(text):
            async with opened(path, asked=Asked(parsed(text))) as stage:
                await stage.until(partial(has_calls, stage, count), f"{count} calls")
                await stage.settled()
                assert has_calls(stage, count)
                assert "as of" in stage.header


def has_calls(stage: Stage, count: int) -> bool:
    """Return whether this number of calls is listed."""
    return len(lines_of(stage.calls)) == count


async def test_a_moment_that_does_not_exist_is_said(recording: Saver) -> None:
    """The screen shows the end, and says that the recording has no such call."""
    async with opened(timed_evenly(recording(session(6))), asked=Asked(parsed("#7"))) as stage:
        await stage.shows("no call #7: the session has 6 calls")
        assert "as of" not in stage.header
        assert len(lines_of(stage.calls)) == 6


def big(path: Path, calls: int = 700) -> Path:
    """Write a recording of 1.4 MB, whose lines came every two seconds."""
    lines = [init()]
    for number in range(calls):
        lines += [delta(f"Sentence {number}. "), final(f"Sentence {number}. ")]
        lines.append(started("edit", f"c{number}", path=f"{number}.py"))
        lines.append(completed("edit", f"c{number}", {"success": {"message": "x" * 1000}}, path=f"{number}"))
    path.write_bytes(b"".join([*lines, result()]))
    return timed_evenly(path)


@pytest.fixture(scope="module")
def big_recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the recording of 1.4 MB, which is large where a file of 1 MiB is."""
    return big(tmp_path_factory.mktemp("big") / "big.ndjson")


@pytest.mark.parametrize(
    ("text", "chosen"), [("#500", "499"), pytest.param("50%", None, marks=pytest.mark.system)]
)
async def test_a_large_recording_opens_at_a_moment_once_it_is_read(
    monkeypatch: pytest.MonkeyPatch, big_recording: Path, text: str, chosen: str | None
) -> None:
    """A preview is shown first; then the moment, with its call."""
    monkeypatch.setattr(screen, "_LARGE_BYTES", 1 << 20)
    async with opened(big_recording, asked=Asked(parsed(text))) as stage:
        await stage.until(lambda: "as of" in stage.header, "the moment")
        await stage.settled()
        if chosen is not None:
            assert len(lines_of(stage.calls)) == int(chosen) + 1
            assert stage.chosen is not None
            assert stage.chosen.startswith(chosen)
        else:
            assert abs(len(lines_of(stage.calls)) - 350) <= 1


@pytest.mark.system
async def test_what_cannot_be_shown_or_replayed_is_said(
    monkeypatch: pytest.MonkeyPatch, big_recording: Path, recording: Saver
) -> None:
    """A call that a large recording lacks is said, and an end before the start, which is left out."""
    # After the preview, the end is shown with the reason.
    monkeypatch.setattr(screen, "_LARGE_BYTES", 1 << 20)
    async with opened(big_recording, asked=Asked(parsed("#9000"))) as stage:
        await stage.shows("no call #9000: the session has 700 calls")
        assert "as of" not in stage.header
    # An end before the start is left out with a word, and the recording is replayed to its end.
    path = timed_evenly(recording(session(6)))
    clock = ManualClock()
    asked = Asked(parsed("#5"), parsed("+2s"))
    async with opened(path, replay=Replay(clock=clock), asked=asked) as stage:
        await stage.shows("the part would end at its start, or before it")
        clock.seconds += 100
        await stage.until(lambda: len(lines_of(stage.calls)) == 6, "the end")


@pytest.mark.system
@pytest.mark.parametrize("text", ["#7", "-20s"])
async def test_a_replay_begins_when_its_start_is_read(big_recording: Path, text: str) -> None:
    """A replay stands at the start until the recording is read as far as its beginning, and plays then."""
    clock = ManualClock()
    async with opened(big_recording, replay=Replay(clock=clock), asked=Asked(parsed(text))) as stage:
        await stage.until(lambda: "×1 ▶" in stage.text(), "the replay")
        await stage.until(lambda: lines_of(stage.calls), "its beginning")
        before = len(lines_of(stage.calls))
        clock.seconds += 8
        await stage.until(lambda: len(lines_of(stage.calls)) > before, "the next call")
        assert len(lines_of(stage.calls)) <= before + 2


def test_a_replay_stands_at_the_start_until_its_beginning_is_known(recording: Saver) -> None:
    """Nothing plays before the beginning is known; who moves the moment first is not sent elsewhere later."""
    for is_moved in (False, True):
        source = saved_source(timed_evenly(recording(session(6))))
        feed, clock = Feed(source.reader), ManualClock()
        moment = Moment(feed, source.reader, Replay(clock=clock), asked=Asked(parsed("#5")))
        for _ in range(2):
            moment.tick()
            clock.seconds += 10
            assert (moment.playhead.offset, moment.playhead.is_playing) == (0, False)
        if is_moved:
            moment.is_sought = True
        feed.advance()
        moment.tick()
        assert len(moment.shown.session.ended_calls) == (0 if is_moved else 5)
        assert moment.playhead.is_playing != is_moved


async def test_an_act_is_marked_at_the_nearest_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An act just before a line is marked there, one just after a line at that one, with its words.

    Only the last acts have a mark.
    """
    lines = [init(), started("read", path="a"), completed("read", result={"success": {}}), result()]
    ends = [sum(map(len, lines[: index + 1])) for index in range(len(lines))]
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join(lines))
    begin_ms = 1_795_183_387_000
    times = [
        f"{end - len(line)} {begin_ms + 10_000 * n}\n"
        for n, (end, line) in enumerate(zip(ends, lines, strict=True))
    ]
    path.with_suffix(".times").write_text("".join(times))
    for seconds in (-1, 9, 21, 60):
        act = Act(begin_ms + 1000 * seconds, "interrupt", "s-1", "list", "SIGINT", "sent")
        append_act(path.with_suffix(".acts"), act)
    async with opened(path, config=OWN_KEYS) as stage:
        await stage.press("B")
        await stage.shows("▲")
        screen = stage.app.session_screen
        assert screen is not None
        assert [at for at, _ in screen._marked.alarms] == [ends[0], ends[1], ends[2], ends[3]]
        assert {words for _, words in screen._marked.alarms} == {"acted: interrupt sent · SIGINT · list"}
        monkeypatch.setattr(marked_moments, "_MOST_ACTS", 1)
        assert [at for at, _ in screen._marked.alarms] == [ends[3]]
