"""The state of a session: what its agent says, then its process, then its lines."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentwatch.agents.program import CHANGES
from agentwatch.agents.session_entry import NO_METADATA, Metadata, Reach, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog import states
from agentwatch.catalog.digest.digest import Digest, Turn
from agentwatch.catalog.evidence import Facts, evidence
from agentwatch.catalog.local_session import LocalSession
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE, UNKNOWN, Basis, Ground, Group, Process, SessionStatus
from agentwatch.catalog.states import (
    Steady,
    has_child_since,
    is_left_over,
    is_silent,
    knowledge_of,
    may_ask,
    status,
    visible_calls,
    waiting_call,
)
from agentwatch.session.events import Outcome, Retry, ToolKind
from tests.builders.on_disk import qwen_chat as qwen
from tests.catalog.states.cases import (
    MINUTE_MS,
    NOW_MS,
    SECOND_MS,
    call,
    ended,
    found,
    judged,
    process,
    reported,
    working,
)
from tests.conftest import case

DONE = ended(working(), outcome=Outcome.SUCCEEDED, last_text="All done.\nShall I push?\n")
BROKEN = ended(working(), outcome=Outcome.FAILED, reason="usage limit\nmore")
CHILDLESS = process()


def test_no_question_is_inferred_where_none_is_asked() -> None:
    """In a mode without questions, and of an agent without permissions, a command never seems to ask."""
    modes = (("claude", "bypassPermissions"), ("claude", "dontAsk"), ("qwen", "yolo"), ("pi", ""))
    for agent, mode in (("codex", "never"), *modes, ("copilot", "")):
        with case((agent, mode)):
            digest = replace(working(call()), permission_mode=mode)
            assert judged(digest, agent=agent, runs=CHILDLESS).state is State.WORKING


def test_a_question_that_the_lines_show_is_certain() -> None:
    """Where each question is logged, the session asks or works, and nothing is inferred."""
    # Copilot writes each question before its answer: the session asks, and may ring.
    digest = replace(working(call()), question="shell npm ci", question_ms=NOW_MS - 9)
    known = judged(digest, agent="copilot", says=reported(None, agent="copilot"), runs=CHILDLESS)
    assert known[:5] == (State.ASKS, Ground.SAID, NOW_MS - 9, "shell npm ci", NOW_MS - 9)
    # A form with questions waits for the user by its nature.
    digest = working(call(ToolKind.OTHER, "Which database?", asks=True))
    known = judged(digest, agent="qwen", runs=CHILDLESS)
    assert known[:2] == (State.ASKS, Ground.SAID)
    assert (known.now, known.since_ms) == ("Tool Which database?", NOW_MS - 5 * SECOND_MS)
    # Where each question is logged, a command without a child was not asked about.
    known = judged(working(call()), agent="copilot", says=reported(None, agent="copilot"), runs=CHILDLESS)
    assert known[:2] == (State.WORKING, Ground.SAID)


def test_a_command_seems_to_ask_while_it_has_no_child() -> None:
    """After two seconds without a child of its own, it is inferred that the agent asks about the command."""
    # A child of the agent that is younger than the call is its command.
    known = judged(working(call()), runs=process(child_ago_ms=4_900))
    assert known[:2] == (State.WORKING, Ground.INFERRED)
    assert (known.now, known.now_since_ms, known.is_calling) == ("pytest -q", NOW_MS - 5_000, True)
    assert known.since_ms == NOW_MS - 10 * MINUTE_MS
    # After two seconds without a child the command does not run: it is inferred that the agent asks.
    known = judged(working(call(target="npm ci")), runs=CHILDLESS)
    assert known[:2] == (State.ASKS, Ground.INFERRED)
    assert known.now == "Tool npm ci (no child process)"
    assert known.since_ms == NOW_MS - 5_000
    # A child that is older than the call, such as an MCP server, does not run the command.
    known = judged(working(call()), runs=process(child_ago_ms=MINUTE_MS))
    assert known.state is State.ASKS
    # When the user has agreed, the command starts: the same call now runs.
    digest = working(call(ago_ms=MINUTE_MS), seen_ago_ms=MINUTE_MS)
    assert judged(digest, runs=CHILDLESS).state is State.ASKS
    assert judged(digest, runs=process(child_ago_ms=100)).state is State.WORKING
    # Nobody could answer a run with one prompt, such as `codex exec`.
    assert judged(replace(working(call()), is_one_liner=True), runs=CHILDLESS).state is State.WORKING
    says = reported(None)._replace(is_one_liner=True)
    assert judged(working(call()), says=says, runs=CHILDLESS).state is State.WORKING
    # Lines from the future are news: nothing is quiet, and no question is inferred.
    digest = working(call(ago_ms=-MINUTE_MS), seen_ago_ms=-MINUTE_MS)
    assert judged(digest, runs=CHILDLESS).state is State.WORKING
    # If the last megabytes belong to one turn, the agent works.
    digest = replace(working(call()), turn=Turn.NONE, turn_ms=None, is_whole=False)
    assert judged(digest, runs=process(child_ago_ms=0)).state is State.WORKING


def test_a_turn_that_has_ended_is_the_users() -> None:
    """The turn of a live agent is the user's, or has failed; it is never a question."""
    # A turn that has ended an hour ago is the user's turn, never a question.
    known = judged(DONE, agent="claude", runs=CHILDLESS, now_ms=NOW_MS + 60 * MINUTE_MS)
    assert known[:3] == (State.YOUR_TURN, Ground.SAID, NOW_MS - MINUTE_MS)
    assert known.now == "Shall I push?"
    # Codex ends a failed turn like a good one, with an error in it.
    assert judged(BROKEN)[:2] == (State.TURN_FAILED, Ground.SAID)
    stopped = ended(working(), outcome=Outcome.CANCELLED)
    assert judged(stopped)[:4:3] == (State.TURN_FAILED, "cancelled")
    # A session that is open and has no prompt yet is the user's turn, since it began.
    says = reported(None, agent="copilot")._replace(began_ms=9)
    assert judged(None, agent="copilot", says=says)[:3] == (State.YOUR_TURN, Ground.SAID, 9)
    known = judged(Digest(is_whole=True), runs=CHILDLESS)
    assert known[:3] == (State.YOUR_TURN, Ground.INFERRED, None)


