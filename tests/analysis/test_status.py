"""The status is one sentence about what happens now, and why it is quiet."""

from __future__ import annotations

import pytest

from agentwatch.analysis.silence import is_quiet
from agentwatch.analysis.status import status
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.session.session import Session
from tests.builders.lines import (
    completed,
    delta,
    event,
    init,
    result,
    segment,
    session,
    started,
    thought,
    thought_through,
    user,
)
from tests.builders.sentences import BUSY, IDLE, NOW, sentence
from tests.conftest import case

FAILED = completed("shell", "x", {"failure": {"exitCode": 1}})


def test_before_the_first_event() -> None:
    """The status waits for the first event, which takes about 8 s; a started agent is quiet after 60 s."""
    assert sentence() == "waiting for the first event"
    assert sentence(after_ms=None) == "waiting for the first event"
    assert sentence(after_ms=8_000, agent=BUSY) == "waiting for the first event · its processes use CPU"
    assert sentence(after_ms=62_000, agent=BUSY) == "quiet for 1:02, no event yet · its processes use CPU"
    assert sentence(after_ms=99_000) == "waiting for the first event"


def test_a_silent_pipe_names_the_flag() -> None:
    """A pipe without a line for 20 s may be that of an agent that prints only at its end."""
    facts = AgentFacts(started_ms=NOW, silence="X prints at its end")
    silent = Session()
    hint = "X prints at its end"
    for after_ms, words in [(19_000, ""), (25_000, f" · 0:25 · {hint}"), (500_000, f" · 8:20 · {hint}")]:
        with case(after_ms):
            assert status(silent, NOW + after_ms, facts) == f"waiting for the first event{words}"
    assert sentence(init(), after_ms=25_000, agent=facts) == "waiting for the model · 0:25"


def test_a_run_waits_for_its_subagents() -> None:
    """After a subagent that continues in the background, a silence of minutes is no hang."""
    moved = completed("task", "t", {"success": {}, "isBackground": True})
    assert sentence(init(), moved, after_ms=300_000) == "waiting for the model or its subagents · 5:00"
    assert sentence(init(), moved, after_ms=620_000).startswith("quiet for 10:20")
    assert sentence(init(), completed("read"), after_ms=300_000).startswith("stalled? quiet for 5:00")
    assert sentence(init(), moved, result(""), init(), after_ms=300_000).startswith("stalled? quiet")


def test_a_run_whose_edits_were_all_rejected_names_the_cause() -> None:
    """The cause follows the counts of the calls."""
    edit = completed("edit", "a", {"rejected": {"reason": ""}})
    why = "without --force, Cursor proposes changes and does not write them"
    found = sentence(init(), edit, result(""))
    assert found.endswith(f"1 call, 1 rejected · the only edit was rejected: {why}")


def test_plain_text_before_the_first_event_names_the_flag() -> None:
    """While only text arrives, the status asks whether the agent's command lacks the flag."""
    asked = "waiting for the first event · only text so far: is --output-format stream-json missing?"
    assert sentence(b"I will fix it.\n") == asked
    assert sentence(b"A notice\n", init()) == "waiting for the model"


def test_the_status_without_an_open_call() -> None:
    """Without an open call the model thinks, writes or is waited for; without a history, 60 s are quiet."""
    cases: list[tuple[tuple[bytes, ...], str, str]] = [
        ((user(),), "waiting for the model", ""),
        ((thought("hm"), thought_through()), "waiting for the model", ""),
        ((delta("I"), started("read"), completed("read")), "waiting for the model", ""),
        ((result(), init()), "waiting for the model", ""),
        ((thought("hm"),), "thinking", " · while thinking"),
        ((delta("I"),), "writing", " · while writing"),
    ]
    for lines, words, in_the_middle in cases:
        with case((lines, words)):
            for after_ms in (0, 4_999, None):
                assert sentence(init(), *lines, after_ms=after_ms) == words
            lead = "quiet for " if words == "writing" else ""
            assert sentence(init(), *lines, after_ms=59_999) == f"{words} · {lead}0:59"
            quiet = f"quiet for 1:00, no open call{in_the_middle}"
            assert sentence(init(), *lines, after_ms=60_000) == quiet
            assert sentence(init(), *lines, after_ms=119_999) == quiet.replace("1:00", "1:59")
            assert sentence(init(), *lines, after_ms=120_000) == f"stalled? {quiet.replace('1:00', '2:00')}"


