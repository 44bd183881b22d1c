"""The lines in view stay in place while blocks are split, measured and wrapped, and when a preview ends."""

import asyncio
import re
from itertools import pairwise
from pathlib import Path

import pytest
from textual.events import Key

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.calls.pane import CallTable
from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.panes.transcript.viewport import same_call
from agentwatch.screen.screens.session import screen
from agentwatch.screen.screens.session.panes import Panes
from agentwatch.screen.screens.session.screen import WatchScreen
from tests.builders.lines import feed_of
from tests.builders.screen.app import PaneApp, lines_of, measure_all, opened, viewport
from tests.builders.screen.lines import answer, init, prompt, result, shell, started, thinking
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

LINES = 3_000


def history(paragraphs: int) -> bytes:
    """Return a session of numbered paragraphs of varying length, with a call after each."""
    made = [init(), prompt("go on")]
    for number in range(paragraphs):
        made.append(answer(f"p{number} " + "word " * (number * 13 % 90)))
        made.append(shell(number))
    return b"".join(made)


def numbered(count: int) -> str:
    """Return `count` lines, each containing its number."""
    return "\n".join(f"line {number} of many" for number in range(count))


def first_number(lines: list[str]) -> int:
    """Return the number of the first numbered paragraph or line."""
    return next(int(found[1]) for line in lines if (found := re.search(r"\b(?:p|line )(\d+)\b", line)))


def settle(transcript: Transcript) -> int:
    """Split everything, as the ticks do, and measure it; return the number of ticks."""
    ticks = 0
    while transcript.viewport.is_unsettled:
        transcript.viewport.settle_some()
        ticks += 1
        assert ticks < 10_000
    measure_all(transcript)
    return ticks


@pytest.mark.system
async def test_another_width_keeps_the_reading_position(recording: Saver) -> None:
    """After a change of width the same paragraph is at the top; after the first one each line is back."""
    feed = Feed(open_saved(recording(history(90)), False))
    transcript = Transcript(feed.session)
    async with PaneApp(transcript).run_test(size=(60, 16)) as pilot:
        # After a change of width, the same paragraph is at the top, before and after re-measuring.
        feed.advance()
        transcript.sync()
        settle(transcript)
        transcript.following = False
        transcript.settle_at(next(y for y, line in enumerate(lines_of(transcript)) if "p40" in line))
        assert "p40" in viewport(transcript)[0]
        for width in (30, 44, 90):
            await pilot.resize_terminal(width, 16)
            seen = viewport(transcript)
            assert "p40" in seen[0]
            settle(transcript)
            assert viewport(transcript) == seen
        # After a change of width and back, every line is where it was.
        await pilot.resize_terminal(60, 16)
        settle(transcript)
        before = lines_of(transcript)
        await pilot.resize_terminal(35, 16)
        await pilot.resize_terminal(60, 16)
        settle(transcript)
        assert lines_of(transcript) == before