def test_a_session_of_a_daemon_may_be_on_no_screen() -> None:
    """The daemon of Codex keeps a session open after its terminal is gone."""
    # The user's turn is inferred.
    runs = process()._replace(is_shared=True)
    assert judged(DONE, runs=runs)[:2] == (State.YOUR_TURN, Ground.INFERRED)
    # The daemon of Codex keeps the session open for minutes; one in the middle of a turn still works.
    runs = process()._replace(is_shared=True, viewer=0)
    assert judged(DONE, runs=runs)[:2] == (State.SUCCEEDED, Ground.INFERRED)
    assert judged(BROKEN, runs=runs).state is State.FAILED
    assert judged(working(), runs=runs).state is State.WORKING
    assert judged(DONE, runs=runs._replace(viewer=1)).state is State.YOUR_TURN
    # The daemon of Codex keeps a session for a minute after /quit, and the last hook said `your turn`.
    left = process()._replace(is_shared=True, viewer=0)
    cases = {
        "your turn": (DONE, State.YOUR_TURN, (State.SUCCEEDED, Ground.INFERRED)),
        "asks": (DONE, State.ASKS, (State.SUCCEEDED, Ground.INFERRED)),
        "works": (working(), State.WORKING, (State.WORKING, Ground.SAID)),
        "nothing": (None, None, (State.UNFINISHED, Ground.INFERRED)),
    }
    for name, (digest, state, expected) in cases.items():
        with case(name):
            says = reported(state, agent="codex")
            assert judged(digest, says=says, runs=left)[:2] == expected
            if state is not None:
                assert judged(digest, says=says, runs=left._replace(viewer=1))[:2] == (state, Ground.SAID)
    # If a process may have left a session for another one, what its lines say is marked as a guess.
    guess, hook = (
        process()._replace(is_guess=True),
        reported(State.YOUR_TURN, agent="codex", ago_ms=MINUTE_MS),
    )
    assert judged(DONE, runs=guess)[:2] == (State.YOUR_TURN, Ground.INFERRED)
    assert judged(DONE, runs=guess, says=hook)[:2] == (State.YOUR_TURN, Ground.SAID)
    shared = guess._replace(is_shared=True, viewer=1)
    assert judged(DONE, runs=shared, says=hook)[:2] == (State.YOUR_TURN, Ground.INFERRED)
    assert judged(DONE, runs=guess, life=Life.DEAD)[:2] == (State.SUCCEEDED, Ground.INFERRED)
    assert judged(working(), runs=guess, agent="amp").ground is Ground.UNKNOWN


def test_gemini_asks_if_the_title_of_its_terminal_says_so() -> None:
    """The last line before a question may be that of the end of a turn. The row of the session asks, not
    those of its subagents."""
    runs = CHILDLESS._replace(title=State.ASKS)
    for digest in (DONE, ANSWERED):
        with case(digest.turn):
            known = judged(digest, agent="gemini", runs=runs)
            assert (known.state, known.ground, known.by) == (State.ASKS, Ground.INFERRED, (Basis.TITLE,))
            assert judged(digest, agent="gemini", runs=runs, parent="s0").state is not State.ASKS
    assert judged(DONE, agent="gemini", runs=CHILDLESS).state is State.YOUR_TURN
    # After a command, and while the model is slow, it says that it works.
    for digest in (DONE, replace(ANSWERED, last_text="I'll run the tests.")):
        works = judged(digest, agent="gemini", runs=CHILDLESS._replace(title=State.WORKING))
        assert (works.state, works.ground, works.by) == (State.WORKING, Ground.INFERRED, (Basis.STILL_OPEN,))


def test_a_turn_is_over_when_the_title_of_the_terminal_says_so() -> None:
    """Qwen Code writes no line when the user stops its retries. A title is not as new as the last line."""
    runs = CHILDLESS._replace(title=State.YOUR_TURN)
    known = judged(working(seen_ago_ms=6_000), agent="qwen", runs=runs)
    assert known[:4] == (State.YOUR_TURN, Ground.INFERRED, NOW_MS - 6_000, "cancelled")
    assert known.by == (Basis.TITLE,)
    for digest, title, parent in (
        (working(seen_ago_ms=3_000), State.YOUR_TURN, None),
        (working(seen_ago_ms=6_000), State.WORKING, None),
        (working(seen_ago_ms=6_000), None, None),
        (working(seen_ago_ms=6_000), State.YOUR_TURN, "s0"),
    ):
        with case((title, parent)):
            runs = CHILDLESS._replace(title=title)
            assert judged(digest, agent="qwen", runs=runs, parent=parent).state is State.WORKING