def test_a_result_is_the_last_word() -> None:
    """After the result the status is its outcome, however much time passes, before and after the end."""
    cases: list[tuple[tuple[bytes, ...], str]] = [
        ((result(),), "succeeded in 5.2 s"),
        ((result(duration_ms=None),), "succeeded"),
        ((result(duration_ms=59_949),), "succeeded in 59.9 s"),
        ((result(duration_ms=59_950),), "succeeded in 1:00"),
        ((result(duration_ms=3_733_000),), "succeeded in 1:02:13"),
        ((FAILED, result()), "succeeded in 5.2 s · 1 call, 1 failed"),
        ((FAILED, completed("read", "y", {"error": {}}), result()), "succeeded in 5.2 s · 2 calls, 2 failed"),
        ((completed("shell", "x", {"rejected": {}}), result()), "succeeded in 5.2 s · 1 call, 1 rejected"),
        ((FAILED, result("No", is_error=True)), "failed: No · 1 call, 1 failed"),
        ((result("No\nmore", is_error=True),), "failed: No"),
        ((result("\n a\x1b[2J \nb", is_error=True),), "failed: a␛[2J "),
        ((result(None, is_error=True),), "failed: no reason given"),
        ((result(" \n", is_error=True),), "failed: no reason given"),
    ]
    for lines, words in cases:
        with case(lines):
            for is_over in (False, True):
                assert sentence(init(), *lines, after_ms=99_000, is_over=is_over) == words
                read = session(init(), *lines, seen_ms=NOW, is_over=is_over)
                assert not is_quiet(read, NOW + 9_000_000)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((), "ended without a result"),
        ((init(), user()), "ended without a result"),
        ((init(), started("shell")), "ended without a result · 1 call, 1 unfinished"),
        ((init(), started("a", "a"), started("b", "b")), "ended without a result · 2 calls, 2 unfinished"),
    ],
)
def test_an_end_without_a_result(lines: tuple[bytes, ...], words: str) -> None:
    """A stream that ends without a result neither succeeded nor failed, even if it was empty."""
    assert sentence(*lines, is_over=True) == words


def test_how_the_process_ended_explains_an_end_without_a_result() -> None:
    """Under `run`, the exit code and the last line of stderr explain why there is no result."""
    cases: list[tuple[AgentFacts, str]] = [
        (AgentFacts(exit_code=1, stderr=" no\x1b login "), "exit 1 · stderr: no␛ login"),
        (AgentFacts(exit_code=1), "exit 1"),
        (AgentFacts(exit_code=0), "exit 0"),
        (AgentFacts(exit_code=137), "exit 137 (SIGKILL)"),
        (AgentFacts(exit_code=255, stderr="x" * 999), f"exit 255 · stderr: {'x' * 119}…"),
    ]
    for agent, words in cases:
        with case(agent):
            assert sentence(is_over=True, agent=agent) == f"ended without a result · {words}"
            told_all = sentence(init(), started("shell"), is_over=True, agent=agent)
            assert told_all == f"ended without a result · {words} · 1 call, 1 unfinished"


def test_an_exit_code_that_contradicts_the_result_is_shown() -> None:
    """A result that contradicts the exit code is shown with it; with a reason, stderr is left out."""
    ended = AgentFacts(exit_code=1, stderr="oops")
    assert sentence(init(), result(), is_over=True, agent=ended) == "succeeded in 5.2 s · exit 1"
    assert sentence(init(), result(), is_over=True, agent=AgentFacts(exit_code=0)) == "succeeded in 5.2 s"
    failed = (init(), result("No login", is_error=True))
    assert sentence(*failed, is_over=True, agent=ended) == "failed: No login · exit 1"
    unsaid = sentence(init(), result(None, is_error=True), is_over=True, agent=ended)
    assert unsaid == "failed: no reason given · exit 1 · stderr: oops"


