"""The state that an agent or a hook reports itself."""

from dataclasses import replace

from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.digest.digest import Digest
from agentwatch.catalog.session_status import Ground, Group
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.limits import KnownLimits
from tests.catalog.states.cases import (
    MINUTE_MS,
    NOW_MS,
    SECOND_MS,
    call,
    ended,
    judged,
    process,
    reported,
    working,
)
from tests.conftest import case

DONE = ended(working(), outcome=Outcome.SUCCEEDED, last_text="All done.\nShall I push?\n")
BROKEN = ended(working(), outcome=Outcome.FAILED, reason="usage limit\nmore")
CHILDLESS = process()


def test_what_a_live_agent_says_wins() -> None:
    """A state that the agent reports itself counts, whatever its lines show."""
    for state in (State.WORKING, State.ASKS, State.YOUR_TURN, State.SHELL):
        for digest in (None, working(), working(call()), DONE, Digest()):
            with case((state, digest)):
                known = judged(digest, agent="claude", says=reported(state), runs=CHILDLESS)
                assert known[:3] == (state, Ground.SAID, NOW_MS - 3 * SECOND_MS)
    # An old Claude Code has no record; a lock of Codex says that the session is open, not what it does.
    for agent, says in (("claude", None), ("codex", reported(None)), ("codex", None)):
        with case((agent, says)):
            known = judged(working(call()), agent=agent, says=says, runs=CHILDLESS)
            assert known[:2] == (State.ASKS, Ground.INFERRED)


def test_an_idle_agent_may_have_failed_or_wait_for_a_limit() -> None:
    """The registry says idle after an error too; the lines say what the last turn came to."""
    # Esc while Claude thinks writes nothing: the turn seems open for ever, and the registry says idle.
    known = judged(working(), agent="claude", says=reported(State.YOUR_TURN))
    assert known.state is State.YOUR_TURN
    assert known.ground is Ground.SAID
    # The registry says idle after an error too; the lines say that it was one.
    known = judged(BROKEN, agent="claude", says=reported(State.YOUR_TURN))
    assert known[:2] == (State.TURN_FAILED, Ground.SAID)
    assert known.now == "usage limit"
    # The registry says idle, or busy for long; the lines say that a limit refused the request.
    refused = KnownLimits(is_refused=True, until_ms=NOW_MS + MINUTE_MS)
    for digest, state, otherwise in (
        (BROKEN, State.YOUR_TURN, State.TURN_FAILED),
        (working(seen_ago_ms=10 * MINUTE_MS), State.WORKING, State.WORKING),
    ):
        waits = replace(digest, limits=refused)
        known = judged(waits, agent="claude", says=reported(state))
        assert (known.state, known.ground, known.until_ms) == (State.LIMITED, Ground.SAID, NOW_MS + MINUTE_MS)
        over = judged(waits, agent="claude", says=reported(state), now_ms=NOW_MS + MINUTE_MS)
        assert over.state is otherwise
    # A shell that still runs is shown as such, in the group of the user's turn.
    known = judged(DONE, agent="claude", says=reported(State.SHELL))
    assert (known.state, known.group, known.now) == (State.SHELL, Group.YOUR_TURN, "Shall I push?")


def test_retries_that_the_user_ended_are_no_line() -> None:
    """Claude Code reports that it waits for the user, and writes nothing: the rest is inferred."""
    says = reported(State.YOUR_TURN)
    for retry, ground, now in (("retry 4 of 10", Ground.INFERRED, "cancelled"), ("", Ground.SAID, "")):
        known = judged(replace(working(), retry=retry), agent="claude", says=says)
        assert (known.state, known.ground, known.now) == (State.YOUR_TURN, ground, now)


