"""A transcript shows when a turn begins and how it ends, although no line says that it begins."""

from __future__ import annotations

import pytest

from agentwatch.session.events import Notice, Outcome, Prompt, Rewound, TurnEnded, TurnStarted
from tests.builders.on_disk.transcript import (
    AT_MS,
    answer,
    call,
    decoded,
    ended,
    line,
    returned,
    said,
    session_of,
    user,
)

OK = TurnEnded(Outcome.SUCCEEDED)


def ends(*lines: dict[str, object]) -> list[object]:
    """Return the events of lines that begin or end turns."""
    return [
        event for event in decoded(*lines) if isinstance(event, TurnEnded | TurnStarted | Prompt | Rewound)
    ]


def test_the_last_text_of_a_turn_ends_it() -> None:
    """An answer with `end_turn` ends the turn; its duration, written later, is added."""
    assert ends(user("Go"), said("Hm"), ended()) == [Prompt("Go"), OK]
    measured = line("system", subtype="turn_duration", durationMs=1311)
    assert ends(user("Go"), ended(), measured)[1:] == [OK, OK._replace(duration_ms=1311)]
    session = session_of(user("Go"), ended(), measured)
    assert (session.outcome, session.run.duration_ms, session.run.turns) == (Outcome.SUCCEEDED, 1311, 1)
    assert len(session.transcript) == 3


def test_the_thoughts_before_the_last_text_do_not_end_the_turn() -> None:
    """Each line of a message has its `stop_reason`; only a line with a text ends the turn, once."""
    thought = answer({"type": "thinking", "thinking": "Hm"}, message={"id": "m", "stop_reason": "end_turn"})
    text = said("A", message={"id": "m", "stop_reason": "end_turn"})
    assert ends(user("Go"), thought, text, text) == [Prompt("Go"), OK]


def test_a_turn_with_an_open_call_goes_on() -> None:
    """An `end_turn` while a call is open does not end the turn."""
    assert ends(user("Go"), call("c"), ended(), returned("c"), ended()) == [Prompt("Go"), OK]


def test_the_hooks_after_an_answer_end_the_turn() -> None:
    """Older versions write no `stop_reason`: the turn ends when its hooks have run and let it end."""
    hooks = line("system", subtype="stop_hook_summary", hookErrors=[], preventedContinuation=False)
    assert ends(user("Go"), said("A"), hooks) == [Prompt("Go"), OK]
    assert ends(user("Go"), hooks) == [Prompt("Go")]
    assert ends(user("Go"), said("A"), call("c"), hooks) == [Prompt("Go")]
    blocked = line("system", subtype="stop_hook_summary", hookErrors=["lint"])
    assert decoded(said("A"), blocked)[-1] == Notice("hook failed: lint", AT_MS)


def test_an_interruption_cancels_the_turn() -> None:
    """The line that Claude Code writes after Esc ends the turn as cancelled, once."""
    stop = user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    assert ends(user("Go"), said("A"), stop) == [Prompt("Go"), TurnEnded(Outcome.CANCELLED)]
    assert ends(user("Go"), ended(), stop) == [Prompt("Go"), OK]


def test_the_interruption_of_the_turn_before_a_queued_prompt_does_not_end_its_turn() -> None:
    """A prompt that was queued may be written before the interruption of the turn that it followed."""
    lines = (
        user("wait", "p1"),
        call("c", uuid="a1", parent="p1", message={"id": "m"}),
        user("x", "p2", "a1", promptId="2"),
        returned("c", "The user doesn't want to proceed", is_error=True, uuid="r", parent="a1", promptId="2"),
        user("[Request interrupted by user]", "i", "r", interruptedMessageId="m", promptId="2"),
        ended(uuid="a2", parent="i"),
        user("next", "p3", "a2"),
    )
    assert Notice("interrupted by the user", AT_MS) in decoded(*lines)
    assert ends(*lines) == [Prompt("wait"), Prompt("x"), OK, Prompt("next")]


