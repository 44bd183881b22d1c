"""The transcript shows what was said and done, in order; the entries of a subagent are one line."""

import random
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.session.events import Event, Outcome, Prompt, RunStarted, TurnEnded
from tests.builders.lines import event, thought, thought_through
from tests.builders.made_agent import MadeSession
from tests.builders.screen.app import Stage, lines_of, measure_all, opened
from tests.builders.screen.lines import (
    BEGAN_MS,
    CWD,
    answer,
    append,
    ended,
    init,
    prompt,
    result,
    shell,
    started,
    thinking,
)
from tests.builders.screen.transcript_alone import brought_up, of, pieces, transcripts
from tests.builders.subagents import TWO_SUBAGENTS, begins, ends, says
from tests.conftest import Saver, case


@pytest.mark.slow
async def test_everything_appears_in_order(recording: Saver) -> None:
    """Prompt, thinking, text, calls, results and lines that were not understood appear as they came."""
    async with transcripts() as (show, _):
        # Prompt, thinking, text, calls and result appear in the order in which they came.
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
        await show(transcript)
        assert brought_up(feed, transcript) == [
            "› Mend the wheel.",
            "  Please.",
            "",
            "thinking 2.5 s ▸",
            "",
            "I oil it.",
            "",
            "  ✓ #1 Edited file src/wheel.py (+3 −1)",
            "  ✗ #2 Ran terminal command echo 7 (failed: exit 2)",
            "",
            "Done.",
            "",
            "✓ succeeded in 5.2 s",
        ]
        # A result whose text differs from the text above it is shown, with a note that it differs.
        feed, transcript = of(recording(init() + answer("Four.") + result("Five.")))
        await show(transcript)
        lines = brought_up(feed, transcript)
        assert lines[-3:] == ["✓ succeeded in 5.2 s", "  the result differs from the text above:", "  Five."]
        # Such a result is rendered like an answer, with a blank line between its blocks.
        told = "# Mended\n\nIt **turns**.\n\n```sh\nmake\n```"
        feed, transcript = of(recording(init() + answer("Four.") + result(told)))
        await show(transcript)
        lines = brought_up(feed, transcript)
        assert [line.strip() for line in lines[-5:]] == ["Mended", "", "It turns.", "", "make"]
        # The reason of a failed run is shown below its outcome.
        feed, transcript = of(recording(init() + result("out of quota\nretry later", is_error=True)))
        await show(transcript)
        lines = brought_up(feed, transcript)
        assert lines == ["✗ failed in 5.2 s", "  out of quota", "  retry later"]
        # A line of unknown type and a line that is not an event are shown where they occurred.
        feed, transcript = of(recording(init() + event("weather") + b"not json\n" + answer("on")))
        await show(transcript)
        lines = brought_up(feed, transcript)
        assert lines[0] == "· unknown: type weather"
        assert lines[2].startswith("· not an event (")
        assert lines[2].endswith("not json")
        assert lines[-1] == "on"
        # A running call's line shows the outcome once the call has ended, and no other line changes.
        path = recording(init() + answer("a") + shell(1, None) + answer("b"))
        feed, transcript = of(path, follow=True)
        await show(transcript)
        before = brought_up(feed, transcript)
        assert before[2] == "  ◐ #1 Running echo 1"
        append(path, ended("call-1", "shell", {"command": "echo 1"}, {"failure": {"exitCode": 3}}))
        feed.advance()
        after = lines_of(transcript)
        assert after[2] == "  ✗ #1 Ran terminal command echo 1 (failed: exit 3)"
        assert [*before[:2], *before[3:]] == [*after[:2], *after[3:]]


THOUGHTS = init() + prompt("p") + thinking("It\n\nsqueaks.") + answer("text") + thinking("more")
FOLDED = ["› p", "", "thinking 2.5 s ▸", "", "text", "", "thinking 2.5 s ▸"]
UNFOLDED = [
    *("› p", "", "thinking 2.5 s ▾", "  It", "", "  squeaks.", "", "text", "", "thinking 2.5 s ▾", "  more"),
]


