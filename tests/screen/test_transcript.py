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
        if not transcript.is_measuring:
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
            "thinking 2.5 s ▸",
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


THOUGHTS = init() + prompt("p") + thinking("It\n\nsqueaks.") + answer("text") + thinking("more")
FOLDED = ["› p", "", "thinking 2.5 s ▸", "", "text", "", "thinking 2.5 s ▸"]
UNFOLDED = [
    *("› p", "", "thinking 2.5 s ▾", "  It", "", "  squeaks.", "", "text", "", "thinking 2.5 s ▾", "  more"),
]


async def test_thoughts_are_folded_when_they_are_done(recording: Saver) -> None:
    """A thought that is done is one line; `t`'s toggle shows all of them, and folds them again."""
    feed, transcript = of(recording(THOUGHTS))
    async with shown(transcript):
        assert brought_up(feed, transcript) == FOLDED
        transcript.toggle_reasoning()
        measure_all(transcript)
        assert lines_of(transcript) == UNFOLDED
        stable = [transcript.is_stable(y) for y in range(transcript.line_count())]
        assert [line for line, is_kept in zip(UNFOLDED, stable, strict=True) if "▾" in line and is_kept] == []
        transcript.toggle_reasoning()
        assert lines_of(transcript) == FOLDED


async def test_a_thought_is_shown_while_it_is_thought(recording: Saver) -> None:
    """The thinking is seen as it comes, and folds when it is done; who reads it keeps it open."""
    begun = line(type="thinking", subtype="delta", text="It\n\nsqueaks", timestamp_ms=1_793_610_000_000)
    done = line(type="thinking", subtype="completed", timestamp_ms=1_793_610_002_500)
    for is_read in (False, True):
        path = recording(init() + begun)
        feed, transcript = of(path, follow=True)
        async with shown(transcript):
            assert brought_up(feed, transcript) == ["thinking", "  It", "", "  squeaks"]
            transcript.following = not is_read
            grow(path, done)
            lines = brought_up(feed, transcript)
            assert lines == (
                ["thinking 2.5 s ▾", "  It", "", "  squeaks"] if is_read else ["thinking 2.5 s ▸"]
            )


async def test_a_thought_that_comes_in_pieces_folds_to_the_same(recording: Saver) -> None:
    """However a thought came, folded and opened it is what it is when it came at once."""
    for seed in range(3):
        path = recording(init() + prompt("p"))
        feed, transcript = of(path, follow=True)
        async with shown(transcript):
            brought_up(feed, transcript)
            for piece in pieces("It\n\nsqueaks.", random.Random(seed)):
                grow(path, line(type="thinking", subtype="delta", text=piece, timestamp_ms=1_793_610_000_000))
                brought_up(feed, transcript)
            grow(path, line(type="thinking", subtype="completed", timestamp_ms=1_793_610_002_500))
            grow(path, answer("text") + thinking("more"))
            assert brought_up(feed, transcript) == FOLDED
            transcript.toggle_reasoning()
            measure_all(transcript)
            assert lines_of(transcript) == UNFOLDED


class ChoosingApp(PaneApp):
    """A pane alone, whose chosen calls are kept."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self.chosen: list[tuple[int, bool]] = []

    def on_transcript_call_chosen(self, event: Transcript.CallChosen) -> None:
        """Take note of the call."""
        self.chosen.append((event.call.number, event.goes_there))


@asynccontextmanager
async def choosing(
    path: Path, size: tuple[int, int] = (60, 20)
) -> AsyncIterator[tuple[Transcript, ChoosingApp, Pilot[None]]]:
    """Show a recording's transcript, and keep what is chosen in it."""
    feed, transcript = of(path)
    app = ChoosingApp(transcript)
    async with app.run_test(size=size) as pilot:
        transcript.focus()
        await pilot.pause()
        brought_up(feed, transcript)
        yield transcript, app, pilot


def chosen_lines(transcript: Transcript) -> list[str]:
    """Return the lines in view that look chosen."""
    look = transcript.look("chosen").bgcolor
    strips = [transcript.render_line(y) for y in range(transcript.scrollable_content_region.height)]
    return [strip.text.strip() for strip in strips if any(s.style and s.style.bgcolor == look for s in strip)]


async def test_the_keys_lead_from_a_line_to_its_call(recording: Saver) -> None:
    """`[` and `]` choose the lines of calls and thoughts; enter leads to the call and opens the thought."""
    path = recording(init() + shell(1) + thinking("It squeaks.") + shell(2) + answer("end"))
    async with choosing(path) as (transcript, app, pilot):
        await pilot.press("enter")
        assert chosen_lines(transcript) == ["✓ Ran terminal command echo 2"]
        await pilot.press("enter", "left_square_bracket")
        assert app.chosen == [(2, True)]
        assert chosen_lines(transcript) == ["thinking 2.5 s ▸"]
        await pilot.press("enter")
        assert chosen_lines(transcript) == ["thinking 2.5 s ▾"]
        assert "  It squeaks." in lines_of(transcript)
        await pilot.press("enter", "left_square_bracket", "enter", "left_square_bracket")
        assert chosen_lines(transcript) == ["✓ Ran terminal command echo 1"]
        assert app.chosen == [(2, True), (1, True)]
        assert "  It squeaks." not in lines_of(transcript)


