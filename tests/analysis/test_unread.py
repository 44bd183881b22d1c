"""What has happened since a moment: counts, failures, verdicts, and the words for them."""

import itertools
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.analysis import unread
from agentwatch.analysis.unread import (
    MOST_BEFORE,
    MOST_READ,
    Digest,
    OpenFailures,
    Play,
    VerdictChanges,
    away_summary,
    behind_words,
    play_missed,
    since_words,
)
from agentwatch.analysis.unread_counts import Mark, mark
from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText
from tests.builders.lines import completed, delta, feed_of, init, result, session, started, user
from tests.builders.moment.slow_digest import complete, decoded, session_at, slow_digest
from tests.builders.moment.timed import RecordedTimes
from tests.builders.stories.lines import rendered
from tests.builders.stories.story import STORIES, Story
from tests.conftest import Saver, case
from tests.truth.test_generated import GENERATED


def shell(number: int, exit_code: int = 0) -> bytes:
    """Return a shell call from start to end."""
    call_id = f"s-{number}"
    body = {"success" if not exit_code else "failure": {"exitCode": exit_code}}
    return started("shell", call_id, command="make") + completed("shell", call_id, body, command="make")


def opened(path: Path) -> Feed:
    """Return a feed that has read a recording and follows it."""
    return feed_of(path, follow=True)


def test_a_digest_grows_with_its_session(recording: Saver) -> None:
    """Calls that end later are added, and a repetition that succeeds closes a failure. Prompts of later runs
    count, and an update reads as many calls as it may.
    """
    path = recording(init(), shell(1))
    feed = opened(path)
    digest = Digest(feed, mark(feed.session, feed.offset, None))
    assert complete(digest).happened.is_nothing
    with path.open("ab") as file:
        file.write(shell(2, 1) + started("read", "r-1", path="/a"))
    feed.advance()
    assert [each.call.number for each in complete(digest).failures.newest_first()] == [2]
    assert [call.number for call in digest.running] == [3]
    with path.open("ab") as file:
        file.write(shell(3))
    feed.advance()
    assert complete(digest).failures.newest_first() == []
    assert digest.happened.calls == 2
    path = recording(init(), user("One."), result(""))
    feed = opened(path)
    digest = Digest(feed, mark(feed.session, feed.offset, None))
    assert digest.turns == 0
    with path.open("ab") as file:
        file.write(user("Two.") + result("") + init() + user("Three.") + delta("a"))
    feed.advance()
    assert digest.turns == 2
    assert digest.happened.ending is None
    assert Digest(feed, mark(session_at([], 0), 0, None)).turns == 3
    feed = opened(recording(init(), *map(shell, range(10))))
    digest = Digest(feed, mark(session_at([], 0), 0, None))
    assert digest.update(most=4)
    assert [count.calls for count in digest.kinds.values()] == [4]
    assert digest.update(most=4)
    assert [count.calls for count in digest.kinds.values()] == [8]


def facts_of(digest: Digest) -> dict[str, Any]:
    """Return a digest as the slow recomputation names its parts."""
    return {
        "events": digest.happened.events,
        "kinds": {kind: count.calls for kind, count in digest.kinds.items()},
        "failed": sum(count.failed for count in digest.kinds.values()),
        "changed": {
            file.shown: (file.lines_added or 0, file.lines_removed or 0) for file in digest.changed_files
        },
        "read": {file.shown for file in digest.read_files},
        "still open": {
            (call.kind, call.tool, call.target or call.path or ""): times
            for call, times in digest.failures.newest_first()
        },
        "running": [call.call_id for call in digest.running],
        "outcomes": dict(digest.happened.outcomes),
    }


