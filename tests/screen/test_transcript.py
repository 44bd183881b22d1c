"""The transcript shows what was said and done, block by block, exactly as high as it is."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agentwatch.feed import Feed
from agentwatch.recording import open_saved
from agentwatch.screen.transcript import Transcript
from tests.screen.conftest import (
    CWD,
    PaneApp,
    answer,
    ended,
    init,
    line,
    lines_of,
    prompt,
    result,
    shell,
    started,
    thinking,
    viewport,
)

Saver = Callable[[bytes], Path]

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


@asynccontextmanager
async def shown(transcript: Transcript, size: tuple[int, int] = (60, 20)) -> AsyncIterator[Pilot[None]]:
    """Show the pane in a terminal of its own, focused."""
    app = PaneApp(transcript)
    async with app.run_test(size=size) as pilot:
        transcript.focus()
        await pilot.pause()
        yield pilot


def of(path: Path, *, follow: bool = False) -> tuple[Feed, Transcript]:
    """Return a recording's feed and the pane of its session."""
    feed = Feed(open_saved(path, follow))
    return feed, Transcript(feed.session)


def measure_all(transcript: Transcript) -> None:
    """Measure every block, as the ticks do bit by bit."""
    for _ in range(10_000):
        if not transcript._unmeasured:
            return
        transcript.measure_some()
    pytest.fail("measuring does not come to an end")


def brought_up(feed: Feed, transcript: Transcript) -> list[str]:
    """Apply all that is there and return every line."""
    feed.advance()
    transcript.sync()
    measure_all(transcript)
    return lines_of(transcript)


async def test_everything_has_its_look(recording: Saver) -> None:
    """Prompt, thinking, text, calls and result stand in the order in which they came."""
    edit = {"path": f"{CWD}/src/wheel.py"}
    path = recording(
        init()
        + prompt("Mend the wheel.\nPlease.")
        + thinking("It squeaks.")
        + answer("I **oil** it.")
        + started("a", "edit", dict(edit))
        + ended("a", "edit", dict(edit), {"success": {"linesAdded": 3, "linesRemoved": 1}})
        + shell(7, 2)
        + answer("Done.")
        + result("I **oil** it.Done.")
    )
    feed, transcript = of(path)
    async with shown(transcript):
        assert brought_up(feed, transcript) == [
            "› Mend the wheel.",
            "  Please.",
            "",
            "thinking 2.5 s",
            "  It squeaks.",
            "",
            "I oil it.",
            "",
            "  ✓ Edited file src/wheel.py (+3 -1)",
            "  ✗ Ran terminal command echo 7 (failed: exit 2)",
            "",
            "Done.",
            "",
            "✓ succeeded in 5.2 s",
        ]


async def test_a_result_that_differs_is_shown(recording: Saver) -> None:
    """A result whose text is not the text above is shown, and said to differ."""
    feed, transcript = of(recording(init() + answer("Four.") + result("Five.")))
    async with shown(transcript):
        lines = brought_up(feed, transcript)
        assert lines[-3:] == ["✓ succeeded in 5.2 s", "  its result differs from the text above:", "  Five."]


async def test_a_failure_shows_its_reason(recording: Saver) -> None:
    """Of a run that failed the reason stands below the outcome."""
    feed, transcript = of(recording(init() + result("out of quota\nretry later", is_error=True)))
    async with shown(transcript):
        lines = brought_up(feed, transcript)
        assert lines == ["✗ failed in 5.2 s", "  out of quota", "  retry later"]


async def test_what_is_not_understood_is_shown(recording: Saver) -> None:
    """A line of an unknown type and a line that is no event are shown in their place."""
    feed, transcript = of(recording(init() + line(type="weather") + b"not json\n" + answer("on")))
    async with shown(transcript):
        lines = brought_up(feed, transcript)
        assert lines[0] == "· unknown: type weather"
        assert lines[2].startswith("· not an event (")
        assert lines[2].endswith("not json")
        assert lines[-1] == "on"


async def test_a_call_marker_tells_how_the_call_stands(recording: Saver) -> None:
    """The line of a running call tells of its end as soon as it is drawn again, and no other changes."""
    path = recording(init() + answer("a") + shell(1, None) + answer("b"))
    feed, transcript = of(path, follow=True)
    async with shown(transcript):
        before = brought_up(feed, transcript)
        assert before[2] == "  ◐ Ran terminal command echo 1 (running)"
        with path.open("ab") as file:
            file.write(ended("call-1", "shell", {"command": "echo 1"}, {"failure": {"exitCode": 3}}))
        feed.advance()
        after = lines_of(transcript)
        assert after[2] == "  ✗ Ran terminal command echo 1 (failed: exit 3)"
        assert [*before[:2], *before[3:]] == [*after[:2], *after[3:]]