@pytest.mark.slow
async def test_thoughts_are_folded_when_they_are_done(recording: Saver) -> None:
    """A thought is shown while it arrives, and is one line once it is done, until it is unfolded."""
    async with transcripts() as (show, _):
        # A completed thought is one line; `toggle_reasoning` unfolds all thoughts, and folds them again.
        feed, transcript = of(recording(THOUGHTS))
        await show(transcript)
        assert brought_up(feed, transcript) == FOLDED
        transcript.toggle_reasoning()
        measure_all(transcript)
        assert lines_of(transcript) == UNFOLDED
        stable = [transcript.is_stable(y) for y in range(transcript.line_count())]
        assert [line for line, is_kept in zip(UNFOLDED, stable, strict=True) if "▾" in line and is_kept] == []
        transcript.toggle_reasoning()
        assert lines_of(transcript) == FOLDED
        # A thought is shown while it arrives. It folds when completed, unless the user has stopped following.
        begun = thought("It\n\nsqueaks", BEGAN_MS)
        done = thought_through(BEGAN_MS + 2500)
        for is_read in (False, True):
            path = recording(init() + begun)
            feed, transcript = of(path, follow=True)
            await show(transcript)
            assert brought_up(feed, transcript) == ["thinking", "  It", "", "  squeaks"]
            transcript.following = not is_read
            append(path, done)
            lines = brought_up(feed, transcript)
            assert lines == (
                ["thinking 2.5 s ▾", "  It", "", "  squeaks"] if is_read else ["thinking 2.5 s ▸"]
            )
        # A thought that arrives in pieces is folded and unfolded like one that arrives at once.
        for seed in range(3):
            path = recording(init() + prompt("p"))
            feed, transcript = of(path, follow=True)
            await show(transcript)
            brought_up(feed, transcript)
            for piece in pieces("It\n\nsqueaks.", random.Random(seed)):
                append(path, thought(piece, BEGAN_MS))
                brought_up(feed, transcript)
            append(path, thought_through(BEGAN_MS + 2500))
            append(path, answer("text") + thinking("more"))
            assert brought_up(feed, transcript) == FOLDED
            transcript.toggle_reasoning()
            measure_all(transcript)
            assert lines_of(transcript) == UNFOLDED


@pytest.mark.slow
async def test_a_rule_marks_what_is_new(recording: Saver) -> None:
    """After `mark_new`, one rule appears above the next content, and none before there is any."""
    async with transcripts() as (show, _):
        for before, after, expected in (
            (answer("old"), answer(" end") + shell(1), ["old end", "", "── new", "", "  ✓ #1 Ran terminal"]),
            (shell(1), shell(2), ["  ✓ #1 Ran terminal", "── new", "  ✓ #2 Ran terminal"]),
            (shell(1), thinking("a\n\nb"), ["  ✓ #1 Ran terminal", "", "── new", "", "thinking 2.5"]),
            (shell(1), answer("a") + answer(" b"), ["  ✓ #1 Ran terminal", "", "── new", "", "a b"]),
            (answer("old"), answer("\n\nnew\n\nnewer"), ["old", "", "── new", "", "new", "", "newer"]),
        ):
            with case(expected):
                path = recording(init() + before)
                feed, transcript = of(path, follow=True)
                await show(transcript)
                old = brought_up(feed, transcript)
                transcript.viewport.mark_new(1_793_610_000_000)
                assert brought_up(feed, transcript) == old
                for piece in after.splitlines(keepends=True):
                    append(path, piece)
                    brought_up(feed, transcript)
                lines = brought_up(feed, transcript)
                assert len(lines) == len(expected)
                assert all(found.startswith(begins) for found, begins in zip(lines, expected, strict=True)), (
                    lines
                )
                assert sum("── new since 09:00 ──" in found for found in lines) == 1
        # After `mark_new` on an empty transcript there is no rule, because nothing is above it.
        path = recording(init())
        feed, transcript = of(path, follow=True)
        await show(transcript)
        brought_up(feed, transcript)
        transcript.viewport.mark_new(1_793_610_000_000)
        append(path, shell(1) + shell(2))
        assert "new since" not in "\n".join(brought_up(feed, transcript))
        # A new rule replaces the previous one, which leaves no blank line behind.
        path = recording(init() + answer("a"))
        feed, transcript = of(path, follow=True)
        await show(transcript)
        for number, text in enumerate("bc"):
            brought_up(feed, transcript)
            transcript.viewport.mark_new(1_793_610_000_000)
            append(path, shell(number) + answer(text))
        lines = brought_up(feed, transcript)
        assert [found[:6] for found in lines if found] == ["a", "  ✓ #1", "b", "── new", "  ✓ #2", "c"]
        assert not re.search(r"\n\n\n", "\n".join(lines))