def test_a_process_that_outlives_its_result_is_shown() -> None:
    """A process that still lives 30 s after the result is reported, because agents may hang then."""
    lines = (init(), result())
    assert sentence(*lines, after_ms=29_999, agent=IDLE) == "succeeded in 5.2 s"
    words = "result came 0:30 ago, process 4121 still alive · succeeded in 5.2 s"
    assert sentence(*lines, after_ms=30_000, agent=IDLE) == words
    assert sentence(*lines, after_ms=30_000, agent=AgentFacts(exit_code=0)) == "succeeded in 5.2 s"
    assert sentence(*lines, after_ms=None, agent=IDLE) == "succeeded in 5.2 s"


def test_a_status_is_one_line() -> None:
    """No field of the stream or of the process breaks the status line."""
    hostile = "a\r\nb\u2028c\x85d"
    for lines in (
        (started("weather" + hostile, place=hostile),),
        (started("shell", command=hostile, timeout=1),),
        (event("result", "error", is_error=True, result=hostile),),
        (segment(hostile),),
    ):
        for is_over in (False, True):
            agent = AgentFacts(exit_code=1, stderr=hostile)
            words = sentence(init(), *lines, after_ms=99_000, is_over=is_over, agent=agent, width=37)
            assert len(words.splitlines()) == 1


def test_the_last_line_that_is_no_json_is_the_reason() -> None:
    """Without a text in the result, the last line that is no JSON explains the end, before stderr does."""
    cases: list[tuple[tuple[bytes, ...], AgentFacts, str]] = [
        ((init(), b"RetriableError: no\n"), NO_FACTS, "ended without a result: RetriableError: no"),
        (
            (init(), b"RetriableError: no\n", started("read")),
            AgentFacts(exit_code=1, stderr="oops"),
            "ended without a result: RetriableError: no · exit 1 · 1 call, 1 unfinished",
        ),
        ((init(), b"Bad key\n", result("", is_error=True)), NO_FACTS, "failed: Bad key"),
        ((init(), b"Bad key\n", result("No", is_error=True)), NO_FACTS, "failed: No"),
        ((init(), b"A notice\n", result()), NO_FACTS, "succeeded in 5.2 s"),
    ]
    for lines, agent, words in cases:
        with case((lines, agent)):
            assert sentence(*lines, is_over=True, agent=agent) == words


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ((b"Hello\n",), "(first line: Hello): add --output-format stream-json to the agent's command"),
        (
            (event("report.started"),),
            (
                '(first line: {"type": "report.started", "session_id": "s-1"}): '
                "try --format NAME, or agentwatch drift"
            ),
        ),
    ],
)
def test_an_unknown_agent_is_called_unknown(lines: tuple[bytes, ...], words: str) -> None:
    """The status of a stream of no known agent says so, shows its first line, and what can be done."""
    lead = "not a stream of an agent that this version knows"
    assert sentence(*lines, is_over=True) == f"{lead} {words}"
    assert sentence(*lines, is_over=True, agent=AgentFacts(exit_code=3)) == f"{lead} {words} · exit 3"


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (120, '{"type": "report…): try --format NAME, or agentwatch drift'),
        (100, "this version knows: try --format NAME, or agentwatch drift"),
        (80, "unknown format: try --format NAME, or agentwatch drift"),
        (40, "unknown format: try --format NAME, or a…"),
    ],
)
def test_what_to_do_about_an_unknown_agent_comes_before_its_first_line(width: int, words: str) -> None:
    """In few columns the first line is shortened or left out, and what to do is kept."""
    shown = sentence(event("report.started"), is_over=True, width=width)
    assert shown.endswith(words)
    assert len(shown) <= width
    ended = AgentFacts(exit_code=3)
    if width > 40:
        assert sentence(event("report.started"), is_over=True, width=width, agent=ended).endswith(
            "or agentwatch drift · exit 3"
        )