def test_gemini_ends_its_turns_in_silence() -> None:
    """No line of Gemini says that a turn has ended: its end is inferred."""
    assert judged(DONE, agent="gemini")[:2] == (State.YOUR_TURN, Ground.INFERRED)
    assert judged(DONE, agent="gemini", life=Life.DEAD)[:2] == (State.SUCCEEDED, Ground.INFERRED)
    # Gemini writes a call when its step has ended: while a child runs, the session works.
    digest = working(seen_ago_ms=30 * MINUTE_MS)
    known = judged(digest, agent="gemini", runs=process(child_ago_ms=29 * MINUTE_MS))
    assert known[:2] == (State.WORKING, Ground.INFERRED)
    assert known.now == "model or tool"
    quiet = judged(digest, agent="gemini", runs=CHILDLESS)
    assert quiet[:3] == (State.QUIET, Ground.INFERRED, digest.seen_ms)
    # The answer is written before the command that it makes: a younger child is that command.
    works = State.WORKING, Ground.INFERRED, NOW_MS - 20_000, "model or tool"
    runs = process(child_ago_ms=8_900)
    assert judged(ANSWERED, agent="gemini", runs=runs)[:4] == works
    assert judged(ANSWERED, agent="gemini", runs=process(child_ago_ms=9_500)).state is State.YOUR_TURN
    assert judged(ANSWERED, agent="gemini", runs=process(children=1)).state is State.YOUR_TURN
    assert judged(ANSWERED, agent="codex", runs=runs).state is State.YOUR_TURN
    assert judged(ANSWERED, agent="gemini", runs=runs, parent="s0").state is State.WORKING
    assert judged(ANSWERED, agent="gemini", runs=CHILDLESS, parent="s0")[:2] == (
        State.SUCCEEDED,
        Ground.INFERRED,
    )
    cancelled = replace(ANSWERED, outcome=Outcome.CANCELLED)
    assert judged(cancelled, agent="gemini", runs=runs)[:2] == (State.TURN_FAILED, Ground.SAID)
    assert judged(cancelled, agent="gemini", life=Life.DEAD)[:2] == (State.CANCELLED, Ground.SAID)
    # While a subagent writes lines that are newer, the session is neither at its end nor quiet.
    old = replace(ANSWERED, seen_ms=NOW_MS - 10 * MINUTE_MS)
    for digest in (ANSWERED, old, working(seen_ago_ms=10 * MINUTE_MS)):
        for agent in (CHILDLESS, None):
            known = status(found("gemini"), digest, None, agent, Life.LIVE, NOW_MS, has_subagent=True)
            assert known[:2] == (State.WORKING, Ground.INFERRED)


ANSWERED = replace(DONE, turn_ms=NOW_MS - 9_000, seen_ms=NOW_MS - 9_000, begun_ms=NOW_MS - 20_000)
"""Silence has ended the turn: the answer came 9 s ago."""


def test_gemini_seems_to_ask_about_a_call_that_its_answer_announces() -> None:
    """It writes no call before its end, but an answer that announces it, or one without words."""
    announced = replace(ANSWERED, last_text="One file is missing. I'll run the tests.")
    silent = replace(working(seen_ago_ms=9_000), is_answered=True, begun_ms=NOW_MS - 20_000)
    asks = "One file is missing. I'll run the tests. (no child process)"
    for digest, now in ((announced, asks), (silent, "model or tool (no child process)")):
        known = judged(digest, agent="gemini", runs=CHILDLESS)
        assert known[:4] == (State.ASKS, Ground.INFERRED, NOW_MS - 9_000, now)
        for runs in (CHILDLESS._replace(is_idle=False), process(child_ago_ms=8_000), process(children=1)):
            works = judged(digest, agent="gemini", runs=runs)
            assert works[:3] == (State.WORKING, Ground.INFERRED, NOW_MS - 20_000)
        yolo = CHILDLESS._replace(arguments=("gemini", "--yolo"))
        assert judged(digest, agent="gemini", runs=yolo).state in (State.YOUR_TURN, State.WORKING)
    assert judged(announced, agent="gemini").state is State.YOUR_TURN
    assert judged(replace(announced, outcome=Outcome.FAILED), agent="gemini", runs=CHILDLESS).state is (
        State.TURN_FAILED
    )
    assert judged(announced, agent="pi", runs=CHILDLESS).state is State.YOUR_TURN
    assert (
        judged(replace(silent, seen_ms=NOW_MS - 4_900), agent="gemini", runs=CHILDLESS).state is State.WORKING
    )
    assert judged(replace(silent, seen_ms=None), agent="gemini", runs=CHILDLESS).state is State.WORKING


