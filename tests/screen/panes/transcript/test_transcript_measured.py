"""A long transcript is laid out in steps, with the same result as at once."""

import random
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip

from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.panes.transcript.renderer import BlockRenderer
from tests.builders.moment.panes import at_rest, watch_screen
from tests.builders.screen.app import lines_of, measure_all, opened, viewport
from tests.builders.screen.lines import answer, append, init, shell, thinking
from tests.builders.screen.transcript_alone import (
    brought_up,
    cut_all,
    history,
    of,
    pieces,
    transcripts,
)
from tests.conftest import Saver, case

pytestmark = pytest.mark.slow

Show = Callable[[Transcript, tuple[int, int]], Awaitable[None]]
DOCUMENTS = {
    "prose": "One line.\nThe next of the same paragraph.\n\n\nAnother, *with* `code` and **weight**.\n",
    "headings": "# Top\n## Second\ntext at once\n\n### Third\n\nend",
    "lists": "Text\n\n- one\n- two\n\n  still two\n\n  - nested\n    - deeper\n\n1. a\n2. b\n\nend",
    "fences": "Text\n```python\nif x:\n\n    y\n```\nmore\n\n~~~\na ``` b\n~~~\n\n````md\n```\n````\nend",
    "open fence": "Look:\n\n```sh\necho 1\n\necho 2",
    "tables": "| a | b |\n|---|---|\n| 1 | 東京 |\n\n> quoted\n> text\n\n---\n\n[a](https://b.org) c",
    "wide": "東京の潮位を調べる。\n\n게 🦀 는 \U0001f469\u200d\U0001f52c 옆에\n\n- é́ x\n",
    "endings": "windows\r\nlines\r\n\r\n```\r\ncode\r\n```\r\nend\r\n",
    "hostile": "\x1b[31mred\n\n\u202eelif \x9b31m\n\n```\n\x1b]0;t\x07\n```\n[/x] [@click=app.quit]x[/]",
}


async def test_measuring_in_steps_loses_no_line(recording: Saver) -> None:
    """A history that is measured in steps loses no line, and the lines in view stay in place."""
    async with transcripts() as (show, pilot):
        # After measuring in steps, no line is lost and no two blank lines follow each other.
        feed, transcript = of(recording(history(120)))
        await show(transcript, (50, 16))
        lines = brought_up(feed, transcript)
        text = "\n".join(lines)
        numbers = [int(found) for found in re.findall(r"\bw(\d+)", text)]
        assert numbers == list(range(len(numbers)))
        assert re.findall(r"\bc(\d+)", text) == [str(n) for n in range(120)]
        assert re.findall(r"\bi(\d+)", text) == [str(n) for n in range(120)]
        assert not re.search(r"\n\n\n", text)
        assert lines[-1].startswith("✓ succeeded")
        # While blocks above the viewport are measured, the visible lines stay in place.
        feed, transcript = of(recording(history(120)))
        await show(transcript, (50, 16))
        cut_all(feed, transcript)
        await pilot.press("pageup", "pageup", "pageup")
        transcript.sync()
        seen = viewport(transcript)
        assert not transcript._layout.is_measured(1)
        measure_all(transcript)
        assert viewport(transcript) == seen
        # A long history opens at its end, and stays there while it is measured.
        feed, transcript = of(recording(history(120)))
        await show(transcript, (50, 16))
        cut_all(feed, transcript)
        assert not transcript._layout.is_measured(1)
        assert viewport(transcript)[-1].startswith("✓ succeeded")
        measure_all(transcript)
        assert viewport(transcript)[-1].startswith("✓ succeeded")
        # Text stays selected, and in its row, while the blocks above it become known.
        feed, transcript = of(recording(history(120)))
        await show(transcript, (50, 16))
        cut_all(feed, transcript)
        top = transcript.scroll_offset.y
        transcript.screen.selections = {transcript: Selection(Offset(0, top + 3), Offset(5, top + 6))}
        chosen, seen = transcript.screen.get_selected_text(), viewport(transcript)
        assert chosen
        transcript.action_move(-1)
        measure_all(transcript)
        assert viewport(transcript)[1:] == seen[:-1]
        assert transcript.screen.get_selected_text() == chosen
        selection = transcript.text_selection
        assert selection is not None
        assert selection.start == Offset(0, transcript.scroll_offset.y + 4)
        # Lines gained by unfolding, measuring or wrapping do not count as new below.
        feed, transcript = of(recording(thinking("It squeaks.\n\nAlways.") + history(120)))
        await show(transcript, (50, 16))
        brought_up(feed, transcript)
        await pilot.press("pageup")
        transcript.toggle_reasoning()
        measure_all(transcript)
        assert transcript.below == 0
        await pilot.resize_terminal(30, 16)
        await pilot.pause()
        measure_all(transcript)
        assert not transcript.following
        assert transcript.below == 0
        # With a long history, a tick lays out only the new blocks.
        path = recording(history(400))
        feed, transcript = of(path, follow=True)
        await show(transcript, (50, 16))
        brought_up(feed, transcript)
        first_changes: list[int] = []
        take = transcript._blocks.take

        def noted(**how: Any) -> int:
            first_changes.append(take(**how))
            return first_changes[-1]

        transcript._blocks.take = noted  # type: ignore[method-assign]
        for number in range(5):
            append(path, thinking(f"t {number}") + answer(f"more {number}"))
            feed.advance()
            transcript.sync()
        assert len(first_changes) == 5
        assert min(first_changes) >= len(transcript._blocks.all) - 12


