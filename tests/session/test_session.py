"""A session counts each line once, separates runs and keeps texts in order; it invents nothing."""

from __future__ import annotations

import time
from typing import get_args

import pytest

from agentwatch.analysis.integrity import integrity
from agentwatch.session.call import Place
from agentwatch.session.events import Channel, Event, Outcome, Text
from agentwatch.session.reducers import _APPLIERS, apply_line, forget_texts
from agentwatch.session.transcript import Kind
from tests.builders.lines import (
    DONE,
    answered,
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
from tests.conftest import case


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


def test_a_session_applies_every_type_of_event() -> None:
    """No type of event is missing from the table by which a session applies them."""
    assert set(_APPLIERS) == set(get_args(Event))


def test_each_kind_of_unknown_line_is_noted_once() -> None:
    """The transcript notes each kind of unknown line once, where it first occurred; all are counted."""
    read = session(init(), event("odd"), event("even"), event("odd"), event("odd"))
    assert [entry.text for entry in read.transcript] == ["unknown: type odd", "unknown: type even"]
    assert read.lines.unknown == 4


def test_fields_are_those_of_the_last_run_and_calls_those_of_all() -> None:
    """The fields are those of the last run; text and calls are those of all runs."""
    first = (init(model="A"), user("one"), segment("1."), started("read", "x"), completed("read", "x", DONE))
    second = (init(model="B"), user("two"), user("more"), final("2."), started("read", "y"))
    read = session(*first, result("1.", request_id="r-1"), *second, result("2.", request_id="r-2"))
    assert len(read.runs) == 2
    run = read.run
    assert (run.model, run.prompt, run.result, run.request_id) == ("B", "two", "2.", "r-2")
    assert (read.text, run.text_matches_result) == ("1.2.", True)
    assert [(found.run, found.call_id) for found in read.calls] == [(1, "x"), (2, "y")]


def test_a_run_without_a_result_ends_unfinished_where_the_next_begins() -> None:
    """A new init leaves the run before it unfinished; only a result gives a run an outcome."""
    read = session(init(), final("x"), init(), result("y"))
    assert [run.outcome for run in read.runs] == [Outcome.UNFINISHED, Outcome.SUCCEEDED]


def test_a_run_is_running_until_it_is_over() -> None:
    """Until the result or the end, a run is neither a success nor a failure."""
    assert session(init(), final("x"), is_over=False).outcome is Outcome.RUNNING
    assert session(init(), final("x")).outcome is Outcome.UNFINISHED
    assert session(init(), result(is_error=True)).outcome is Outcome.FAILED


def test_a_success_stays_one_after_failed_calls() -> None:
    """Failed calls do not make the run fail; only its result does."""
    read = session(init(), completed("shell", result={"failure": {"exitCode": 1}}), result())
    assert (read.outcome, read.ended_by_outcome[Outcome.FAILED]) == (Outcome.SUCCEEDED, 1)


def test_nothing_is_known_before_the_first_line() -> None:
    """A session without lines has no runs, no calls and no text."""
    read = session()
    assert (read.runs, list(read.calls), read.text, read.lines.total) == ([], [], "", 0)
    assert (read.run.result, read.run.text_matches_result) == (None, None)


def test_a_recording_without_a_head_has_a_run() -> None:
    """Lines before any init belong to a run whose head is unknown."""
    read = session(started("read"), completed("read", result=DONE), final("x"), result("x"))
    assert (len(read.runs), read.run.model, read.outcome) == (1, None, Outcome.SUCCEEDED)
    assert read.run.session_id == "s-1"


def test_text_is_compared_with_the_result_if_there_is_one() -> None:
    """Without a result, and with an error message as the result, nothing is compared with the text."""
    cases: list[tuple[tuple[bytes, ...], bool | None]] = [
        ((final("x"), result("x")), True),
        ((final("x"), result("y")), False),
        ((result(""),), True),
        ((final("x"),), None),
        ((final("x"), result(None)), None),
        ((final("x"), result("no credit", is_error=True)), None),
        ((final("x"), result("x", is_error=True)), None),
    ]
    for lines, matches in cases:
        with case(lines):
            assert session(init(), *lines).run.text_matches_result is matches


def test_an_error_may_repeat_the_text() -> None:
    """Whether a result repeats the text, so that it need not be shown, is known for an error message too."""
    same = session(init(), final("x"), result("x", is_error=True)).run.turn_result
    other = session(init(), final("x"), result("no credit", is_error=True)).run.turn_result
    assert same is not None
    assert same.is_streamed
    assert other is not None
    assert not other.is_streamed
    assert not session(init(), final("x")).run.turn_result


def test_the_transcript_is_in_order_of_arrival() -> None:
    """Prompt, reasoning, answers, calls, notices and result are in the order in which they arrived."""
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


def test_texts_can_be_forgotten() -> None:
    """`forget_texts` drops the texts so far; later texts are kept as before."""
    read = session(init(), delta("before "), started("read"), delta("after "), is_over=False)
    forget_texts(read)
    assert (read.text, len(read.transcript), len(read.calls)) == ("", 1, 1)
    apply_line(read, [Text(Channel.ANSWER, "more", 1)], Place(0, 0, None))
    assert (read.text, read.transcript[-1].text) == ("after more", "after more")


def test_a_result_can_be_forgotten() -> None:
    """After `forget_text` there is no result to compare with the text."""
    read = session(init(), final("a"), result("b"))
    assert integrity(read).text_matches_result is False
    assert (read.run.result_length, read.run.result_part(0, 9)) == (1, "b")
    assert read.run.turn_result is not None
    read.run.turn_result.forget_text()
    assert (read.run.result, read.run.result_length, read.run.result_part(0, 9)) == (None, 0, "")
    assert integrity(read).text_matches_result is None


@pytest.mark.costs
def test_texts_are_forgotten_at_a_cost_that_does_not_grow_with_the_runs() -> None:
    """Forgetting texts 50,000 times, in a session of 4,000 runs, takes less than a second."""
    read = session(*[init(), delta("x"), result("x")] * 4_000, is_over=False)
    forget_texts(read)
    assert all(not run.answer for run in read.runs)
    began = time.process_time()
    for _ in range(50_000):
        forget_texts(read)
    assert time.process_time() - began < 1
