"""Which calls and which moments of a growing session hit a rule."""

from __future__ import annotations

import pytest

from agentwatch.rules.alarms.tripwire import tripwire
from agentwatch.session.agent_process import AgentFacts
from tests.builders.lines import completed, init, result, started, user
from tests.rules.alarms.growing import Watched, calls_of

FAILURE = {"failure": {"command": "x", "exitCode": 1}}
REMOVE = "rm -rf /tmp/x"


def shell(call_id: str, command: str = REMOVE) -> bytes:
    """Return the start of a command."""
    return started("shell", call_id, command=command)


def ended(call_id: str, outcome: object = None, command: str = REMOVE) -> bytes:
    """Return the end of a command."""
    return completed("shell", call_id, outcome or {"success": {"exitCode": 0}}, command=command)


def test_a_call_hits_a_rule_when_the_stream_announces_it() -> None:
    """The command may run for minutes; the rule is hit at its start, with the words of the call."""
    watched = Watched(tripwire("program:rm", "bell", "removes"))
    assert watched.hits(init(), shell("a", "ls")) == []
    [hit] = watched.hits(shell("b"))
    assert (hit.tripwire.name, hit.call, hit.words) == ("removes", 2, "Ran terminal command rm -rf /tmp/x")
    assert hit.offset == watched.feed.offset


def test_a_call_hits_a_rule_once() -> None:
    """Neither its end nor the passing of time hits the rule again; another call does."""
    watched = Watched(tripwire("program:rm", "bell"))
    assert calls_of(watched.hits(init(), shell("a"))) == [1]
    assert watched.hits(after_ms=60_000) == []
    assert watched.hits(ended("a")) == []
    assert calls_of(watched.hits(shell("b"), ended("b"), shell("c"))) == [2, 3]
    assert watched.hits(ended("c"), result(), is_over=True) == []


def test_a_call_that_starts_and_ends_between_two_updates_hits_a_rule() -> None:
    """Nothing is missed if the lines arrive together."""
    watched = Watched(tripwire("failed", "bell"))
    lines = [init(), shell("a"), ended("a"), shell("b"), ended("b", FAILURE), result()]
    assert calls_of(watched.hits(*lines, is_over=True)) == [2]


@pytest.mark.parametrize("rule", ["tool:shell -succeeded", "tool:shell -outcome:succeeded", "duration<1h"])
def test_what_only_the_end_of_a_call_shows_is_judged_at_its_end(rule: str) -> None:
    """A running call has not succeeded yet, which is no reason for an alarm."""
    watched = Watched(tripwire(rule, "bell"))
    assert watched.hits(init(), shell("a")) == []
    assert calls_of(watched.hits(ended("a", FAILURE), after_ms=1000)) == [1]


def test_a_call_that_never_ends_is_judged_when_its_run_ends() -> None:
    """It is unfinished then."""
    watched = Watched(tripwire("unfinished", "bell"))
    assert watched.hits(init(), shell("a")) == []
    assert calls_of(watched.hits(result(), is_over=True)) == [1]


def test_the_duration_of_a_running_call_grows_with_time() -> None:
    """No line arrives, and the rule is hit when the time has passed."""
    watched = Watched(tripwire("tool:shell duration>5m", "bell"))
    assert watched.hits(init(), shell("a")) == []
    assert watched.hits(after_ms=299_000) == []
    assert calls_of(watched.hits(after_ms=2_000)) == [1]
    assert watched.hits(after_ms=600_000) == []


def test_a_rule_about_the_run_is_hit_when_it_becomes_true() -> None:
    """It stays silent while it remains true."""
    watched = Watched(tripwire("failed>1", "bell"))
    assert watched.hits(init(), shell("a"), ended("a", FAILURE)) == []
    [hit] = watched.hits(shell("b"), ended("b", FAILURE))
    assert (hit.call, hit.words) == (None, "")
    assert watched.hits(shell("c"), ended("c", FAILURE)) == []


def test_silence_hits_a_rule_again_only_after_it_has_ended() -> None:
    """Two silences of the session are two hits."""
    watched = Watched(tripwire("idle>5m", "bell"))
    assert watched.hits(init(), user()) == []
    assert watched.hits(after_ms=299_000) == []
    assert len(watched.hits(after_ms=2_000)) == 1
    assert watched.hits(after_ms=60_000) == []
    assert watched.hits(shell("a"), ended("a")) == []
    assert len(watched.hits(after_ms=301_000)) == 1


def test_a_running_call_explains_the_silence() -> None:
    """A test suite of ten minutes is not an idle agent, and neither is one whose run is over."""
    watched = Watched(tripwire("idle>5m", "bell"))
    assert watched.hits(init(), shell("a")) == []
    assert watched.hits(after_ms=600_000) == []
    assert watched.hits(ended("a"), result()) == []
    assert watched.hits(after_ms=600_000) == []


def test_a_call_is_judged_with_the_counts_of_its_time() -> None:
    """A rule may join fields of a call with fields of the run."""
    watched = Watched(tripwire("program:rm failed>0", "bell"))
    assert watched.hits(init(), shell("a"), ended("a", command="ls")) == []
    assert calls_of(watched.hits(shell("b"), ended("b", FAILURE))) == [2]


def test_no_time_passes_for_the_rules_while_the_agent_is_paused() -> None:
    """The pause counts neither as silence nor for the duration of a call; after it, silence starts at 0."""
    watched = Watched(tripwire("idle>5m", "bell"), tripwire("duration>5m", "bell"))
    assert watched.hits(init(), user()) == []
    paused = AgentFacts(pid=1, paused_by="x", is_stopped=True)
    later_ms = watched.now_ms + 3_600_000
    assert watched.watch.update(later_ms, paused) == []
    continued = AgentFacts(pid=1, continued_ms=later_ms)
    assert watched.watch.update(later_ms + 299_000, continued) == []
    assert len(watched.watch.update(later_ms + 301_000, continued)) == 1


def test_what_happened_before_the_rules_watched_hits_none() -> None:
    """A session that is joined late starts no storm of alarms; what comes next is judged."""
    watched = Watched(tripwire("program:rm", "bell"), tripwire("failed>0", "bell"))
    watched.growing.append(b"".join((init(), shell("a"), ended("a", FAILURE), shell("b"))))
    while watched.feed.advance():
        pass
    watched.watch.skip()
    assert watched.hits(ended("b")) == []
    assert calls_of(watched.hits(shell("c"))) == [3]


def test_an_unknown_value_hits_no_rule() -> None:
    """The exit code of a running command is unknown, which is neither zero nor another number."""
    watched = Watched(tripwire("exit>0", "bell"), tripwire("-exit:0", "bell"))
    assert watched.hits(init(), shell("a")) == []
    assert len(watched.hits(ended("a", FAILURE))) == 2