def test_a_long_silence_is_quiet() -> None:
    """A minute without a line, a call or a child is quiet, but a working command is not."""
    # Between two calls the model works, since the last line.
    known = judged(working(), runs=CHILDLESS)
    assert (known.state, known.now, known.is_calling) == (State.WORKING, "thinking", False)
    assert known.now_since_ms == NOW_MS - 5_000
    digest = replace(working(seen_ago_ms=6 * MINUTE_MS), usual_pause_ms=20 * SECOND_MS)
    known = judged(digest, runs=CHILDLESS)
    assert known[:3] == (State.QUIET, Ground.INFERRED, digest.seen_ms)
    assert known.now == "nothing for 6 min (usually 20 s)"
    calling = working(call(ago_ms=6 * MINUTE_MS), seen_ago_ms=6 * MINUTE_MS)
    assert judged(calling, runs=process(child_ago_ms=6 * MINUTE_MS)).state is State.WORKING
    # A live process keeps its session, even after a year without a line.
    known = judged(working(), runs=CHILDLESS, now_ms=NOW_MS + 365 * 24 * 60 * MINUTE_MS)
    assert known.state is State.QUIET
    # A dead process ends the session, although its last line is a moment old.
    assert judged(working(seen_ago_ms=0), life=Life.DEAD).state is State.UNFINISHED


def test_a_session_without_a_process_has_ended_as_its_lines_say() -> None:
    """The last turn decides how a session has ended; what a killed agent has said does not count."""
    cases: dict[str, tuple[Digest, State, str]] = {
        "done": (DONE, State.SUCCEEDED, ""),
        "broken": (BROKEN, State.FAILED, "usage limit"),
        "cancelled": (ended(working(), outcome=Outcome.CANCELLED), State.CANCELLED, ""),
        "open": (working(), State.UNFINISHED, "no answer"),
        "a call": (working(call()), State.UNFINISHED, "Tool pytest -q"),
        "no prompt": (Digest(is_whole=True), State.UNFINISHED, "no prompt"),
    }
    for name, (digest, state, now) in cases.items():
        with case(name):
            known = judged(digest, life=Life.DEAD)
            assert (known.state, known.now) == (state, now)
            assert known.since_ms == (digest.turn_ms if digest.turn is Turn.ENDED else digest.seen_ms)
    for said_last in sorted(LIVE):
        with case(said_last):
            known = judged(
                working(call(target="make")), agent="claude", says=reported(said_last), life=Life.DEAD
            )
            assert (known.state, known.now) == (State.UNFINISHED, "Tool make")
            assert known.group is Group.ENDED


def test_nothing_is_claimed_about_what_cannot_be_seen() -> None:
    """A process of another host is neither dead nor live; the last lines are shown."""
    shown = ((None, ""), (working(call()), "pytest -q"), (DONE, "Shall I push?"), (BROKEN, ""))
    for digest, now in shown:
        with case(now):
            known = judged(digest, says=reported(State.ASKS), runs=CHILDLESS, life=Life.UNKNOWN)
            assert known[:2] == (State.UNKNOWN, Ground.UNKNOWN)
            assert (known.group, known.now) == (Group.ENDED, now)
    # Of a session whose lines cannot be read, only the process is known.
    assert judged(None)[:2] == (State.UNKNOWN, Ground.UNKNOWN)
    listed = found("amp")._replace(metadata=Metadata(changed_ms=5))
    assert status(listed, None, None, None, Life.DEAD, NOW_MS)[:3] == (State.UNKNOWN, Ground.UNKNOWN, 5)
    # The lines of some agents do not say whether they work, nor how they ended.
    looking = replace(working(call()), last_text="Looking.")
    for agent in ("cursor", "amp"):
        with case(agent):
            assert judged(looking, agent=agent).now == "its process runs"
            known = judged(looking, agent=agent, life=Life.DEAD)
            assert (known.state, known.now) == (State.UNKNOWN, "Looking.")


def test_a_session_that_was_left_without_a_prompt_has_ended() -> None:
    """`/new` and `/exit` in Copilot leave a folder with a description and no lines. A title comes from a
    prompt: lines that were there are not now."""
    metadata = NO_METADATA._replace(changed_ms=5)
    empty = SessionEntry("copilot", "s", Path("/s/events.jsonl"), 0, 0, 0, Reach.LISTED, None, metadata)
    known = status(empty, None, None, None, Life.DEAD, NOW_MS)
    assert known[:4] == (State.UNFINISHED, Ground.INFERRED, 5, "no prompt")
    facts = Facts(empty, None, None, None, Life.DEAD)
    words = [
        each.what
        for each in evidence(Row(empty.key, empty.agent, empty.id, empty.path, known), facts, NOW_MS)
    ]
    assert words[0] == "The session has no line."
    for other in (metadata._replace(title="Go"), metadata._replace(problem="it is new")):
        known = status(empty._replace(metadata=other), None, None, None, Life.DEAD, NOW_MS)
        assert known.state is State.UNKNOWN


def test_a_resumed_session_does_not_go_on_with_its_old_turn() -> None:
    """What a killed process has left open is over."""
    # A process that is younger than the last line has not begun the turn that a kill has left open.
    resumed = process()._replace(began_ms=NOW_MS - 2_000)
    known = judged(working(call(ago_ms=MINUTE_MS), seen_ago_ms=MINUTE_MS), runs=resumed)
    assert known[:3] == (State.YOUR_TURN, Ground.INFERRED, NOW_MS - 2_000)
    assert judged(working(), runs=process()._replace(began_ms=None)).state is State.WORKING
    sub = judged(working(seen_ago_ms=MINUTE_MS), runs=resumed, parent="main")
    assert sub.state is State.UNFINISHED
    # Neither does the old call run nor is the old question open after a new prompt.
    resumed = process(child_ago_ms=100)._replace(began_ms=NOW_MS - MINUTE_MS)
    digest = working(call(ago_ms=2 * MINUTE_MS))
    assert judged(digest, runs=resumed).now == "thinking"
    assert judged(digest, runs=process(child_ago_ms=100)).now == "pytest -q"
    asked = replace(working(), question="bash ls", question_ms=NOW_MS - 2 * MINUTE_MS)
    assert judged(asked, agent="copilot", runs=resumed).state is State.WORKING
    assert judged(asked, agent="copilot", runs=process()).state is State.ASKS


