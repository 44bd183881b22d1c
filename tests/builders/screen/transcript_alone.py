"""The transcript alone, for a recording, measured to its end."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

from textual.pilot import Pilot

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.screen.panes.transcript.pane import Transcript
from tests.builders.screen.app import PaneApp, eventually, lines_of, measure_all
from tests.builders.screen.lines import answer, init, prompt, result, shell


@asynccontextmanager
async def transcripts() -> AsyncIterator[tuple[Callable[..., Awaitable[None]], Pilot[None]]]:
    """Run an app, and return a function that shows a transcript, focused, in place of the last one."""
    app = PaneApp()

    async def show(transcript: Transcript, size: tuple[int, int] = (60, 20)) -> None:
        await app.screen.remove_children()
        await pilot.pause()  # else a layout that is due does not report the next one as shown
        if app.size != size:
            await pilot.resize_terminal(*size)
        await app.screen.mount(transcript)
        transcript.focus()
        await eventually(pilot, lambda: transcript.viewport.layout.width > size[0], "the transcript")

    async with app.run_test() as pilot:
        yield show, pilot


@asynccontextmanager
async def shown(transcript: Transcript, size: tuple[int, int] = (60, 20)) -> AsyncIterator[Pilot[None]]:
    """Run the pane in a test terminal, focused."""
    async with transcripts() as (show, pilot):
        await show(transcript, size)
        yield pilot


def of(path: Path, *, follow: bool = False) -> tuple[Feed, Transcript]:
    """Return a recording's feed and the transcript pane of its session."""
    feed = Feed(open_saved(path, follow))
    return feed, Transcript(feed.session)


def cut_all(feed: Feed, transcript: Transcript) -> None:
    """Apply all lines and cut them into blocks; heights outside the viewport are estimates."""
    feed.advance()
    assert transcript.viewport.take(transcript.scrollable_content_region.width, inf)
    transcript.sync()


def brought_up(feed: Feed, transcript: Transcript) -> list[str]:
    """Apply all lines, and return every line of the transcript."""
    feed.advance()
    transcript.sync()
    measure_all(transcript)
    return lines_of(transcript)


def chosen_lines(transcript: Transcript) -> list[str]:
    """Return the visible lines that are drawn as selected, without their marks."""
    style = transcript.line_style("chosen").bgcolor
    strips = [transcript.render_line(y) for y in range(transcript.scrollable_content_region.height)]
    return [
        strip.text.lstrip("▐").strip()
        for strip in strips
        if any(s.style and s.style.bgcolor == style for s in strip)
    ]


def history(paragraphs: int) -> bytes:
    """Return a long session: numbered words in paragraphs of many lengths, each with list, code, call."""
    made, word = [init(), prompt("go on")], 0
    for number in range(paragraphs):
        words = [f"w{word + n}" for n in range(1 + number * 7 % 40)]
        word += len(words)
        made.append(answer(" ".join(words) + f"\n\n```\nc{number}\n```\n\n- i{number}\n"))
        made.append(shell(number))
    return b"".join(made) + result("")


def pieces(text: str, chance: random.Random) -> list[str]:
    """Return a text cut into pieces of random size."""
    cut = []
    while text:
        size = chance.choice((1, 1, 2, 3, 5, 8, 40))
        cut.append(text[:size])
        text = text[size:]
    return cut
