"""A feed: the times of its lines, single events, and lines held back until the agent is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.agents import registry
from agentwatch.feed import checkpoints
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.feed.preview import preview_feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.transcript import Kind
from tests.builders.claude_lines import written
from tests.builders.lines import completed, delta, final, init, result, started, user
from tests.builders.made_agent import ASKED, LATE, LATE_START
from tests.builders.on_disk import transcript
from tests.conftest import RECORDINGS, Saver


def test_a_line_has_the_time_that_its_program_wrote(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So have the first line of a transcript, a line whose time is in its head, and the start line of
    another agent.
    """
    feed = Feed(open_saved(recording(written(transcript.user("Go."), transcript.said("Done.")))))
    assert [line.place.seen_ms for line in feed.decoded()] == [transcript.AT_MS] * 2
    large = {**transcript.said(""), "large": "x" * (17 << 20)}
    feed = Feed(open_saved(recording(written(transcript.user("Go."), large))))
    assert [line.place.seen_ms for line in feed.decoded()] == [transcript.AT_MS] * 2
    known = (*registry.known_agents(), LATE._replace(time_of=lambda _fields: 7))
    monkeypatch.setattr(registry, "known_agents", lambda: known)
    feed = Feed(open_saved(recording(init(), LATE_START, ASKED)))
    assert [line.place.seen_ms for line in feed.decoded()] == [None, 7, 7]


def opened(path: Path) -> History:
    """Return the history of a recording that is wholly read."""
    reader = open_saved(path)
    history = History(Feed(reader), reader)
    history.feed.advance()
    return history


def forwards(history: History) -> list[int]:
    """Return the moments to which single events lead from the start."""
    moments = [0]
    while moments[-1] < history.feed.offset:
        moments.append(history.event_after(moments[-1]))
    return moments


@pytest.mark.parametrize("least", [1024, 1 << 19])
def test_steps_back_lead_through_the_same_moments(monkeypatch: pytest.MonkeyPatch, least: int) -> None:
    """From the end of a recording, single events back lead through the moments of those forward."""
    monkeypatch.setattr(checkpoints, "_LEAST_BYTES", least)
    monkeypatch.setattr(checkpoints, "_STATE_SHARE", 0)
    monkeypatch.setattr("agentwatch.recording.lines._READ_BYTES", 2048)
    history = opened(RECORDINGS / "parallel.ndjson")
    moments = forwards(history)
    back = [moments[-1]]
    while back[-1]:
        back.append(history.event_before(back[-1]))
    assert back[::-1] == moments
    assert len(moments) > 10


def test_lines_that_report_nothing_new_are_passed(tmp_path: Path) -> None:
    """Lines that change nothing on the screen are no events."""
    lines = (RECORDINGS / "demo.ndjson").read_bytes().splitlines(keepends=True)
    path = tmp_path / "session.ndjson"
    path.write_bytes(lines[0] + lines[1] + b"\n\n\n" + lines[2])
    moments = forwards(opened(path))
    assert moments == [0, len(lines[0]), len(lines[0] + lines[1]), path.stat().st_size]


DONE = {"success": {"message": "x" * 2000}}


@pytest.mark.parametrize("calls", [1, 3])
def test_the_end_begins_with_a_call(tmp_path: Path, calls: int) -> None:
    """A text of which the beginning was passed over is not shown; what follows the next call is."""
    spoken = [f"Sentence {number}. " for number in range(3000)]
    lines = [init(), user("Do much."), *map(delta, spoken), final("".join(spoken))]
    for number in range(calls):
        lines.append(started("edit", f"c{number}", path=f"{number}.py"))
        lines.append(completed("edit", f"c{number}", DONE, path=f"{number}.py"))
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join([*lines, delta("Done."), final("Done."), result("all")]))
    preview = preview_feed(open_saved(path))
    entries = preview.session.transcript
    assert [entry.kind for entry in entries] == [
        Kind.PROMPT,
        *[Kind.CALL] * calls,
        Kind.ANSWER,
        Kind.RESULT,
    ]
    assert entries[-2].text == "Done."
    assert [call.target for call in preview.session.calls] == [f"{number}.py" for number in range(calls)]
