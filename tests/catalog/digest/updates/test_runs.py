"""The facts, the turns and the outcome in a digest."""

from __future__ import annotations

import pytest

from agentwatch.catalog.digest import Digest, Turn
from agentwatch.session.events import (
    Event,
    FormatDetected,
    LineTime,
    Notice,
    Outcome,
    Permission,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    Tokens,
    Traits,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageScope,
)
from tests.catalog.digest.made_events import after, ended, said, started
from tests.conftest import case


def test_the_facts_of_the_run_are_the_newest() -> None:
    """A fact that a line does not contain keeps its value."""
    digest = after(
        FormatDetected("claude-code", Traits(), "claude"),
        RunStarted("claude-code", "s", "opus", "/w", "plan"),
        RunInfo(model="haiku", branch="main", title="T", is_one_liner=True),
        RunInfo(agent_name="other", last_prompt="Go"),
    )
    assert (digest.format, digest.agent, digest.session_id) == ("claude-code", "other", "s")
    assert (digest.model, digest.cwd, digest.permission_mode) == ("haiku", "/w", "plan")
    assert (digest.branch, digest.title, digest.is_one_liner) == ("main", "T", True)
    assert digest.last_prompt == "Go"
    assert after(FormatDetected("cursor", Traits())).agent == "cursor"


def test_the_users_title_stays() -> None:
    """A title of the agent does not replace it, but another one of the user."""
    users = RunInfo(title="Mine", is_users_title=True)
    assert after(RunInfo(title="Theirs"), users, RunInfo(title="Theirs")).title == "Mine"
    assert after(users, RunInfo(title="Other", is_users_title=True)).title == "Other"


def test_a_turn_is_open_from_its_prompt_to_its_end() -> None:
    """The time is that of the line which began or ended it."""
    digest = Digest()
    assert digest.turn is Turn.NONE
    digest.apply([LineTime(5), Prompt(" Fix it ")])
    assert (digest.turn, digest.turn_ms, digest.first_prompt) == (Turn.OPEN, 5, "Fix it")
    digest.apply([LineTime(9), TurnEnded(Outcome.SUCCEEDED, "Done.")])
    assert (digest.turn, digest.turn_ms, digest.outcome) == (Turn.ENDED, 9, Outcome.SUCCEEDED)
    assert digest.last_text == "Done."
    digest.apply([LineTime(20), Prompt("More")])
    assert (digest.turn, digest.first_prompt, digest.last_prompt) == (Turn.OPEN, "Fix it", "More")


def test_a_turn_without_a_prompt_gets_it_later() -> None:
    """The prompt that follows begins no other turn."""
    digest = Digest()
    digest.apply([LineTime(5), TurnStarted()])
    digest.apply([LineTime(9), Prompt("Go")])
    assert (digest.turn, digest.turn_ms) == (Turn.OPEN, 5)


def test_the_prompt_of_a_subagent_is_none_of_the_users() -> None:
    """It begins no turn."""
    digest = after(Prompt("Look", "c"))
    assert (digest.turn, digest.first_prompt) == (Turn.NONE, "")


@pytest.mark.parametrize("event", [*said("Hm")[:1], started(), ended()])
def test_work_without_a_prompt_is_a_turn(event: Event) -> None:
    """A stream need not contain its prompt. If lines were left out, the beginning is unknown."""
    digest = Digest(is_whole=True)
    digest.apply([event], 7)
    assert (digest.turn, digest.turn_ms) == (Turn.OPEN, 7)
    digest = Digest()
    digest.apply([event], 7)
    assert (digest.turn, digest.turn_ms) == (Turn.OPEN, None)


def test_late_lines_do_not_open_a_turn_that_has_ended() -> None:
    """A call that was running may end after its turn."""
    digest = after(Prompt("Go"), started(), TurnEnded(Outcome.CANCELLED), ended(), *said("x"))
    assert (digest.turn, digest.calls, digest.open_calls) == (Turn.ENDED, 1, {})


def test_the_duration_of_a_turn_is_no_second_end() -> None:
    """The time of the end stays."""
    digest = after(Prompt("Go"), TurnEnded(Outcome.SUCCEEDED))
    digest.apply([LineTime(99), TurnEnded(Outcome.SUCCEEDED, duration_ms=5)])
    assert digest.turn_ms == 1000


def test_the_reason_of_a_failure_is_the_result_or_the_last_error() -> None:
    """A turn that ended well has none."""
    cases: list[tuple[list[Event], str]] = [
        ([TurnEnded(Outcome.FAILED, " overloaded\nsorry ")], "overloaded\nsorry"),
        ([Notice("no login", is_error=True), Notice("x"), TurnEnded(Outcome.FAILED)], "no login"),
        ([TurnEnded(Outcome.CANCELLED)], ""),
        ([TurnEnded(Outcome.FAILED, "bad"), Prompt("Go"), TurnEnded(Outcome.SUCCEEDED)], ""),
        ([Notice("old", is_error=True), TurnStarted(), TurnEnded(Outcome.FAILED)], ""),
    ]
    for events, reason in cases:
        with case(events):
            assert after(Prompt("Go"), *events).reason == reason


def test_a_new_run_begins_without_the_state_of_the_last_one() -> None:
    """What was open ended with its process; the ids of calls may come again."""
    digest = after(
        *(Prompt("Go"), started(), Permission("Bash", None), Retry("x"), RunStarted("cursor", "2")),
    )
    assert (digest.turn, digest.outcome, digest.open_calls) == (Turn.NONE, None, {})
    assert (digest.asked, digest.retry, digest.session_id) == ("", "", "2")
    digest.apply([started()])
    assert digest.calls == 2


def test_the_context_is_that_of_the_newest_request() -> None:
    """A count without a context changes nothing."""
    digest = after(
        Usage(Tokens(context_used=5, context_size=100), UsageScope.REQUEST),
        Usage(Tokens(input=7), UsageScope.REQUEST),
        Usage(Tokens(context_used=9), UsageScope.REQUEST),
    )
    assert (digest.context_used, digest.context_size) == (9, 100)
