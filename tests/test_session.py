"""Calls are joined, counted once and closed; runs keep apart; nothing is invented."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from agentwatch.events import Channel, Outcome, Text
from agentwatch.integrity import integrity
from agentwatch.session import Doing, Kind, Place, Rhythm, usually_under
from tests.lines import (
    answered,
    call,
    completed,
    delta,
    event,
    final,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)

DONE: dict[str, Any] = {"success": {}}


@pytest.mark.parametrize("call_id", ["toolu_1", "call_1\nfc_2", "Read_1", "[/x]\x1b[0m", ""])
def test_start_and_end_are_joined_on_the_call_id(call_id: str) -> None:
    """Two lines of one id are one call, whatever characters the id is made of."""
    told = call(started("read", call_id, path="a"), completed("read", call_id, DONE))
    assert (told.call_id, told.outcome) == (call_id, Outcome.SUCCEEDED)
    assert told.started is not None
    assert told.ended is not None


def test_ids_that_share_a_first_line_are_two_calls() -> None:
    """An id with a newline is the whole of it."""
    read = session(init(), started("read", "a\nb"), started("read", "a\nc"), completed("read", "a\nc", DONE))
    assert [told.outcome for told in read.calls] == [Outcome.UNFINISHED, Outcome.SUCCEEDED]


def test_an_id_that_comes_again_in_the_next_run_is_another_call() -> None:
    """Ids are unique in a run and no further."""
    once = (started("read", "Read_1", path="a"), completed("read", "Read_1", DONE), result())
    again = (started("shell", "Read_1", command="b"), completed("shell", "Read_1", {"error": {}}), result())
    read = session(init(), *once, init(), *again)
    told = [(told.run, told.tool, told.outcome) for told in read.calls]
    assert told == [(1, "read", Outcome.SUCCEEDED), (2, "shell", Outcome.FAILED)]


def test_an_id_that_comes_again_in_another_session_is_another_call() -> None:
    """Two sessions in one stream may use one id each."""
    other = started("grep", "c-1").replace(b'"s-1"', b'"s-2"')
    read = session(init(), started("read", "c-1"), other, completed("read", "c-1", DONE))
    assert [(told.tool, told.outcome) for told in read.calls] == [
        ("read", Outcome.SUCCEEDED),
        ("grep", Outcome.UNFINISHED),
    ]


def test_interleaved_calls_each_get_their_own_end() -> None:
    """Calls stand in the order in which they began and end in the order in which they ended."""
    lines = [started("read", name, path=name) for name in "abc"]
    lines += [
        completed("read", "b", DONE),
        completed("read", "c", {"error": {}}),
        completed("read", "a", {"rejected": {}}),
    ]
    read = session(init(), *lines)
    assert [(told.target, told.outcome) for told in read.calls] == [
        ("a", Outcome.REJECTED),
        ("b", Outcome.SUCCEEDED),
        ("c", Outcome.FAILED),
    ]
    assert [told.target for told in read.ended_calls] == ["b", "c", "a"]
    assert read.failed_calls == 1


def test_an_end_without_a_start_is_a_call() -> None:
    """A call that was never started is counted as an orphan, and has no start and no duration."""
    read = session(init(), completed("webSearch", "w", {"rejected": {"reason": "no"}}, 9, searchTerm="x"))
    [told] = read.calls
    assert (told.outcome, told.target, told.started, told.started_ms) == (Outcome.REJECTED, "x", None, None)
    assert (told.ended_ms, told.duration_ms) == (9, None)
    assert (read.completed_without_started, read.never_completed) == (1, 0)


def test_a_call_runs_until_something_ends_it() -> None:
    """While the stream goes on, a call without an end is running and is no orphan."""
    read = session(init(), started("shell"), is_over=False)
    assert [told.outcome for told in read.calls] == [Outcome.RUNNING]
    assert (list(read.open_calls.values()), read.ended_calls, read.never_completed) == (read.calls, [], 0)


@pytest.mark.parametrize("closer", [b"", result(), init()], ids=["end", "result", "init"])
def test_a_call_that_never_ends_is_closed(closer: bytes) -> None:
    """The result, the next run and the end of the stream each leave an open call unfinished."""
    read = session(init(), started("shell"), closer)
    [told] = read.calls
    assert (told.outcome, told.ended, told.ended_ms, told.duration_ms) == (
        Outcome.UNFINISHED,
        None,
        None,
        None,
    )
    assert (read.never_completed, read.open_calls, read.ended_calls) == (1, {}, [told])


def test_no_call_is_running_after_the_result() -> None:
    """From the result on a spinner would turn in vain, even while the stream goes on."""
    read = session(init(), started("shell"), result(), is_over=False)
    assert [told.outcome for told in read.calls] == [Outcome.UNFINISHED]


def test_an_end_that_comes_after_the_result_still_counts() -> None:
    """A call that ends late has the outcome that its line tells, and is no orphan."""
    read = session(init(), started("shell"), result(), completed("shell", result=DONE))
    assert [told.outcome for told in read.ended_calls] == [Outcome.SUCCEEDED]
    assert (read.never_completed, read.completed_without_started) == (0, 0)


def test_lines_that_come_again_count_once() -> None:
    """A start or an end that is repeated changes nothing: the first of each holds."""
    lines = (started("shell", at_ms=1000), started("shell", at_ms=2000))
    ends = (completed("shell", result=DONE, at_ms=3000), completed("shell", result={"error": {}}, at_ms=4000))
    read = session(init(), *lines, *ends)
    [told] = read.calls
    assert (told.outcome, told.started_ms, told.ended_ms) == (Outcome.SUCCEEDED, 1000, 3000)
    assert (read.ended_calls, read.failed_calls) == ([told], 0)
    assert (read.completed_without_started, read.never_completed) == (0, 0)
    assert read.lines.events == 5


def test_an_orphan_that_comes_again_counts_once() -> None:
    """The end of a call that was never started makes one call, however often it comes."""
    read = session(init(), completed("grep", result=DONE), completed("grep", result=DONE))
    assert (len(read.calls), len(read.ended_calls), read.completed_without_started) == (1, 1, 1)


@pytest.mark.parametrize(
    ("start", "end", "duration"),
    [(1000, 1706, 706), (1000, 1000, 0), (None, 1706, None), (1000, None, None), (1706, 1000, None)],
)
def test_a_duration_needs_both_ends_of_one_clock(
    start: int | None, end: int | None, duration: int | None
) -> None:
    """A duration is the difference of two agent times in order, and otherwise unknown."""
    told = call(started("read", at_ms=start), completed("read", result=DONE, at_ms=end))
    assert told.duration_ms == duration


def test_the_tools_own_clock_is_another_clock() -> None:
    """`startedAtMs` and `completedAtMs` disagree with `timestamp_ms` by seconds and are not mixed with it."""
    body = {"readToolCall": {"args": {}, "result": DONE}, "startedAtMs": "1", "completedAtMs": "9"}
    ended = event("tool_call", "completed", call_id="c-1", tool_call=body, timestamp_ms=1500)
    told = call(started("read"), ended)
    assert (told.started_ms, told.ended_ms, told.duration_ms) == (None, 1500, None)


def test_every_line_counts_once() -> None:
    """Events, malformed and unknown lines add up to the lines that are not blank."""
    lines = (
        init(),
        b"\n",
        user(),
        b"warning\n",
        thought("x"),
        thought_through(),
        b" \r\n",
        b"[1]\n",
        event("weather"),
        started("teleport", "t"),
        completed("read", "r", {"later": {}}),
        delta("x"),
        final("x"),
        answered({"approved": {}}),
        result("x"),
    )
    read = session(*lines)
    assert (read.lines.events, read.lines.malformed, read.lines.unknown) == (8, 2, 3)
    assert read.lines.total == 13


def test_fields_are_those_of_the_last_run_and_calls_those_of_all() -> None:
    """Of several runs the last one's fields count; text and calls are those of all."""
    first = (init(model="A"), user("one"), segment("1."), started("read", "x"), completed("read", "x", DONE))
    second = (init(model="B"), user("two"), user("more"), final("2."), started("read", "y"))
    read = session(*first, result("1.", request_id="r-1"), *second, result("2.", request_id="r-2"))
    assert len(read.runs) == 2
    run = read.run
    assert (run.model, run.prompt, run.result, run.request_id) == ("B", "two", "2.", "r-2")
    assert (read.text, run.text_matches_result) == ("1.2.", True)
    assert [(told.run, told.call_id) for told in read.calls] == [(1, "x"), (2, "y")]