def test_a_reported_question_has_the_words_of_the_lines() -> None:
    """The row names the call or the question, as soon as its line is written."""
    # The registry waits before the line of the call comes: first the kind of the question is shown.
    waits = reported(State.ASKS, about="permission")
    assert judged(working(), agent="claude", says=waits).now == "permission"
    done = call(ToolKind.READ, "a.py", call_id="c0")
    asks = judged(working(done, call(target="rm -rf build")), agent="claude", says=waits)
    assert asks.now == "Tool rm -rf build"
    assert asks.since_ms == asks.now_since_ms == waits.since_ms
    # With parallel calls the row shows the oldest, and how many others it may be.
    digest = working(call(target="ls"), call(ToolKind.EDIT, "a.py", call_id="c2"))
    assert (
        judged(digest, agent="claude", says=reported(State.ASKS, about="permission")).now
        == "Tool ls or 1 more"
    )
    # A subagent's own call asks, not the call that started it.
    digest = working(call(ToolKind.DELEGATE, "count"), call(target="ls", call_id="c2", agent="c1"))
    assert judged(digest, agent="claude", says=reported(State.ASKS, about="permission")).now == "Tool ls"
    # A logged question has more words than the registry; its time counts if the agent says none.
    digest = replace(working(), question="AskUserQuestion Which database?", question_ms=NOW_MS - 9)
    says = reported(State.ASKS, about="question")._replace(since_ms=None)
    known = judged(digest, agent="claude", says=says)
    assert (known.now, known.since_ms) == ("AskUserQuestion Which database?", NOW_MS - 9)
    assert judged(None, agent="claude", says=says)[2:4] == (None, "question")
    # The agent reports that it asks; its line says when the question answers itself.
    until_ms = NOW_MS + MINUTE_MS
    digest = replace(working(), question="Which port?", question_ms=NOW_MS, question_until_ms=until_ms)
    known = judged(digest, agent="claude", says=reported(State.ASKS, about="question"))
    assert (known.state, known.now, known.until_ms) == (State.ASKS, "Which port?", until_ms)
    assert judged(None, agent="claude", says=reported(State.ASKS)).until_ms is None


def test_a_report_that_it_works_counts_beside_its_lines() -> None:
    """An agent that writes nothing works if it says so; only an exact one says so by its silence."""
    # The agent says that it works; that it has written nothing for minutes is shown beside it.
    digest = replace(working(seen_ago_ms=6 * MINUTE_MS), usual_pause_ms=20 * SECOND_MS)
    known = judged(digest, agent="claude", says=reported(State.WORKING))
    assert (known.state, known.now) == (State.WORKING, "nothing for 6 min (usually 20 s)")
    # Copilot would have logged a question; of Codex, or without a report, that it works is inferred.
    runs = process(child_ago_ms=0)
    for agent, says, ground in (
        ("copilot", reported(None), Ground.SAID),
        ("copilot", None, Ground.INFERRED),
        ("codex", reported(None), Ground.INFERRED),
    ):
        assert judged(working(), agent=agent, says=says, runs=runs)[:2] == (State.WORKING, ground)
    # A stream that is recorded has no time for its prompt; the start of the recording counts.
    open_turn = replace(working(), format="codex")
    digest = replace(open_turn, turn_ms=None)
    says = reported(None, agent="agentwatch")._replace(began_ms=NOW_MS - MINUTE_MS)
    known = judged(digest, agent="agentwatch", says=says)
    assert (known.state, known.since_ms) == (State.WORKING, NOW_MS - MINUTE_MS)
    assert judged(open_turn, agent="agentwatch", says=says).since_ms == NOW_MS - 10 * MINUTE_MS


def test_our_own_recording_says_how_it_ended() -> None:
    """The result that was saved with a recording counts more than its lines."""
    says = reported(State.FAILED, agent="agentwatch")
    assert judged(BROKEN, agent="agentwatch", says=says, life=Life.DEAD)[:4] == (
        State.FAILED,
        Ground.SAID,
        says.since_ms,
        "usage limit",
    )
    says = says._replace(state=State.SUCCEEDED)
    known = judged(working(), agent="agentwatch", says=says, life=Life.DEAD)
    assert known[:2] == (State.SUCCEEDED, Ground.SAID)
    # A recording that has ended well has no reason, nor has one whose lines were not read.
    for state, digest, now in (
        (State.FAILED, BROKEN, "usage limit"),
        (State.FAILED, None, ""),
        (State.SUCCEEDED, BROKEN, ""),
    ):
        says = reported(state, agent="agentwatch")
        known = judged(digest, agent="agentwatch", says=says, life=Life.DEAD)
        assert (known.state, known.now) == (state, now)
    # Some files begin without the prompt, such as those of a session that was continued from another.
    assert judged(Digest(is_whole=True, calls=1), life=Life.DEAD).now == "no answer"


