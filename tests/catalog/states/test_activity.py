"""What open calls and child processes show."""

from __future__ import annotations

from dataclasses import replace

from agentwatch.catalog.session_status import Process
from agentwatch.catalog.states import (
    has_child_since,
    is_left_over,
    is_silent,
    knowledge_of,
    visible_calls,
    waiting_call,
)
from agentwatch.session.events import ToolKind
from tests.catalog.states.cases import MINUTE_MS, NOW_MS, call, process, working
from tests.conftest import case

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
