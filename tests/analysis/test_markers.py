"""Failures, edits and verdicts are marked where their call had ended, turns after their first line."""

import os
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agentwatch.analysis.markers import Marker, MarkerKind, Markers, VerdictMark
from agentwatch.feed.feed import Feed
from agentwatch.recording.lines import LineReader
from agentwatch.recording.saved import open_saved
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders import lines
from tests.builders.lines import DONE
from tests.conftest import Saver

SessionOf = Callable[[bytes], Session]
FAILED: dict[str, Any] = {"failure": {"exitCode": 1, "stdout": "", "stderr": ""}}
REJECTED: dict[str, Any] = {"rejected": {"reason": "no"}}


def call(number: int, tool: str, result: dict[str, Any] | None) -> bytes:
    """Return a call, which is still running without a result."""
    begun = lines.started(tool, f"c-{number}", command="x", path="a")
    return begun if result is None else begun + lines.completed(tool, f"c-{number}", result)


STORY = [
    lines.init(),
    call(1, "shell", DONE),
    call(2, "shell", FAILED),
    call(3, "read", DONE),
    call(4, "edit", DONE),
    call(5, "edit", REJECTED),
    call(6, "shell", FAILED),
    call(7, "delete", DONE),
    call(8, "shell", None),
]


def end_of(number: int) -> int:
    """Return the moment at which a call of the story had ended."""
    return len(b"".join(STORY[: number + 1]))


def line_end(offset: int) -> int:
    """Return the moment after the line of the story that contains an offset."""
    data = b"".join(STORY)
    return data.index(b"\n", offset) + 1


def marked(session: Session) -> Markers:
    """Return the markers of a session, all of them read."""
    markers = Markers(session, line_end)
    while markers.update():
        pass
    return markers


def shown(markers: Markers) -> list[tuple[int, str]]:
    """Return the number of the call and the kind of each marker, in order."""
    assert all(one.offset <= other.offset for one, other in pairwise(markers))
    return [(each.number, each.kind.name) for each in markers]


@pytest.fixture
def markers(session_of: SessionOf) -> Markers:
    return marked(session_of(b"".join(STORY)))


CALLS = [(2, "FAILURE"), (4, "EDIT"), (6, "FAILURE"), (7, "EDIT")]


def test_failures_and_edits_are_marked(markers: Markers) -> None:
    """A call that failed, and one that changed a file, are marked; not one that was rejected, read, or has
    not ended. The next marker is after the moment; of several at one moment it is the first.
    """
    assert shown(markers) == CALLS
    assert [each.offset for each in markers] == [end_of(number) for number in (2, 4, 6, 7)]
    assert [*markers][:2] == [
        Marker(end_of(2), MarkerKind.FAILURE, 2),
        Marker(end_of(4), MarkerKind.EDIT, 4),
    ]
    assert [markers.index_after(at) for at in (0, end_of(2), end_of(7))] == [0, 1, 4]
    # Calls may end with the same line.
    session = lines.session(*STORY)
    assert session.calls[5].ended is not None
    for number in (3, 6):
        session.calls[number].ended = session.calls[5].ended
    markers = marked(session)
    at = session.calls[5].ended.offset
    assert markers.index_after(at) == 1


def verdict(number: int, *, is_red: bool, words: str = "") -> VerdictMark:
    return VerdictMark(end_of(number), number, is_red, words)


def test_markers_follow_a_session_that_grows(recording: Saver, session_of: SessionOf) -> None:
    """Calls that end later are read later, and appended without another revision. A verdict that is known
    before its call was read is marked once, when it is read.
    """
    path = recording(*STORY[:3])
    reader = open_saved(path, follow=True)
    feed = Feed(reader)
    feed.advance()
    markers = marked(feed.session)
    revision = markers.revision
    assert shown(markers) == [(2, "FAILURE")]
    with path.open("ab") as file:
        file.write(b"".join(STORY[3:]))
    feed.advance()
    markers.update()
    assert (shown(markers), markers.revision) == (CALLS, revision)
    os.close(reader.fd)
    # A verdict waits for its call.
    session = session_of(
        b"".join([lines.init(), *(call(number, "shell", FAILED) for number in range(1, 200))])
    )
    markers = Markers(session, line_end)
    last = session.calls[-1]
    assert last.ended is not None
    mark = VerdictMark(last.ended.offset + last.ended.length + 1, last.number, is_red=True, words="")
    markers.show_verdicts([mark])
    assert markers.update() is True
    assert {each.kind for each in markers} == {MarkerKind.FAILURE}
    while markers.update():
        pass
    assert [each.kind for each in markers][-2:] == [MarkerKind.FAILURE, MarkerKind.VERDICT]
    assert len(markers) == 199