@pytest.mark.system
@GENERATED
@given(STORIES, st.booleans(), st.data())
def test_a_digest_is_what_happened(
    tmp_path_factory: pytest.TempPathFactory, story: Story, is_partial: bool, data: st.DataObject
) -> None:
    """Counts, outcomes, kinds, files, open failures and running calls are those of the lines in between."""
    recording, _ = rendered(story, is_partial)
    path: Path = tmp_path_factory.getbasetemp() / "digest.ndjson"
    path.write_bytes(recording)
    reader = open_saved(path)
    feed = Feed(reader)
    feed.advance()
    lines = decoded(recording)
    try:
        for _ in range(5):
            start = data.draw(st.integers(0, len(lines)))
            end = data.draw(st.integers(start, len(lines)))
            feed.session = session_at(lines, end)
            digest = complete(Digest(feed, mark(session_at(lines, start), 0, None)))
            slow = slow_digest(lines, start, end)
            outcomes = [Outcome(outcome) for _, outcome in slow.ended]
            named = (Outcome.FAILED, Outcome.REJECTED, Outcome.CANCELLED, Outcome.UNFINISHED)
            assert facts_of(digest) == {
                "events": slow.events,
                "kinds": dict(slow.kinds),
                "failed": outcomes.count(Outcome.FAILED),
                "changed": slow.changed,
                "read": slow.read,
                "still open": slow.still_open,
                "running": slow.running,
                "outcomes": {each: outcomes.count(each) for each in named if each in outcomes},
            }
            assert digest.happened.calls == len(slow.ended)
    finally:
        os.close(reader.fd)


def call(number: int, outcome: Outcome, target: str | None = "make", tool: str = "shell") -> Call:
    made = Call(number, 1, f"c-{number}", tool, "Ran", target=target, kind=ToolKind.EXECUTE)
    made.outcome = outcome
    return made


def open_after(*calls: Call) -> list[tuple[int, int]]:
    """Return the number and the times of each failure that is open after these calls, newest first."""
    found = OpenFailures()
    for each in calls:
        found.add(each)
    return [(failure.call.number, failure.times) for failure in found.newest_first()]


BEGAN_MS = 1_793_610_000_000
LINE = 100
HOUR = 3600


def times_of(seconds: list[float]) -> RecordedTimes:
    """Return the times of lines of 100 bytes, by their seconds since the beginning."""
    lines = [(LINE * at, BEGAN_MS + round(1000 * each)) for at, each in enumerate(seconds)]
    return RecordedTimes(lines, LINE * len(lines))


def play_of(seconds: list[float], start: int = LINE) -> Play:
    """Return how these lines are played from an offset on; by default after the first line."""
    times = times_of(seconds)
    found = play_missed(times, start, times.size)
    assert found is not None
    return found


def real_seconds(seconds: list[float], play: Play) -> float:
    """Return the time that playing takes, line by line."""
    gaps = [after - before for before, after in itertools.pairwise(seconds)]
    most = float("inf") if play.max_idle is None else play.max_idle
    return sum(min(gap, most) for gap in gaps) / play.speed


class Counted(RecordedTimes):
    """Times that count how often they are asked."""

    asked = 0

    def offset_at(self, at_ms: float) -> int:
        """Count, and return the offset."""
        self.asked += 1
        return super().offset_at(at_ms)


