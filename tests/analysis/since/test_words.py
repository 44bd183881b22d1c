"""Events that happened while the user was away are summed up in one line."""

from __future__ import annotations

import pytest

from agentwatch.analysis.seen import Mark, mark
from agentwatch.analysis.since import away_summary, behind_words, since_words
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText
from tests.builders.lines import completed, delta, init, result, session, started
from tests.conftest import case

NOTHING = mark(Session(), 0, 0)
MINUTES = 60_000


def shell(number: int, exit_code: int = 0) -> bytes:
    """Return a shell call from start to end."""
    outcome = {"success": {"exitCode": exit_code}}
    return started("shell", f"s-{number}") + completed("shell", f"s-{number}", outcome)


def edit(number: int, path: str, added: int | None, removed: int | None) -> bytes:
    """Return an edit from start to end."""
    outcome = {"success": {"linesAdded": added, "linesRemoved": removed, "diffString": "x"}}
    call_id = f"e-{number}"
    return started("edit", call_id, path=path) + completed("edit", call_id, outcome, path=path)


def summary_of(*lines: bytes, since: Mark = NOTHING, after: int = 6 * MINUTES, is_over: bool = False) -> str:
    """Return the away summary of a session since a mark."""
    return away_summary(session(*lines, is_over=is_over), since, (since.at_ms or 0) + after)


def test_calls_changed_files_and_failures_are_counted() -> None:
    """The line contains the time, the calls, the failures, and the files with their changed lines."""
    edits = [edit(1, "/a", 1, 2), edit(2, "/b", 40, 0), edit(3, "/c", 0, 1), edit(4, "/a", 0, 4)]
    shells = [shell(n) for n in range(9)]
    assert summary_of(init(), *edits, *shells, shell(9, 1)) == "6:00 away: 14 calls, 1 failed, 3 files +41 −7"


def test_singular_counts() -> None:
    """One call and one file are in the singular, and zero counts are left out."""
    assert summary_of(init(), edit(1, "/a", 3, None)) == "6:00 away: 1 call, 1 file +3"
    assert summary_of(init(), shell(1)) == "6:00 away: 1 call"


def test_a_file_without_known_lines_counts() -> None:
    """A deleted file is a changed file; a file that was only read, or whose edit failed, is not."""
    gone = started("delete", path="/a") + completed("delete", result={"success": {}}, path="/a")
    assert summary_of(init(), gone) == "6:00 away: 1 call, 1 file"
    read = started("read", path="/a") + completed("read", result={"success": {}}, path="/a")
    assert summary_of(init(), read) == "6:00 away: 1 call"
    failed = started("edit", path="/a") + completed("edit", result={"error": {"error": "no"}}, path="/a")
    assert summary_of(init(), failed) == "6:00 away: 1 call, 1 failed"


def test_events_before_the_mark_are_left_out() -> None:
    """Only new events count, among them the end of a call that began before."""
    before = [init(), shell(1, 1), edit(1, "/a", 5, 5), started("shell", "late")]
    then = mark(session(*before, is_over=False), 0, 1000)
    assert summary_of(*before, since=then) == ""
    late = completed("shell", "late", {"failure": {"exitCode": 2}})
    assert summary_of(*before, late, since=then) == "6:00 away: 1 call, 1 failed"
    assert summary_of(*before, late, shell(2), since=then) == "6:00 away: 2 calls, 1 failed"


def test_a_rejection_is_counted() -> None:
    """A rejected call is counted as rejected."""
    rejected = started("shell") + completed("shell", result={"rejected": {"reason": "no"}})
    assert summary_of(init(), rejected) == "6:00 away: 1 call, 1 rejected"


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (result("ok"), "succeeded"),
        (result("no", subtype="error", is_error=True), "failed"),
        (b"", "ended without a result"),
    ],
)
def test_the_end_of_the_run_is_reported(last: bytes, words: str) -> None:
    """The end of the run is reported once, with its outcome."""
    lines = [init(), shell(1), last]
    assert summary_of(*lines, is_over=True) == f"6:00 away: 1 call, the run {words}"
    then = mark(session(*lines), 0, 0)
    assert summary_of(*lines, since=then, is_over=True) == ""