def test_a_subagent_has_one_turn() -> None:
    """Nobody can prompt it again, although the process of its parent runs; without lines it is unknown."""
    for life in Life:
        with case(life):
            assert judged(DONE, parent="main", life=life)[:2] == (State.SUCCEEDED, Ground.SAID)
            assert judged(BROKEN, parent="main", life=life).state is State.FAILED
            assert judged(None, parent="main", life=life).state is State.UNKNOWN
    # Claude's registry says that the session waits; a subagent of Codex is a session that may ask itself.
    for agent, state in (("claude", State.WORKING), ("codex", State.ASKS)):
        assert judged(working(call()), agent=agent, runs=CHILDLESS, parent="main").state is state


def recorded(digest: Digest | None, *, has_one_prompt: bool | None = None, size: int = 1) -> SessionStatus:
    """Return the state of a recording that is being written."""
    session = found("agentwatch")._replace(size=size)
    says = StateReport(
        "agentwatch", "s1", Life.LIVE, began_ms=NOW_MS - MINUTE_MS, has_one_prompt=has_one_prompt
    )
    return status(session, digest, says, None, Life.LIVE, NOW_MS)


def test_a_recording_without_a_line_is_starting() -> None:
    """Before the first line nobody waits for the user; lines of no known agent do not change that."""
    began_ms = NOW_MS - MINUTE_MS
    for digest in (None, Digest(is_whole=True)):
        assert recorded(digest, size=0)[:3] == (State.STARTING, Ground.SAID, began_ms)
        assert recorded(digest)[:4] == (State.WORKING, Ground.INFERRED, began_ms, "its process runs")
    no_prompt = recorded(Digest(format="claude", is_whole=True))
    assert no_prompt[:4] == (State.WORKING, Ground.SAID, began_ms, "thinking")


def test_a_command_with_one_prompt_has_no_turn_of_the_users() -> None:
    """`codex exec` runs for some seconds after its answer; only a conversation waits for a prompt."""
    cases: dict[str, tuple[str, bool | None, State, Ground]] = {
        "one prompt": ("codex", True, State.SUCCEEDED, Ground.SAID),
        "a pipe": ("codex", None, State.SUCCEEDED, Ground.INFERRED),
        "several prompts": ("claude", False, State.YOUR_TURN, Ground.SAID),
        "a conversation": ("acp", None, State.YOUR_TURN, Ground.SAID),
    }
    for name, (form, has_one_prompt, state, ground) in cases.items():
        with case(name):
            assert recorded(replace(DONE, format=form), has_one_prompt=has_one_prompt)[:2] == (state, ground)
    working_on = replace(working(call()), format="codex")
    assert recorded(working_on, has_one_prompt=True).state is State.WORKING
    # A session in the agent's own file is over with its turn, whatever a hook has said last.
    runs = process()._replace(has_one_prompt=True)
    says = reported(State.YOUR_TURN, agent="codex")
    for report in (None, says):
        assert judged(DONE, runs=runs, says=report)[:2] == (State.SUCCEEDED, Ground.SAID)
    assert judged(BROKEN, runs=runs).state is State.FAILED
    for lock in (None, reported(None, agent="codex")):
        assert judged(None, runs=runs, says=lock)[:2] == (State.STARTING, Ground.INFERRED)
    asks = reported(State.ASKS, agent="codex")
    assert judged(working(call()), runs=runs, says=asks).state is State.ASKS


# What open calls and child processes show.

CODEX = knowledge_of("codex")
CLAUDE = knowledge_of("claude")


def test_starts_are_compared_with_a_tolerance() -> None:
    """Starts of processes and times of lines are of different clocks."""
    # A child that began a little earlier counts too, because starts and lines have different clocks.
    assert has_child_since(None, 0) is None
    assert has_child_since(process(), 0) is False
    assert has_child_since(process(children=2), 0) is None
    assert has_child_since(process(child_ago_ms=10_000), None) is None
    assert has_child_since(process(child_ago_ms=10_000), NOW_MS - 9_000) is True
    assert has_child_since(process(child_ago_ms=10_000), NOW_MS - 8_999) is False
    # A process has written nothing that is more than two seconds older than itself.
    runs = process()
    assert runs.began_ms is not None
    assert is_left_over(runs, runs.began_ms - 2_001)
    assert not is_left_over(runs, runs.began_ms - 2_000)
    assert not is_left_over(runs, None)
    assert not is_left_over(runs._replace(began_ms=None), 0)
    assert not is_left_over(None, 0)
    # The open calls of Gemini and Cursor mean nothing.
    digest = working(call(), call(call_id="c2"))
    assert [each.call_id for each in visible_calls(digest, CODEX)] == ["c1", "c2"]
    assert visible_calls(digest, knowledge_of("gemini")) == ()