@pytest.mark.slow
async def test_a_late_duration_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line with the outcome of a turn shows its duration once a later line states it."""
    turn = [Prompt("Do it."), *says("Done."), TurnEnded(Outcome.SUCCEEDED)]
    timed = TurnEnded(Outcome.SUCCEEDED, duration_ms=1300)
    made = MadeSession([RunStarted("made-format", "s"), *turn, timed])
    made.use(monkeypatch)
    path = made.save(tmp_path / "x.ndjson")
    *lines, late = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines))
    async with opened(path, follow=True) as stage:
        transcript = stage.pane("transcript")
        assert lines_of(transcript)[-1] == "✓ succeeded"
        await stage.append(late)
        assert lines_of(transcript)[-1] == "✓ succeeded in 1.3 s"


@pytest.mark.slow
async def test_a_late_exit_code_contradicts_the_last_result(recording: Saver) -> None:
    """The process ends after its result: the line of the last turn says both, those before say theirs."""
    path = recording(
        init() + answer("One.") + result("One.") + prompt("More.") + answer("Two.") + result("Two.")
    )
    async with opened(path, follow=True) as stage:
        await stage.shows("✓ succeeded in 5.2 s")
        stage.feed.session.exit_code = 3
        await stage.shows("✗ exit 3 · result says ✓ in 5.2 s")
        assert stage.text().count("✓ succeeded in 5.2 s") == 1


ENTRIES = [
    "› Find every caller of nearest().",
    "I start two subagents.",
    "  ✓ #1 Ran subagent Find the callers",
    "  ◐ #2 Running subagent Check the wire",
    "  ▸ Find the callers · 2 calls, 1 message",
    "  ▸ Check the wire · 1 call · Ran terminal command pytest -q tests/agents (failed: exit 1)",
    "The first has ended.",
]


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """Open the session with two subagents, with the focus in the transcript."""
    made = MadeSession(TWO_SUBAGENTS)
    made.use(monkeypatch)
    async with opened(made.save(tmp_path / "x.ndjson"), (200, 40), follow=True) as shown:
        await shown.press("1")
        yield shown


def lines(stage: Stage) -> list[str]:
    """Return the lines of the transcript that are not blank, without the mark of the selected call."""
    return [line.replace("▐", " ") for line in lines_of(stage.pane("transcript")) if line.strip()]


@pytest.mark.slow
async def test_the_entries_of_each_subagent_are_one_line(stage: Stage) -> None:
    """Each subagent has one line; enter or a match opens its entries, and a selected call marks the line."""
    # Each subagent has a line with the counts of its entries; while it runs, also with its newest call.
    assert lines(stage) == ENTRIES
    # The text of a run has no texts of subagents.
    transcript = stage.pane("transcript")
    assert isinstance(transcript, Transcript)
    transcript.following = True
    assert transcript.copied()[1] == "I start two subagents.\n\nThe first has ended."
    # The entries are indented at their places, under the name of their subagent where it changes.
    transcript.reveal_call(stage.feed.session.calls[1])
    await stage.press("right_square_bracket", "enter")
    assert lines(stage)[4:] == [
        "  ▾ Find the callers · 2 calls, 1 message",
        "    › Find all callers.",
        "      ✓ #3 Read file nearest.py (54 lines)",
        ENTRIES[5],
        "  Find the callers",
        "    They are in three files.",
        "      ✓ #5 Searched files nearest( (3 matches)",
        "The first has ended.",
    ]
    await stage.press("enter")
    assert lines(stage) == ENTRIES
    # The line of the call that started a subagent opens and folds the entries too.
    transcript.reveal_call(stage.feed.session.calls[1])
    await stage.press("enter")
    assert lines(stage)[5:7] == [
        ENTRIES[5].replace("▸", "▾"),
        "      ✗ #4 Ran terminal command pytest -q tests/agents (failed: exit 1)",
    ]
    await stage.press("enter")
    assert lines(stage) == ENTRIES
    # The search finds texts and calls of folded subagents, and shows them.
    await stage.press("/", *"three")
    await stage.until(lambda: "    They are in three files." in lines(stage), "the match")
    await stage.press("escape")
    assert lines(stage) == ENTRIES
    # A selected call whose line is folded is marked on the line of its subagent.
    await stage.press("2", "g", "j", "j")
    assert stage.chosen == "nearest.py"
    marked = [line for line in lines_of(stage.pane("transcript")) if line.startswith("▐")]
    assert marked == ["▐ ▸ Find the callers · 2 calls, 1 message"]
    # Going to the line of a subagent's call opens the entries of the subagent.
    transcript.reveal_call(stage.feed.session.calls[2])
    assert "▐     ✓ #3 Read file nearest.py (54 lines)" in lines_of(transcript)


@pytest.mark.slow
async def test_subagents_of_subagents_are_folded_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A subagent is folded with those that it started; entries of an unknown call stay open."""
    # All entries below a call of the main agent are one line; opened, inner ones are indented further.
    events: list[Event] = [
        *TWO_SUBAGENTS[:2],
        begins("t1", "Task", "Outer"),
        begins("t2", "Task", "Inner", "t1"),
        begins("a1", "Read", "a.py", "t2"),
        ends("a1", "Read", "t2"),
        *says("Found.", "t2"),
        ends("t2", "Task", "t1"),
        ends("t1", "Task"),
    ]
    made = MadeSession(events)
    made.use(monkeypatch)
    async with opened(made.save(tmp_path / "x.ndjson")) as shown:
        assert lines(shown)[1:] == ["  ✓ #1 Ran subagent Outer", "  ▸ Outer · 2 calls, 1 message"]
        transcript = shown.pane("transcript")
        assert isinstance(transcript, Transcript)
        transcript.reveal_call(shown.feed.session.calls[2])
        assert lines(shown)[1:] == [
            "  ✓ #1 Ran subagent Outer",
            "  ▾ Outer · 2 calls, 1 message",
            "      ✓ #2 Ran subagent Inner",
            "      Inner",
            "          ✓ #3 Read file a.py",
            "        Found.",
        ]
    # Without a call to fold them under, entries are indented under the word `subagent`.
    events = [*TWO_SUBAGENTS[:2], *says("Main."), *says("Other.", "gone"), *says("Main again.")]
    made = MadeSession(events)
    made.use(monkeypatch)
    async with opened(made.save(tmp_path / "x.ndjson")) as shown:
        assert lines(shown)[1:] == ["Main.", "  subagent", "    Other.", "Main again."]