def test_a_run_without_a_result_ends_unfinished_where_the_next_begins() -> None:
    """A new init ends the run before it; only a result says how a run came out."""
    read = session(init(), final("x"), init(), result("y"))
    assert [run.outcome for run in read.runs] == [Outcome.UNFINISHED, Outcome.SUCCEEDED]


def test_a_run_is_running_until_it_is_over() -> None:
    """Until the result or the end a run is neither a success nor a failure."""
    assert session(init(), final("x"), is_over=False).outcome is Outcome.RUNNING
    assert session(init(), final("x")).outcome is Outcome.UNFINISHED
    assert session(init(), result(is_error=True)).outcome is Outcome.FAILED


def test_a_success_stays_one_after_failed_calls() -> None:
    """Calls that fail do not fail the run: its result does."""
    read = session(init(), completed("shell", result={"failure": {"exitCode": 1}}), result())
    assert (read.outcome, read.failed_calls) == (Outcome.SUCCEEDED, 1)


def test_nothing_is_known_before_the_first_line() -> None:
    """A session without lines has no runs, no calls and no text."""
    read = session()
    assert (read.runs, read.calls, read.text, read.lines.total) == ([], [], "", 0)
    assert (read.run.result, read.run.text_matches_result) == (None, None)


def test_a_recording_without_a_head_has_a_run() -> None:
    """Lines before any init belong to a run of which the head is unknown."""
    read = session(started("read"), completed("read", result=DONE), final("x"), result("x"))
    assert (len(read.runs), read.run.model, read.outcome) == (1, None, Outcome.SUCCEEDED)
    assert read.run.session_id == "s-1"


