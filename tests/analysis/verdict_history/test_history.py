"""The history of test runs reads the verdicts of a session in pieces, the newest first."""

from __future__ import annotations

import pytest

from agentwatch.analysis import verdict_history
from agentwatch.analysis.verdict_history import VerdictHistory
from agentwatch.feed.feed import Feed
from tests.analysis.verdict_history.sessions import STORY, edit, feed_of, run_of_tests
from tests.builders.screen.lines import append, ended, init, shell, started
from tests.conftest import Saver


def numbers(read: VerdictHistory) -> list[int]:
    """Return the numbers of the calls whose verdicts are known."""
    return [each.number for each in read.verdicts]


def counted_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the offsets of the lines that are read from now on."""
    offsets: list[int] = []
    line_at = Feed.line_at

    def counted(feed: Feed, place: object) -> bytes:
        offsets.append(place.offset)  # type: ignore[attr-defined]
        return line_at(feed, place)  # type: ignore[arg-type]

    monkeypatch.setattr(Feed, "line_at", counted)
    return offsets


def test_the_verdicts_of_a_session(recording: Saver) -> None:
    """Each test run has its call's number, the moment of its end, and the number of failed tests."""
    path = recording(STORY)
    feed = feed_of(path)
    read = VerdictHistory(feed)
    assert not read.update(1)
    assert [(each.number, each.is_red, each.failed) for each in read.verdicts] == [
        *((2, True, 12), (7, True, 1), (8, False, 0))
    ]
    data = path.read_bytes()
    for each in read.verdicts:
        call = feed.session.calls[each.number - 1]
        assert feed.session.ended_calls[each.ended_index] is call
        assert call.call_id.encode() in data[: each.moment].splitlines()[-1]
        assert data[each.moment - 1 : each.moment] == b"\n"


def test_only_test_runs_are_listed(recording: Saver) -> None:
    """A linter, a command that prints an old output, tests that did not run, and others are no test runs."""
    args: dict[str, object] = {"command": "pytest"}
    aborted = started("a", "shell", args) + ended("a", "shell", args, {"failure": {"aborted": True}})
    path = recording(
        init()
        + run_of_tests(1, 0, "mypy", "Success: no issues found in 3 source files")
        + run_of_tests(2, 3, "cat pytest.log")
        + run_of_tests(3, 0, "pytest", "3 deselected in 0.01s")
        + shell(4)
        + aborted
        + run_of_tests(5, 0, "cargo test", "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured")
    )
    read = VerdictHistory(feed_of(path))
    read.update(1)
    assert numbers(read) == [6]


def test_the_newest_are_read_first_and_new_ones_before_old(recording: Saver) -> None:
    """An update without time reads one call: a new one if there is one, else the newest of the old."""
    path = recording(init() + b"".join(run_of_tests(n, n % 2) for n in range(1, 6)))
    feed = feed_of(path, follow=True)
    read = VerdictHistory(feed)
    assert read.verdicts == ()
    assert read.update(0)
    assert numbers(read) == [5]
    append(path, run_of_tests(6, 0))
    feed.advance()
    assert read.update(0)
    assert numbers(read) == [5, 6]
    assert read.update(0)
    assert numbers(read) == [4, 5, 6]
    known = read.verdicts
    append(path, shell(7))
    feed.advance()
    assert read.update(0)
    assert read.verdicts is known


def test_the_number_kept_is_bounded(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the newest verdicts are kept, and no older call is read for them."""
    offsets = counted_reads(monkeypatch)
    monkeypatch.setattr(verdict_history, "_MOST_KEPT", 3)
    path = recording(init() + b"".join(run_of_tests(n, 1) for n in range(1, 7)))
    feed = feed_of(path, follow=True)
    read = VerdictHistory(feed)
    assert not read.update(1)
    assert numbers(read) == [4, 5, 6]
    assert len(offsets) == 3
    append(path, run_of_tests(7, 1))
    feed.advance()
    assert not read.update(1)
    assert numbers(read) == [5, 6, 7]


def test_each_output_is_read_once(recording: Saver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The output of a command is read once, and that of a command which only reads files is not."""
    offsets = counted_reads(monkeypatch)
    path = recording(STORY + run_of_tests(9, 0, "tail -3 pytest.log"))
    read = VerdictHistory(feed_of(path))
    while read.update(0):
        pass
    read.update(1)
    assert len(offsets) == len(set(offsets)) == 3


def stale(read: VerdictHistory) -> list[int]:
    """Return the numbers of the calls after whose verdict a file changed."""
    return [each.number for each in read.verdicts if each.is_stale]


def test_a_green_run_is_stale_after_an_edit(recording: Saver) -> None:
    """Only the newest verdict can be stale, if it is green; a newer verdict takes its place."""
    path = recording(STORY)
    feed = feed_of(path, follow=True)
    read = VerdictHistory(feed)
    read.update(1)
    assert stale(read) == []
    for lines, numbers_of_stale in (
        (edit(9, "a.py", is_failed=True), []),
        (edit(10, "a.py"), [8]),
        (edit(11, "a.py"), [8]),
        (run_of_tests(12, 0), []),
        (run_of_tests(13, 2) + edit(14, "a.py"), []),
    ):
        append(path, lines)
        feed.advance()
        read.update(1)
        assert stale(read) == numbers_of_stale


def test_an_edit_before_the_first_reading_counts(recording: Saver) -> None:
    """Read backwards, the edits after the newest verdict are found before it, and older ones do not count."""
    path = recording(STORY + edit(9, "a.py") + shell(10))
    read = VerdictHistory(feed_of(path))
    read.update(1)
    assert stale(read) == [8]
    path = recording(STORY + shell(9))
    read = VerdictHistory(feed_of(path))
    read.update(1)
    assert stale(read) == []