def test_a_call_seems_to_ask_after_the_time_that_its_kind_takes() -> None:
    """A command without a child, a change and a download each have a time in which nothing is inferred."""
    changes = dict.fromkeys((ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE), 10_000)
    for kind, least_ms in {ToolKind.EXECUTE: 2_000, **changes, ToolKind.FETCH: 60_000}.items():
        for ago_ms, is_waiting in ((least_ms - 1, False), (least_ms, True)):
            with case((kind, ago_ms)):
                found = waiting_call([call(kind, ago_ms=ago_ms)], "default", process(), CLAUDE, NOW_MS)
                assert (found is not None) is is_waiting
    # A call of another kind runs, however long.
    for kind in (ToolKind.MCP, ToolKind.DELEGATE, ToolKind.OTHER, ToolKind.READ, ToolKind.PLAN):
        with case(kind):
            assert waiting_call([call(kind, ago_ms=60 * MINUTE_MS)], "", process(), CLAUDE, NOW_MS) is None


def test_which_call_seems_to_ask() -> None:
    """The oldest call that cannot run is shown; where anything else may explain the silence, none is."""
    # Results of one step are written together: beside a call that runs, nothing is inferred.
    asking = call(ago_ms=MINUTE_MS)
    for kind in (ToolKind.MCP, ToolKind.DELEGATE, ToolKind.FETCH):
        running = call(kind, call_id="c2", ago_ms=5_000)
        assert waiting_call([asking, running], "", process(), CLAUDE, NOW_MS) is None
    read = call(ToolKind.READ, call_id="c2")
    assert waiting_call([read, asking], "", process(), CLAUDE, NOW_MS) is asking
    # Which of several waiting calls is asked about is not known.
    first, second = call(ago_ms=MINUTE_MS), call(call_id="c2", ago_ms=MINUTE_MS)
    assert waiting_call([first, second], "", process(), CODEX, NOW_MS) is first
    # The call that started a subagent does not explain why the subagent's own call waits.
    outer = call(ToolKind.DELEGATE, call_id="c1")
    inner = call(call_id="c2", agent="c1")
    assert waiting_call([outer, inner], "", process(), CLAUDE, NOW_MS) is inner
    # A busy agent does not wait. A busy daemon says nothing: another session may be the reason.
    busy, change = process()._replace(is_idle=False), call(ToolKind.EDIT, ago_ms=MINUTE_MS)
    assert waiting_call([change], "", busy, CODEX, NOW_MS) is None
    assert waiting_call([change], "", busy._replace(is_shared=True), CODEX, NOW_MS) == change
    assert waiting_call([change], "", process()._replace(is_idle=True), CODEX, NOW_MS) == change
    # A command without a child waits although the agent is busy: it draws, or its subagent has asked.
    assert waiting_call([call()], "", process()._replace(is_idle=False), CODEX, NOW_MS) == call()
    # A change of a file can start a formatter: while that runs, nothing is inferred.
    change = call(ToolKind.EDIT, ago_ms=MINUTE_MS)
    assert waiting_call([change], "", process(child_ago_ms=MINUTE_MS), CODEX, NOW_MS) is None
    assert waiting_call([change], "", process(child_ago_ms=2 * MINUTE_MS), CODEX, NOW_MS) is change
    # Without a process, a start of the call, or the age of a child, the call may run.
    assert waiting_call([call()], "", None, CODEX, NOW_MS) is None
    assert waiting_call([call(ago_ms=None)], "", process(), CODEX, NOW_MS) is None
    assert waiting_call([call()], "", process(children=1), CODEX, NOW_MS) is None
    assert waiting_call([], "", process(), CODEX, NOW_MS) is None


def test_a_session_has_its_own_rhythm() -> None:
    """A silence is tolerated for a minute, or three times the usual pause."""
    for usual_ms, tolerated_ms in ((None, 60_000), (1_000, 60_000), (20_000, 60_000), (40_000, 120_000)):
        for ago_ms, is_long in ((tolerated_ms, False), (tolerated_ms + 1, True)):
            with case((usual_ms, ago_ms)):
                digest = replace(working(seen_ago_ms=ago_ms), usual_pause_ms=usual_ms)
                assert is_silent(digest, (), process(), NOW_MS) is is_long
    # A call that may run explains the silence. A command that certainly has no process does not.
    cases: list[tuple[ToolKind, Process | None, bool]] = [
        (ToolKind.MCP, process(), False),
        (ToolKind.EXECUTE, None, False),
        (ToolKind.EXECUTE, process(children=1), False),
        (ToolKind.EXECUTE, process(child_ago_ms=5 * MINUTE_MS), False),
        (ToolKind.EXECUTE, process(), True),
        (ToolKind.EXECUTE, process(child_ago_ms=50 * MINUTE_MS), True),
    ]
    for kind, runs, is_long in cases:
        with case((kind, runs)):
            digest = working(call(kind, ago_ms=5 * MINUTE_MS), seen_ago_ms=5 * MINUTE_MS)
            assert is_silent(digest, visible_calls(digest, CODEX), runs, NOW_MS) is is_long