@pytest.mark.system
async def test_a_long_text_is_split_in_steps(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """No single tick splits or draws all of a very long text, and each of its lines appears once."""
    for where in ("prompt", "answer", "thought", "result"):
        with case(where):
            monkeypatch.setattr("agentwatch.screen.panes.transcript.viewport._SLICE_SECONDS", 0.0)
            text = numbered(LINES)
            text = text.replace("\n", "\n\n") if where in ("answer", "result") else text
            lines = {
                "prompt": prompt(text),
                "answer": answer(text),
                "thought": thinking(text),
                "result": answer("Short.") + result(text),
            }[where]
            feed = Feed(open_saved(recording(init() + lines + shell(1)), False))
            transcript = Transcript(feed.session)
            async with PaneApp(transcript).run_test(size=(60, 16)):
                if where == "thought":
                    transcript.toggle_reasoning()
                feed.advance()
                transcript.sync()
                assert transcript.viewport.is_unsettled
                assert settle(transcript) > 1
                shown = "\n".join(lines_of(transcript))
                numbers = [int(number) for number in re.findall(r"line (\d+) of many", shown)]
                assert numbers == list(range(LINES))
                assert max(block.end - block.start for block in transcript._blocks.all) < len(text) // 8


async def test_blocks_are_adjacent(recording: Saver) -> None:
    """Each block begins where the previous one ends, with estimated and with measured heights."""
    feed = Feed(open_saved(recording(history(60)), False))
    transcript = Transcript(feed.session)
    async with PaneApp(transcript).run_test(size=(40, 12)):
        feed.advance()
        transcript.sync()
        blocks, layout = transcript._blocks, transcript._layout
        for _ in range(2):
            tops = [layout.top(index) for index in range(len(blocks.all) + 1)]
            spans = [block.height + block.gap for block in blocks.all]
            assert [after - before for before, after in pairwise(tops)] == spans
            assert tops[-1] == transcript.line_count()
            settle(transcript)


def large(path: Path) -> Path:
    """Write a recording whose two ends are shown before its middle is read."""
    lines = [init(), prompt("Do much.")]
    for number in range(1200):
        lines += [answer(f"p{number} is told. "), shell(number, stdout="x" * 2000)]
    path.write_bytes(b"".join([*lines, result("".join(f"p{n} is told. " for n in range(1200)))]))
    return path


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Treat a file of 1 MiB as large, and show its preview until this event is set."""
    monkeypatch.setattr(screen, "_LARGE_BYTES", 1 << 20)
    is_open, take = asyncio.Event(), Panes.take

    def held(panes: Panes, width: int, seconds: float) -> bool:
        return take(panes, width, seconds) and is_open.is_set()

    monkeypatch.setattr(Panes, "take", held)
    return is_open


@pytest.mark.system
async def test_the_call_selected_in_the_preview_stays_selected(tmp_path: Path, gate: asyncio.Event) -> None:
    """The call selected in the preview is still selected after loading, in the same row and view.

    Its number is unknown in the preview.
    """
    async with opened(large(tmp_path / "r.ndjson")) as stage:
        calls = stage.pane("calls")
        assert isinstance(calls, CallTable)
        await stage.press("2", "k", "k", "k", "r")
        assert "… calls" in stage.header
        seen, chosen = viewport(calls), calls.chosen
        assert chosen is not None
        gate.set()
        await stage.shows("1,200 calls")
        whole = stage.pane("calls")
        assert isinstance(whole, CallTable)
        await stage.until(lambda: whole.chosen is not None and whole.chosen.target == chosen.target, "it")
        assert [line[5:24] for line in viewport(whole)] == [line[5:24] for line in seen]
        assert {line[:5] for line in seen} == {" " * 5}
        assert viewport(whole)[0].split()[0].isdigit()
        await stage.shows("started · byte", "detail")
        assert stage.app.focused is whole


@pytest.mark.system
async def test_the_lines_visible_in_the_preview_stay_visible(tmp_path: Path, gate: asyncio.Event) -> None:
    """The transcript lines visible in the preview are in the same rows after loading, now with numbers."""
    async with opened(large(tmp_path / "r.ndjson")) as stage:
        await stage.press("1", "pageup", "pageup")
        assert "… calls" in stage.header
        seen = viewport(stage.pane("transcript"))
        assert first_number(seen) < 1190
        gate.set()
        await stage.shows("1,200 calls")

        def without_numbers() -> list[str]:
            return [re.sub(r"#\d+ ", "", line) for line in viewport(stage.pane("transcript"))]

        await stage.until(lambda: without_numbers() == seen, "the same lines")
        assert "#" not in "".join(seen)
        assert any("#" in line for line in viewport(stage.pane("transcript")))


def press_k(screen: WatchScreen) -> None:
    """Post a key to the app as the terminal would."""
    key = Key("k", "k")
    key.set_sender(screen.app)
    screen.app.post_message(key)


@pytest.mark.system
async def test_a_key_pressed_while_the_panes_are_replaced_takes_effect(
    tmp_path: Path, gate: asyncio.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys pressed while the whole session replaces the preview act on the position the user was at."""
    recompose = WatchScreen.recompose

    async def pressed(screen: WatchScreen) -> None:
        press_k(screen)
        await recompose(screen)
        press_k(screen)

    async with opened(large(tmp_path / "r.ndjson")) as stage:
        calls = stage.pane("calls")
        assert isinstance(calls, CallTable)
        await stage.press("2", "k", "k")
        assert calls.chosen is not None
        number = int((calls.chosen.target or "").removeprefix("echo "))
        monkeypatch.setattr(WatchScreen, "recompose", pressed)
        gate.set()
        await stage.shows("1,200 calls")
        whole = stage.pane("calls")
        assert isinstance(whole, CallTable)
        await stage.until(lambda: whole.chosen and whole.chosen.target == f"echo {number - 2}", "both")


async def test_a_call_of_a_preview_is_matched_by_either_line(recording: Saver) -> None:
    """A call of which the preview holds only one line is matched by that line."""
    path = recording(init() + b"".join(shell(number) for number in range(5)) + started("a", "read", {}))
    feed = feed_of(path)
    calls = feed.session.calls
    for call in calls:
        half = type(call)(1, 1, "?", "?", "?", ended=call.ended, started=None if call.ended else call.started)
        assert same_call(calls, half) is call
        assert same_call(calls, call) is call
    assert same_call(calls, type(calls[0])(1, 1, "?", "?", "?")) is None