def test_a_stream_without_a_run_has_ended() -> None:
    """A stream without a run has ended without a result."""
    assert summary_of(is_over=True) == "6:00 away: the run ended without a result"


def test_text_alone_is_reported_as_events() -> None:
    """If only text arrived, the line has the number of events."""
    then = mark(session(init(), delta("One."), is_over=False), 0, 0)
    assert summary_of(init(), delta("One."), delta("Two."), since=then) == "6:00 away: 1 event"


def test_the_end_of_an_unknown_agents_stream_is_only_an_end() -> None:
    """A stream of no known agent ended; that it has no result is not held against it."""
    assert summary_of(b"Hello\n", is_over=True) == "6:00 away: the run ended"
    assert summary_of(b"", is_over=True) == "6:00 away: the run ended without a result"


LINES = [
    *(init(), edit(1, "/a", 1, 2), edit(2, "/b", 40, 0), edit(3, "/a", 0, 4)),
    *(shell(1), shell(2, 1), started("shell", "late")),
]


def test_what_happened_since_is_one_line() -> None:
    """The line has the events, and of the calls those that ended, those that failed and the changed files."""
    live = session(*LINES, is_over=False)
    assert since_words(live, NOTHING) == "12 events: 5 calls, 1 failed, 2 files"
    assert since_words(live, mark(session(*LINES[:4], is_over=False), 0, None)) == (
        "5 events: 2 calls, 1 failed"
    )


def test_parts_that_are_zero_are_left_out() -> None:
    """Without calls, only the events are named; without events, the line says that nothing happened."""
    live = session(*LINES, is_over=False)
    assert since_words(live, mark(session(*LINES[:-1], is_over=False), 0, None)) == "1 event"
    assert since_words(live, mark(live, 0, None)) == "nothing happened since"


def test_the_end_of_the_stream_is_no_event() -> None:
    """A stream that ended without another line is reported by its end; its running calls never completed."""
    then = mark(session(*LINES, is_over=False), 0, None)
    assert since_words(session(*LINES), then) == "1 call, 1 unfinished, the run ended without a result"


def test_files_are_not_counted_after_very_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line appears at once: after more calls than can be read for it, it has no files."""
    monkeypatch.setattr("agentwatch.analysis.since._MOST_CALLS", 4)
    assert since_words(session(*LINES, is_over=False), NOTHING) == "12 events: 5 calls, 1 failed"


def test_how_far_a_moment_is_behind() -> None:
    """The header has the longest form that fits."""
    cases: list[tuple[int, str]] = [
        (60, "‖ as of 09:14:31 · 11 events, 5 calls, 1 failure behind live"),
        (59, "‖ as of 09:14:31 · 11 events behind live"),
        (39, "‖ as of 09:14:31 · 11 behind"),
        (27, "‖ as of 09:14:31"),
        (0, "‖ as of 09:14:31"),
    ]
    for width, words in cases:
        with case(width):
            shown, live = session(init(), is_over=False), session(*LINES, is_over=False)
            assert behind_words(shown, live, SafeText("‖ as of 09:14:31"), width) == words


def test_a_finished_session_has_an_end() -> None:
    """A moment of a finished session is before its end, not behind the live moment."""
    shown, ended = session(init(), is_over=False), session(*LINES)
    lead = SafeText("as of 09:14:31")
    assert behind_words(shown, ended, lead, 42) == "as of 09:14:31 · 11 events before the end"
    assert behind_words(shown, ended, lead, 37) == "as of 09:14:31 · 11 left"


def test_a_moment_without_a_time_has_another_name() -> None:
    """A moment is named as the caller names it; parts that are zero are left out."""
    shown, live = session(init(), is_over=False), session(init(), delta("a"), is_over=False)
    assert behind_words(shown, live, SafeText("62 %"), 80) == "62 % · 1 event behind live"