async def test_scrolling_and_resizing_show_every_line(recording: Saver) -> None:
    """Scrolling shows every line once, and a width gives the same lines whatever it was before."""
    async with transcripts() as (show, pilot):
        # Scrolling up and down line by line through blocks not measured yet shows every line in its order.
        path = recording(history(40))
        feed, transcript = of(path)
        await show(transcript, (50, 16))
        expected = brought_up(feed, transcript)
        feed, transcript = of(path)
        await show(transcript, (50, 16))
        cut_all(feed, transcript)
        assert transcript.line_count() != len(expected)
        seen = viewport(transcript)
        while transcript.scroll_y:
            before = viewport(transcript)
            transcript.action_move(-1)
            assert viewport(transcript)[1:] == before[:-1]
            seen.insert(0, viewport(transcript)[0])
        assert seen == expected
        feed, transcript = of(path)
        await show(transcript, (50, 16))
        cut_all(feed, transcript)
        transcript.action_top()
        seen = viewport(transcript)
        while not transcript.following:
            transcript.action_move(1)
            seen.append(viewport(transcript)[-1])
        assert seen == expected
        # After a resize every line equals that of a pane which had this width from the start.
        path = recording(history(30))
        for width in (50, 24, 100):
            feed, transcript = of(path)
            await show(transcript, (width, 16))
            expected = brought_up(feed, transcript)
            feed, transcript = of(path)
            await show(transcript, (70, 30))
            brought_up(feed, transcript)
            await pilot.resize_terminal(width, 16)
            await pilot.pause()
            measure_all(transcript)
            assert lines_of(transcript) == expected
            assert viewport(transcript)[-1].startswith("✓ succeeded")