def test_the_speed_takes_half_a_minute() -> None:
    """A part is played at the slowest speed, a power of two, that takes at most 30 seconds; if 64 times
    does not suffice, silences are shortened until it does, not a busy part. Playing never takes longer than
    announced, and a week is searched in at most some ten thousand steps.
    """
    cases: list[tuple[float, int, int]] = [
        (0, 1, 0),
        (3, 1, 3),
        (30, 1, 30),
        (30.5, 2, 16),
        (300, 16, 19),
        (480, 16, 30),
        (1920, 64, 30),
    ]
    for duration, speed, took in cases:
        with case((duration, speed)):
            assert play_of([0, duration]) == Play(LINE, speed, None, took)
    assert play_missed(RecordedTimes([], 500), 100, 500) is None
    assert play_of([0, 45], start=0) == Play(0, 2, None, 23)
    play = play_of([float(second) for second in range(2 * HOUR)])
    assert play == Play(LINE, 64, 1, -(-2 * HOUR // 64))
    # A long silence is shortened.
    busy = [float(second) for second in range(1000)]
    seconds = [*busy, 3 * HOUR, 6 * HOUR]
    play = play_of(seconds)
    assert (play.speed, play.seconds) == (64, 30)
    assert play.max_idle is not None
    assert 440 < play.max_idle <= 460  # 1,920 s of time, less 999 busy ones, for two silences
    assert 29 < real_seconds(seconds, play) <= 30
    seconds = [*itertools.accumulate([0, *[60] * 20, 5 * HOUR])]
    play = play_of([float(each) for each in seconds])
    assert play.max_idle is not None
    assert 700 < play.max_idle <= 720
    assert real_seconds([float(each) for each in seconds], play) <= 30
    # Playing never takes longer than announced.
    chance = random.Random(14)
    for _ in range(200):
        gaps = [chance.expovariate(1 / chance.choice([0.5, 5, 60, 3000])) for _ in range(60)]
        seconds = [0.0, *itertools.accumulate(gaps)]
        play = play_of(seconds)
        assert real_seconds(seconds, play) <= play.seconds + 0.01
        assert play.seconds <= 30 or play.max_idle == 1
        assert play.max_idle is None or play.speed == 64
    # The cost is bounded.
    week = 7 * 24 * HOUR
    times = Counted([(at, BEGAN_MS + at * 1000 * week // 20_000) for at in range(20_000)], 20_000)
    assert play_missed(times, 1, 20_000) is not None
    assert times.asked < 20_000


Ran = tuple[str, str, int]
"""A command, what it printed, and its exit code."""
RED_3: Ran = ("pytest -q", "3 failed, 4 passed in 0.31s", 1)
RED_1: Ran = ("pytest -q tests/a.py", "1 failed in 0.31s", 1)
GREEN: Ran = ("pytest -q | tail -1", "7 passed in 0.31s", 0)
LINTED: Ran = ("ruff check src", "All checks passed!", 0)
UNLINTED: Ran = ("ruff check src", "Found 2 errors.", 1)
NOTHING: Ran = ("pytest -k none; true", "no tests ran in 0.01s", 0)
QUIET: Ran = ("cat log", "9 failed in 0.31s", 0)
OTHER: Ran = ("npm install", "added 3 packages", 0)


def lines_of(*runs: Ran) -> bytes:
    made = [init()]
    for number, (command, stdout, exit_code) in enumerate(runs):
        body = {"success" if not exit_code else "failure": {"exitCode": exit_code, "stdout": stdout}}
        made.append(started("shell", f"c-{number}", command=command))
        made.append(completed("shell", f"c-{number}", body, command=command))
    return b"".join(made)


def changes(path: Path, first: int) -> list[str]:
    """Return the changes since the moment at which some calls had ended: `3 → 0 pytest ×2 #5`."""
    feed = feed_of(path)
    assert mark(feed.session, 0, None).ended_calls == len(feed.session.calls)
    found = VerdictChanges(feed, first)
    for position, call in enumerate(feed.session.ended_calls):
        found.add(position, call)
    while found.read_one():
        pass
    return [
        f"{each.before.counts.failed + each.before.counts.errors} → "
        f"{each.after.counts.failed + each.after.counts.errors} {each.tool} ×{each.runs} #{each.call.number}"
        for each in found.changes()
    ]


def test_red_becomes_green(recording: Saver) -> None:
    """Without a known success it stays open. Equal failures are one, at the place of the last; a call
    without a target is known by its path. The newest are kept. Each tool has its first verdict, or that of
    before the moment, and its last; red ones come first. A tool that did not run again, and a command that
    only prints, are left out; the newest commands are read.
    """
    failed = call(1, Outcome.FAILED)
    assert open_after(failed) == [(1, 1)]
    assert open_after(failed, call(2, Outcome.SUCCEEDED)) == []
    assert open_after(failed, call(2, Outcome.SUCCEEDED, "make test")) == [(1, 1)]
    assert open_after(failed, call(2, Outcome.SUCCEEDED, tool="bash")) == [(1, 1)]
    assert open_after(call(1, Outcome.SUCCEEDED), call(2, Outcome.FAILED)) == [(2, 1)]
    for outcome in (Outcome.REJECTED, Outcome.CANCELLED, Outcome.RETURNED, Outcome.UNFINISHED):
        assert open_after(call(1, Outcome.FAILED), call(2, outcome)) == [(1, 1)]
        assert open_after(call(2, outcome)) == []
    calls = [call(1, Outcome.FAILED), call(2, Outcome.FAILED, "ls"), call(3, Outcome.FAILED)]
    assert open_after(*calls) == [(3, 2), (2, 1)]
    assert open_after(*calls, call(4, Outcome.SUCCEEDED), call(5, Outcome.FAILED)) == [(5, 1), (2, 1)]
    first, second = call(1, Outcome.FAILED, None), call(2, Outcome.SUCCEEDED, None)
    assert open_after(first, second) == []
    second.path = "/a"
    assert open_after(first, second) == [(1, 1)]
    calls = [call(number, Outcome.FAILED, f"make {number}") for number in range(1, 1003)]
    found = open_after(*calls)
    assert len(found) == unread._MOST_OPEN == 1000
    assert (found[0][0], found[-1][0]) == (1002, 3)
    # Red becomes green.
    assert changes(recording(lines_of(RED_3, RED_1, OTHER, GREEN)), 0) == ["3 → 0 pytest ×3 #4"]
    path = recording(lines_of(GREEN, RED_3, OTHER, GREEN))
    assert changes(path, 3) == ["3 → 0 pytest ×1 #4"]
    assert changes(path, 2) == ["3 → 0 pytest ×1 #4"]
    assert changes(path, 1) == ["0 → 0 pytest ×2 #4"]
    path = recording(lines_of(UNLINTED, RED_1, GREEN, UNLINTED))
    assert changes(path, 0) == ["2 → 2 ruff ×2 #4", "1 → 0 pytest ×2 #3"]
    assert changes(recording(lines_of(UNLINTED, GREEN)), 0) == ["2 → 2 ruff ×1 #1", "0 → 0 pytest ×1 #2"]
    path = recording(lines_of(UNLINTED, RED_1, GREEN, LINTED))
    assert changes(path, 0) == ["2 → 0 ruff ×2 #4", "1 → 0 pytest ×2 #3"]
    assert changes(recording(lines_of(UNLINTED, RED_1)), 1) == ["1 → 1 pytest ×1 #2"]
    assert changes(recording(lines_of(QUIET, OTHER, NOTHING)), 0) == []
    path = recording(lines_of(RED_3, *[RED_1] * (MOST_READ - 1), GREEN))
    assert changes(path, 0) == [f"1 → 0 pytest ×{MOST_READ} #{MOST_READ + 1}"]
    assert MOST_BEFORE < MOST_READ
    assert changes(recording(lines_of(RED_3, *[QUIET] * MOST_READ)), 0) == ["3 → 3 pytest ×1 #1"]


def test_any_order_of_verdicts(recording: Saver) -> None:
    """For any commands and any moment, the changes are those of the truth by construction."""
    counts = {RED_3: ("pytest", 3), RED_1: ("pytest", 1), GREEN: ("pytest", 0)}
    counts |= {LINTED: ("ruff", 0), UNLINTED: ("ruff", 2)}
    chance = random.Random(14)
    for _ in range(40):
        runs = chance.choices([*counts, QUIET, OTHER, NOTHING], k=12)
        first = chance.randrange(13)
        expected = set()
        for tool in ("pytest", "ruff"):
            at = [position for position, run in enumerate(runs) if counts.get(run, ("",))[0] == tool]
            after = [position for position in at if position >= first]
            if after:
                start = max([position for position in at if position < first], default=after[0])
                before, last = counts[runs[start]][1], counts[runs[after[-1]]][1]
                expected.add(f"{before} → {last} {tool} ×{len(after)} #{after[-1] + 1}")
        assert set(changes(recording(lines_of(*runs)), first)) == expected


NO_MARK = mark(Session(), 0, 0)
MINUTES = 60_000


def shell_call(number: int, exit_code: int = 0) -> bytes:
    """Return a shell call from start to end."""
    outcome = {"success": {"exitCode": exit_code}}
    return started("shell", f"s-{number}") + completed("shell", f"s-{number}", outcome)


def edit(number: int, path: str, added: int | None, removed: int | None) -> bytes:
    """Return an edit from start to end."""
    outcome = {"success": {"linesAdded": added, "linesRemoved": removed, "diffString": "x"}}
    call_id = f"e-{number}"
    return started("edit", call_id, path=path) + completed("edit", call_id, outcome, path=path)


def summary_of(*lines: bytes, since: Mark = NO_MARK, after: int = 6 * MINUTES, is_over: bool = False) -> str:
    """Return the away summary of a session since a mark."""
    return away_summary(session(*lines, is_over=is_over), since, (since.at_ms or 0) + after)


def test_calls_changed_files_and_failures_are_counted() -> None:
    """The line contains the time, the new calls, failures and rejections, and the files with their changed
    lines; zero counts are left out.
    """
    edits = [edit(1, "/a", 1, 2), edit(2, "/b", 40, 0), edit(3, "/c", 0, 1), edit(4, "/a", 0, 4)]
    shells = [shell_call(n) for n in range(9)]
    assert (
        summary_of(init(), *edits, *shells, shell_call(9, 1))
        == "6:00 away: 14 calls, 1 failed, 3 files +41 −7"
    )
    assert summary_of(init(), edit(1, "/a", 3, None)) == "6:00 away: 1 call, 1 file +3"
    assert summary_of(init(), shell_call(1)) == "6:00 away: 1 call"
    gone = started("delete", path="/a") + completed("delete", result={"success": {}}, path="/a")
    assert summary_of(init(), gone) == "6:00 away: 1 call, 1 file"
    read = started("read", path="/a") + completed("read", result={"success": {}}, path="/a")
    assert summary_of(init(), read) == "6:00 away: 1 call"
    failed = started("edit", path="/a") + completed("edit", result={"error": {"error": "no"}}, path="/a")
    assert summary_of(init(), failed) == "6:00 away: 1 call, 1 failed"
    before = [init(), shell_call(1, 1), edit(1, "/a", 5, 5), started("shell", "late")]
    then = mark(session(*before, is_over=False), 0, 1000)
    assert summary_of(*before, since=then) == ""
    late = completed("shell", "late", {"failure": {"exitCode": 2}})
    assert summary_of(*before, late, since=then) == "6:00 away: 1 call, 1 failed"
    assert summary_of(*before, late, shell_call(2), since=then) == "6:00 away: 2 calls, 1 failed"
    rejected = started("shell") + completed("shell", result={"rejected": {"reason": "no"}})
    assert summary_of(init(), rejected) == "6:00 away: 1 call, 1 rejected"


def test_the_end_of_the_run_is_reported() -> None:
    """Once, with its outcome; a stream without a run has none, which is not held against an unknown agent.
    Text alone is a number of events.
    """
    for last, words in [
        (result("ok"), "succeeded"),
        (result("no", subtype="error", is_error=True), "failed"),
        (b"", "ended without a result"),
    ]:
        with case((last, words)):
            lines = [init(), shell_call(1), last]
            assert summary_of(*lines, is_over=True) == f"6:00 away: 1 call, the run {words}"
            then = mark(session(*lines), 0, 0)
            assert summary_of(*lines, since=then, is_over=True) == ""
    assert summary_of(is_over=True) == "6:00 away: the run ended without a result"
    then = mark(session(init(), delta("One."), is_over=False), 0, 0)
    assert summary_of(init(), delta("One."), delta("Two."), since=then) == "6:00 away: 1 event"
    assert summary_of(b"Hello\n", is_over=True) == "6:00 away: the run ended"
    assert summary_of(b"", is_over=True) == "6:00 away: the run ended without a result"


LINES = [
    *(init(), edit(1, "/a", 1, 2), edit(2, "/b", 40, 0), edit(3, "/a", 0, 4)),
    *(shell_call(1), shell_call(2, 1), started("shell", "late")),
]


def test_what_happened_since_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line has the events, and of the calls those that ended, those that failed and the changed files,
    unless there are too many; zero counts are left out. The end of the stream is none.
    """
    live = session(*LINES, is_over=False)
    assert since_words(live, NO_MARK) == "12 events: 5 calls, 1 failed, 2 files"
    assert since_words(live, mark(session(*LINES[:4], is_over=False), 0, None)) == (
        "5 events: 2 calls, 1 failed"
    )
    live = session(*LINES, is_over=False)
    assert since_words(live, mark(session(*LINES[:-1], is_over=False), 0, None)) == "1 event"
    assert since_words(live, mark(live, 0, None)) == "nothing happened since"
    then = mark(session(*LINES, is_over=False), 0, None)
    assert since_words(session(*LINES), then) == "1 call, 1 unfinished, the run ended without a result"
    monkeypatch.setattr("agentwatch.analysis.verdict_history._MOST_CALLS", 4)
    assert since_words(session(*LINES, is_over=False), NO_MARK) == "12 events: 5 calls, 1 failed"


def test_how_far_a_moment_is_behind() -> None:
    """The header has the longest form that fits, behind the live moment or before the end, under the
    caller's name.
    """
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
    shown, ended = session(init(), is_over=False), session(*LINES)
    lead = SafeText("as of 09:14:31")
    assert behind_words(shown, ended, lead, 42) == "as of 09:14:31 · 11 events before the end"
    assert behind_words(shown, ended, lead, 37) == "as of 09:14:31 · 11 left"
    shown, live = session(init(), is_over=False), session(init(), delta("a"), is_over=False)
    assert behind_words(shown, live, SafeText("62 %"), 80) == "62 % · 1 event behind live"