def test_a_hook_is_outdated_by_newer_lines() -> None:
    """A hook says that a question or a turn begins, but not that it was answered or interrupted."""
    asks = reported(State.ASKS, agent="codex", ago_ms=MINUTE_MS)
    old = 2 * MINUTE_MS
    unanswered = working(call(ago_ms=old), seen_ago_ms=old)
    assert judged(unanswered, says=asks, runs=CHILDLESS)[:2] == (State.ASKS, Ground.SAID)
    assert judged(unanswered, says=asks, runs=process(child_ago_ms=5_000))[0] is State.WORKING
    assert judged(working(), says=asks, runs=CHILDLESS)[0] is State.WORKING
    unwritten = working(seen_ago_ms=old)
    for agent in ("codex", "gemini"):
        assert judged(unwritten, agent=agent, says=asks, runs=CHILDLESS)[:2] == (State.ASKS, Ground.SAID)
        assert judged(unwritten, agent=agent, says=asks, runs=process(child_ago_ms=5_000))[0] is State.WORKING
    assert judged(None, says=asks)[0] is State.ASKS
    assert judged(working(), says=asks._replace(since_ms=None))[0] is State.ASKS
    silent = replace(working(), seen_ms=None, turn_ms=None)
    assert judged(silent, says=asks)[0] is State.ASKS
    # The turn has ended after the hook said that it began; and another has begun after its end.
    works = reported(State.WORKING, agent="codex", ago_ms=2 * MINUTE_MS)
    stopped = ended(working(), outcome=Outcome.CANCELLED)
    assert judged(stopped, says=works).state is State.TURN_FAILED
    idle = reported(State.YOUR_TURN, agent="codex", ago_ms=2 * MINUTE_MS)
    again = replace(working(), turn_ms=NOW_MS - MINUTE_MS)
    assert judged(again, says=idle).state is State.WORKING
    assert judged(working(), says=idle).state is State.YOUR_TURN


def by_server(state: State, about: str = "") -> StateReport:
    """Return what the server of Codex says, which has no time."""
    return reported(state, agent="codex", about=about)._replace(
        since_ms=None, began_ms=NOW_MS - 9, source="server s"
    )


def test_what_the_server_says_has_the_time_of_the_lines() -> None:
    """The server says that it asks or has ended, not what and since when."""
    # The server says that it asks, not what and since when: the lines have the call.
    asks = by_server(State.ASKS, "permission")
    known = judged(working(call(target="rm -rf build")), says=asks, runs=CHILDLESS)
    assert known[:4] == (State.ASKS, Ground.SAID, NOW_MS - 5 * SECOND_MS, "Tool rm -rf build")
    question = call(ToolKind.OTHER, "Which colour?", call_id="c2", asks=True)
    both = working(call(), question)
    assert judged(both, says=by_server(State.ASKS, "question"), runs=CHILDLESS).now == "Tool Which colour?"
    assert judged(working(), says=asks)[2:4] == (None, "permission")
    assert judged(None, says=asks)[2:4] == (None, "permission")
    # Before the first prompt it is the time at which the session was loaded.
    idle = by_server(State.YOUR_TURN)
    assert judged(DONE, says=idle)[:3] == (State.YOUR_TURN, Ground.SAID, NOW_MS - MINUTE_MS)
    assert judged(replace(DONE, turn_ms=None), says=idle).since_ms == NOW_MS - 5 * SECOND_MS
    for digest in (None, Digest()):
        assert judged(digest, says=idle)[:3] == (State.YOUR_TURN, Ground.SAID, NOW_MS - 9)
    assert judged(working(), says=idle)[:3] == (State.YOUR_TURN, Ground.SAID, None)
    assert judged(BROKEN, says=by_server(State.TURN_FAILED))[:4:3] == (State.TURN_FAILED, "usage limit")
    assert judged(None, says=by_server(State.TURN_FAILED))[:2] == (State.TURN_FAILED, Ground.SAID)
    # Which window shows a session is a guess; that its server waits for an approval is none.
    left = process()._replace(is_shared=True, viewer=0)
    guess = left._replace(viewer=1, is_guess=True)
    for runs in (left, guess):
        known = judged(working(call()), says=by_server(State.ASKS, "permission"), runs=runs)
        assert known[:2] == (State.ASKS, Ground.SAID)
        works = judged(working(), says=by_server(State.WORKING), runs=runs)
        assert works[:2] == (State.WORKING, Ground.SAID)
    assert judged(DONE, says=idle, runs=left)[:2] == (State.SUCCEEDED, Ground.INFERRED)
    assert judged(DONE, says=idle, runs=guess)[:2] == (State.YOUR_TURN, Ground.INFERRED)
    # Only a daemon keeps a session open that no terminal shows.
    assert judged(DONE, runs=process()._replace(viewer=0)).state is State.YOUR_TURN