def test_a_long_silence_has_a_reason() -> None:
    """Retries, compacting and what runs since the last line explain a silence."""
    # Ten minutes are tolerated while the conversation is compacted, or a retry is due.
    for change in ({"is_compacting": True}, {"retry": "retry 4 of 10"}):
        digest = replace(working(seen_ago_ms=9 * MINUTE_MS), **change)
        assert not is_silent(digest, (), process(), NOW_MS)
        assert is_silent(digest, (), process(), NOW_MS + 2 * MINUTE_MS)
    # Lines without times and without arrivals say nothing about a silence.
    assert not is_silent(replace(working(), seen_ms=None), (), process(), NOW_MS)
    # Something runs that no line names; a child from before is a server or a background command.
    digest = working(seen_ago_ms=5 * MINUTE_MS)
    assert not is_silent(digest, (), process(child_ago_ms=MINUTE_MS), NOW_MS)
    assert is_silent(digest, (), process(child_ago_ms=9 * MINUTE_MS), NOW_MS)
    assert is_silent(digest, (), None, NOW_MS)


def test_a_retry_of_pi_that_is_late_is_quiet() -> None:
    """Pi waits for 2, 4 and 8 s, and writes nothing when the user stops it: five seconds after a retry was
    due, or three times the usual pause, nobody knows whether it works."""
    for nth, usual_ms, late_ms in ((1, None, 7_000), (2, None, 9_000), (3, None, 13_000), (2, 9_000, 31_000)):
        for ago_ms, state in ((late_ms, State.WORKING), (late_ms + 1, State.QUIET)):
            with case((nth, ago_ms)):
                digest = working(seen_ago_ms=ago_ms)
                digest.apply([Retry("busy", nth)])
                digest.seen_ms, digest.usual_pause_ms = NOW_MS - ago_ms, usual_ms
                known = judged(digest, agent="pi", runs=process("pi"))
                assert (known.state, known.ground) == (state, Ground.INFERRED)
                assert judged(digest, runs=process()).state is State.WORKING
    # The delay is bounded, whatever the number of the retry is.
    digest = working(seen_ago_ms=10 * MINUTE_MS + 1)
    digest.apply([Retry("busy", 1 << 60)])
    assert judged(digest, agent="pi", runs=process("pi")).state is State.QUIET


# Which calls may wait for permission, by agent and mode.

ASKING: list[tuple[str, str, set[ToolKind]]] = [
    ("claude", "default", {ToolKind.EXECUTE, ToolKind.FETCH, *CHANGES}),
    ("claude", "acceptEdits", {ToolKind.EXECUTE, ToolKind.FETCH}),
    ("claude", "bypassPermissions", set()),
    ("qwen", "auto-edit", {ToolKind.EXECUTE, ToolKind.FETCH, ToolKind.DELEGATE}),
    ("qwen", "yolo", set()),
    ("codex", "on-request", {ToolKind.EXECUTE, *CHANGES}),
    ("codex", "untrusted", {ToolKind.EXECUTE, *CHANGES}),
    ("codex", "never", set()),
    ("opencode", "", {ToolKind.EXECUTE, *CHANGES}),
    ("pi", "", set()),
    ("gemini", "default", set()),
    ("copilot", "", set()),
    ("agentwatch", "default", set()),
    ("an agent of tomorrow", "", {ToolKind.EXECUTE}),
]


def test_an_agent_asks_for_some_kinds_of_calls() -> None:
    """The agent and the mode of the session decide which open calls may be questions."""
    for agent, mode, asking in ASKING:
        with case(f"{agent}, {mode}"):
            known = knowledge_of(agent)
            assert {kind for kind in ToolKind if may_ask(known, mode, kind)} == asking


def test_an_answer_of_gemini_announces_a_call() -> None:
    """Its instructions demand a sentence about what it does before each call; the last sentence counts."""
    announces = knowledge_of("gemini").announces
    assert announces is not None
    cases = {
        "I will run the tests.": True,
        "I'll look first.": True,
        "I\u2019m going to edit a.py.": True,
        "One file is missing. I'll write a summary.": True,
        "Fixed the first!\n\nNow I will fix the second.": True,
        "- Next, I need to read b.py": True,
        "Let me check the log.": True,
        "Reading these files:": True,
        "I write.": True,
        "The bug is clear. I fix it in a.py": True,
        "I fixed it in a.py.": False,
        "I have fixed it in a.py.": False,
        "I successfully ran the tests.": False,
        "I don't know that.": False,
        "I recommend a test.": False,
        "All tests pass.": False,
        "I will stop here. All tests pass.": False,
        "Let me know if you need more.": False,
        "I will delete it. Shall I?": False,
        "I must ask: is that right?": False,
        "I listed the files.": False,
        "": False,
    }
    for answer, expected in cases.items():
        with case(answer):
            assert announces(answer) is expected