async def test_what_is_opened_is_not_new(recording: Saver) -> None:
    """Lines that opening, measuring and wrapping bring are not among those that are new below."""
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


async def test_a_click_chooses_a_call_and_opens_a_thought(recording: Saver) -> None:
    """A click on the line of a call chooses it, a second leads there; one on a thought opens it."""
    path = recording(init() + prompt("p") + shell(1) + thinking("It squeaks."))
    async with choosing(path) as (transcript, app, pilot):
        assert lines_of(transcript)[2:5:2] == ["  ✓ Ran terminal command echo 1", "thinking 2.5 s ▸"]
        await pilot.click(transcript, offset=(8, 1))
        assert app.chosen == []
        await pilot.click(transcript, offset=(8, 3))
        assert app.chosen == [(1, False)]
        await pilot.click(transcript, offset=(8, 3), times=2)
        assert app.chosen[-1] == (1, True)
        await pilot.click(transcript, offset=(8, 5))
        assert lines_of(transcript)[-2:] == ["thinking 2.5 s ▾", "  It squeaks."]
        await pilot.click(transcript, offset=(8, 5))
        assert lines_of(transcript)[-1] == "thinking 2.5 s ▸"


async def test_a_call_leads_back_to_its_line(recording: Saver) -> None:
    """A call's line is brought into view and chosen, also among blocks that are not measured yet."""
    feed, transcript = of(recording(history(120)))
    async with shown(transcript, (50, 16)):
        feed.advance()
        transcript.sync()
        for number in (3, 60, 119):
            transcript.reveal_call(feed.session.calls[number])
            assert chosen_lines(transcript) == [f"✓ Ran terminal command echo {number}"]
            assert not transcript.following
            seen = viewport(transcript)
            measure_all(transcript)
            assert viewport(transcript) == seen


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (answer("old"), answer(" end") + shell(1), ["old end", "", "── new", "", "  ✓ Ran terminal"]),
        (shell(1), shell(2), ["  ✓ Ran terminal", "── new", "  ✓ Ran terminal"]),
        (shell(1), thinking("a\n\nb"), ["  ✓ Ran terminal", "", "── new", "", "thinking 2.5"]),
        (b"", shell(1), ["── new", "  ✓ Ran terminal"]),
        (shell(1), answer("a") + answer(" b"), ["  ✓ Ran terminal", "", "── new", "", "a b"]),
        (answer("old"), answer("\n\nnew\n\nnewer"), ["old", "", "── new", "", "new", "", "newer"]),
    ],
)
async def test_a_rule_marks_what_is_new(
    recording: Saver, before: bytes, after: bytes, expected: list[str]
) -> None:
    """One rule stands above what comes next; nothing shows before it comes."""
    path = recording(init() + before)
    feed, transcript = of(path, follow=True)
    async with shown(transcript):
        old = brought_up(feed, transcript)
        transcript.mark_new(1_793_610_000_000)
        assert brought_up(feed, transcript) == old
        for piece in after.splitlines(keepends=True):
            grow(path, piece)
            brought_up(feed, transcript)
        lines = brought_up(feed, transcript)
        assert len(lines) == len(expected)
        assert all(found.startswith(begins) for found, begins in zip(lines, expected, strict=True)), lines
        assert sum("── new since 09:00 ──" in found for found in lines) == 1


async def test_there_is_one_rule_at_most(recording: Saver) -> None:
    """A later rule takes the place of the earlier one, whose line is gone."""
    path = recording(init() + answer("a"))
    feed, transcript = of(path, follow=True)
    async with shown(transcript):
        for number, text in enumerate("bc"):
            brought_up(feed, transcript)
            transcript.mark_new(1_793_610_000_000)
            grow(path, shell(number) + answer(text))
        lines = brought_up(feed, transcript)
        assert [found[:6] for found in lines if found] == ["a", "  ✓ Ra", "b", "── new", "  ✓ Ra", "c"]
        assert not re.search(r"\n\n\n", "\n".join(lines))


async def test_a_tick_costs_what_is_new(recording: Saver) -> None:
    """With a long history a tick lays out what is new, not what was there."""
    path = recording(history(400))
    feed, transcript = of(path, follow=True)
    async with shown(transcript, (50, 16)):
        brought_up(feed, transcript)
        first_changes = []
        lay_out = transcript._blocks.lay_out
        transcript._blocks.lay_out = lambda first: (first_changes.append(first), lay_out(first))[1]  # type: ignore[method-assign, func-returns-value]
        for number in range(5):
            grow(path, thinking(f"t {number}") + answer(f"more {number}"))
            feed.advance()
            transcript.sync()
        assert min(first_changes) >= len(transcript._blocks.all) - 12


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
        assert transcript.is_measuring
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
