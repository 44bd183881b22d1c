"""Calls, questions and the to-do list in a digest are those of the full session."""

from __future__ import annotations

from agentwatch.catalog.digest import Digest, Turn
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    FormatDetected,
    LineTime,
    Notice,
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TextRetracted,
    Tokens,
    Traits,
    TurnEnded,
    TurnStarted,
    Usage,
    UsageScope,
)
from tests.catalog.digest.made_events import after, ended, said, started
from tests.conftest import case


def test_calls_are_counted_once() -> None:
    """A line may repeat the start or the end of a call; at most 32 calls are open."""
    digest = after(
        *(started("a"), started("a"), ended("a", Outcome.FAILED), ended("a", Outcome.FAILED), started("a")),
        *(ended("b", Outcome.REJECTED), ended("b"), started("b"), ended("c", lines_added=3, lines_removed=1)),
    )
    assert (digest.calls, digest.failed, digest.rejected, digest.open_calls) == (3, 1, 1, {})
    assert (digest.lines_added, digest.lines_removed) == (3, 1)
    # Only a line that says so describes it again.
    digest = after(started(target=None, agent="p", limit_ms=5, at_ms=3), started(target="other"))
    assert digest.open_calls["c"].target == ""
    digest.apply([started(target="pytest", is_update=True)])
    call = digest.open_calls["c"]
    assert (call.target, call.agent, call.limit_ms, call.started_ms) == ("pytest", "p", 5, 3)
    digest.apply([started(target=None, is_update=True)])
    assert digest.open_calls["c"].target == "pytest"
    # The oldest are left out; they were counted, and their ends are not further calls.
    digest = after(*(started(f"c{number}") for number in range(40)))
    assert list(digest.open_calls) == [f"c{number}" for number in range(8, 40)]
    digest.apply([ended("c0")])
    assert digest.calls == 40


def test_a_question_is_open_until_it_is_answered() -> None:
    """The oldest of at most eight is shown, with the time at which it was asked."""
    digest = after(Permission("shell", None, key="1", target="npm ci"), Permission("Edit", None, key="2"))
    assert (digest.asked, digest.asked_ms) == ("shell npm ci", 1000)
    digest.apply([Permission("shell", "approved", key="1")])
    assert digest.asked == "Edit"
    digest.apply([Permission("Edit", "denied", key="2")])
    assert (digest.asked, digest.asked_ms) == ("", None)
    # Not every answer is logged: a question ends with its call and with the turn.
    asked = Permission("Bash", None, key="1", call_id="c", at_ms=7)
    assert after(started(), asked).asked_ms == 7
    assert after(started(), asked, ended()).asked == ""
    assert after(started(), asked, ended("other")).asked == "Bash"
    assert after(asked, TurnEnded(Outcome.CANCELLED)).asked == ""
    # Nobody has to answer an automatic question.
    assert after(Permission("Bash", None, is_automatic=True)).asked == ""
    # A call that the agent may not run without permission is not a question.
    itself = Permission("AskUserQuestion", None, key="c", call_id="c")
    assert after(started(), itself).open_calls["c"].asks
    assert not after(started(), Permission("Bash", None, key="1", call_id="c")).open_calls["c"].asks
    assert not after(started(), Permission("Bash", None)).open_calls["c"].asks
    # The oldest are dropped.
    assert after(*(Permission(f"q{n}", None) for n in range(10))).asked == "q2"