@pytest.mark.parametrize(
    ("lines", "matches"),
    [
        ((final("x"), result("x")), True),
        ((final("x"), result("y")), False),
        ((result(""),), True),
        ((final("x"),), None),
        ((final("x"), result(None)), None),
    ],
)
def test_text_is_compared_with_the_result_if_there_is_one(
    lines: tuple[bytes, ...], matches: bool | None
) -> None:
    """Whether the rebuilt text is the result's is unknown without a result."""
    assert session(init(), *lines).run.text_matches_result is matches


def test_the_transcript_tells_all_in_order() -> None:
    """Prompt, reasoning, answers, calls, notices and result stand where they came."""
    lines = (user("Do."), thought("hm"), thought(" so"), thought_through(), delta("I "), delta("look."))
    more = (
        segment("I look."),
        started("read"),
        completed("read", result=DONE),
        event("connection", "reconnected"),
    )
    read = session(init(), *lines, *more, b"oops\n", final("Done."), result("I look.Done."))
    assert [(entry.kind, entry.text) for entry in read.transcript] == [
        (Kind.PROMPT, "Do."),
        (Kind.REASONING, "hm so"),
        (Kind.ANSWER, "I look."),
        (Kind.CALL, ""),
        (Kind.NOTICE, "connection reconnected"),
        (Kind.NOTICE, "not an event (not JSON): oops"),
        (Kind.ANSWER, "Done."),
        (Kind.RESULT, ""),
    ]
    assert not any(entry.is_open for entry in read.transcript)


def test_a_call_knows_the_places_of_its_lines() -> None:
    """Start and end are kept as offsets and lengths in the recording, from which they can be read back."""
    lines = (init(), user("日本"), started("read"), completed("read", result=DONE))
    data = b"".join(lines)
    [told] = session(data).calls
    for place, line in ((told.started, lines[2]), (told.ended, lines[3])):
        assert place is not None
        assert data[place.offset : place.offset + place.length] == line.rstrip(b"\n")


