"""What is exported of a session: its calls and texts between two moments, and those that words select."""

from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.moments import Asked, CallEnd, End, MomentSpec, Named, Problem, Share
from agentwatch.output.export.exported import Wanted, exported
from agentwatch.recording.bookmarks import Bookmarks
from agentwatch.recording.store import SessionFiles
from agentwatch.session.events import Outcome
from agentwatch.session.transcript import Kind
from tests.builders.exports.opened import opened
from tests.builders.lines import DONE, completed, final, init, result, segment, started, user
from tests.conftest import RECORDINGS, Saver

DEMO = RECORDINGS / "demo.ndjson"
RUN = (
    init(),
    user("First."),
    segment("Two calls."),
    started("shell", "a", command="one"),
    started("shell", "b", command="two"),
    completed("shell", "a", DONE),
    segment("In between."),
    completed("shell", "b", DONE),
    started("shell", "c", command="never"),
    final("Ready."),
    result("Ready."),
)


def part(begin: MomentSpec | None = None, until: MomentSpec | None = None, words: str = "") -> Wanted:
    """Return what is wanted of a recording, raw."""
    return Wanted(Asked(begin, until), words, is_raw=True)


def numbers(path: Path, wanted: Wanted) -> list[int]:
    with opened(path, wanted) as session:
        found = [call.number for call in session.calls()]
        assert sorted(found) == sorted(entry.call.number for entry in session.entries() if entry.call)
    return found


def texts(path: Path, wanted: Wanted) -> list[str]:
    with opened(path, wanted) as session:
        return [entry.text for entry in session.entries() if entry.kind in (Kind.PROMPT, Kind.ANSWER)]


def test_everything_is_exported(recording: Saver) -> None:
    """Without limits and words, all entries are exported, and the export says that it is whole."""
    path = recording(*RUN)
    assert numbers(path, part()) == [1, 2, 3]
    with opened(path, part()) as session:
        assert session.is_whole
        assert [*session.entries()][-1].kind is Kind.RESULT
        assert session.report is None
    with opened(path) as session:
        assert session.report is not None
    # At the end of the part, a call that ended later is running.
    with opened(recording(*RUN), part(None, CallEnd(1))) as session:
        assert [call.outcome for call in session.calls()] == [Outcome.SUCCEEDED, Outcome.RUNNING]
        assert not session.is_whole
    # A call without an end is not part of a later run.
    path = recording(*RUN, init(), user("Again."), started("shell", "d", command="four"))
    assert numbers(path, part(CallEnd(4))) == [4]
    path = recording(*RUN[:-1], init(), user("Again."), started("shell", "d", command="four"))
    assert numbers(path, part(CallEnd(4))) == [4]
    assert numbers(path, part(CallEnd(3))) == [3, 4]
    # With words, only the calls that they select are exported, and no text.
    assert numbers(DEMO, part(words="pytest")) == [6, 13]
    assert numbers(DEMO, part(words="failed")) == [6]
    assert numbers(DEMO, part(CallEnd(6), words="pytest")) == [13]
    assert texts(DEMO, part(words="pytest")) == []
    with opened(DEMO, part(words="pytest")) as session:
        assert not session.is_whole
        assert session.filter_words == "pytest"
    # A part that would end before it starts is reported. A part can be given as shares of the time.
    reader = saved_source(DEMO).reader
    assert isinstance(exported(reader, "demo", part(CallEnd(5), CallEnd(2))), Problem)
    first, second = numbers(DEMO, part(None, Share(50_000))), numbers(DEMO, part(Share(50_000)))
    assert sorted({*first, *second}) == [*range(1, 15)]
    assert 1 not in second
    assert 14 not in first


@pytest.mark.parametrize(
    ("begin", "until", "calls", "said"),
    [
        (End.START, End.LIVE, [1, 2, 3], ["First.", "Two calls.", "In between.", "Ready."]),
        (CallEnd(1), None, [2, 3], ["In between.", "Ready."]),
        (CallEnd(2), None, [3], ["Ready."]),
        (None, CallEnd(1), [1, 2], ["First.", "Two calls."]),
        (CallEnd(1), CallEnd(2), [2], ["In between."]),
    ],
)
def test_a_part_has_the_calls_that_were_open_in_it(
    recording: Saver, begin: MomentSpec, until: MomentSpec, calls: list[int], said: list[str]
) -> None:
    """A call belongs to each part in which it was open, a text to the part in which it begins."""
    path = recording(*RUN)
    assert numbers(path, part(begin, until)) == calls
    assert texts(path, part(begin, until)) == said


def test_bookmarks_are_found_in_a_redacted_copy(recording: Saver) -> None:
    """A bookmark names the same moment in the redacted copy, whose lines have other lengths."""
    home = "/home/ada/some/long/place/of/hers"
    path = recording(init(cwd=home), user(f"See {home}."), *RUN[3:])
    offset = sum(map(len, (init(cwd=home), user(f"See {home}."), *RUN[3:6])))
    bookmarks = Bookmarks(SessionFiles(path).bookmarks, lambda _: True)
    assert bookmarks.toggle(offset, None, "middle")
    for is_raw in (True, False):
        found = exported(
            saved_source(path).reader,
            path.name,
            Wanted(Asked(Named("middle")), is_raw=is_raw),
            bookmarks_path=SessionFiles(path).bookmarks,
        )
        assert not isinstance(found, Problem)
        assert [call.number for call in found.calls()] == [2, 3]
