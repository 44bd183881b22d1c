"""After a lost connection Codex asks again: a retry is no failure, and a repeated text is not new."""

from __future__ import annotations

from agentwatch.session.events import Outcome
from tests.builders.codex.lines import THREAD, TURN, Json, begun, done, error, notes, read
from tests.conftest import case

CUT = error("Reconnecting... 1/5 (stream disconnected)")


def say(text: str) -> Json:
    """Return a message of the model."""
    return done("agent_message", text=text)


def think(text: str) -> Json:
    """Return the model's reasoning."""
    return done("reasoning", text=text)


def test_a_retry_is_no_failure() -> None:
    """A lost connection is a retry; other errors are kept as the reason, until the turn says better."""
    again = error("Reconnecting... 2/5 (stream disconnected)")
    found = read(THREAD, TURN, again, {"type": "turn.completed"})
    assert (found.outcome, notes(found)) == (Outcome.SUCCEEDED, ["retry 2 of 5: stream disconnected"])
    assert notes(read(THREAD, error("Reconnecting... soon"))) == ["retry"]
    failed = read(THREAD, TURN, error('{"error": {"message": "no model"}}'))
    assert (failed.outcome, failed.last_error) == (Outcome.UNFINISHED, "no model")
    end = {"type": "turn.failed", "error": {"message": '{"detail": "late"}'}}
    over = read(THREAD, TURN, error("x"), end)
    assert (over.outcome, over.run.result) == (Outcome.FAILED, "late")
    plain = read(THREAD, TURN, {"type": "turn.failed", "error": "late"})
    assert (plain.outcome, plain.run.result) == (Outcome.FAILED, "late")


def test_what_a_retry_repeats_is_shown_once() -> None:
    """After a lost connection the texts of the same answer come again, in order, until a call follows."""
    cases: list[tuple[list[Json], str]] = [
        ([say("a"), CUT, say("a")], "a"),
        ([say("a"), say("a")], "aa"),
        ([think("r"), say("a"), CUT, think("r"), say("a"), say("a")], "aa"),
        ([say("a"), say("b"), CUT, say("b"), say("a")], "aba"),
        ([say("a"), CUT, CUT, say("a"), CUT, say("a")], "a"),
        ([say("a"), CUT, begun("web_search", query=""), say("a")], "aa"),
        ([say("a"), CUT, TURN, say("a")], "aa"),
    ]
    for lines, text in cases:
        with case(lines):
            assert read(THREAD, TURN, *lines).text == text