def test_the_to_do_list_is_counted() -> None:
    """Entries that were given up count as completed, as on the screen of a session."""
    pending, doing, done, gone = (
        PlanEntry(name, PlanStatus(status))
        for name, status in (("a", "pending"), ("b", "in_progress"), ("c", "completed"), ("d", "cancelled"))
    )
    digest = after(Plan((pending, doing, done, gone)))
    assert (digest.todo, digest.doing) == ((2, 4), "b")
    digest.apply([Plan((PlanEntry("b", PlanStatus.COMPLETED),), is_update=True)])
    assert (digest.todo, digest.doing) == ((3, 4), "")
    digest.apply([Plan((doing,))])
    assert (digest.todo, digest.doing) == ((0, 1), "b")
    digest.apply([Plan(())])
    assert (digest.todo, digest.doing) == (None, "")
    # Of a long list, 256 entries are counted: updates of other entries push out the oldest.
    entries = [PlanEntry(f"{number}", PlanStatus.PENDING) for number in range(1000)]
    assert after(Plan(tuple(entries))).todo == (0, 256)
    digest = after(*(Plan((entry,), is_update=True) for entry in entries))
    assert digest.todo == (0, 256)


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
    # A title of the agent does not replace it, but another one of the user.
    users = RunInfo(title="Mine", is_users_title=True)
    assert after(RunInfo(title="Theirs"), users, RunInfo(title="Theirs")).title == "Mine"
    assert after(users, RunInfo(title="Other", is_users_title=True)).title == "Other"
    # A count without a context changes nothing.
    digest = after(
        Usage(Tokens(context_used=5, context_size=100), UsageScope.REQUEST),
        Usage(Tokens(input=7), UsageScope.REQUEST),
        Usage(Tokens(context_used=9), UsageScope.REQUEST),
    )
    assert (digest.context_used, digest.context_size) == (9, 100)
    # What was open ended with its process; the ids of calls may come again.
    digest = after(
        *(Prompt("Go"), started(), Permission("Bash", None), Retry("x"), RunStarted("cursor", "2")),
    )
    assert (digest.turn, digest.outcome, digest.open_calls) == (Turn.NONE, None, {})
    assert (digest.asked, digest.retry, digest.session_id) == ("", "", "2")
    digest.apply([started()])
    assert digest.calls == 2


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
    # The prompt that follows a turn without one begins no other turn.
    digest = Digest()
    digest.apply([LineTime(5), TurnStarted()])
    digest.apply([LineTime(9), Prompt("Go")])
    assert (digest.turn, digest.turn_ms) == (Turn.OPEN, 5)
    # The prompt of a subagent begins no turn.
    digest = after(Prompt("Look", "c"))
    assert (digest.turn, digest.first_prompt) == (Turn.NONE, "")
    # A call that was running may end after its turn.
    digest = after(Prompt("Go"), started(), TurnEnded(Outcome.CANCELLED), ended(), *said("x"))
    assert (digest.turn, digest.calls, digest.open_calls) == (Turn.ENDED, 1, {})
    # The duration of a turn is not a second end: the time of the end stays.
    digest = after(Prompt("Go"), TurnEnded(Outcome.SUCCEEDED))
    digest.apply([LineTime(99), TurnEnded(Outcome.SUCCEEDED, duration_ms=5)])
    assert digest.turn_ms == 1000


def test_work_without_a_prompt_is_a_turn() -> None:
    """A stream need not contain its prompt. If lines were left out, the beginning is unknown."""
    for event in (*said("Hm")[:1], started(), ended()):
        for is_whole, began_ms in ((True, 7), (False, None)):
            with case((event, is_whole)):
                digest = Digest(is_whole=is_whole)
                digest.apply([event], 7)
                assert (digest.turn, digest.turn_ms) == (Turn.OPEN, began_ms)


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


def test_a_retry_lasts_until_the_next_text_or_call() -> None:
    """Its words have its number, if that is known."""
    assert after(Retry("overloaded", 4, 10)).retry == "retry 4 of 10: overloaded"
    assert after(Retry("", 4)).retry == "retry 4"
    assert after(Retry("")).retry == "retry"
    for event in (*said("x")[:1], started(), TurnEnded(Outcome.FAILED)):
        assert after(Retry("overloaded"), event).retry == ""
    # A compaction lasts until its end or that of the turn.
    begun = Compaction(is_over=False)
    assert after(begun).is_compacting
    assert not after(begun, Compaction(is_over=True)).is_compacting
    assert not after(begun, TurnEnded(Outcome.SUCCEEDED)).is_compacting


def test_the_last_text_is_the_end_of_the_last_answer() -> None:
    """Pieces of one text are joined; thoughts and subagents are left out."""
    pieces: list[Event] = [
        Text(Channel.ANSWER, "All "),
        Text(Channel.ANSWER, "pass."),
        TextEnded(Channel.ANSWER),
    ]
    assert after(*said("First."), *pieces).last_text == "All pass."
    assert after(*pieces, *said("Hm", Channel.REASONING), *said("No", agent="c")).last_text == "All pass."
    assert after(*pieces[:1], started(), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], Prompt("Go"), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], *said("Hm", Channel.REASONING), *pieces[1:]).last_text == "pass."
    assert after(*pieces[:1], started(agent="c"), *pieces[1:]).last_text == "All pass."
    assert after(Text(Channel.ANSWER, "a" * 1000 + "end")).last_text.endswith("aend")
    # A text that is taken back is replaced by what follows.
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(2)).last_text == ""
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(0)).last_text == "No"
    assert after(Text(Channel.ANSWER, "No"), TextRetracted(2), *said("Yes")).last_text == "Yes"
