"""The outputs of runs with several turns, of questions to the user, and of formats without a result line."""

from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.cli.printing import print_session
from agentwatch.feed.feed import Feed
from agentwatch.output.log import ActionLog
from agentwatch.output.summary import final_answer
from agentwatch.session.call import Place
from agentwatch.session.events import (
    Event,
    FormatDetected,
    Outcome,
    Permission,
    Prompt,
    RunStarted,
    Traits,
    TurnEnded,
    TurnStarted,
)
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.made_agent import MadeSession
from tests.builders.subagents import begins, ends, says
from tests.conftest import case

START: list[Event] = [RunStarted("x", "s-1", "m", "/src"), Prompt("Do it.")]
ASKED = Permission("Bash", None, key="q", call_id="c", target="rm -rf build")
NO_RESULT = "the format made-format has no result line to print; "
SECOND_MS = 1_770_000_000_000


def made(events: list[Event], *, is_over: bool = True) -> Session:
    """Return the session with these events, whose lines arrived a second apart."""
    read = Session()
    for number, event in enumerate(events):
        apply_line(read, [event], Place(number, 1, SECOND_MS + 1000 * number))
    if is_over:
        close_session(read)
    return read


def done(duration_ms: int | None = None, outcome: Outcome = Outcome.SUCCEEDED) -> TurnEnded:
    """Return the end of a turn."""
    return TurnEnded(outcome, "Done.", duration_ms=duration_ms)


def test_a_log_contains_questions_and_answers() -> None:
    """A question and its answer are `#` lines with their times, before the call that they are about."""
    approved = ASKED._replace(answer="approved")
    events = [*START, begins("c", "Bash", "rm -rf build"), ASKED, approved, ends("c", "Bash"), done(5_200)]
    assert list(ActionLog(made(events)).new_lines(is_over=True)) == [
        "# session s-1 · m · /src",
        "# 2026-02-02T02:40:03Z asks: Bash rm -rf build",
        "# 2026-02-02T02:40:04Z approved after 1 s: Bash rm -rf build",
        "2026-02-02T02:40:05Z Ran terminal command rm -rf build",
        "# succeeded in 5.2 s · 1 call",
    ]
    # The lines of the log do not depend on how many events were applied between two reads.
    events = [
        *START,
        ASKED,
        begins("a", "Read", "a.py"),
        ends("a", "Read"),
        ASKED._replace(answer="denied"),
        done(1_000),
        Prompt("More."),
        ASKED,
        done(2_000),
        *START,
        ASKED,
    ]
    whole = list(ActionLog(made(events)).new_lines(is_over=True))
    assert whole[5] == "# succeeded in 3.0 s · 2 turns · 1 call"
    read, lines = Session(), list[str]()
    log = ActionLog(read)
    for number, event in enumerate(events):
        apply_line(read, [event], Place(number, 1, SECOND_MS + 1000 * number))
        lines += log.new_lines(is_over=False)
    close_session(read)
    assert [*lines, *log.new_lines(is_over=True)] == whole
    # An agent that answers itself asks nobody, and an answer without a question is that of its call.
    events = [*START, ASKED._replace(is_automatic=True), ASKED._replace(answer="approved"), done()]
    assert len(list(ActionLog(made(events)).new_lines(is_over=True))) == 2
    # It has the outcome of the last turn, and the duration and the number of all turns.
    for turns, closing in (
        ([done(1_000), Prompt("More."), done(2_000)], "# succeeded in 3.0 s · 2 turns · 0 calls"),
        ([done(1_000), Prompt("More."), done()], "# succeeded · 2 turns · 0 calls"),
        (
            [done(1_000), Prompt("More."), done(1, Outcome.CANCELLED)],
            "# cancelled in 1.0 s · 2 turns · 0 calls",
        ),
        ([done(1_000), Prompt("More.")], "# unfinished · 0 calls"),
        ([done(1_000), done(2_000)], "# succeeded in 2.0 s · 0 calls"),
    ):
        with case(closing):
            assert list(ActionLog(made([*START, *turns])).new_lines(is_over=True))[-1] == closing
    # The entry of an earlier turn shows that turn's outcome, duration and result, not those of the last. The
    # duration, the id and the result of an earlier turn are not those of the present one.
    events = [*START, *says("One."), TurnEnded(Outcome.SUCCEEDED, "One.", duration_ms=7), TurnStarted()]
    events += [*says("Two."), TurnEnded(Outcome.FAILED, "no credit", duration_ms=8)]
    read = made(events)
    results = [entry.result for entry in read.transcript if entry.kind is Kind.RESULT]
    shown = [(each.outcome, each.duration_ms, each.text, each.is_streamed) for each in results if each]
    assert shown == [(Outcome.SUCCEEDED, 7, "One.", True), (Outcome.FAILED, 8, "no credit", False)]
    read = made([*START, done(7), Prompt("More.")], is_over=False)
    run = read.run
    facts = (run.ended, run.duration_ms, run.result, run.request_id, run.text_matches_result, run.outcome)
    assert facts == (None, None, None, None, None, Outcome.RUNNING)
    # Texts of earlier turns and of subagents are left out, and so are the calls of subagents.
    events = [*START, *says("Old."), done(), TurnStarted(), begins("t", "Task", "x")]
    events += [*says("New "), begins("c", "Bash", "y", "t"), *says("other", "t"), *says("one."), done()]
    assert final_answer(made(events)) == "New one."
    assert final_answer(made([*START, *says("Old."), done(), TurnStarted(), done()])) == ""
    # The detected format has the agent's short name.
    read = made([FormatDetected("made-format", Traits(), "made")])
    assert (read.format, read.agent_name) == ("made-format", "made")