@pytest.mark.system
async def test_only_blocks_in_view_are_rendered(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are rendered when they come into view, and at no other time."""
    rendered: set[int] = set()
    render = BlockRenderer.render

    def noted(renderer: BlockRenderer, index: int) -> list[Strip]:
        rendered.add(index)
        return render(renderer, index)

    monkeypatch.setattr(BlockRenderer, "render", noted)
    for name in ("_APPLY_SECONDS", "_CATCH_UP_SECONDS"):  # a loaded machine would draw the end more than once
        monkeypatch.setattr(f"agentwatch.screen.screens.session.screen.{name}", 60.0)
    monkeypatch.setattr("agentwatch.screen.panes.transcript.viewport._SLICE_SECONDS", 60.0)
    async with opened(recording(history(300)), (100, 24)) as stage:
        transcript = stage.pane("transcript")
        assert isinstance(transcript, Transcript)
        await stage.until(lambda: stage.feed.is_over and not transcript.viewport.is_unsettled, "the blocks")
        await stage.settled()
        assert watch_screen(stage).frame_scheduler.is_resting
        assert len(rendered) <= 12
        await stage.press("1", "g")
        await stage.settled()
        assert watch_screen(stage).frame_scheduler.is_resting
        assert len(rendered) <= 24
        assert viewport(transcript)[0] == "› go on"


@pytest.mark.system
async def test_every_block_in_view_has_its_exact_height(recording: Saver) -> None:
    """A block in view has its exact height; the scroll bar of a short transcript is exact."""
    # Whatever moves the view, no line in view is the blank row of an estimate that was too high.
    ways = (
        "G pageup g",
        "G ctrl+u",
        "e E e",
        "] ] t t",
        ": # 6 0 enter k k",
        "g G L",
        ": # 9 enter",
        "/ w 3 0 enter n escape",
    )
    async with opened(recording(history(120)), (140, 40)) as stage:
        transcript = stage.pane("transcript")
        assert isinstance(transcript, Transcript)
        await at_rest(stage)
        await stage.press("1")
        for size in ((140, 40), (140, 49), (80, 24), (73, 24)):
            await stage.pilot.resize_terminal(*size)
            for keys in ways[:: 1 if size == (80, 24) else 7]:
                with case(f"{size} {keys}"):
                    await stage.press(*keys.split())
                    await stage.settled()
                    layout = transcript.viewport.layout
                    assert all(map(layout.is_measured, transcript.viewport.in_view()))
    # At rest, every block of a short transcript has its exact height, also after keys that change it.
    async with opened(recording(history(30)), (100, 24)) as stage:
        await at_rest(stage)
        transcript = stage.pane("transcript")
        assert isinstance(transcript, Transcript)
        blocks = transcript.viewport.blocks.all
        assert all(map(transcript.viewport.layout.is_measured, range(len(blocks))))
        assert len(blocks) > len(transcript.viewport.in_view())
        # At rest nothing is due, so that the keys that wrap, fold and resize ask for a tick themselves.
        for pressed in (("1", "z"), ("z",), ("t",), ("t",)):
            with case(pressed):
                await stage.press(*pressed)
                await stage.until(lambda: not transcript.viewport.is_unsettled, "the heights")


async def lines_after(show: Show, path: Path, chunks: list[str]) -> list[str]:
    """Return the lines of a text that arrives in chunks, each drawn before the next arrives."""
    feed, transcript = of(path, follow=True)
    await show(transcript, (40, 12))
    for chunk in chunks:
        append(path, answer(chunk))
        feed.advance()
        transcript.sync()
        viewport(transcript)
    append(path, shell(1))
    return brought_up(feed, transcript)


@pytest.mark.system
async def test_a_growing_text_gives_the_same_lines(recording: Saver) -> None:
    """Text that arrives in pieces of any size gives the same lines as text that arrives at once."""
    async with transcripts() as (show, _):
        for name, text in DOCUMENTS.items():
            with case(name):
                expected = await lines_after(show, recording(init()), [text])
                feed, transcript = of(recording(init() + answer(text) + shell(1)))
                await show(transcript, (40, 12))
                assert brought_up(feed, transcript) == expected
                for seed in range(3):
                    chunks = list(text) if seed == 0 else pieces(text, random.Random(seed))
                    assert await lines_after(show, recording(init()), chunks) == expected, chunks
        # Text that begins like a fence but is inline code is shown the same, in pieces or at once.
        text = "Run\n```make all``` now, in\nthis folder."
        at_once = await lines_after(show, recording(init()), [text])
        assert await lines_after(show, recording(init()), list(text)) == at_once
