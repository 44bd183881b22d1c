"""A long transcript is laid out in steps, with the same result as at once."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.builders.screen.app import lines_of, viewport
from tests.builders.screen.lines import answer, append, init, shell, thinking
from tests.builders.screen.transcript_alone import (
    brought_up,
    cut_all,
    history,
    measure_all,
    of,
    pieces,
    shown,
)
from tests.conftest import Saver

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


async def test_lines_gained_by_unfolding_are_not_new(recording: Saver) -> None:
    """Lines gained by unfolding, measuring or wrapping do not count as new below."""
    feed, transcript = of(recording(thinking("It squeaks.\n\nAlways.") + history(120)))
    async with shown(transcript, (50, 16)) as pilot:
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


async def test_a_tick_lays_out_only_new_blocks(recording: Saver) -> None:
    """With a long history, a tick lays out only the new blocks."""
    path = recording(history(400))
    feed, transcript = of(path, follow=True)
    async with shown(transcript, (50, 16)):
        brought_up(feed, transcript)
        first_changes, take = [], transcript._blocks.take

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


async def test_measuring_in_steps_loses_no_line(recording: Saver) -> None:
    """After measuring in steps, no line is lost and no two blank lines follow each other."""
    feed, transcript = of(recording(history(120)))
    async with shown(transcript, (50, 16)):
        lines = brought_up(feed, transcript)
        text = "\n".join(lines)
        numbers = [int(found) for found in re.findall(r"\bw(\d+)", text)]
        assert numbers == list(range(len(numbers)))
        assert re.findall(r"\bc(\d+)", text) == [str(n) for n in range(120)]
        assert re.findall(r"\bi(\d+)", text) == [str(n) for n in range(120)]
        assert not re.search(r"\n\n\n", text)
        assert lines[-1].startswith("✓ succeeded")


async def test_measuring_does_not_move_the_viewport(recording: Saver) -> None:
    """While blocks above the viewport are measured, the visible lines stay in place."""
    feed, transcript = of(recording(history(120)))
    async with shown(transcript, (50, 16)) as pilot:
        cut_all(feed, transcript)
        await pilot.press("pageup", "pageup", "pageup")
        transcript.sync()
        seen = viewport(transcript)
        assert transcript.viewport.is_measuring
        measure_all(transcript)
        assert viewport(transcript) == seen


async def test_the_end_is_in_view_while_all_is_measured(recording: Saver) -> None:
    """A long history opens at its end, and stays there while it is measured."""
    feed, transcript = of(recording(history(120)))
    async with shown(transcript, (50, 16)):
        cut_all(feed, transcript)
        assert transcript.viewport.is_measuring
        assert viewport(transcript)[-1].startswith("✓ succeeded")
        measure_all(transcript)
        assert viewport(transcript)[-1].startswith("✓ succeeded")


@pytest.mark.parametrize("width", [24, 50, 100])
async def test_a_resize_gives_the_lines_of_the_new_width(recording: Saver, width: int) -> None:
    """After a resize every line equals that of a pane which had this width from the start."""
    path = recording(history(30))
    feed, transcript = of(path)
    async with shown(transcript, (width, 16)):
        expected = brought_up(feed, transcript)
    feed, transcript = of(path)
    async with shown(transcript, (70, 30)) as pilot:
        brought_up(feed, transcript)
        await pilot.resize_terminal(width, 16)
        await pilot.pause()
        measure_all(transcript)
        assert lines_of(transcript) == expected
        assert viewport(transcript)[-1].startswith("✓ succeeded")


async def lines_after(path: Path, chunks: list[str]) -> list[str]:
    """Return the lines of a text that arrives in chunks, each drawn before the next arrives."""
    feed, transcript = of(path, follow=True)
    async with shown(transcript, (40, 12)):
        for chunk in chunks:
            append(path, answer(chunk))
            feed.advance()
            transcript.sync()
            viewport(transcript)
        append(path, shell(1))
        return brought_up(feed, transcript)


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_growing_text_gives_the_same_lines(recording: Saver, name: str) -> None:
    """Text that arrives in pieces of any size gives the same lines as text that arrives at once."""
    text = DOCUMENTS[name]
    expected = await lines_after(recording(init()), [text])
    for seed in range(4):
        chunks = list(text) if seed == 0 else pieces(text, random.Random(seed))
        assert await lines_after(recording(init()), chunks) == expected, chunks


async def test_inline_code_of_three_ticks_gives_the_same_lines(recording: Saver) -> None:
    """Text that begins like a fence but is inline code is shown the same, in pieces or at once."""
    text = "Run\n```make all``` now, in\nthis folder."
    at_once = await lines_after(recording(init()), [text])
    assert await lines_after(recording(init()), list(text)) == at_once