def test_a_verdict_is_marked_when_it_turns(markers: Markers) -> None:
    """The first verdict is marked, and each of another colour; it takes the place of the failure of its
    call, until it no longer turns. The revision changes unless markers are appended. At each moment, next
    and previous are what a linear search finds, whatever verdicts come and go.
    """
    red, again, green = verdict(1, is_red=True), verdict(2, is_red=True), verdict(6, is_red=False)
    markers.show_verdicts([red, again, green])
    assert shown(markers) == CALLS
    assert markers.update() is False
    assert shown(markers) == [(1, "VERDICT"), (2, "FAILURE"), (4, "EDIT"), (6, "VERDICT"), (7, "EDIT")]
    assert [each.verdict for each in markers] == [red, None, None, green, None]
    # An older verdict of the same colour becomes known; old ones are forgotten.
    markers.show_verdicts([verdict(2, is_red=True)])
    markers.update()
    assert shown(markers)[0] == (2, "VERDICT")
    markers.show_verdicts([verdict(1, is_red=True), verdict(2, is_red=True)])
    markers.update()
    assert shown(markers) == [(1, "VERDICT"), *CALLS]
    markers.show_verdicts([])
    markers.update()
    assert shown(markers) == CALLS
    # An index keeps its meaning while the revision stays.
    before = markers.revision
    markers.show_verdicts([])
    markers.update()
    assert markers.revision == before
    markers.show_verdicts([verdict(1, is_red=False)])
    markers.update()
    assert markers.revision != before
    # The next marker is that of a search through all.
    chosen = random.Random(14)
    for _ in range(60):
        numbers = sorted(chosen.sample(range(1, 8), chosen.randrange(8)))
        markers.show_verdicts([verdict(other_each, is_red=chosen.random() < 0.5) for other_each in numbers])
        markers.update()
        offsets = [other_each.offset for other_each in markers]
        assert {other_each.number for other_each in markers} >= {number for number, _ in CALLS}
        assert len({other_each.number for other_each in markers}) == len(markers)
        for at in (0, 1, *(offset + by for offset in offsets for by in (-1, 0, 1))):
            assert markers.index_after(at) == sum(offset <= at for offset in offsets)


def prompts(*texts: str) -> list[bytes]:
    """Return turns of one call each, the second of which fails."""
    turns = [
        lines.user(text) + call(number, "shell", FAILED if number == 2 else DONE) + lines.result()
        for number, text in enumerate(texts, 1)
    ]
    return [lines.init(), *turns]


def turns_of(path: Path) -> tuple[LineReader, Feed, Markers]:
    """Return the markers of a recording that grows, and what reads it."""
    reader = open_saved(path, follow=True)
    feed = Feed(reader)
    feed.advance()

    def end(offset: int) -> int:
        return offset + os.pread(reader.fd, 1 << 16, offset).index(b"\n") + 1

    markers = Markers(feed.session, end)
    while markers.update():
        pass
    return reader, feed, markers


def test_turns_are_marked_after_their_first_line(recording: Saver) -> None:
    """At the moment of a turn its prompt is shown, and nothing of the answer. Turns that begin later, of
    the same run or of another, are appended.
    """
    story = prompts("One.", "Two.", "Three.")
    reader, feed, markers = turns_of(recording(*story))
    kinds = [each.kind.name for each in markers]
    assert kinds == ["TURN", "TURN", "FAILURE", "TURN"]
    begins = [len(b"".join(story[:at])) + len(lines.user(text)) for at, text in ((1, "One."), (2, "Two."))]
    assert [each.offset for each in markers][:2] == begins
    for each in markers:
        if each.kind is MarkerKind.TURN:
            assert feed.session.transcript[each.number].kind is Kind.PROMPT
    os.close(reader.fd)
    # Turns that begin later.
    path = recording(*prompts("One."))
    reader, feed, markers = turns_of(path)
    revision = markers.revision
    for more in (prompts("Two.")[1], b"".join(prompts("Three.", "Four."))):
        with path.open("ab") as file:
            file.write(more.replace(b"c-", b"d-"))
        feed.advance()
        markers.update()
    texts = [feed.session.transcript[each.number].text for each in markers if each.kind is MarkerKind.TURN]
    assert texts == ["One.", "Two.", "Three.", "Four."]
    assert markers.revision - revision <= 2
    os.close(reader.fd)