def test_an_error_of_the_service_fails_the_turn() -> None:
    """What Claude Code writes about an error is the result of the turn, and no text of the agent."""
    error = said("API Error: 400", isApiErrorMessage=True, message={"model": "<synthetic>"})
    assert ends(user("Go"), error) == [Prompt("Go"), TurnEnded(Outcome.FAILED, "API Error: 400")]
    session = session_of(user("Go"), error)
    assert (session.outcome, session.text, session.run.result) == (Outcome.FAILED, "", "API Error: 400")
    bare = answer(isApiErrorMessage=True, error="overloaded")
    assert ends(bare) == [TurnEnded(Outcome.FAILED, "overloaded")]


def test_an_error_of_the_usage_limit_says_until_when() -> None:
    """The line has the window that refused the request; older versions have only the words."""
    words = "You've hit your session limit · resets 2pm (Europe/Berlin)"
    quota = {"status": "rejected", "resetsAt": 1_789_846_800, "rateLimitType": "five_hour"}
    named = said(words, isApiErrorMessage=True, error="rate_limit", quotaLimits=quota)
    limits = session_of(user("Go"), named).limits
    assert (limits.is_refused, limits.until_ms) == (True, 1_789_846_800_000)
    bare = session_of(user("Go"), said(words, isApiErrorMessage=True, error="rate_limit"))
    assert (bare.limits.is_refused, bare.limits.until_ms, bare.outcome) == (True, None, Outcome.FAILED)
    for other in (said("API Error: 429", isApiErrorMessage=True, error="rate_limit"), said(words)):
        assert not session_of(user("Go"), other).limits.is_refused
    assert not session_of(user("Go"), named, user("on")).limits.is_refused


def test_an_answer_after_the_end_of_a_turn_begins_another() -> None:
    """A notification or a command of the user may begin a turn without a prompt; the run continues."""
    lines = (
        user("Go", "p"),
        ended(uuid="a", parent="p", message={"id": "m1"}),
        user("<task-notification><summary>Done</summary></task-notification>", "n", "a"),
        said("B", uuid="b", parent="n", message={"id": "m2"}),
        user("next", "q", "b"),
    )
    assert ends(*lines) == [Prompt("Go"), OK, TurnStarted(), Prompt("next")]
    session = session_of(*lines)
    assert (session.run.turns, session.outcome) == (2, Outcome.UNFINISHED)
    assert ends(said("cut"), user("Go")) == [Prompt("Go")]


def test_a_rewind_is_reported_before_the_prompt_that_follows_it() -> None:
    """A prompt in the place of an earlier one takes the turns since then out of the text of the run."""
    lines = (
        user("One", "p1"),
        ended("A", uuid="a1", parent="p1"),
        user("Two", "p2", "a1"),
        ended("B", uuid="a2", parent="p2"),
        user("Three", "p3", "a2"),
        user("Other", "p4", "a1"),
        ended("C", uuid="a4", parent="p4"),
    )
    assert ends(*lines)[-3:] == [Rewound(2), Prompt("Other"), OK]
    session = session_of(*lines)
    assert (session.text, session.run.turns) == ("AC", 2)


def test_a_rewind_over_a_turn_without_a_prompt_leaves_the_turns_of_the_session() -> None:
    """The decoder and the session count the same turns, also if one has no prompt."""
    lines = (
        user("One", "p1"),
        ended("A", uuid="a1", parent="p1", message={"id": "m1"}),
        said("B", uuid="b1", parent="a1", message={"id": "m2"}),
        user("Other", "p2", "a1"),
        ended("C", uuid="c1", parent="p2"),
    )
    session = session_of(*lines)
    assert (session.text, session.run.turns) == ("AC", 2)


@pytest.mark.parametrize("kind", ["progress", "attachment", "system"])
def test_a_repeated_line_is_decoded_once(kind: str) -> None:
    """A resumed session repeats its history: a line with a known UUID says nothing new."""
    first = ended("A", uuid="b2553a24-ae87-478f-98ad-8c56d614c0be")
    other = line(kind, uuid="c2553a24-ae87-478f-98ad-8c56d614c0be", subtype="local_command")
    assert session_of(user("Go"), first, other, first, other).text == "A"