def test_each_state_has_its_words() -> None:
    """The lines say what the agent is busy with, what it asks, and how it ended."""
    # A running call is what it acts on, or else its tool; a call that asks is both.
    assert states.call_words(call()) == "pytest -q"
    assert states.call_words(call(target="")) == "Tool"
    assert states.asked_words(call()) == "Tool pytest -q"
    assert states.asked_words(call(target="")) == "Tool"
    # A command has no child process; another call has no result.
    assert states.inferred_words(call()) == "Tool pytest -q (no child process)"
    assert states.inferred_words(call(ToolKind.EDIT, "a.py")) == "Tool a.py (no result)"
    # Without a call, the lines say what the agent is busy with.
    assert states.model_words(working()) == "thinking"
    assert (
        states.model_words(replace(working(), retry="retry 4 of 10: overloaded"))
        == "retry 4 of 10: overloaded"
    )
    assert states.model_words(replace(working(), retry="retry", is_compacting=True)) == "compacting"
    # The usual pause is shown where it is known.
    digest = working(seen_ago_ms=360_000)
    assert states.silence_words(digest, NOW_MS) == "nothing for 6 min"
    assert states.silence_words(replace(digest, seen_ms=None), NOW_MS) == ""
    # The last line has the question, if there is one. It is bounded.
    assert states.answer_words(None) == ""
    assert states.answer_words(Digest(last_text="Done.\n\n  Shall I push? \n\n")) == "Shall I push?"
    assert len(states.answer_words(Digest(last_text="x" * 400))) == 200
    # A reason may have many lines; an interruption has no reason.
    digest = Digest(outcome=Outcome.FAILED, reason="\nusage limit\ntry again")
    assert states.failure_words(digest) == "usage limit"
    assert states.failure_words(replace(digest, outcome=Outcome.CANCELLED)) == "cancelled"
    # What the last lines show is independent of the process.
    assert states.tail_words(None) == ""
    assert states.tail_words(working(call(target="a"), call(target="b", call_id="c2"))) == "a"
    assert states.tail_words(Digest(last_text="Hello")) == "Hello"


def test_all_words_are_bounded() -> None:
    """No row keeps a long foreign text."""
    for text in ("x" * 100_000, "x\n" * 100_000):
        digest = Digest(reason=text, last_text=text, retry=text, outcome=Outcome.FAILED)
        shown = [states.failure_words(digest), states.answer_words(digest), states.model_words(digest)]
        shown += [states.call_words(call(target=text)), states.asked_words(call(target=text))]
        assert max(map(len, shown)) <= 200


KEY = ("codex", "s1")
RUNS = SessionStatus(State.WORKING, Ground.INFERRED, now="make")
GUESS = SessionStatus(State.ASKS, Ground.INFERRED, now="make (no child process)")


def test_an_inferred_question_must_last_for_a_second() -> None:
    """A command that has just ended seems to ask until its result is written."""
    steady = Steady()
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS + 999) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS + 1_000) is GUESS
    assert steady.shown(KEY, GUESS, GUESS, NOW_MS + 1_001) is GUESS
    # What an agent says itself, and any other state, is not held back.
    for known in (GUESS._replace(ground=Ground.SAID), RUNS, GUESS._replace(state=State.QUIET)):
        assert Steady().shown(KEY, known, RUNS, NOW_MS) is known
    # Two commands that end one after the other are not a question.
    steady = Steady()
    for at_ms in range(0, 5_000, 500):
        assert steady.shown(KEY, GUESS, RUNS, NOW_MS + at_ms) is RUNS
        assert steady.shown(KEY, RUNS, RUNS, NOW_MS + at_ms + 250) is RUNS
    assert steady._since == {}
    # A question is shown at the latest when the clock has jumped.
    steady = Steady()
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS) is RUNS
    assert steady.shown(KEY, GUESS, RUNS, NOW_MS - 1) is GUESS
    # Nothing was seen to run that could have just ended.
    assert Steady().shown(KEY, GUESS, None, NOW_MS) is GUESS
    assert Steady().shown(KEY, GUESS, UNKNOWN, NOW_MS) is GUESS
    # Sessions that vanish while they are held back do not pile up.
    steady = Steady()
    for number in range(1_002):
        steady.shown(("codex", f"{number}"), GUESS, RUNS, NOW_MS)
    assert len(steady._since) == 1_000
    assert steady.shown(("codex", "1001"), GUESS, RUNS, NOW_MS + 1_000) is GUESS
    # It is judged then, not with the next look at all clocks; a session that was removed never is.
    steady = Steady()
    steady.shown(KEY, GUESS, RUNS, NOW_MS)
    assert [steady.due(NOW_MS + later_ms) for later_ms in (0, 999, 1000)] == [set(), set(), {KEY}]
    steady.forget(KEY)
    assert steady.due(NOW_MS + 1000) == set()


def test_another_look_is_needed_only_where_it_may_show_no_question(tmp_path: Path) -> None:
    """The CPU time of an agent does not show that its command runs, but that it works on another call."""
    agents: dict[str, dict[str, Any]] = {
        "the first look": {"is_idle": None, "is_calm": None},
        "it does little": {"is_idle": None, "is_calm": True},
        "it does much": {"is_idle": None, "is_calm": False},
        "it does nothing": {"is_idle": True, "is_calm": True},
        "it is known to be busy": {"is_idle": False},
    }
    expected = {
        "run_shell_command": [True, False, True, False, False],
        "edit": [True, True, True, False, False],
    }
    for name, doubts in expected.items():
        file = tmp_path / f"{name}.jsonl"
        lines = [qwen.user("Go", uuid="u"), qwen.call("c", name) | {"uuid": "a", "parentUuid": "u"}]
        file.write_text("".join(json.dumps(each) + "\n" for each in lines))
        found = SessionEntry("qwen", "s", file, file.stat().st_size, 0)
        for (why, facts), is_doubtful in zip(agents.items(), doubts, strict=True):
            with case((name, why)):
                session = LocalSession(found)
                session.read()
                process = Process(1, 1, "qwen", qwen.AT_MS - 1_000)._replace(**facts)
                session.join(Life.LIVE, process)
                session.status = session.judged(qwen.AT_MS + 30_000)
                assert session.is_doubtful(qwen.AT_MS + 30_000) is is_doubtful