@pytest.mark.parametrize(
    ("lines", "doing"),
    [
        ((), Doing.WAITING),
        ((b"oops\n",), Doing.WAITING),
        ((init(), user()), Doing.WAITING),
        ((init(), thought("hm")), Doing.THINKING),
        ((init(), thought("hm"), thought_through()), Doing.WAITING),
        ((init(), delta("I")), Doing.WRITING),
        ((init(), started("read"), thought("hm")), Doing.CALLING),
        ((init(), started("read"), result()), Doing.NOTHING),
        ((init(), result(), init()), Doing.WAITING),
    ],
)
def test_what_a_session_does(lines: tuple[bytes, ...], doing: Doing) -> None:
    """A session waits, thinks, writes or has an open call; when its run is over it does none of these."""
    assert session(*lines, is_over=False).doing is doing
    assert session(*lines).doing is Doing.NOTHING


def test_the_rhythm_is_that_of_the_arrivals() -> None:
    """Each line tells the rhythm when it came; a line of no known time changes nothing."""
    read = session(init(), thought("hm"), seen_ms=1000, is_over=False)
    assert (read.rhythm.doing, read.rhythm.began_ms) == (Doing.THINKING, 1000)
    read = session(init(), thought("hm"), is_over=False)
    assert (read.rhythm.doing, read.rhythm.began_ms) == (Doing.NOTHING, None)


def test_a_stay_counts_by_its_longest_silence() -> None:
    """Of each stay in a doing the longest silence is kept, of a thought also its length; of calls neither."""
    rhythm = Rhythm()
    for doing, seen_ms in (
        *((Doing.WAITING, 5000), (Doing.WAITING, 5400), (Doing.THINKING, 5500)),
        *((Doing.THINKING, 5600), (Doing.THINKING, 6500), (Doing.THINKING, 6600), (Doing.WRITING, 6700)),
        *((Doing.WRITING, 6700), (Doing.CALLING, 6700), (Doing.WAITING, 9000), (Doing.NOTHING, 9003)),
        *((Doing.WAITING, 99_000), (Doing.THINKING, 99_000), (Doing.WAITING, 99_000)),
    ):
        rhythm.take(doing, seen_ms)
    assert {doing: list(lengths) for doing, lengths in rhythm.silences.items()} == {
        Doing.WAITING: [400, 3],
        Doing.THINKING: [900],
        Doing.WRITING: [],
    }
    assert list(rhythm.thoughts) == [1200]


def test_a_rhythm_stays_small_and_in_order() -> None:
    """The newest 64 lengths are kept; arrivals that run backwards are no silence."""
    rhythm = Rhythm()
    for number in range(1000):
        rhythm.take(Doing.WAITING, number * 100)
        rhythm.take(Doing.THINKING, number * 100 + 70)
    assert list(rhythm.silences[Doing.WAITING]) == [70] * 64
    assert list(rhythm.thoughts) == [30] * 64
    rhythm = Rhythm()
    for seen_ms in (5000, 1000):
        for doing in (Doing.THINKING, Doing.WAITING):
            rhythm.take(doing, seen_ms)
    assert (rhythm.silences[Doing.THINKING], rhythm.silences[Doing.WAITING]) == (deque(), deque())
    assert not rhythm.thoughts


@pytest.mark.parametrize(
    ("lengths", "under"),
    [
        ([], None),
        ([1, 2, 3, 4], None),
        ([9, 1, 2, 3, 4], 9),
        ([*range(1, 10), 1000], 9),
        ([*range(1, 20), 1000], 18),
        ([7] * 64, 7),
    ],
)
def test_what_is_usual_is_what_nine_of_ten_do_not_exceed(lengths: list[int], under: int | None) -> None:
    """One outlier of ten is not the measure; fewer than five tell nothing."""
    assert usually_under(lengths) == under


def test_texts_can_be_forgotten() -> None:
    """Who needs calls alone lets go of the texts; what comes afterwards is told as before."""
    read = session(init(), delta("before "), started("read"), delta("after "), is_over=False)
    read.forget_texts()
    assert (read.text, len(read.transcript), len(read.calls)) == ("", 1, 1)
    read.apply([Text(Channel.ANSWER, "more", 1)], Place(0, 0, None))
    assert (read.text, read.transcript[-1].text) == ("after more", "after more")


def test_a_result_can_be_forgotten() -> None:
    """Who has not read the text that a result repeats compares nothing with it."""
    read = session(init(), final("a"), result("b"))
    assert integrity(read).text_matches_result is False
    read.run.forget_result()
    assert read.run.result is None
    assert integrity(read).text_matches_result is None
