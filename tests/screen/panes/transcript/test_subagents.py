"""The entries of subagents are folded into one line, which the user and the search open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.session.events import Event
from tests.builders.made_agent import MadeSession
from tests.builders.screen.app import Stage, lines_of, opened
from tests.builders.subagents import TWO_SUBAGENTS, begins, ends, says

FOLDED = [
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
    assert lines(stage) == FOLDED
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
        FOLDED[5],
        "  Find the callers",
        "    They are in three files.",
        "      ✓ #5 Searched files nearest( (3 matches)",
        "The first has ended.",
    ]
    await stage.press("enter")
    assert lines(stage) == FOLDED
    # The line of the call that started a subagent opens and folds the entries too.
    transcript.reveal_call(stage.feed.session.calls[1])
    await stage.press("enter")
    assert lines(stage)[5:7] == [
        FOLDED[5].replace("▸", "▾"),
        "      ✗ #4 Ran terminal command pytest -q tests/agents (failed: exit 1)",
    ]
    await stage.press("enter")
    assert lines(stage) == FOLDED
    # The search finds texts and calls of folded subagents, and shows them.
    await stage.press("/", *"three")
    await stage.until(lambda: "    They are in three files." in lines(stage), "the match")
    await stage.press("escape")
    assert lines(stage) == FOLDED
    # A selected call whose line is folded is marked on the line of its subagent.
    await stage.press("2", "g", "j", "j")
    assert stage.chosen == "nearest.py"
    marked = [line for line in lines_of(stage.pane("transcript")) if line.startswith("▐")]
    assert marked == ["▐ ▸ Find the callers · 2 calls, 1 message"]
    # Going to the line of a subagent's call opens the entries of the subagent.
    transcript.reveal_call(stage.feed.session.calls[2])
    assert "▐     ✓ #3 Read file nearest.py (54 lines)" in lines_of(transcript)


@pytest.mark.slow
async def test_entries_of_an_unknown_call_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a call to fold them under, entries are indented under the word `subagent`."""
    events: list[Event] = [*TWO_SUBAGENTS[:2], *says("Main."), *says("Other.", "gone"), *says("Main again.")]
    made = MadeSession(events)
    made.use(monkeypatch)
    async with opened(made.save(tmp_path / "x.ndjson")) as shown:
        assert lines(shown)[1:] == ["Main.", "  subagent", "    Other.", "Main again."]


@pytest.mark.slow
async def test_subagents_of_subagents_are_folded_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All entries below a call of the main agent are one line; opened, inner ones are indented further."""
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