async def test_thinking_can_be_left_out(recording: Saver) -> None:
    """Without the thinking its title and its lines are gone, with one blank line between the rest."""
    path = recording(init() + prompt("p") + thinking("It\n\nsqueaks.") + answer("text") + thinking("more"))
    feed, transcript = of(path)
    async with shown(transcript):
        all_lines = brought_up(feed, transcript)
        transcript.toggle_reasoning()
        measure_all(transcript)
        assert lines_of(transcript) == ["› p", "", "text"]
        transcript.toggle_reasoning()
        measure_all(transcript)
        assert lines_of(transcript) == all_lines


def history(paragraphs: int) -> bytes:
    """Return a long session: numbered words in paragraphs of many lengths, a list, code and a call each."""
    made, word = [init(), prompt("go on")], 0
    for number in range(paragraphs):
        words = [f"w{word + n}" for n in range(1 + number * 7 % 40)]
        word += len(words)
        made.append(answer(" ".join(words) + f"\n\n```\nc{number}\n```\n\n- i{number}\n"))
        made.append(shell(number))
    return b"".join(made) + result("")


async def test_blocks_are_as_high_as_their_lines(recording: Saver) -> None:
    """In a long history that is measured bit by bit no line is lost and none is blank without reason."""
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


async def test_measuring_leaves_what_is_in_view(recording: Saver) -> None:
    """While blocks above are measured, what is read stays where it is."""
    feed, transcript = of(recording(history(120)))
    async with shown(transcript, (50, 16)) as pilot:
        feed.advance()
        transcript.sync()
        await pilot.press("pageup", "pageup", "pageup")
        transcript.sync()
        seen = viewport(transcript)
        assert transcript._unmeasured
        measure_all(transcript)
        assert viewport(transcript) == seen


async def test_the_end_is_in_view_while_all_is_measured(recording: Saver) -> None:
    """A long history opens at its end and stays there."""
    feed, transcript = of(recording(history(120)))
    async with shown(transcript, (50, 16)):
        feed.advance()
        transcript.sync()
        assert viewport(transcript)[-1].startswith("✓ succeeded")
        measure_all(transcript)
        assert viewport(transcript)[-1].startswith("✓ succeeded")


@pytest.mark.parametrize("width", [24, 50, 100])
async def test_a_resize_wraps_anew(recording: Saver, width: int) -> None:
    """After a resize every line is what it is in a pane that had this width from the beginning."""
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


def pieces(text: str, chance: random.Random) -> list[str]:
    """Cut a text into pieces of arbitrary size."""
    cut = []
    while text:
        size = chance.choice((1, 1, 2, 3, 5, 8, 40))
        cut.append(text[:size])
        text = text[size:]
    return cut


def grow(path: Path, data: bytes) -> None:
    """Add to a recording."""
    with path.open("ab") as file:
        file.write(data)


async def comes_to(path: Path, chunks: list[str]) -> list[str]:
    """Return the lines of a text that came in chunks, each shown before the next."""
    feed, transcript = of(path, follow=True)
    async with shown(transcript, (40, 12)):
        for chunk in chunks:
            grow(path, answer(chunk))
            feed.advance()
            transcript.sync()
            viewport(transcript)
        grow(path, shell(1))
        return brought_up(feed, transcript)


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_growing_text_comes_to_the_same(recording: Saver, name: str) -> None:
    """Text that comes in pieces of any size ends as the same lines as text that comes at once."""
    text = DOCUMENTS[name]
    expected = await comes_to(recording(init()), [text])
    for seed in range(4):
        chunks = list(text) if seed == 0 else pieces(text, random.Random(seed))
        assert await comes_to(recording(init()), chunks) == expected, chunks


async def test_inline_code_of_three_ticks_comes_to_the_same(recording: Saver) -> None:
    """What begins like a fence and turns out to be code within a line is shown as at once."""
    text = "Run\n```make all``` now, in\nthis folder."
    at_once = await comes_to(recording(init()), [text])
    assert await comes_to(recording(init()), list(text)) == at_once