@pytest.mark.parametrize(
    ("output_format", "events", "printed", "said", "code"),
    [
        ("final", says("Hi."), "Hi.\n", "", 0),
        ("final", [*says("Hi."), TurnEnded(Outcome.CANCELLED)], "", "the run was cancelled\n", 1),
        ("text", [TurnEnded(Outcome.CANCELLED, "Esc")], "", "the run was cancelled: Esc\n", 1),
        ("json", says("Hi."), "", NO_RESULT, 1),
        (
            "json",
            [TurnEnded(Outcome.SUCCEEDED)],
            "",
            NO_RESULT,
            1,
        ),
    ],
)
def test_a_format_without_a_result_line(
    output_format: str,
    events: list[Event],
    printed: str,
    said: str,
    code: int,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`final` prints the text of a run that was not seen to fail, and `json` says that there is nothing."""
    session = MadeSession([*START, *events])
    session.use(monkeypatch, Traits(has_result=False))
    source = saved_source(session.save(tmp_path / "x.ndjson"), False)
    assert print_session(source, Feed(source.reader), output_format) == code
    out, err = capfd.readouterr()
    assert out == printed
    assert said in err
    assert bool(said) == bool(err)


BEGUN: list[Event] = [RunStarted("x"), Prompt("Do it.")]


def asking(*events: Event, seen_ms: int | None = 5_000) -> Session:
    """Return the session with these events applied."""
    read = Session()
    for event in [*BEGUN, *events]:
        apply_line(read, [event], Place(0, 1, seen_ms))
    return read


def test_questions_count_once_and_are_bounded() -> None:
    """A repeated line of the same question is not another question. The oldest is dropped, so that a stream
    of questions without answers does not fill the memory.
    """
    read = asking(ASKED, ASKED, ASKED._replace(key="r"))
    assert (read.questions.count, len(read.questions), len(read.questions.history)) == (2, 2, 2)
    read = asking(*(ASKED._replace(key=f"{number}", target=f"{number}") for number in range(70)))
    oldest = read.questions.oldest
    assert oldest is not None
    assert (len(read.questions), read.questions.count, oldest.words) == (64, 70, "Bash 6")
    # Only the first 10,000 questions are kept for the log; their number is still counted.
    read = asking(*(ASKED._replace(key=f"{number}") for number in range(10_009)))
    assert (len(read.questions.history), read.questions.count) == (10_000, 10_009)
    # It is measured by one clock, the agent's or else that of the arrival, and left out if unknown.
    for asked_ms, answered_ms, seen_ms, words in (
        (1_000, 15_900, 5_000, "approved after 14 s: Bash rm -rf build"),
        (None, 15_900, 5_000, "approved after 0 s: Bash rm -rf build"),
        (9_000, 1_000, None, "approved: Bash rm -rf build"),
        (None, None, None, "approved: Bash rm -rf build"),
    ):
        with case(words):
            answer = ASKED._replace(answer="approved", at_ms=answered_ms)
            read = asking(ASKED._replace(at_ms=asked_ms), answer, seen_ms=seen_ms)
            assert read.questions.history[-1].words == words
