"""What a session does now, in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentwatch.catalog import states
from agentwatch.catalog.digest.digest import Digest
from agentwatch.session.events import Outcome, ToolKind
from tests.catalog.states.cases import NOW_MS, call, working


def test_a_call_without_a_target_is_its_tool() -> None:
    """A running call is what it acts on, or else its tool; a call that asks is both."""
    assert states.call_words(call()) == "pytest -q"
    assert states.call_words(call(target="")) == "Tool"
    assert states.asked_words(call()) == "Tool pytest -q"
    assert states.asked_words(call(target="")) == "Tool"


def test_an_inferred_question_says_why() -> None:
    """A command has no child process; another call has no result."""
    assert states.inferred_words(call()) == "Tool pytest -q (no child process)"
    assert states.inferred_words(call(ToolKind.EDIT, "a.py")) == "Tool a.py (no result)"


def test_the_model_retries_compacts_or_thinks() -> None:
    """Without a call, the lines say what the agent is busy with."""
    assert states.model_words(working()) == "thinking"
    assert (
        states.model_words(replace(working(), retry="retry 4 of 10: overloaded"))
        == "retry 4 of 10: overloaded"
    )
    assert states.model_words(replace(working(), retry="retry", is_compacting=True)) == "compacting"


def test_a_silence_is_compared_with_the_usual_one() -> None:
    """The usual pause is shown where it is known."""
    digest = working(seen_ago_ms=360_000)
    assert states.silence_words(digest, NOW_MS) == "nothing for 6 min"
    assert states.silence_words(replace(digest, seen_ms=None), NOW_MS) == ""


def test_the_end_of_an_answer_is_its_last_line() -> None:
    """The last line has the question, if there is one. It is bounded."""
    assert states.answer_words(None) == ""
    assert states.answer_words(Digest(last_text="Done.\n\n  Shall I push? \n\n")) == "Shall I push?"
    assert len(states.answer_words(Digest(last_text="x" * 400))) == 200


def test_a_failure_is_the_first_line_of_its_reason() -> None:
    """A reason may have many lines; an interruption has no reason."""
    digest = Digest(outcome=Outcome.FAILED, reason="\nusage limit\ntry again")
    assert states.failure_words(digest) == "usage limit"
    assert states.failure_words(replace(digest, outcome=Outcome.CANCELLED)) == "cancelled"


def test_the_tail_shows_the_oldest_call_or_the_answer() -> None:
    """What the last lines show is independent of the process."""
    assert states.tail_words(None) == ""
    assert states.tail_words(working(call(target="a"), call(target="b", call_id="c2"))) == "a"
    assert states.tail_words(Digest(last_text="Hello")) == "Hello"


@pytest.mark.parametrize("text", ["x" * 100_000, "x\n" * 100_000])
def test_all_words_are_bounded(text: str) -> None:
    """No row keeps a long foreign text."""
    digest = Digest(reason=text, last_text=text, retry=text, outcome=Outcome.FAILED)
    shown = [states.failure_words(digest), states.answer_words(digest), states.model_words(digest)]
    shown += [states.call_words(call(target=text)), states.asked_words(call(target=text))]
    assert max(map(len, shown)) <= 200
